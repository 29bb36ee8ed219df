// Completions that another engine recorded, with the models' own token ids: what they say is known, so the parser must find it,
// as a whole and in pieces.  Those of the small corpus are what jinja2 writes for the same message.
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "protocol/service.h"
#include "tests/support/corpus_files.h"

namespace rondo {
namespace {

json::Value read(const std::string& path) {
  const auto text = files::read(path);
  REQUIRE_MESSAGE(text.ok(), path);
  auto value = json::parse(text.value());
  REQUIRE_MESSAGE(value.ok(), path);
  return std::move(value).value();
}

// What the parser should find: calls as {"name", "arguments"} with the arguments as a value.
json::Value expected_message(const json::Value& plan, const json::Value& answer) {
  json::Array calls;
  const auto count = static_cast<std::size_t>(answer.find("calls")->to_int64().value());
  for (std::size_t i = 0; i < count; ++i) {
    const json::Array& call = plan.find("calls")->as_array()[i].as_array();
    calls.emplace_back(json::Object{{"name", call[0]}, {"arguments", call[1]}});
  }
  return json::Object{
      {"reasoning", *plan.find("reasoning")}, {"content", *answer.find("content")}, {"calls", std::move(calls)}};
}

json::Value found_message(const json::Value& message) {
  json::Array calls;
  for (const json::Value& call : message.find("tool_calls")->as_array()) {
    const std::string arguments(call.find_string("arguments").value_or(""));
    auto value = json::parse(arguments);
    json::Object entry{{"name", *call.find("name")},
                       {"arguments", value.ok() ? std::move(value).value() : json::Value(arguments)}};
    if (const json::Value* status = call.find("status")) entry.set("status", *status);
    calls.emplace_back(std::move(entry));
  }
  return json::Object{{"reasoning", *message.find("reasoning_content")},
                      {"content", *message.find("content")},
                      {"calls", std::move(calls)}};
}

json::Array characters(const std::string& text) {
  json::Array out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    out.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

class Replay {
 public:
  explicit Replay(std::string models) : models_(std::move(models)) {}

  void check(const json::Value& plan, const json::Value& row, const std::string& kind, const std::string& text) {
    const std::string model = models_ + "/" + std::string(*row.find_string("model"));
    json::Object request{{"op", "parse"},      {"mode", "lenient"}, {"template_file", model},
                         {"tokenizer", model}, {"text", text},      {"tools", *plan.find("tools")}};
    if (const json::Value* kwargs = row.find("kwargs")) request.set("kwargs", *kwargs);
    const std::string expected = json::to_compact(expected_message(plan, *plan.find("answers")->find(kind)));
    CAPTURE(model);
    CAPTURE(kind);
    const auto whole = service_.run(request);
    REQUIRE(whole.ok());
    CHECK(json::to_compact(found_message(whole.value())) == expected);
    request.set("op", "parse_stream");
    request.erase("text");
    request.set("chunks", characters(text));
    const auto streamed = service_.run(request);
    REQUIRE(streamed.ok());
    CHECK(json::to_compact(found_message(*streamed.value().find("message"))) == expected);
  }

 private:
  std::string models_;
  protocol::Service service_{protocol::ServiceOptions{}};
};

}  // namespace

TEST_CASE("recorded completions are read as what they say") {
  const json::Value plan = read(RONDO_SOURCE_DIR "/tests/golden/parse/replay.json");
  const std::string folder = test::corpus_folder() + "/reference/" + std::string(*plan.find_string("folder"));
  const std::string models = test::corpus_models();
  if (models.empty() || test::corpus_folder().empty()) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  Replay replay(models);
  std::size_t checked = 0;
  for (const json::Value& row : plan.find("models")->as_array()) {
    const std::string name = folder + "/" + std::string(*row.find_string("file")) + ".json";
    if (test::is_small_corpus() && !files::exists(name)) continue;
    const json::Value file = read(name);
    for (const json::Value& grammar : file.find("grammars")->as_array()) {
      for (const json::Member& generation : grammar.find("generations")->as_object()) {
        replay.check(plan, row, generation.key, std::string(*generation.value.find_string("completion")));
        ++checked;
      }
    }
  }
  CHECK(checked > 60);
}

}  // namespace rondo
