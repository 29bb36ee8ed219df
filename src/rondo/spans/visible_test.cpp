#include "spans/visible.h"

#include <doctest/doctest.h>

#include "json/parse.h"

namespace rondo::spans {
namespace {

json::Array parsed(const char* text) {
  auto out = json::parse(text);
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return std::move(out).value().as_array();
}

std::string last_form(const char* messages) {
  const json::Array all = parsed(messages);
  return visible_form(all, all.size() - 1);
}

TEST_CASE("what a client does not change on purpose does not matter") {
  const char* const kCases[][2] = {
      {R"([{"role": "user", "content": "Hi"}])", R"([{"content": " Hi\n", "role": "user"}])"},
      {R"([{"role": "user", "content": "Hi you"}])",
       R"([{"role": "user", "content": [{"type": "text", "text": "Hi "}, {"type": "input_text", "text": "you"}]}])"},
      {R"([{"role": "user", "content": "Hi"}])", "[{\"role\": \"user\", \"content\": \"\\u00a0Hi\\ufeff\"}]"},
      {R"([{"role": "assistant", "content": "Hi", "reasoning_content": "hm"}])",
       R"([{"role": "assistant", "content": "Hi", "reasoning": "hm", "refusal": null, "annotations": []}])"},
      {R"([{"role": "assistant", "content": "Hi"}])",
       R"([{"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "text", "text": "Hi"}]}])"},
      {R"([{"role": "assistant", "content": "Hi", "reasoning_content": "hm"}])",
       R"([{"role": "assistant", "content": "\n<think>\nhm\n</think>\n<thinking>so</thinking>\n\nHi"}])"},
      {R"([{"role": "assistant", "content": ""}])", R"([{"role": "assistant", "content": "<think>hm</think>"}])"},
      {R"([{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1.0, \"y\": [true, \"\\u00e9\"]}"}}]}])",
       R"([{"role": "assistant", "content": "", "tool_calls": [{"id": "b", "index": 0, "function": {"arguments": {"y": [true, "é"], "x": 1}, "name": "f"}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}])",
       R"([{"role": "assistant", "content": [], "tool_calls": [{"function": {"name": "f", "arguments": ""}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b", "function": {"name": "g", "arguments": "{}"}}]},
          {"role": "tool", "tool_call_id": "b", "content": "4"}])",
       R"([{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}, {"id": "2", "function": {"name": "g", "arguments": "{}"}}]},
          {"role": "tool", "tool_call_id": "2", "name": "g", "content": [{"type": "text", "text": "4"}]}])"},
  };
  for (const auto& [left, right] : kCases) CHECK_MESSAGE(last_form(left) == last_form(right), left << "\n" << right);
}

TEST_CASE("bug: one of the parts of the reasoning, around a call, was taken for changed reasoning") {
  const json::Array turns = parsed(
      R"([{"role": "assistant", "content": "", "reasoning_content": "I look. \n\n So be it."},
          {"role": "assistant", "content": "", "reasoning_content": "So be it."},
          {"role": "assistant", "content": "", "reasoning_content": "I look.\nSo"},
          {"role": "assistant", "content": "", "reasoning_content": "I looked."}])");
  CHECK_FALSE(has_other_reasoning(turns[0], turns[1], false));
  CHECK_FALSE(has_other_reasoning(turns[0], turns[2], false));
  CHECK(has_other_reasoning(turns[0], turns[3], false));
  CHECK(has_other_reasoning(turns[0], turns[1], true));
}

