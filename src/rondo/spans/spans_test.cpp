#include "spans/spans.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "spans/memory_store.h"
#include "tests/support/core_models.h"
#include "tests/support/json.h"
#include "tests/support/span_gateway.h"

namespace rondo::spans {
namespace {

using core::testing::call_of;
using Gateway = testing::SpanGateway;
using testing::parsed;
using Ids = std::vector<TokenId>;

bool begins_with(const Ids& ids, const Ids& begin) {
  return ids.size() >= begin.size() && std::equal(begin.begin(), begin.end(), ids.begin());
}

const char* const kHi = R"({"role": "user", "content": "Hi"})";
const char* const kMore = R"({"role": "user", "content": "More"})";

// Three turns: a call with reasoning, an answer, another one.
std::vector<TurnKey> three_turns(Gateway& gateway) {
  gateway.messages = {parsed(R"({"role": "system", "content": "Be kind"})"), parsed(kHi)};
  std::vector<TurnKey> keys;
  keys.push_back(gateway.say("(*mull hm mull*){!do add with {\"a\":  1} do!}~fin~",
                             R"({"role": "assistant", "content": null, "tool_calls":
      [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":  1}"}}]})",
                             R"({"role": "tool", "tool_call_id": "c1", "content": "2"})"));
  keys.push_back(gateway.say("It is  2~fin~", R"({"role": "assistant", "content": "It is  2"})", kMore));
  keys.push_back(gateway.say("Well~fin~", R"({"role": "assistant", "content": "Well"})",
                             R"({"role": "user", "content": "Last"})"));
  return keys;
}

TEST_CASE("a conversation that goes on has the ids that the engine has seen") {
  Gateway gateway;
  const Plan first = gateway.plan({parsed(kHi)});
  CHECK(first.how == How::kRender);
  CHECK(first.rendered == first.ids.size());
  CHECK(first.expected == 0);
  const std::vector<TurnKey> keys = three_turns(gateway);
  const Plan plan = gateway.plan();
  CHECK(plan.how == How::kBridge);
  const Ids known = gateway.ids_of(keys[2]);
  CHECK(begins_with(plan.ids, known));
  CHECK(plan.expected == known.size());
  CHECK(plan.appended == plan.ids.size() - known.size());
  CHECK(plan.rendered == 0);
  CHECK(plan.reattached_reasoning == 1);
  CHECK(!plan.cause);
  CHECK(
      gateway.text(plan) ==
      "<bos>[[system>>Be kind~fin~[[user>>Hi~fin~[[assistant>>(*mull hm mull*){!do add with {\"a\":  1} do!}~fin~"
      "[[tool>>2~fin~[[assistant>>It is  2~fin~[[user>>More~fin~[[assistant>>Well~fin~[[user>>Last~fin~[[assistant>>");
  CHECK(gateway.plan().ids == plan.ids);
  CHECK(std::ranges::count(plan.owners, 5) > 0);
  CHECK(gateway.spans.turns(gateway.scope, *plan.filing.session).value().size() == 3);
  CHECK(gateway.store.sessions(gateway.scope.id(), 9, 0).value().size() == 1);
}

TEST_CASE("another tenant and another model know nothing of it") {
  Gateway gateway;
  three_turns(gateway);
  for (const Scope& scope : {gateway.spans.scope("other", "model"), gateway.spans.scope("tenant", "other")}) {
    gateway.scope = scope;
    const Plan plan = gateway.plan();
    CHECK(plan.how == How::kRender);
    CHECK(plan.parent == nullptr);
    CHECK(plan.expected == 0);
    CHECK(!plan.cause);
  }
}

