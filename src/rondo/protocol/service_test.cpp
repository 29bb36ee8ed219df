#include "protocol/service.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::protocol {
namespace {

constexpr const char* kModel = RONDO_SOURCE_DIR "/tests/golden/batch/model";

json::Value request(const std::string& op, const std::string& more) {
  return json::parse(R"({"op": ")" + op + R"(", "template_file": ")" + kModel + R"(", "tokenizer": ")" + kModel + "\"" +
                     more + "}")
      .value();
}

TEST_CASE("a line has its reply in one line, and the id that it was sent with") {
  const Service service({});
  const std::string reply =
      service.handle_line(R"({"id": {"a": 1.50}, "op": "jinja", "template": "a\n{{ x }}", "context": {"x": "b\n"}})");
  CHECK(reply == R"({"id":{"a":1.50},"text":"a\nb\n"})");
  CHECK(service.handle(json::parse(R"({"id": null, "op": "no such"})").value()) ==
        json::parse(R"({"id": null, "error": {"code": "bad_request", "message": "unknown op `no such`"}})").value());
}

TEST_CASE("run fails where handle replies with an error") {
  const Service service({});
  CHECK(service.run(json::Value(3)).error().message == "a request must be an object, found an integer");
  CHECK(service.run(json::Object{{"op", "render"}}).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("what a model writes is read while it is written") {
  const Service service({});
  std::vector<std::string> pieces = {"(*mull h", "m mul", "l*)yes{!do add with {\"a\"", ": 1} do!}", "~fin~"};
  std::size_t at = 0;
  std::vector<std::string> deltas;
  const TextStream stream{
      [&]() -> std::optional<std::string> { return at < pieces.size() ? std::optional(pieces[at++]) : std::nullopt; },
      [&](const json::Value& entries) {
        CHECK_FALSE(entries.as_array().empty());
        deltas.push_back(json::to_compact(entries));
      }};
  const auto reply = service.run(request("parse", ""), {.stream = &stream});
  REQUIRE_MESSAGE(reply.ok(), reply.error().to_string());
  REQUIRE(deltas.size() >= 3);
  CHECK(deltas.front() == R"([{"reasoning_content":"h"}])");
  CHECK(reply.value().find_string("content") == "yes");
  CHECK(reply.value().find_string("reasoning_content") == "hm");
  std::string all;
  for (const std::string& piece : pieces) all += piece;
  json::Value whole = request("parse", "");
  whole.as_object().set("text", all);
  CHECK(service.run(whole).value() == reply.value());
  // The text comes from the stream, so the field is unknown.
  CHECK(service.run(whole, {.stream = &stream}).error().message == "unknown field `text`");
}

TEST_CASE("the clock is the one that it is given") {
  const json::Value asks = json::Object{
      {"op", "render"}, {"template", "{{ strftime_now('%Y-%m-%d %H:%M:%S') }}"}, {"messages", json::Array{}}};
  ServiceOptions options;
  options.clock = [] {
    std::tm time{};
    time.tm_year = 126;
    time.tm_mon = 1;
    time.tm_mday = 3;
    time.tm_hour = 4;
    time.tm_min = 5;
    time.tm_sec = 6;
    return time;
  };
  CHECK(Service(options).run(asks).value().find_string("text") == "2026-02-03 04:05:06");
  CHECK(Service({}).run(asks).error().code == ErrorCode::kTemplateError);
}

TEST_CASE("people see more of tokens") {
  const Service service({});
  const json::Value asks = request("encode", R"(, "messages": [{"role": "user", "content": "Hi"}])");
  const json::Value plain = service.run(asks).value();
  const json::Value traced = service.run(asks, {.trace = true}).value();
  const std::size_t size = plain.find("ids")->as_array().size();
  CHECK(plain.find("kinds") == nullptr);
  for (const char* field : {"offsets", "kinds", "straddles"})
    CHECK_MESSAGE(traced.find(field)->as_array().size() == size, field);
  CHECK(traced.find("ids")->as_array() == plain.find("ids")->as_array());
  CHECK(traced.find_string("text") == "<bos>[[user: Hi~fin~");
  CHECK(json::to_compact(*traced.find("roles")) == R"(["user"])");
  CHECK(traced.find("kinds")->as_array().front() == json::Value("special"));
}

// The template accepts arguments as an object and contents as text, and needs names in results.  The request has none
// of these.
TEST_CASE("origins and owners of shaped messages are those that were sent") {
  const Service service({});
  json::Value asked = json::parse(R"JSON({"op": "render", "mode": "lenient", "spans": true, "messages": [
      {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
      {"role": "assistant", "content": null, "tool_calls": [
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{\"k\": \"v\"}"}},
        {"id": "c", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
      {"role": "tool", "tool_call_id": "c", "content": "second"},
      {"role": "tool", "tool_call_id": "b", "content": "first"}]})JSON")
                          .value();
  asked.as_object().set(
      "template",
      "{% for m in messages %}[{{ m.content + '' }}{% for c in m.tool_calls or [] %}<{{ c.function.name }}"
      "{% for k, v in c.function.arguments.items() %} {{ k }}={{ v }}{% endfor %}>{% endfor %}"
      "{{ '#' + m.name if m.role == 'tool' }}]{% endfor %}");
  const auto reply = service.run(asked);
  REQUIRE_MESSAGE(reply.ok(), reply.error().to_string());
  CHECK(reply.value().find_string("text") == "[Hi][<f k=v><g>][first#f][second#g]");
  std::string paths;
  for (const json::Value& span : reply.value().find("spans")->as_array())
    paths += std::string(span.find_string("path").value_or("")) + " ";
  for (const char* path :
       {"messages[0].content ", "messages[1].tool_calls[0].function.arguments ", "messages[3].content "})
    CHECK_MESSAGE(paths.find(path) != std::string::npos, paths);
  CHECK(paths.find("messages[3].content") < paths.find("messages[2].content"));
  std::string shaped;
  for (const json::Value& sentence : reply.value().find("shaped")->as_array()) shaped += sentence.as_string() + "\n";
  CHECK(shaped ==
        "messages[0].content: given as one text\n"
        "messages[1].tool_calls[0].function.arguments: given as an object\n"
        "messages[1].tool_calls[1].function.arguments: given as an object\n"
        "messages[1].content: given as an empty text\n"
        "messages[3].role: put where its call stands among the calls\n"
        "messages[2].role: put where its call stands among the calls\n"
        "messages[3].name: given as `f`, the tool that was called\n"
        "messages[2].name: given as `g`, the tool that was called\n");
  asked.as_object().set("mode", "strict");
  CHECK(service.run(asked).error().code == ErrorCode::kTemplateError);
}

TEST_CASE("bug: render did not say what a template leaves out") {
  const Service service({});
  const auto notes = [&service](const std::string& chat_template, const std::string& mode) {
    json::Value asked = json::parse(R"({"op": "render", "messages": [{"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "", "tool_calls":
        [{"type": "function", "function": {"name": "find", "arguments": {}}}]}]})")
                            .value();
    asked.as_object().set("template", chat_template);
    asked.as_object().set("mode", mode);
    const json::Value reply = service.handle(asked);
    REQUIRE_MESSAGE(reply.find("text") != nullptr, json::to_compact(reply));
    const json::Value* notes = reply.find("notes");
    return notes != nullptr ? json::to_compact(*notes) : "";
  };
  const std::string users =
      "{%- for m in messages %}{%- if m.role == 'user' %}{{- m.content }}{%- endif %}{%- endfor %}";
  CHECK(notes(users, "lenient") == R"(["messages[2].tool_calls[0]: the template writes nothing of it",)"
                                   R"("messages[0].role: the template writes nothing for the role `system`"])");
  CHECK(notes(users, "strict") == "");
  CHECK(notes("{{- messages | tojson }}", "lenient") == "");
}

