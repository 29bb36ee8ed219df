#include "edge/edge_template.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"
#include "tests/support/own_folder.h"

namespace rondo::edge {
namespace {

constexpr std::string_view kWhole = R"({
  "model_path": "a/model",
  "roles": {
    "system": {"prefix": "<s>", "suffix": "</s>"},
    "user": {"prefix": "<u>", "suffix": "</u>"},
    "assistant": {"prefix": "", "suffix": ""}
  },
  "content_types": {"image": {"format": "<img>"}, "video": {"format": "<vid>"}},
  "generation_prompt": "<a>no",
  "generation_prompt_thinking": "<a>",
  "default_system_prompt": "be kind"
})";

std::string with(std::string_view from, std::string_view to) {
  std::string out(kWhole);
  const std::size_t at = out.find(from);
  REQUIRE(at != std::string::npos);
  return out.replace(at, from.size(), to);
}

// The errors, one per line: place, path, sentence, and what the exporter says.
std::string errors_of(const std::string& text) {
  std::string out;
  for (const Finding& finding : validate(text).findings) {
    if (!finding.is_error()) continue;
    out += std::to_string(finding.line) + ":" + std::to_string(finding.column) + " " + finding.path + ": " +
           finding.sentence + " / " + finding.reference + "\n";
  }
  return out;
}

TEST_CASE("002:37-70, 002:85-95: a whole file is read, and written as it was") {
  const auto parsed = parse(kWhole, "file");
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
  const EdgeTemplate& read = parsed.value();
  CHECK(read.model_path == "a/model");
  CHECK(read.find_role("user")->prefix == "<u>");
  CHECK(read.find_role("user")->suffix == "</u>");
  CHECK(read.find_role("tool") == nullptr);
  CHECK(read.find_content_type("image")->format == "<img>");
  CHECK(read.find_content_type("audio") == nullptr);
  CHECK(read.generation_prompt == "<a>no");
  CHECK(read.generation_prompt_thinking == "<a>");
  CHECK(read.default_system_prompt == "be kind");
  CHECK(to_json(read) == json::parse(kWhole).value());
  CHECK(validate(kWhole).findings.empty());
}

TEST_CASE("002:85-95: what is optional has its default") {
  const auto read = parse(R"({"roles": {"system": {"prefix": "", "suffix": ""}, "user": {"prefix": "", "suffix": ""},
                              "assistant": {"prefix": "", "suffix": ""}}})",
                          "file");
  REQUIRE(read.ok());
  CHECK(
      json::to_compact(to_json(read.value())) ==
      R"({"model_path":"","roles":{"system":{"prefix":"","suffix":""},"user":{"prefix":"","suffix":""},)"
      R"("assistant":{"prefix":"","suffix":""}},"content_types":{},"generation_prompt":"","default_system_prompt":""})");
  CHECK_FALSE(read.value().generation_prompt_thinking);
  const Validated empty = validate(with(R"({"format": "<img>"})", "{}"));
  REQUIRE(empty.edge_template);
  CHECK(empty.edge_template->find_content_type("image")->format == "");
  REQUIRE(empty.findings.size() == 1);
  CHECK(empty.findings[0].sentence == "`content_types.image.format` is missing: parts of that type are left out");
}

TEST_CASE("002:74-83: what is required is named with all that is missing, its path and place") {
  CHECK(errors_of("{}") == "1:1 : the required member `roles` is missing / Missing required keys: ['roles']\n");
  CHECK(errors_of(with(R"("user": {"prefix": "<u>", "suffix": "</u>"},)", "")) ==
        "3:12 roles: the required member `roles.user` is missing / Missing required keys: ['roles.user']\n");
  CHECK(errors_of(R"({"roles": {}})") ==
        "1:11 roles: the required members `roles.system`, `roles.user`, `roles.assistant` are missing / "
        "Missing required keys: ['roles.system', 'roles.user', 'roles.assistant']\n");
  CHECK(errors_of(with(R"("prefix": "<u>", )", "")) ==
        "5:13 roles.user: the required member `roles.user.prefix` is missing / "
        "Missing required keys: ['roles.user.prefix']\n");
  CHECK(errors_of(with(R"({"prefix": "", "suffix": ""})", "{}")) ==
        "6:18 roles.assistant: the required members `roles.assistant.prefix`, `roles.assistant.suffix` are missing / "
        "Missing required keys: ['roles.assistant.prefix', 'roles.assistant.suffix']\n");
}