TEST_CASE("a changed message: what is before it is reused, later turns stand as sampled, the answer to it does not") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  gateway.messages[3].as_object().set("content", "3");  // the result
  const Plan plan = gateway.plan();
  CHECK(plan.how == How::kRawTurns);
  CHECK(begins_with(plan.ids, gateway.ids_of(keys[0])));
  CHECK(gateway.text(plan).find(
            "do!}~fin~[[tool>>3~fin~[[assistant>>It is  2~fin~[[user>>More~fin~[[assistant>>Well~fin~[[user>>Last") !=
        std::string::npos);
  CHECK(plan.expected == gateway.ids_of(keys[0]).size() + Gateway().model->tokenize("[[tool>>", true).value().size());
  REQUIRE(plan.cause);
  CHECK(plan.cause->name == "message-edited");
  CHECK(plan.cause->path == "messages[3].content");
  CHECK(plan.cause->lost_tokens > 0);
  // The template writes the answer; the last turn was sampled.
  const auto of_answer = std::ranges::find(plan.owners, 4) - plan.owners.begin();
  CHECK(plan.sampled[static_cast<std::size_t>(of_answer) + 12] == 0);
  CHECK(std::ranges::count(plan.sampled, 1) ==
        static_cast<std::ptrdiff_t>(gateway.spans.turn(gateway.scope, keys[0]).value()->completion.size() +
                                    gateway.spans.turn(gateway.scope, keys[2]).value()->completion.size()));
  // With its key, the answer too is kept as sampled.
  gateway.messages[4].as_object().set("id", mint_id("msg", keys[1], 0));
  const Plan with_key = gateway.plan();
  CHECK(std::ranges::count(with_key.sampled, 1) > std::ranges::count(plan.sampled, 1));
}

TEST_CASE("an edited reply is not used, whatever key it has") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  gateway.messages[6].as_object().set("id", mint_id("msg", keys[2], 0));
  gateway.messages[6].as_object().set("content", "I never said that");
  const Plan plan = gateway.plan();
  CHECK(begins_with(plan.ids, gateway.ids_of(keys[1])));
  CHECK(plan.how == How::kBridge);
  CHECK(gateway.text(plan).find("I never said that") != std::string::npos);
  REQUIRE(plan.cause);
  CHECK(plan.cause->name == "message-edited");
  CHECK(plan.cause->path == "messages[6].content");
  gateway.messages[6].as_object().set("id", mint_id("msg", {{99}}, 0));
  gateway.messages.erase(gateway.messages.begin());
  gateway.messages.erase(gateway.messages.begin(), gateway.messages.begin() + 4);
  CHECK(gateway.plan().cause->name == "eviction");
}

TEST_CASE("bug: an edited reply without a key had no cause, and its prompt did not count as expected") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  const json::Array original = gateway.messages;
  const auto edited = [&](std::size_t message, const char* text) {
    json::Array messages = original;
    messages[message] = parsed(text);
    Plan plan = gateway.plan(messages);
    REQUIRE(plan.cause);
    CHECK(plan.cause->name == "message-edited");
    CHECK(plan.cause->lost_tokens > 0);
    return plan;
  };
  const Plan text = edited(6, R"({"role": "assistant", "content": "We never"})");
  CHECK(text.cause->path == "messages[6].content");
  CHECK(text.cause->byte == 2);
  CHECK(text.expected >= gateway.spans.turn(gateway.scope, keys[2]).value()->prompt.size());
  const auto path = [&](const char* calls) {
    const std::string message = R"({"role": "assistant", "content": "", "tool_calls": [)" + std::string(calls) + "]}";
    return edited(2, message.c_str()).cause->path;
  };
  CHECK(path(R"({"type": "function", "function": {"name": "add", "arguments": {"a": 2}}})") ==
        "messages[2].tool_calls[0].function.arguments");
  CHECK(path(R"({"type": "function", "function": {"name": "sub", "arguments": {"a": 1}}})") ==
        "messages[2].tool_calls[0].function.name");
  CHECK(
      path(R"({"function": {"name": "add", "arguments": {"a": 1}}}, {"function": {"name": "add", "arguments": {}}})") ==
      "messages[2].tool_calls");
  CHECK(edited(2, R"({"role": "assistant", "content": "Called"})").cause->path == "messages[2]");
  // The same reply in another spelling is no edit, and neither is a beginning that the client gives.
  json::Array same = original;
  same[6] = parsed(R"({"role": "assistant", "content": [{"type": "text", "text": " Well"}]})");
  CHECK(!gateway.plan(same).cause);
  PlanRequest begun;
  begun.call = call_of("[]");
  begun.call.conversation.messages.assign(original.begin(), original.begin() + 6);
  begun.call.conversation.messages.push_back(parsed(R"({"role": "assistant", "content": "So"})"));
  begun.call.conversation.add_generation_prompt = false;
  begun.call.conversation.continue_final_message = "content";
  CHECK(!gateway.plan(std::move(begun)).cause);
}

