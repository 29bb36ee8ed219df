#include "core/prepared.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

using testing::call_of;
using testing::memory_model;

Prepared prepared(const Model& model, Call& call) {
  auto out = model.prepare(call, TokenizerUse::kRequired);
  REQUIRE(out.ok());
  return std::move(out).value();
}

TEST_CASE("a template shows nothing of the clock, dates, or the time of the day") {
  using enum ClockUse;
  for (const auto& [source, use] :
       {std::pair("{{ messages }}", kNone), std::pair("{{ strftime_now('%d %b %Y') }}", kDate),
        std::pair("{%- if strftime_now is defined %}{{ strftime_now( \"%-d%%\" ) }}", kDate),
        std::pair("{{ strftime_now('%Y') }}{{ strftime_now('%H:%M') }}", kTime),
        std::pair("{{ strftime_now('%c') }}", kTime), std::pair("{{ strftime_now('%') }}", kTime),
        std::pair("{{ strftime_now(form) }}", kTime), std::pair("{{ strftime_now('%Y' + form) }}", kTime),
        std::pair("{% set now = strftime_now %}", kTime), std::pair("{{ strftime_now(", kTime),
        std::pair("{{ strftime_now('%Y", kTime)})
    CHECK_MESSAGE(clock_use(source) == use, source);
}

TEST_CASE("a key names everything but the messages") {
  const auto model = memory_model();
  Call call = testing::user_call();
  const Prepared use = prepared(*model, call);
  const std::string key = derived_key(use, call.conversation);
  Call other = call_of(R"([{"role": "user", "content": "Something else"}])");
  static_cast<void>(prepared(*model, other));
  CHECK(derived_key(use, other.conversation) == key);
  const auto differs = [&](const auto& change) {
    chat::Conversation changed = call.conversation;
    change(changed);
    return derived_key(use, changed) != key;
  };
  CHECK(differs([](chat::Conversation& c) { c.tools = testing::tools(); }));
  CHECK(differs([](chat::Conversation& c) { c.documents = json::Value(json::Array{}); }));
  CHECK(differs([](chat::Conversation& c) { c.kwargs.set("enable_thinking", false); }));
  CHECK(differs([](chat::Conversation& c) { c.bos_token = "other"; }));
  CHECK(differs([](chat::Conversation& c) { c.eos_token.reset(); }));
  Prepared tools = use;
  tools.is_tool_template = true;
  CHECK(derived_key(tools, call.conversation) != key);
}

TEST_CASE("corrections replace parts of what was inferred, and are checked") {
  const auto stops = [](const char* corrections) {
    const auto model = memory_model({.corrections = testing::object(corrections)});
    Call call = testing::user_call();
    const auto format = model->format(call);
    return format.ok() ? json::to_compact(*format::to_json(*format.value()).find("stops")) : format.error().message;
  };
  const std::string inferred = stops("{}");
  CHECK(inferred.find("~fin~") != std::string::npos);
  const std::string corrected = stops(R"({"stops": {"content": ["~end~"]}})");
  CHECK(corrected.find("~end~") != std::string::npos);
  CHECK(corrected != inferred);
  CHECK(stops(R"({"stops": {"content": 5}})").starts_with("`corrections`: "));
  CHECK(stops(R"({"no such part": 5})").starts_with("`corrections`: "));
}

TEST_CASE("explained_format has the grounds, and the corrections too") {
  const auto model = memory_model();
  Call call = testing::user_call();
  const Prepared use = prepared(*model, call);
  const json::Object corrections = testing::object(R"({"header": "[[me>>"})");
  const auto explained = explained_format(use, call.conversation, corrections);
  REQUIRE(explained.ok());
  CHECK(explained.value().format->header == "[[me>>");
  CHECK(explained_format(use, call.conversation, std::nullopt).value().format->header == "[[assistant>>");
  const json::Object wrong = testing::object(R"({"header": 1})");
  CHECK_FALSE(explained_format(use, call.conversation, wrong).ok());
}

}  // namespace
}  // namespace rondo::core
