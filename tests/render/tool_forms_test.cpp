// Tool definitions as clients may write them, through every template at hand: they render wherever the full form does.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/model.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

using Change = std::function<void(json::Object& function)>;

// Changes the one parameter of the function.
Change in_parameter(Change change) {
  return [change = std::move(change)](json::Object& function) {
    change(function.find("parameters")->as_object().find("properties")->as_object().find("city")->as_object());
  };
}

Change set(const char* key, json::Value value) {
  return [key, value = std::move(value)](json::Object& object) { object.set(key, value); };
}
Change erase(const char* key) {
  return [key](json::Object& object) { object.erase(key); };
}

const std::vector<std::pair<const char*, Change>>& tool_forms() {
  static const std::vector<std::pair<const char*, Change>> kForms{
      {"no description", erase("description")},
      {"description null", set("description", nullptr)},
      {"no parameters", erase("parameters")},
      {"parameters null", set("parameters", nullptr)},
      {"parameters empty", set("parameters", json::Object())},
      {"no properties", set("parameters", json::Object{{"type", "object"}})},
      {"strict null", set("strict", nullptr)},
      {"parameter without description", in_parameter(erase("description"))},
      {"parameter without type", in_parameter(erase("type"))},
      {"types with null", in_parameter(set("type", json::Array{"string", "null"}))},
      {"values only", in_parameter([](json::Object& schema) { schema = {{"enum", json::Array{1, "a"}}}; })},
  };
  return kForms;
}

// A conversation of one question, with the full form of a tool, or what `change` makes of it.
core::Call call_with(const Change& change, bool is_bare = false) {
  json::Object function{{"name", "get_weather"}, {"description", "the weather"}};
  const json::Object city{{"type", "string"}, {"description", "where"}};
  function.set("parameters", json::Object{{"type", "object"},
                                          {"properties", json::Object{{"city", city}}},
                                          {"required", json::Array{"city"}}});
  if (change) change(function);
  core::Call call;
  call.conversation.messages = {json::Object{{"role", "user"}, {"content", "q"}}};
  call.conversation.add_generation_prompt = true;
  call.conversation.tools =
      is_bare ? json::Array{function} : json::Array{json::Object{{"type", "function"}, {"function", function}}};
  call.has_messages = true;
  call.now = test::kClock;
  return call;
}

}  // namespace

TEST_CASE("bug: tools that lack what the API does not ask for were refused") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t rendered = 0;
  for (const test::CorpusRow& row : corpus->templates(8)) {
    const auto lenient = core::Model::load({.chat_template = row.template_path});
    const auto strict = core::Model::load({.chat_template = row.template_path, .strict = true});
    if (!lenient.ok() || !strict.ok()) continue;
    core::Call full = call_with({});
    if (!lenient.value()->render(full).ok()) continue;
    CHECK(full.shaping.tools.empty());
    const auto check = [&](const char* name, const core::Call& sent) {
      CAPTURE(row.template_path);
      CAPTURE(std::string(name));
      core::Call call = sent;
      core::Call plain = sent;
      const auto text = lenient.value()->render(call);
      CHECK_MESSAGE(text.ok(), text.error().to_string());
      const auto as_sent = strict.value()->render(plain);
      if (text.ok() && as_sent.ok() && tmpl::sentences(call.shaping).empty()) CHECK(text.value() == as_sent.value());
      ++rendered;
    };
    for (const auto& [name, change] : tool_forms()) check(name, call_with(change));
    check("bare", call_with({}, true));
  }
  CHECK(rendered > 0);
}

}  // namespace rondo