TEST_CASE("bug: the beginning of a message that was changed and sent again did not count as expected") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  gateway.messages.resize(6);
  gateway.messages.back() = parsed(R"({"role": "user", "content": "More of it"})");
  const Plan plan = gateway.plan();
  CHECK(plan.how == How::kBridge);
  const Ids known = gateway.ids_of(keys[1]);
  CHECK(begins_with(plan.ids, known));
  CHECK(plan.expected == known.size() + gateway.model->tokenize("[[user>>More", true).value().size());
  CHECK(!plan.is_shared);
  CHECK(!plan.cause);
}

TEST_CASE("bug: what other conversations had sent did not count as expected") {
  Gateway gateway;
  three_turns(gateway);
  const auto asked = [&](const char* system, const char* user) {
    return gateway.plan(
        {json::Object{{"role", "system"}, {"content", system}}, json::Object{{"role", "user"}, {"content", user}}});
  };
  const auto size = [&](const char* text) { return gateway.model->tokenize(text, true).value().size(); };
  const Plan fresh = asked("Be kind", "Other");
  CHECK(fresh.how == How::kRender);
  CHECK(fresh.expected == size("<bos>[[system>>Be kind~fin~[[user>>"));
  CHECK(fresh.is_shared);
  CHECK(!fresh.cause);
  CHECK(asked("Be short", "Other").expected == 0);
  // A list of examples is a beginning too.
  json::Array examples = {parsed(kHi), parsed(R"({"role": "assistant", "content": "Example"})"), parsed(kMore)};
  gateway.keep(gateway.plan(examples), "Well~fin~", R"({"role": "assistant", "content": "Well"})");
  examples.back() = parsed(R"({"role": "user", "content": "Last"})");
  CHECK(gateway.plan(examples).expected == size("<bos>[[user>>Hi~fin~[[assistant>>Example~fin~[[user>>"));
  // Only the first turn that begins so is found by its beginning.
  CHECK(fresh.filing.new_heads.empty());
  CHECK(asked("Be short", "Other").filing.new_heads.size() == 1);
}

TEST_CASE("bug: reasoning that the client had changed was replaced by what the model had sampled") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  const TurnKey first = gateway.say("(*mull hm mull*)One~fin~",
                                    R"({"role": "assistant", "reasoning_content": "hm", "content": "One"})", kMore);
  const TurnKey second = gateway.say("(*mull so mull*)Two~fin~",
                                     R"({"role": "assistant", "reasoning_content": "so", "content": "Two"})", kMore);
  const auto with = [&](std::size_t message, const char* reasoning) {
    json::Array messages = gateway.messages;
    messages[message].as_object().set("reasoning_content", reasoning);
    return gateway.plan(messages);
  };
  for (const char* same : {"so", "", " so\n", "s", "s\no"})  // a stream that broke off showed a part
    CHECK_MESSAGE(begins_with(with(3, same).ids, gateway.ids_of(second)), same);
  const Plan later = with(3, "other");
  CHECK(begins_with(later.ids, gateway.ids_of(first)));
  CHECK_MESSAGE(gateway.text(later).find("(*mull other mull*)Two~fin~") != std::string::npos, gateway.text(later));
  REQUIRE(later.cause);
  CHECK(later.cause->path == "messages[3].reasoning_content");
  // A change of an early message leaves the later turns as they were sampled.
  const Plan early = with(1, "other");
  CHECK(early.how == How::kRawTurns);
  CHECK(gateway.text(early) ==
        "<bos>[[user>>Hi~fin~[[assistant>>(*mull other mull*)One~fin~[[user>>More~fin~"
        "[[assistant>>(*mull so mull*)Two~fin~[[user>>More~fin~[[assistant>>");
}

