// The line protocol: requests and replies in files.  RONDO_UPDATE=1 rewrites the replies.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "protocol/service.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

const char* const kFolder = RONDO_SOURCE_DIR "/tests/golden/batch";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// Always the same moment, so that replies do not change with the clock.
protocol::ServiceOptions fixed_clock() {
  protocol::ServiceOptions options;
  options.clock = [] {
    std::tm time{};
    time.tm_year = 2026 - 1900;
    time.tm_mon = 2;
    time.tm_mday = 14;
    return time;
  };
  return options;
}

// The file with each reply as it is now, and the number of replies that differ.
std::string answered(const protocol::Service& service, const std::string& text, int& differing) {
  std::string out;
  std::string reply;
  bool is_open = false;
  const auto finish = [&] {
    if (is_open) ++differing;  // a request without its reply
    if (is_open) out += "> " + reply + "\n";
    is_open = false;
  };
  for (const std::string& line : lines_of(text)) {
    if (line.starts_with("> ")) {
      CHECK_MESSAGE(line.substr(2) == reply, out.substr(out.rfind("< ")));
      if (line.substr(2) != reply) ++differing;
      out += "> " + reply + "\n";
      is_open = false;
      continue;
    }
    finish();
    out += line + "\n";
    if (!line.starts_with("< ")) continue;
    reply = service.handle_line(line.substr(2));
    is_open = true;
  }
  finish();
  return out;
}

std::vector<fs::path> golden_files() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

TEST_CASE("requests and replies of the line protocol") {
  fs::current_path(kFolder);
  const protocol::Service service(fixed_clock());
  for (const fs::path& path : golden_files()) {
    CAPTURE(path.filename().string());
    auto text = files::read(path.string());
    REQUIRE(text.ok());
    int differing = 0;
    const std::string now = answered(service, text.value(), differing);
    if (std::getenv("RONDO_UPDATE") != nullptr && now != text.value()) {
      REQUIRE(files::write(path.string(), now).ok());
    } else {
      CHECK(differing == 0);
    }
  }
}

TEST_CASE("spans cover the text without gap or overlap") {
  fs::current_path(kFolder);
  const protocol::Service service(fixed_clock());
  auto request =
      json::parse(R"({"op": "render", "template_file": "model", "spans": true, "tools": [{"a": [1, {"b": "c"}]}],
      "messages": [{"role": "system", "content": " x "}, {"role": "user", "content": "é"}]})");
  REQUIRE(request.ok());
  auto reply = service.run(request.value());
  REQUIRE(reply.ok());
  std::int64_t at = 0;
  for (const json::Value& span : reply.value().find("spans")->as_array()) {
    CHECK(span.find("start")->to_int64() == at);
    CHECK(span.find("end")->to_int64().value_or(0) > at);
    at = span.find("end")->to_int64().value_or(0);
  }
  CHECK(at == static_cast<std::int64_t>(reply.value().find_string("text")->size()));
}

TEST_CASE("roles that nobody knows are refused for people") {
  fs::current_path(kFolder);
  const protocol::Service service(fixed_clock());
  const auto message = [&](const std::string& chat_template, const std::string& role) {
    json::Object request{{"op", "render"}, {"template", chat_template}};
    request.set("messages", json::Array{json::Object{{"role", role}, {"content", "hi"}}});
    auto reply = service.run(request, {.refuse_unknown_roles = true, .trace = true});
    const std::string said = reply.ok() ? std::string(*reply.value().find_string("text")) : reply.error().message;
    request.set("op", "encode");
    request.set("tokenizer", "model");
    auto encoded = service.run(request, {.refuse_unknown_roles = true, .trace = true});
    CHECK((encoded.ok() ? std::string(*encoded.value().find_string("text")) : encoded.error().message) == said);
    return said;
  };
  const std::string any = "{% for m in messages %}{{ m.role }}:{{ m.content }}{% endfor %}";
  const std::string some =
      "{% for m in messages %}{% if m.role == 'user' or m.role == 'sage' %}{{ m.content }}{% endif %}{% endfor %}";
  CHECK(message(any, "user") == "user:hi");
  CHECK(message(any, "wizard") == "messages[0].role: unknown role `wizard`");
  CHECK(message(some, "sage") == "hi");
  CHECK(message(some, "wizard") == "messages[0].role: unknown role `wizard`");
  CHECK(message(some, "tool") == "messages[0].role: the template writes nothing for the role `tool`");
}

}  // namespace rondo
