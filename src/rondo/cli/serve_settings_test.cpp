#include "cli/serve_settings.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "base/files.h"
#include "tests/support/own_folder.h"

namespace rondo::cli {
namespace {

struct Subject {
  Result<ServeSettings> read(const std::string& file = "") {
    if (!file.empty()) { given.config_path = folder.file("serve.toml", file); }
    return read_settings(given, [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  }
  // The error, without the folder and the code frame.
  std::string error(const std::string& file = "") {
    const auto settings = read(file);
    REQUIRE(!settings.ok());
    std::string text = settings.error().to_string();
    text = text.substr(0, text.find('\n'));
    return text.substr(text.find("serve.toml") == std::string::npos ? 0 : text.find("serve.toml"));
  }

  testing::OwnFolder folder{"settings"};
  GivenOptions given;
  std::map<std::string, std::string> variables;
};

TEST_CASE("settings: the command line wins over the environment over the file over the default") {
  Subject subject;
  const std::string file = "port = 1\nmax_body = 2\nmax_streams = 3\n";
  subject.variables = {{"RONDO_SERVE_PORT", "11"}, {"RONDO_SERVE_MAX_BODY", "12"}};
  subject.given.options = {{"port", {"21"}}};
  const auto settings = subject.read(file);
  REQUIRE_MESSAGE(settings.ok(), (settings.ok() ? "" : settings.error().to_string()));
  CHECK(settings.value().port == 21);
  CHECK(settings.value().max_body_mb == 12);
  CHECK(settings.value().max_streams == 3);
  CHECK(settings.value().drain_timeout_s == 30);
  CHECK(settings.value().models.size() == 1);
}

TEST_CASE("settings: models of a file have their own, and what is said outside of it counts for all") {
  Subject subject;
  subject.given.options = {{"parallel", {"8"}}};
  subject.variables = {{"RONDO_SERVE_URL", "http://a,http://b"}};
  const auto settings = subject.read(
      "context = 100\n[[model]]\npath = \"one\"\nalias = \"first\"\nparallel = 2\n"
      "[[model]]\npath = \"two\"\nalias = [\"a\", \"b\"]\ncontext = 200\nkwargs = {think = false}\n");
  REQUIRE_MESSAGE(settings.ok(), (settings.ok() ? "" : settings.error().to_string()));
  const auto& models = settings.value().models;
  REQUIRE(models.size() == 2);
  CHECK(models[0].path == "one");
  CHECK(models[0].alias == std::vector<std::string>{"first"});
  CHECK(models[1].alias == std::vector<std::string>{"a", "b"});
  CHECK(models[0].parallel == 8);
  CHECK(models[0].context == 100);
  CHECK(models[1].context == 200);
  CHECK(models[1].kwargs == "{\"think\":false}");
  CHECK(models[1].urls == std::vector<std::string>{"http://a", "http://b"});
  // A model on the command line is the only one.
  subject.given.model = "three";
  CHECK(subject.read("[[model]]\npath = \"one\"\n").value().models.size() == 1);
}

TEST_CASE("settings: what is wrong is said with its place") {
  Subject subject;
  CHECK(subject.error("port = 1\nprot = 2\n") == "serve.toml:2:1: there is no setting `prot`");
  CHECK(subject.error("port = \"x\"\n") == "serve.toml:1:8: `port` must be a number from 0 to 65535");
  CHECK(subject.error("port = 70000\n") == "serve.toml:1:8: `port` must be a number from 0 to 65535");
  CHECK(subject.error("loops = 0\n") == "serve.toml:1:9: `loops` must be a number from 1 to 64");
  CHECK(subject.error("json = 1\n") == "serve.toml:1:8: `json` must be true or false");
  CHECK(subject.error("log = \"loud\"\n") == "serve.toml:1:7: `log` must be one of `text` `json` `off`");
  CHECK(subject.error("cors = [1]\n") == "serve.toml:1:8: `cors` must be a text, or a list of texts");
  CHECK(subject.error("[[model]]\npath = 1\n") == "serve.toml:2:8: `path` must be a text");
  CHECK(subject.error("[[model]]\nport = 1\n") == "serve.toml:2:1: `port` is a setting of the server, not of a model");
  CHECK(subject.error("[[model]]\npath = \"a\"\nnone = 1\n") == "serve.toml:3:1: there is no setting `none`");
  CHECK(subject.error("[model]\npath = 1\n") == "serve.toml:1:2: `model` must be a list of tables: [[model]]");
  CHECK(subject.error("port = \n").starts_with("serve.toml:1:"));
  CHECK(subject.error("cors = \"chat.example\"\n").starts_with("`cors` takes an origin"));
  CHECK(subject.error("cors = \"*\"\n").starts_with("`cors` takes an origin"));
  CHECK(subject.error("tls_cert = \"a\"\n") == "`tls-cert` and `tls-key` go together");
  CHECK(subject.error("now = \"noon\"\n") == "`now` is a time like 2026-03-14T15:09:26, not `noon`");
  CHECK(subject.error("store = \"paper\"\n") ==
        "`store` is `memory`, `sqlite:PATH` or `redis://HOST:PORT/DB`, not `paper`");
  CHECK(subject.error("url = \"http://a\"\n").starts_with("name the model whose template"));
  subject.given.config_path.clear();
  subject.variables = {{"RONDO_SERVE_MAX_BODY", "much"}};
  CHECK(subject.error() == "RONDO_SERVE_MAX_BODY: `max-body` must be a number from 1 to 1024");
  subject.variables.clear();
  subject.given.options = {{"log", {"loud"}}};
  CHECK(subject.error() == "--log: `log` must be one of `text` `json` `off`");
  subject.given.options.clear();
  subject.given.config_path = subject.folder.path("missing.toml");
  CHECK(subject.error().find("missing.toml") != std::string::npos);
}

TEST_CASE("settings: what is printed says the same again, without secrets") {
  Subject subject;
  subject.given.options = {{"key", {"a-secret"}}, {"cors", {"http://a", "http://b"}}, {"strict-model", {"true"}},
                           {"alias", {"x"}},      {"kwargs", {"{\"a\": \"b\"}"}},     {"gpu-layers", {"-1"}}};
  const auto settings = subject.read();
  REQUIRE(settings.ok());
  const std::string text = to_toml(settings.value());
  CHECK(text.find("a-secret") == std::string::npos);
  Subject again;
  const std::string one =
      text.substr(0, text.find("\npath = \"\"\n") + 1) + text.substr(text.find("\npath = \"\"\n") + 11);
  const auto read = again.read(one);
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().to_string()));
  CHECK(to_toml(read.value()) == text);
}

TEST_CASE("settings: docs/gateway.md has the table of options") {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/docs/gateway.md";
  const std::string page = files::read(path).value();
  const std::string begin = "| option | default | meaning |\n";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t end = std::min(page.find("\n\n", at) + 1, page.size());
  const std::string expected = page.substr(0, at) + options_table() + page.substr(end);
  if (std::getenv("RONDO_UPDATE") != nullptr) {
    CHECK(files::write(path, expected).ok());
  } else {
    CHECK_MESSAGE(page == expected, "RONDO_UPDATE=1 writes the table anew");
  }
  std::set<std::string_view> names;
  for (const ServeOption& option : serve_options()) CHECK_MESSAGE(names.insert(option.name).second, option.name);
}

}  // namespace
}  // namespace rondo::cli