TEST_CASE("bug: a reply was not known again where the client wrote its reasoning into the text, between tags") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  const TurnKey first = gateway.say("(*mull hm mull*)One~fin~",
                                    R"({"role": "assistant", "reasoning_content": "hm", "content": "One"})", kMore);
  gateway.messages[1] = parsed(R"({"role": "assistant", "content": "<think>\nhm\n</think>\n\nOne"})");
  const TurnKey second = gateway.say("(*mull so mull*)Two~fin~",
                                     R"({"role": "assistant", "reasoning_content": "so", "content": "Two"})", kMore);
  gateway.messages[3] = parsed(R"({"role": "assistant", "content": "<thinking>so</thinking>Two"})");
  const Plan plan = gateway.plan();
  CHECK(plan.how == How::kBridge);
  CHECK(begins_with(gateway.ids_of(second), gateway.ids_of(first)));
  CHECK(begins_with(plan.ids, gateway.ids_of(second)));
  CHECK(plan.reattached_reasoning == 0);
  PlanRequest cut;
  cut.call = call_of("[]");
  cut.call.conversation.messages = gateway.messages;
  cut.retention = render::Retention::kThinkingBetweenToolCalls;
  CHECK(
      gateway.text(gateway.plan(std::move(cut))) ==
      "<bos>[[user>>Hi~fin~[[assistant>>One~fin~[[user>>More~fin~[[assistant>>Two~fin~[[user>>More~fin~[[assistant>>");
  // Other reasoning is an edit, and stands as the client has it.
  gateway.messages[3] = parsed(R"({"role": "assistant", "content": "<think>no</think>Two"})");
  const Plan edited = gateway.plan();
  CHECK(begins_with(edited.ids, gateway.ids_of(first)));
  CHECK(gateway.text(edited).find("<think>no</think>Two") != std::string::npos);
}

TEST_CASE("bug: a message with begun reasoning was continued with reasoning that it does not have") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  (void)gateway.say("(*mull hm mull*)One~fin~", R"({"role": "assistant", "reasoning_content": "hm", "content": "One"})",
                    kMore);
  const auto continued = [&](const char* reasoning) {
    PlanRequest request;
    request.call = call_of("[]");
    request.call.conversation.messages = {
        parsed(kHi), json::Object{{"role", "assistant"}, {"reasoning_content", reasoning}, {"content", "One"}}};
    request.call.conversation.add_generation_prompt = false;
    request.call.conversation.continue_final_message = "content";
    return gateway.text(gateway.plan(std::move(request)));
  };
  CHECK(continued("hm").ends_with("(*mull hm mull*)One"));
  CHECK(continued("").ends_with("(*mull hm mull*)One"));
  for (const char* other : {"h", "I know"}) {
    const std::string text = continued(other);
    CHECK_MESSAGE(text.ends_with("(*mull " + std::string(other) + " mull*)One"), text);
  }
}

TEST_CASE("system text or tools changed: all is rendered, turns stand as sampled") {
  Gateway gateway;
  three_turns(gateway);
  const char* const kTools = R"([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}])";
  const Plan with_tools = gateway.plan(gateway.messages, kTools);
  CHECK(with_tools.how == How::kRawTurns);
  CHECK(with_tools.parent == nullptr);
  CHECK(gateway.text(with_tools).find("(*mull hm mull*){!do add with {\"a\":  1} do!}~fin~") != std::string::npos);
  REQUIRE(with_tools.cause);
  CHECK(with_tools.cause->name == "tools-changed");
  gateway.messages[0].as_object().set("content", "Be short");
  const Plan other = gateway.plan();
  CHECK(other.how == How::kRawTurns);
  CHECK(gateway.text(other).find("Be short") != std::string::npos);
  CHECK(gateway.text(other).find("It is  2") != std::string::npos);
  CHECK(other.cause->path == "messages[0].content");
}