TEST_CASE("reasoning between tags is compared with the reasoning of the reply, wherever that is") {
  const json::Value reply = parsed(R"([{"role": "assistant", "content": "Hi", "reasoning_content": "hm"}])")[0];
  const json::Value tagged = parsed(R"([{"role": "assistant", "content": "<think>\nhm\n</think>\nHi"}])")[0];
  const json::Value both = parsed(R"([{"role": "assistant", "reasoning": "hm", "content": "<think>hm</think>Hi"}])")[0];
  const json::Value other = parsed(R"([{"role": "assistant", "content": "<think>well</think>Hi"}])")[0];
  for (const json::Value* shown : {&tagged, &both, &reply}) {
    CHECK_FALSE(has_other_reasoning(reply, *shown, false));
    CHECK_FALSE(has_other_reasoning(tagged, *shown, false));
  }
  CHECK_FALSE(has_other_reasoning(reply, tagged, true));
  for (const bool is_continued : {false, true}) {
    CHECK(has_other_reasoning(reply, other, is_continued));
    CHECK(has_other_reasoning(tagged, other, is_continued));
  }
}

TEST_CASE("what was changed on purpose matters") {
  const char* const kCases[][2] = {
      {R"([{"role": "user", "content": "Hi"}])", R"([{"role": "user", "content": "<think>hm</think>Hi"}])"},
      {R"([{"role": "assistant", "content": "Hi"}])", R"([{"role": "assistant", "content": "<think>hm Hi"}])"},
      {R"([{"role": "assistant", "content": "Hi"}])", R"([{"role": "assistant", "content": "<b>hm</b>Hi"}])"},
      {R"([{"role": "user", "content": "Hi"}])", R"([{"role": "user", "content": "hi"}])"},
      {R"([{"role": "user", "content": "Hi"}])", R"([{"role": "system", "content": "Hi"}])"},
      {R"([{"role": "user", "content": "H i"}])", R"([{"role": "user", "content": "Hi"}])"},
      {R"([{"role": "user", "content": "Hi"}])", R"([{"role": "user", "content": "Hi", "name": "Bob"}])"},
      {R"([{"role": "user", "content": "Hi"}])",
       R"([{"role": "user", "content": ["Hi", {"type": "image_url", "image_url": {"url": "x"}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 1}"}}]}])",
       R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": \"1\"}"}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 9007199254740993}"}}]}])",
       R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": 9007199254740992}"}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": \"a \"}"}}]}])",
       R"([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{\"x\": \"a\"}"}}]}])"},
      {R"([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}, {"id": "b", "function": {"name": "f"}}]},
          {"role": "tool", "tool_call_id": "a", "content": "4"}])",
       R"([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}, {"id": "b", "function": {"name": "f"}}]},
          {"role": "tool", "tool_call_id": "b", "content": "4"}])"},
  };
  for (const auto& [left, right] : kCases) CHECK_MESSAGE(last_form(left) != last_form(right), left << "\n" << right);
}

TEST_CASE("numbers are what they are, however they are spelled") {
  const auto form = [](const char* text) { return value_form(json::parse(text).value()); };
  CHECK(form("1") == form("1.0"));
  CHECK(form("0") == form("-0.0"));
  CHECK(form("100000") == form("1e5"));
  CHECK(form("1e20") == form("100000000000000000000"));
  CHECK(form("0.1") == form("1e-1"));
  CHECK(form("0.1") != form("0.10000001"));
  CHECK(form("[1, 2]") != form("[2, 1]"));
  CHECK(form(R"({"a": 1, "b": 2})") == form(R"({"b": 2, "a": 1})"));
}

TEST_CASE("a chain is the same as far as the messages are, in one scope") {
  const Scope scope({}, "t", "m");
  chat::Conversation one;
  one.messages = parsed(
      R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}])");
  chat::Conversation two;
  two.messages = parsed(
      R"([{"role": "user", "content": "a "}, {"role": "assistant", "content": ["b"]}, {"role": "user", "content": "d"}])");
  const Visible seen = see(scope, one);
  const Visible other = see(scope, two);
  REQUIRE(seen.chain.size() == 4);
  CHECK(seen.chain[2] == other.chain[2]);
  CHECK(seen.chain[3] != other.chain[3]);
  CHECK(seen.chain[2] != see(Scope({}, "u", "m"), one).chain[2]);
  CHECK(seen.chain[0] != see(Scope({}, "t", "n"), one).chain[0]);
  one.tools = json::parse(R"([{"type": "function", "function": {"name": "f"}}])").value();
  CHECK(seen.chain[0] != see(scope, one).chain[0]);
  one.tools = json::Value(json::Array());
  CHECK(seen.chain[0] == see(scope, one).chain[0]);
}