TEST_CASE("002:74-95: every wrong type is named with its path and place") {
  CHECK(errors_of("[]") == "1:1 : the file must be an object, found an array / chat template must be dict, got list\n");
  CHECK(errors_of(R"({"roles": []})") ==
        "1:11 roles: `roles` must be an object, found an array / "
        "'roles' must be dict, got list\n");
  CHECK(errors_of(with("\"<u>\"", "7")) ==
        "5:24 roles.user.prefix: `roles.user.prefix` must be a string, found an "
        "integer / 'roles.user.prefix' must be str, got int\n");
  CHECK(errors_of(with("\"<s>\"", "1.5")).ends_with("'roles.system.prefix' must be str, got float\n"));
  CHECK(errors_of(with("\"</s>\"", "null")).ends_with("'roles.system.suffix' must be str, got NoneType\n"));
  CHECK(errors_of(with(R"({"prefix": "<s>", "suffix": "</s>"})", "true"))
            .ends_with("'roles.system' must be dict, got bool\n"));
  for (const char* name : {"model_path", "generation_prompt", "generation_prompt_thinking", "default_system_prompt"}) {
    json::Value value = json::parse(kWhole).value();
    value.as_object().set(name, json::Object{});
    CHECK(errors_of(json::to_compact(value)).ends_with("'" + std::string(name) + "' must be str, got dict\n"));
  }
  CHECK(errors_of(with(R"({"image": {"format": "<img>"}, "video": {"format": "<vid>"}})", "3"))
            .ends_with("'content_types' must be dict, got int\n"));
  CHECK(errors_of(with("\"<img>\"", "[]")).ends_with("'content_types.image.format' must be str, got list\n"));
  CHECK(errors_of(with(R"({"format": "<vid>"})", "\"x\"")).ends_with("'content_types.video' must be dict, got str\n"));
  // All of them, not only the first.
  CHECK(errors_of(R"({"roles": {"system": 1, "user": 2, "assistant": 3}, "model_path": 4})").size() > 300);
  const auto error = parse(with("\"<u>\"", "7"), "a file").error();
  CHECK(error.code == ErrorCode::kInvalidArgument);
  CHECK(error.to_string().starts_with("a file:5:24: `roles.user.prefix` must be a string, found an integer"));
}

TEST_CASE("unknown members are kept and reported, further roles and types belong to the format") {
  const std::string text = R"({"version": 2, "roles": {
    "tool": {"prefix": "<t>", "suffix": "</t>"}, "system": {"prefix": "", "suffix": ""},
    "user": {"prefix": "", "suffix": "", "role_id": [1, {"a": null}]}, "assistant": {"prefix": "", "suffix": ""}},
    "content_types": {"audio": {"format": "<snd>", "rate": 1e3}}})";
  const Validated validated = validate(text);
  REQUIRE(validated.edge_template);
  CHECK(validated.edge_template->find_role("tool")->suffix == "</t>");
  CHECK(validated.edge_template->find_content_type("audio")->format == "<snd>");
  REQUIRE(validated.findings.size() == 3);
  CHECK(validated.findings[0].path == "roles.user.role_id");
  CHECK(validated.findings[0].sentence == "`roles.user.role_id` is not a member of the format; it is kept");
  CHECK(validated.findings[0].line == 3);
  CHECK(validated.findings[1].path == "content_types.audio.rate");
  CHECK(validated.findings[2].path == "version");
  const json::Value written = to_json(*validated.edge_template);
  CHECK(json::to_compact(*written.find("roles")->find("user")->find("role_id")) == R"([1,{"a":null}])");
  CHECK(json::to_compact(*written.find("version")) == "2");
  CHECK(json::to_compact(*written.find("content_types")) == R"({"audio":{"format":"<snd>","rate":1e3}})");
  const auto again = parse(json::to_pretty(written), "again");
  REQUIRE(again.ok());
  CHECK(to_json(again.value()) == written);
}

TEST_CASE("bad files get a sentence with a place") {
  // Cut off anywhere, it is not a file.
  for (std::size_t size = 0; size < kWhole.size() - 1; ++size) {
    const Validated cut = validate(kWhole.substr(0, size));
    CHECK_FALSE(cut.edge_template);
    REQUIRE(cut.findings.size() == 1);
    CHECK(cut.findings[0].sentence.starts_with("the file is not JSON: "));
    CHECK(cut.findings[0].line > 0);
  }
  CHECK(parse("", "x").error().code == ErrorCode::kJson);
  CHECK(errors_of(with("<u>", "\xFF")).starts_with("5:25 : the file is not JSON: "));
  CHECK(errors_of(with("<u>", "\\ud800")) ==
        "5:24 roles.user.prefix: `roles.user.prefix` holds half of a surrogate pair, which is not a character / \n");
  const std::string deep = "{\"roles\": " + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  CHECK(errors_of(deep).find("not JSON") != std::string::npos);
  const std::string wide = with("<u>", std::string(kMaxFileBytes, 'x'));
  CHECK(parse(wide, "wide").error().code == ErrorCode::kLimit);
  CHECK(parse(wide, "wide").error().message.ends_with(" bytes, a template at most 16777216"));
}

TEST_CASE("files are loaded and saved") {
  const rondo::testing::OwnFolder folder;
  const auto read = parse(kWhole, "file").value();
  CHECK(save(read, folder.path("out.json")).ok());
  CHECK(to_json(load(folder.path("out.json")).value()) == to_json(read));
  const auto missing = load(folder.path("none.json"));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == ErrorCode::kNotFound);
  CHECK(missing.error().source == folder.path("none.json"));
  CHECK_FALSE(save(read, folder.path("no/such/folder.json")).ok());
  folder.file("large.json", std::string(kMaxFileBytes + 1, ' '));
  CHECK(load(folder.path("large.json")).error().code == ErrorCode::kLimit);
}

}  // namespace
}  // namespace rondo::edge
