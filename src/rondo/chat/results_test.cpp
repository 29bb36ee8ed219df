#include "chat/results.h"

#include <doctest/doctest.h>

#include <string>

#include "json/parse.h"

namespace rondo::chat {
namespace {

// For each result, the call that it answers and how it was found: "1" by its id, "~1" by order, "=1" a call that
// already has a result, "-" none.
std::string matched(const std::vector<OpenCall>& calls, std::string_view results, std::size_t calls_before = 0) {
  const json::Value parsed = json::parse(results).value();
  std::vector<const json::Value*> messages;
  for (const json::Value& message : parsed.as_array()) messages.push_back(&message);
  std::string out;
  for (const ResultMatch& match : match_results(calls, messages, calls_before)) {
    using enum ResultMatch::By;
    out += match.by == kOrder ? "~" : match.by == kAnswered ? "=" : match.by == kNothing ? "-" : "";
    if (match.call) out += std::to_string(*match.call);
    out += ' ';
  }
  return out;
}

}  // namespace

TEST_CASE("a result answers the call of its id, wherever it stands") {
  const std::vector<OpenCall> calls = {{"a", "f"}, {"b", "f"}, {"c", "g"}};
  CHECK(matched(calls, R"([{"tool_call_id": "c"}, {"tool_call_id": "a"}])") == "2 0 ");
  CHECK(matched(calls, R"([{"tool_call_id": "b"}, {"tool_call_id": "b"}])") == "1 =1 ");
  // An id that no call has answers nothing, even if calls are left.
  CHECK(matched(calls, R"([{"tool_call_id": "x"}, {"tool_call_id": "b"}])") == "- 1 ");
}

TEST_CASE("a result without an id answers the first call of its name, else the first that is left") {
  const std::vector<OpenCall> calls = {{"a", "f"}, {"b", "g"}, {"c", "f"}};
  CHECK(matched(calls, R"([{}, {}, {}, {}])") == "~0 ~1 ~2 - ");
  CHECK(matched(calls, R"([{"name": "g"}, {"name": "f"}, {"name": "f"}])") == "~1 ~0 ~2 ");
  CHECK(matched(calls, R"([{}, {"name": "f"}, {"tool_call_id": "a"}])") == "~1 ~2 0 ");
  CHECK(matched({}, R"([{}])") == "- ");
}

TEST_CASE("ids that were handed out find their calls") {
  const std::vector<OpenCall> calls = {{std::nullopt, "f"}, {std::nullopt, "f"}, {std::nullopt, "f"}};
  CHECK(matched(calls, R"([{"tool_call_id": "call_2"}, {"tool_call_id": "call_0"}])") == "2 0 ");
  // Numbered through the conversation: the second of three is missing, and so is the first.
  CHECK(matched(calls, R"([{"tool_call_id": "call_7"}, {"tool_call_id": "call_5"}])", 5) == "2 0 ");
  CHECK(matched(calls, R"([{"tool_call_id": "call_6"}])", 5) == "1 ");
  CHECK(matched(calls, R"([{"tool_call_id": "call_9"}, {"tool_call_id": "call_8"}])") == "1 0 ");
  // Numbers too far apart are somebody else's ids.
  CHECK(matched(calls, R"([{"tool_call_id": "call_9"}, {"tool_call_id": "call_1"}])") == "~0 ~1 ");
  // Such an id finds its call also beside results with other ids, or without any.
  CHECK(matched(calls, R"([{"tool_call_id": "call_x"}, {"tool_call_id": "call_1"}])") == "~0 1 ");
  CHECK(matched(calls, R"([{"tool_call_id": "zzz"}, {"tool_call_id": "call_0"}, {"tool_call_id": "call_1"}])") ==
        "~2 0 1 ");
  CHECK(matched(calls, R"([{}, {"tool_call_id": "call_0"}])") == "~1 0 ");
  CHECK(matched(calls, R"([{"tool_call_id": "call_99999999999999999999999"}])") == "~0 ");
}

TEST_CASE("the calls of a message are those of its tool_calls, in both shapes") {
  const json::Value message =
      json::parse(R"({"tool_calls": [{"id": "a", "function": {"name": "f"}}, {"name": "g"}, 3]})").value();
  const std::vector<OpenCall> calls = open_calls(message);
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].id == "a");
  CHECK(calls[0].name == "f");
  CHECK(!calls[1].id);
  CHECK(calls[1].name == "g");
  CHECK(calls[2].name.empty());
  CHECK(open_calls(json::Object{{"tool_calls", nullptr}}).empty());
}

}  // namespace rondo::chat