TEST_CASE("check and fix tell how far they are") {
  const Service service({});
  std::size_t last = 0;
  std::size_t total = 0;
  RunOptions options;
  options.on_progress = [&](std::size_t done, std::size_t of) {
    CHECK(done == last + 1);
    last = done;
    total = of;
  };
  REQUIRE(service.run(request("check", R"(, "scenarios": ["call-user"])"), options).ok());
  CHECK(last == total);
  CHECK(total > 0);
}

TEST_CASE("a log that is read from elsewhere is told of now and then, not at each request") {
  const Service service({});
  std::string log;
  for (int i = 0; i < 130; ++i)
    log += R"({"messages": [{"role": "user", "content": "Hi"}]})"
           "\n";
  std::size_t at = 0;
  LogStream stream;
  stream.read = [&](char* out, std::size_t size) {
    const std::size_t count = std::min(size, log.size() - at);
    log.copy(out, count, at);
    at += count;
    return count;
  };
  std::vector<std::uint64_t> told;
  stream.on_progress = [&](std::uint64_t bytes, std::uint64_t requests) {
    CHECK(bytes <= log.size());
    told.push_back(requests);
  };
  RunOptions options;
  options.log = &stream;
  const auto replayed = service.run(request("replay", ""), options);
  REQUIRE_MESSAGE(replayed.ok(), replayed.error().to_string());
  CHECK(told == std::vector<std::uint64_t>{64, 128});
}

