#include "replay/request_changes.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "json/parse.h"

namespace rondo::replay {
namespace {

json::Array messages(const std::string& text) {
  auto parsed = json::parse(text);
  REQUIRE_MESSAGE(parsed.ok(), text);
  return parsed.value().as_array();
}

// "kind at messages[0].content: before -> after; ... | appended from 3, continues"
std::string compared(const std::string& before, const std::string& after, std::size_t answers = 0) {
  const json::Array old_messages = messages(before);
  const json::Array new_messages = messages(after);
  const auto old_marks = marks_of(old_messages);
  const auto new_marks = marks_of(new_messages);
  const std::optional<json::Value> tools;
  const json::Object kwargs;
  const Comparison comparison = compare_requests({old_messages, old_marks, &tools, {}, &kwargs}, answers,
                                                 {new_messages, new_marks, &tools, {}, &kwargs});
  std::string out;
  for (const Change& change : comparison.changes) {
    out += std::string(to_string(change.kind)) + " at " + change.path;
    if (!change.before.empty() || !change.after.empty()) out += ": " + change.before + " -> " + change.after;
    out += "; ";
  }
  return out + "| " + std::to_string(comparison.appended_from) + (comparison.is_continuation ? " goes on" : "");
}

std::string changes(const std::string& before, const std::string& after) {
  std::string out;
  for (const TextChange& change : text_changes(before, after)) {
    out += std::to_string(change.begin) + " " + change.before + " -> " + change.after +
           (change.is_time ? " time" : "") + "; ";
  }
  return out;
}

TEST_CASE("what is appended is no change") {
  CHECK(compared(R"([{"role": "user", "content": "a"}])",
                 R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])") == "| 1 goes on");
  CHECK(compared("[]", "[]") == "| 0 goes on");
}

TEST_CASE("the same message in another form") {
  // A reply says in one form that it has no content, and the client in another.
  for (const char* none : {R"("content": "")", R"("content": null, "refusal": null)", R"("name": null)"}) {
    const std::string call = R"(, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}])";
    CHECK(compared(R"([{"role": "assistant", "content": null)" + call,
                   std::string(R"([{"role": "assistant", )") + none + call) == "| 1 goes on");
  }
  CHECK(compared(R"([{"role": "user", "content": "a"}])",
                 R"([{"role": "user", "content": [{"type": "text", "text": "a"}]}])") ==
        "content-respelled at messages[0]; | 1 goes on");
  CHECK(compared(R"([{"role": "user", "content": "a "}])", R"([{"role": "user", "content": "a"}])") ==
        "content-respelled at messages[0]; | 1 goes on");
  CHECK(compared(R"([{"role": "assistant", "content": "a", "reasoning": "r"}])",
                 R"([{"role": "assistant", "content": "a"}])") ==
        "reasoning-left-out at messages[0].reasoning_content: r -> ; | 1 goes on");
  CHECK(compared(R"([{"role": "assistant", "content": "a", "reasoning": "r"}])",
                 R"([{"role": "assistant", "content": "a", "reasoning": "s"}])") ==
        "content-respelled at messages[0].reasoning_content: r -> s; | 1 goes on");
  const std::string head =
      R"([{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": )";
  CHECK(
      compared(head + R"("{\"a\":1,\"b\":2}"}}]}])", head + R"("{\"b\": 2.0, \"a\": 1}"}}]}])") ==
      R"(arguments-respelled at messages[0].tool_calls[0].function.arguments: {"a":1,"b":2} -> {"b": 2.0, "a": 1}; | 1 goes on)");
  CHECK(compared(
            head + R"("{}"}}]}])",
            R"([{"role": "assistant", "tool_calls": [{"id": "2", "function": {"name": "f", "arguments": "{}"}}]}])") ==
        "call-ids-changed at messages[0].tool_calls[0].id: 1 -> 2; | 1 goes on");
  // Another value makes another message.
  CHECK(compared(head + R"("{\"a\":1}"}}]}])", head + R"("{\"a\":2}"}}]}])").starts_with("branched at messages[0]"));
}

TEST_CASE("messages that go, come or change") {
  const std::string a = R"({"role": "user", "content": "a"})";
  const std::string b = R"({"role": "assistant", "content": "b"})";
  const std::string c = R"({"role": "user", "content": "c"})";
  const std::string d = R"({"role": "assistant", "content": "d"})";
  const std::string x = R"({"role": "user", "content": "x"})";
  const auto list = [](const std::vector<std::string>& of) {
    std::string out = "[";
    for (const std::string& one : of) out += (out.size() > 1 ? "," : "") + one;
    return out + "]";
  };
  CHECK(compared(list({a, b, c}), list({x, b, c, d})) == "message-edited at messages[0].content: a -> x; | 3 goes on");
  CHECK(compared(list({a, b, c}), list({c, d})) == "history-truncated at messages[0]: a -> ; | 1 goes on");
  CHECK(compared(list({a, b, c, d}), list({x, d})) == "history-compacted at messages[0]: a -> x; | 2 goes on");
  CHECK(compared(list({a, b}), list({a, x, b})) == "message-edited at messages[1]:  -> x; | 3 goes on");
  CHECK(compared(list({a, b, c}), list({a, b, x})) == "branched at messages[2]: c -> x; | 2");
  CHECK(compared(list({a, b, c}), list({a})) == "branched at messages[1]: b -> ; | 1");
  CHECK(compared(list({a, b}), list({a, x}), 1) == "answer-left-out at messages[1]; | 1 goes on");
  CHECK(compared(list({R"({"role": "system", "content": "s"})", a, b, c}),
                 list({R"({"role": "system", "content": "s"})", x})) ==
        "history-compacted at messages[1]: a -> x; | 1");
  CHECK(compared(list({R"({"role": "system", "content": "s"})", a, b}),
                 list({R"({"role": "system", "content": "s"})", x, d})) == "branched at messages[1]: a -> x; | 1");
}