TEST_CASE("two requests from one turn are branches, and an inserted message of others is written by the template") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  json::Array branch(gateway.messages.begin(), gateway.messages.begin() + 5);
  branch.push_back(parsed(R"({"role": "user", "content": "Else"})"));
  const Plan plan = gateway.plan(branch);
  CHECK(begins_with(plan.ids, gateway.ids_of(keys[1])));
  CHECK(gateway.text(plan).ends_with("It is  2~fin~[[user>>Else~fin~[[assistant>>"));
  gateway.messages.push_back(parsed(R"({"role": "assistant", "content": "By another"})"));
  gateway.messages.push_back(parsed(kHi));
  const Plan foreign = gateway.plan();
  CHECK(begins_with(foreign.ids, gateway.ids_of(keys[2])));
  CHECK(gateway.text(foreign).ends_with("[[assistant>>By another~fin~[[user>>Hi~fin~[[assistant>>"));
  CHECK(foreign.how == How::kBridge);
}

TEST_CASE("a question that is asked once more has the prompt that it had") {
  Gateway gateway;
  const Plan first = gateway.plan({parsed(kHi)});
  gateway.keep(first, "Well~fin~", R"({"role": "assistant", "content": "Well"})");
  const Plan again = gateway.plan({parsed(kHi)});
  CHECK(again.parent == nullptr);
  CHECK(again.ids == first.ids);
  CHECK(again.expected == first.ids.size());
  CHECK(!again.cause);  // another answer to it loses nothing
  const Plan other = gateway.plan({parsed(kMore)});
  CHECK(other.expected == gateway.model->tokenize("<bos>[[user>>", true).value().size());  // as much as all have
}

TEST_CASE("a reply that was cut off goes on where it stopped, or is closed") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  const TurnKey key = gateway.say("Hello th", R"({"role": "assistant", "content": "Hello th"})", kMore);
  CHECK(gateway.text(gateway.plan()).ends_with("Hello th~fin~[[user>>More~fin~[[assistant>>"));
  gateway.messages.pop_back();
  PlanRequest request;
  request.call = call_of("[]");
  request.call.conversation.messages = gateway.messages;
  request.call.conversation.add_generation_prompt = false;
  request.call.conversation.continue_final_message = "content";
  const Plan plan = gateway.plan(request);
  CHECK(plan.ids == gateway.ids_of(key));
  CHECK(plan.prefill == 8);
  CHECK(plan.expected == plan.ids.size());
  gateway.keep(plan, "ere~fin~", R"({"role": "assistant", "content": "ere"})");
  for (const bool apart : {false, true}) {
    json::Array next = {parsed(kHi), parsed(R"({"role": "assistant", "content": "Hello there"})"), parsed(kMore)};
    if (apart) next[1].as_object().set("content", "Hello th");
    if (apart) next.insert(next.begin() + 2, parsed(R"({"role": "assistant", "content": "ere"})"));
    const Plan on = gateway.plan(next);
    CHECK(on.how == How::kBridge);
    CHECK(gateway.text(on) == "<bos>[[user>>Hi~fin~[[assistant>>Hello there~fin~[[user>>More~fin~[[assistant>>");
    CHECK(on.expected == on.ids.size() - on.appended);
  }
}

TEST_CASE("a call that was cut off is known by its key, as far as a client shows it") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  const TurnKey key =
      gateway.say("{!do add with {\"a\": 1, \"b\": \"lon", R"({"role": "assistant", "content": null, "tool_calls":
      [{"function": {"name": "add", "arguments": "{\"a\": 1, \"b\": \"lon"}}]})",
                  R"({"role": "tool", "content": "2"})");
  json::Value& call = gateway.messages[1].as_object().find("tool_calls")->as_array()[0];
  call.as_object().set("id", mint_call_id(gateway.scope, key, 0, CallIdShape::kAny));
  call.as_object().find("function")->as_object().set("arguments", R"({"a": 1})");
  const Plan plan = gateway.plan();
  REQUIRE(plan.parent != nullptr);
  CHECK(begins_with(plan.ids, gateway.ids_of(key)));
  CHECK(plan.expected == gateway.ids_of(key).size());
  // A turn of another conversation, in which nothing like this was asked, is not the parent.
  gateway.messages[0] = parsed(kMore);
  CHECK(gateway.plan().parent == nullptr);
}