TEST_CASE("a made log may be of nobody") {
  const Service service({});
  const auto replayed = service.run(request("replay", R"(, "generate": {"agents": 0})"));
  REQUIRE_MESSAGE(replayed.ok(), replayed.error().to_string());
  CHECK(replayed.value().find("requests")->to_int64() == 0);
}

TEST_CASE("bug: a made log has limits, each by itself and all together") {
  const Service service({});
  const auto refused = [&](const std::string& generate) {
    const auto replayed = service.run(request("replay", R"(, "generate": {)" + generate + "}"));
    return replayed.ok() ? std::string() : replayed.error().message;
  };
  for (const char* name : {"agents", "active", "turns", "calls", "kinds", "system", "task", "answer", "result"}) {
    CAPTURE(name);
    const std::string most = "`generate." + std::string(name) + "` must be at most 1000000";
    for (const char* number : {"1000001", "9223372036854775807", "99999999999999999999"})
      CHECK(refused("\"" + std::string(name) + "\": " + number) == most);
    CHECK(refused("\"" + std::string(name) + "\": -1") ==
          "`generate." + std::string(name) + "` must be a whole number of at least 0");
  }
  CHECK(refused(R"("kinds": 10000, "system": 10000)") ==
        "`generate` asks for more than 10000000 words of instructions and tools");
  CHECK(refused(R"("active": 1000, "agents": 1000, "turns": 1000)").find("of agents that work at a time") !=
        std::string::npos);
  CHECK(refused(R"("agents": 1000000, "turns": 500)").find("more than 10000000000 words in all requests") !=
        std::string::npos);
  CHECK(refused(R"("agents": 0, "seed": 9223372036854775807)").empty());
  const auto limited =
      service.run(request("replay", R"(, "limit": 2, "generate": {"agents": 1000000, "turns": 100, "system": 10})"));
  CHECK(limited.ok());
  CHECK(service.run(request("replay", R"(, "lines": [], "memory_mb": 18014398509481984)")).error().message ==
        "`memory_mb` must be at most 16777216");
}