TEST_CASE("a call that was cut off is shown as a client could read it") {
  const auto shows = [](const char* arguments) {
    const json::Value reply = parsed(R"([{"role": "assistant", "content": "Hm", "tool_calls": [{"function":
        {"name": "f", "arguments": "{\"a\": 1, \"b\": \"lon"}}]}])")[0];
    const std::string shown = std::string(R"([{"role": "assistant", "content": "Hm", "tool_calls": [{"function":
        {"name": "f", "arguments": )") +
                              arguments + "}}]}]";
    return shows_cut_reply(reply, parsed(shown.c_str())[0], false);
  };
  CHECK(shows(R"("{\"a\": 1, \"b\": \"lon")"));
  CHECK(shows(R"({"a": 1})"));
  CHECK(shows(R"({"a": 1, "b": "lon"})"));
  CHECK(shows("{}"));
  CHECK(!shows(R"({"a": 2})"));
  CHECK(!shows(R"({"a": 1, "b": "long"})"));
  // A complete word in an incomplete object: a client may wait for what follows it.
  const json::Value open = parsed(R"([{"role": "assistant", "content": "Hm", "tool_calls": [{"function":
      {"name": "f", "arguments": "{\"a\": 1, \"b\": true\n  "}}]}])")[0];
  for (const auto& [arguments, is_shown] : {std::pair(R"({"a": 1, "b": true})", true), std::pair(R"({"a": 1})", true),
                                            std::pair("{}", true), std::pair(R"({"b": true})", false)}) {
    const std::string shown = R"([{"role": "assistant", "content": "Hm", "tool_calls": [{"function": {"name": "f",
        "arguments": )" + std::string(arguments) +
                              "}}]}]";
    CHECK_MESSAGE(shows_cut_reply(open, parsed(shown.c_str())[0], true) == is_shown, arguments);
  }
  const json::Value whole = parsed(R"([{"role": "assistant", "content": "Hm"}])")[0];
  CHECK(!shows_cut_reply(whole, whole, true));
  // A complete call may be left out only if the reply broke off.
  const json::Value calling =
      parsed(R"([{"role": "assistant", "content": "Hm", "tool_calls": [{"function": {"name": "f",
      "arguments": "{}"}}]}])")[0];
  CHECK(shows_cut_reply(calling, whole, true));
  CHECK(!shows_cut_reply(calling, whole, false));
}

TEST_CASE("calls may be shown without the text beside them, and nothing else may be left out") {
  const json::Array messages = parsed(R"([
      {"role": "assistant", "content": "Hm", "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}]},
      {"role": "assistant", "name": "n", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "assistant", "content": "H", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
      {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 2}}}]},
      {"role": "assistant", "content": "Hm"},
      {"role": "assistant", "content": ""}])");
  CHECK(shows_calls_alone(messages[0], messages[1]));
  for (std::size_t i = 2; i < messages.size(); ++i) CHECK_FALSE(shows_calls_alone(messages[0], messages[i]));
  CHECK_FALSE(shows_calls_alone(messages[4], messages[5]));
}

TEST_CASE("ids that a client may echo") {
  const json::Value message =
      parsed(R"([{"role": "assistant", "id": "msg_1", "content": [{"type": "thinking", "signature": "s"}],
      "tool_calls": [{"id": "c1"}, {"id": ""}], "encrypted_content": "e"}])")[0];
  const std::vector<std::string_view> ids = echoed_ids(message);
  CHECK(ids == std::vector<std::string_view>{"msg_1", "e", "c1", "s"});
}

}  // namespace
}  // namespace rondo::spans