TEST_CASE("bug: a reply was not known again where the client kept its calls and dropped the text beside them") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  const TurnKey first = gateway.say("I add.{!do add with {\"a\":  1} do!}~fin~",
                                    R"({"role": "assistant", "content": "I add.", "tool_calls":
      [{"id": "x", "type": "function", "function": {"name": "add", "arguments": "{\"a\":  1}"}}]})",
                                    R"({"role": "tool", "tool_call_id": "x", "content": "2"})");
  gateway.messages[1].as_object().erase("content");
  CHECK(gateway.plan().parent == nullptr);  // nothing names the turn
  const std::string id = mint_call_id(gateway.scope, first, 0, CallIdShape::kAny);
  gateway.messages[1].as_object().find("tool_calls")->as_array()[0].as_object().set("id", id);
  gateway.messages[2].as_object().set("tool_call_id", id);
  const Plan plan = gateway.plan();
  CHECK(plan.how == How::kBridge);
  CHECK(begins_with(plan.ids, gateway.ids_of(first)));
  CHECK(!plan.cause);
  const TurnKey second = gateway.say("Two~fin~", R"({"role": "assistant", "content": "Two"})", kMore);
  CHECK(begins_with(gateway.plan().ids, gateway.ids_of(second)));
  // Another text is an edit.
  gateway.messages[1].as_object().set("content", "I see.");
  CHECK(gateway.plan().parent == nullptr);
}

TEST_CASE("what a client begins is continued, behind what is known") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  for (const bool known : {true, false}) {
    PlanRequest request;
    request.call = call_of("[]");
    if (known) request.call.conversation.messages = gateway.messages;
    if (!known) request.call.conversation.messages = {parsed(kMore)};
    request.call.conversation.messages.push_back(parsed(R"({"role": "assistant", "content": "Sure, "})"));
    request.call.conversation.add_generation_prompt = false;
    request.call.conversation.continue_final_message = "content";
    const Plan plan = gateway.plan(request);
    CHECK(plan.how == (known ? How::kBridge : How::kRender));
    CHECK((!known || begins_with(plan.ids, gateway.ids_of(keys[2]))));
    CHECK(gateway.text(plan).ends_with("~fin~[[assistant>>Sure, "));
    CHECK(plan.prefill == 6);
    gateway.keep(plan, "yes~fin~", R"({"role": "assistant", "content": "yes"})");
    json::Array next = plan.asked.messages;
    next.push_back(parsed(R"({"role": "assistant", "content": "Sure, yes"})"));
    next.push_back(parsed(kHi));
    const Plan on = gateway.plan(next);
    CHECK(on.how == How::kBridge);
    CHECK(gateway.text(on).ends_with("[[assistant>>Sure, yes~fin~[[user>>Hi~fin~[[assistant>>"));
  }
}

TEST_CASE("retention: reasoning that is to go is cut out, and the cause says so") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  PlanRequest request;
  request.call = call_of("[]");
  request.call.conversation.messages = gateway.messages;
  request.retention = render::Retention::kThinkingBetweenToolCalls;
  const Plan plan = gateway.plan(request);
  CHECK(gateway.text(plan).find("mull") == std::string::npos);
  REQUIRE(plan.cause);
  CHECK(plan.cause->name == "reasoning-dropped");
  CHECK(plan.expected < gateway.ids_of(keys[2]).size());
}

TEST_CASE("a turn whose session was forgotten, or of which nothing is known, is rendered") {
  Gateway gateway;
  three_turns(gateway);
  const Plan plan = gateway.plan();
  CHECK(gateway.store.erase(gateway.scope.id(), *plan.filing.session).value());
  CHECK(gateway.plan().how == How::kRender);
  // Between the plan and its reply; the turn is then kept on its own.
  const TurnKey key = gateway.keep(plan, "Yes~fin~", R"({"role": "assistant", "content": "Yes"})");
  CHECK(begins_with(gateway.ids_of(key), plan.ids));
  Spans fresh(gateway.store, {1, 2, 3});
  REQUIRE(fresh.turn(gateway.scope, key).value() != nullptr);
  CHECK(begins_with(fresh.turn(gateway.scope, key).value()->ids(), plan.ids));
}