TEST_CASE("bug: requests are served from regular files only") {
  const Service service({});
  const auto failure = [&](const std::string& op, const std::string& rest) {
    const json::Value asked = json::parse(R"({"op": ")" + op + R"(")" + rest + "}").value();
    const json::Value reply = service.handle(asked);
    const json::Value* error = reply.find("error");
    if (error == nullptr) return std::string("served");
    return error->find("code")->as_string() + ": " + error->find("message")->as_string();
  };
  const std::string tokenizer = R"(, "template": "x", "tokenizer": ")" + std::string(kModel) + "\"";
  const std::string pipe =
      files::join(std::filesystem::temp_directory_path().string(), "rondo_service_pipe_" + std::to_string(::getpid()));
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& special : {std::string("/dev/zero"), pipe}) {
    CAPTURE(special);
    const std::string path = ": \"" + special + "\"";
    const std::string refused = "not_found: " + special + ": is not a regular file";
    CHECK(failure("render", R"(, "messages": [], "template_file")" + path) == refused);
    CHECK(failure("tokenize", R"(, "text": "a", "tokenizer")" + path) == refused);
    CHECK(failure("replay", tokenizer + R"(, "log")" + path) == refused);
  }
  std::filesystem::remove(pipe);
  CHECK(failure("replay", tokenizer + R"(, "log": "/tmp")") == "not_found: /tmp: is a folder, expected a file");
}

TEST_CASE("bug: messages of errors show what the request holds on one line, and shortened") {
  const Service service({});
  const std::string base = R"("template": "{{ messages }}", "messages": [{"role": "user", "content": "x"}])";
  for (const std::string& text : {std::string(5000, 'L'), std::string("r\nde\rr\t\x1b[2J")}) {
    const std::string name = json::to_compact(json::Value(text));
    const std::string requests[] = {
        R"("op": )" + name,
        R"("op": "render", )" + base + ", " + name + ": 1",
        R"("op": "render", )" + base + R"(, "polyfill": )" + name,
        R"("op": "render", )" + base + R"(, "now": )" + name,
        R"("op": "render", )" + base + R"(, "continue_final_message": )" + name,
        R"("op": "render", "messages": [], "template_file": )" + name,
        R"("op": "tokenize", "text": "", "tokenizer": )" + name,
        R"("op": "encode", )" + base + R"(, "tokenizer": "x", "retention": )" + name,
        R"("op": "grammar", )" + base + R"(, "tools": [], "format": )" + name,
        R"("op": "grammar", )" + base + R"(, "tools": [], "tool_choice": )" + name,
        R"("op": "grammar", )" + base + R"(, "tools": [], "tool_choice": {"name": )" + name + "}",
        R"("op": "grammar", )" + base + R"(, "corrections": {)" + name + ": 1}",
        R"("op": "check", "template": "x", "scenarios": [)" + name + "]",
        R"("op": "replay", "template": "x", "tokenizer": "x", "generate": {)" + name + ": 1}",
        R"("op": "replay", "template": "x", "tokenizer": "x", "lines": [], "routing": )" + name,
        R"("op": "test", "suite": "{}", "source": )" + name,
        R"("op": "test", "suite": "{\"cases\": [], \"x\\ny\": 1}", "source": )" + name,
        R"("op": "edge_format", "edge": {"roles": {)" + name + ": 1}}",
    };
    for (const std::string& one : requests) {
      CAPTURE(one.substr(0, 100));
      const json::Value reply = service.handle(json::parse("{" + one + "}").value());
      const json::Value* error = reply.find("error");
      REQUIRE(error != nullptr);
      const std::string& message = error->find("message")->as_string();
      CHECK(message.size() < 1200);  // the names of all scenarios are in one
      CHECK(message.find_first_of("\n\r\t\x1b") == std::string::npos);
    }
  }
}

TEST_CASE("any number of threads may ask at once") {
  const Service service({});
  const json::Value asks = request("encode", R"(, "messages": [{"role": "user", "content": "Hi"}])");
  std::vector<json::Value> replies(4);
  std::vector<std::thread> threads;
  for (json::Value& reply : replies) threads.emplace_back([&] { reply = service.handle(asks); });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(replies.front().find("ids") != nullptr);
  for (const json::Value& reply : replies) CHECK(reply == replies.front());
}

}  // namespace
}  // namespace rondo::protocol