TEST_CASE("an edited message names the field that was edited") {
  const auto result = [](const std::string& id, const std::string& content) {
    return R"([{"role": "tool", "tool_call_id": ")" + id + R"(", "content": )" + content +
           R"(}, {"role": "user", "content": "more"}])";
  };
  CHECK(compared(result("a", "\"12C\""), result("a", "\"21C\"")) ==
        "message-edited at messages[0].content: 12C -> 21C; | 2 goes on");
  CHECK(compared(result("a", "\"12C\""), result("a", R"([{"type": "text", "text": "21C"}])")) ==
        "message-edited at messages[0].content: 12C -> 21C; | 2 goes on");
  // If more than the content differs, the whole message does.
  CHECK(compared(result("a", "\"12C\""), result("b", "\"21C\"")) ==
        "message-edited at messages[0]: 12C -> 21C; | 2 goes on");
  CHECK(compared(result("a", "\"12C\""), result("a", "null")) == "message-edited at messages[0]: 12C -> ; | 2 goes on");
}

TEST_CASE("instructions that change, come or go") {
  const auto system = [](const std::string& text) {
    return R"([{"role": "system", "content": ")" + text + R"("}, {"role": "user", "content": "a"}])";
  };
  CHECK(compared(system("n 1\\nb"), system("n 2\\nb")) ==
        "volatile-header at messages[0].content: 1 -> 2; | 2 goes on");
  CHECK(compared(system("b\\n10:30"), system("b\\n10:31")) == "date at messages[0].content: 30 -> 31; | 2 goes on");
  CHECK(compared(system("x 7\\n10:30"), system("x 8\\n10:31")) ==
        "volatile-header at messages[0].content: 7 -> 8; date at messages[0].content: 30 -> 31; | 2 goes on");
  CHECK(compared(system("s"), R"([{"role": "user", "content": "a"}])") == "message-edited at messages[0]; | 1 goes on");
}

TEST_CASE("a tool without a name that was added") {
  const std::optional<json::Value> before;
  const std::optional<json::Value> after = json::Value(messages(R"([{"name": ""}])"));
  const std::vector<std::uint64_t> hashes = {hash_value(after->as_array()[0])};
  const json::Object kwargs;
  const Comparison comparison = compare_requests({{}, {}, &before, {}, &kwargs}, 0, {{}, {}, &after, hashes, &kwargs});
  REQUIRE(comparison.changes.size() == 1);
  CHECK(comparison.changes[0].sentence == "0 tools became 1");
}

TEST_CASE("images are no text, and tell messages apart") {
  const auto asked = [](const std::string& parts) {
    return R"([{"role": "user", "content": [{"type": "text", "text": "a"})" + parts + "]}]";
  };
  const std::string one = R"(, {"type": "image_url", "image_url": {"url": "1"}})";
  const std::string other = R"(, {"type": "image_url", "image_url": {"url": "2"}})";
  CHECK(compared(asked(one), asked(one)) == "| 1 goes on");
  CHECK(compared(asked(one), asked(other)).starts_with("branched at messages[0]"));
  CHECK(compared(asked(one), asked("")).starts_with("branched at messages[0]"));
}

TEST_CASE("changes of a text, line by line, in whole words") {
  CHECK(changes("a\n", "a") != "");  // one more line end is a change
  CHECK(changes("", "") == "");
  CHECK(changes("same", "same") == "");
  CHECK(changes("cch=3fa2; ok", "cch=3fb2; ok") == "4 3fa2 -> 3fb2; ");
  CHECK(changes("a\nb 1\nc", "a\nb 2\nc") == "4 1 -> 2; ");
  CHECK(changes("a 1\nb", "a 1\nx\nb") == "4  -> x\n; ");
  CHECK(changes("Today: 2026-11-21", "Today: 2026-11-22") == "15 21 -> 22 time; ");
  CHECK(changes("Sat Nov 21", "Sun Nov 22") == "0 Sat Nov 21 -> Sun Nov 22 time; ");
  CHECK(changes("It is 9:59 am", "It is 10:00 am") == "6 9:59 -> 10:00 time; ");
  CHECK(changes("21st of May", "22nd of May") == "0 21st -> 22nd; ");
  CHECK(changes("at 2026-11-21T10:00:05Z now", "at 2026-11-21T10:00:06Z now").find("time") != std::string::npos);
  CHECK(changes("v1.2 of it", "v1.3 of it") == "3 2 -> 3; ");
  CHECK(changes("port 8080", "port 8081") == "5 8080 -> 8081; ");
  CHECK(undo_changes("x 1\n10:30", "x 2\n10:31", false) == "x 1\n10:31");
  CHECK(undo_changes("x 1\n10:30", "x 2\n10:31", true) == "x 2\n10:30");
  CHECK(undo_changes("x\ny", "z", true) == "z");
}

TEST_CASE("texts of one shape differ in numbers and dates only") {
  CHECK(shape_of("id 1a2b on Monday") == shape_of("id 99 on Friday"));
  CHECK(shape_of("id 1a2b") != shape_of("ids 1a2b"));
  CHECK(shape_of("a b") != shape_of("a  b"));
}

}  // namespace
}  // namespace rondo::replay