TEST_CASE("a session that the client names holds its own turns, whose parents are elsewhere") {
  Gateway gateway;
  const std::vector<TurnKey> keys = three_turns(gateway);
  PlanRequest request;
  request.call = call_of("[]");
  request.call.conversation.messages = gateway.messages;
  request.session = Spans::session(gateway.scope, "run-17");
  const Plan plan = gateway.plan(request);
  CHECK(begins_with(plan.ids, gateway.ids_of(keys[2])));
  gateway.keep(plan, "Yes~fin~", R"({"role": "assistant", "content": "Yes"})");
  const auto turns = gateway.spans.turns(gateway.scope, *request.session).value();
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].prompt == plan.ids);
}

TEST_CASE("a reply that cannot be kept is an error") {
  Gateway gateway;
  const Plan plan = gateway.plan({parsed(kHi)});
  for (const char* message : {"[]", "{", ""}) {
    NewReply reply;
    reply.message = message;
    CHECK(!gateway.spans.keep(gateway.scope, plan, std::move(reply), {}).ok());
  }
  NewReply reply;
  reply.message = "{}";
  reply.completion = {1, 2};
  reply.logprobs = {-1.0F};
  CHECK(gateway.spans.keep(gateway.scope, plan, std::move(reply), {}).error().message ==
        "a reply of 2 ids has 1 logprobs");
}

TEST_CASE("of a long conversation the end is looked at, and an early turn is found all the same") {
  Gateway gateway;
  gateway.messages = {parsed(kHi)};
  std::vector<TurnKey> keys;
  for (int i = 0; i < 20; ++i) {
    const std::string said = "Answer " + std::to_string(i);
    keys.push_back(gateway.say(said + "~fin~", R"({"role": "assistant", "content": ")" + said + "\"}", kMore));
  }
  CHECK(begins_with(gateway.plan().ids, gateway.ids_of(keys[19])));
  json::Array edited = gateway.messages;
  edited[8].as_object().set("content", "Else");
  const Plan plan = gateway.plan(edited);
  CHECK(begins_with(plan.ids, gateway.ids_of(keys[3])));
  CHECK(plan.how == How::kRawTurns);
  CHECK(std::ranges::count(plan.sampled, 1) > 15 * 8);
}

TEST_CASE("turns in memory take no more of it than they may, whether they are long or short") {
  constexpr std::size_t kMost = std::size_t{1} << 20U;
  for (const std::size_t ids : {std::size_t{0}, std::size_t{4096}}) {
    CAPTURE(ids);
    TurnCache cache(kMost);
    constexpr std::size_t kTurns = 5000;
    const auto digest = [](std::size_t number) {
      Digest out;
      out.bytes[0] = static_cast<std::uint8_t>(number);
      out.bytes[1] = static_cast<std::uint8_t>(number >> 8U);
      return out;
    };
    for (std::size_t i = 0; i < kTurns; ++i) {
      auto turn = std::make_shared<Turn>();
      turn->prompt.change().resize(ids);
      turn->owners.change().resize(ids);
      turn->sampled.change().resize(ids);
      cache.add(digest(i), turn);
    }
    std::size_t found = 0;
    for (std::size_t i = 0; i < kTurns; ++i) found += cache.find(digest(i)) == nullptr ? 0 : 1;
    const std::size_t least = sizeof(Turn) + ids * 9;  // the memory that one takes
    CHECK(found > kMost / least / 4);
    CHECK(found < kMost / least);
    CHECK(cache.find(digest(kTurns - 1)) != nullptr);
    CHECK(cache.find(digest(0)) == nullptr);
  }
  TurnCache none(0);
  none.add(Digest(), std::make_shared<Turn>());
  CHECK(none.find(Digest()) == nullptr);
}

TEST_CASE("ids of calls are as long as the template takes them") {
  const auto plain = core::testing::memory_model();
  core::Call empty = call_of("[]");
  CHECK(call_id_shape(*plain, empty) == CallIdShape::kAny);
}

}  // namespace
}  // namespace rondo::spans
