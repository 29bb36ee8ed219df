#include "render/stand_in.h"

#include <doctest/doctest.h>

#include <utility>

#include "json/print.h"
#include "render/bridge.h"

namespace rondo::render {
namespace {

// The calls and content of each rung; `~` means the other type of arguments.
std::string ladder_text(const ParsedCompletion& completion, const json::Array& answers) {
  constexpr const char* kCalls[] = {"own", "ids", "results", "first", "none"};
  constexpr const char* kContent[] = {"own", "shape", "other", "text"};
  std::string out;
  for (const Rung& rung : ladder_of(completion, answers)) {
    if (!out.empty()) out += ' ';
    if (rung.other_arguments) out += '~';
    out += std::string(kCalls[static_cast<int>(rung.calls)]) + '/' + kContent[static_cast<int>(rung.content)];
  }
  return out;
}

ParsedCompletion said(std::string content, std::size_t calls) {
  ParsedCompletion out;
  out.message.content = std::move(content);
  for (std::size_t i = 0; i < calls; ++i) {
    chat::ToolCall call;
    call.name = "f";
    call.arguments = "{}";
    out.message.tool_calls.push_back(std::move(call));
  }
  return out;
}

json::Value result() { return json::Object{{"role", "tool"}, {"content", "r"}, {"tool_call_id", "c0"}, {"name", "f"}}; }
json::Value user() { return json::Object{{"role", "user"}, {"content", "u"}}; }

}  // namespace

TEST_CASE("each rung of the ladder is another stand-in") {
  // Text without calls is the whole turn.
  CHECK(ladder_text(said("Hello", 0), {user()}) == "own/own");
  // Few templates show an empty turn.
  CHECK(ladder_text(said("", 0), {user()}) == "own/text");
  CHECK(ladder_text(said(" ", 0), {user()}) == "own/text");
  // Results that answer no call of the turn.
  CHECK(ladder_text(said("Hello", 0), {result()}) ==
        "own/own results/own ~results/own results/shape ~results/shape results/other ~results/other");
  // The result gives the call its id; without a result the id is made up.
  CHECK(ladder_text(said("", 1), {result()}) ==
        "own/own ~own/own own/other ~own/other own/text ~own/text "
        "results/own ~results/own results/other ~results/other results/text ~results/text none/text");
  CHECK(ladder_text(said("Hello", 1), {user()}) ==
        "own/own ~own/own own/shape ~own/shape own/other ~own/other "
        "ids/own ~ids/own ids/shape ~ids/shape ids/other ~ids/other none/own");
  CHECK(ladder_of(said(" ", 2), json::Array{result()}).size() == 4 * 4 * 2 + 1);
}

TEST_CASE("a stand-in has the calls of its rung and says how they differ") {
  const ParsedCompletion completion = said("Hello", 2);
  const json::Array answers{result()};
  const auto made = [&](Rung::Calls calls, Rung::Content content) {
    return make_stand_in(completion, answers, {calls, content, false});
  };
  const StandIn own = made(Rung::Calls::kOwn, Rung::Content::kOwn);
  CHECK(own.note.empty());
  CHECK(!own.has_other_calls);
  CHECK(own.message.find("tool_calls")->as_array().size() == 2);
  CHECK(made(Rung::Calls::kOwn, Rung::Content::kOther).note ==
        "the template refuses, or writes apart, the turn's text; its calls alone stand for it");
  CHECK(made(Rung::Calls::kFirst, Rung::Content::kOwn).message.find("tool_calls")->as_array().size() == 1);
  CHECK(made(Rung::Calls::kOfResults, Rung::Content::kOwn).has_other_calls);
  CHECK(made(Rung::Calls::kNone, Rung::Content::kOwn).message.find("tool_calls") == nullptr);
}

TEST_CASE("a stand-in without text has none in the format's way, or in the other one") {
  const auto content = [](std::string own, format::NoContent no_content, Rung::Content rung) {
    ParsedCompletion completion = said(std::move(own), 1);
    completion.input.no_content = no_content;
    return json::to_compact(*make_stand_in(completion, {}, {Rung::Calls::kOwn, rung, false}).message.find("content"));
  };
  using enum Rung::Content;
  using enum format::NoContent;
  for (const char* own : {"", "Hello"}) {
    CHECK(content(own, kNull, kShape) == "null");
    CHECK(content(own, kNull, kOther) == R"("")");
    CHECK(content(own, kEmpty, kShape) == R"("")");
    CHECK(content(own, kEmpty, kOther) == "null");
    CHECK(content(own, kEmpty, kText) == R"("ZZ")");
  }
  CHECK(content("", kNull, kOwn) == "null");
  CHECK(content("", kEmpty, kOwn) == R"("")");
  CHECK(content("Hello", kNull, kOwn) == R"("ZZ")");
  CHECK(content(" \n", kNull, kOwn) == R"(" \n")");
}

TEST_CASE("the calls of a stand-in have their names, and ids of the model, of the results, or made up") {
  ParsedCompletion completion = said("", 3);
  completion.message.tool_calls[1].name = "g";
  completion.message.tool_calls[2].id = "own";
  const json::Value for_g = json::Object{{"role", "tool"}, {"content", "r"}, {"tool_call_id", "c1"}, {"name", "g"}};
  const auto calls = [&](const json::Array& answers, Rung::Calls rung) {
    const StandIn made = make_stand_in(completion, answers, {rung, Rung::Content::kOwn, false});
    std::string out;
    for (const json::Value& call : made.message.find("tool_calls")->as_array())
      out += std::string(call.find_string("id").value_or("-")) + ":" +
             std::string(*call.find("function")->find_string("name")) + " ";
    return out;
  };
  CHECK(calls({result(), for_g}, Rung::Calls::kOwn) == "c0:f c1:g own:f ");
  CHECK(calls({for_g, result()}, Rung::Calls::kOwn) == "c0:f c1:g own:f ");
  CHECK(calls({for_g}, Rung::Calls::kOwn) == "-:f c1:g own:f ");
  CHECK(calls({user()}, Rung::Calls::kOwn) == "-:f -:g own:f ");
  CHECK(calls({user()}, Rung::Calls::kOwnWithIds) == "rondo0000:f rondo0001:g own:f ");
  CHECK(calls({user(), for_g, result()}, Rung::Calls::kOfResults) == "c1:g c0:f ");
  CHECK(calls({result()}, Rung::Calls::kFirst) == "c0:f ");
  const auto arguments = [&](bool as_text, bool other) {
    completion.input.arguments_as_text = as_text;
    const StandIn made = make_stand_in(completion, {}, {Rung::Calls::kFirst, Rung::Content::kOwn, other});
    return made.message.find("tool_calls")->as_array()[0].find("function")->find("arguments")->is_string();
  };
  CHECK(arguments(true, false));
  CHECK(arguments(false, true));
  CHECK_FALSE(arguments(true, true));
  CHECK_FALSE(arguments(false, false));
}

TEST_CASE("a stand-in says what it leaves out") {
  const json::Array answers{result()};
  const auto note = [&](std::string content, std::size_t calls, Rung::Calls rung) {
    return make_stand_in(said(std::move(content), calls), answers, {rung, Rung::Content::kOwn, false}).note;
  };
  CHECK(note("", 1, Rung::Calls::kOfResults) ==
        "the template refuses the turn's calls; calls made from the tool results stand for them");
  CHECK(note("", 0, Rung::Calls::kOfResults) == "the turn has no calls; calls made from the tool results stand for it");
  CHECK(note("", 2, Rung::Calls::kFirst) ==
        "the template refuses a turn with several calls; its first one stands for them");
  CHECK(note("", 1, Rung::Calls::kNone) ==
        "the template shows no calls; a turn of plain text stands for the completion");
  CHECK(note("", 1, Rung::Calls::kOwnWithIds).empty());
  ParsedCompletion completion = said("", 0);
  const auto field = [&] {
    const StandIn made = make_stand_in(completion, {}, {Rung::Calls::kOwn, Rung::Content::kOwn, false});
    return json::to_compact(made.message);
  };
  CHECK(field() == R"({"role":"assistant","content":""})");
  completion.message.reasoning = "";
  CHECK(field() == R"({"role":"assistant","content":""})");
  completion.message.reasoning = "Hm";
  CHECK(field() == R"({"role":"assistant","content":"","reasoning_content":"YY"})");
  completion.input.reasoning_field = "thinking";
  CHECK(field() == R"({"role":"assistant","content":"","thinking":"YY"})");
}

TEST_CASE("results that do not fit the calls are told") {
  ParsedCompletion completion = said("", 2);
  const auto notes = [&](const char* ids) {
    json::Array answers;
    for (const char* id = ids; *id != '\0'; ++id)
      answers.push_back(json::Object{{"role", "tool"}, {"content", "r"}, {"tool_call_id", std::string(1, *id)}});
    std::string out;
    for (const std::string& line : result_notes(completion, answers)) out += line + "\n";
    return out;
  };
  completion.message.tool_calls[0].id = "a";
  completion.message.tool_calls[1].id = "b";
  CHECK(notes("ab") == "");
  CHECK(notes("ba") == "the result of call \"b\" comes out of order\n");
  // A missing one is not out of order.
  CHECK(notes("b") == "1 of the turn's 2 calls have no result\n");
  CHECK(notes("aa") == "the call \"a\" has more than one result\n1 of the turn's 2 calls have no result\n");
  CHECK(notes("abx") ==
        "no call of the turn has the id \"x\" of a tool result\nthere are 3 tool results for 2 calls\n");
  CHECK(result_notes(said("", 0), json::Array{result()}).empty());
  json::Value nameless = result();
  nameless.as_object().erase("tool_call_id");
  CHECK(result_notes(completion, json::Array{nameless, nameless}) ==
        std::vector<std::string>{"a tool result without an id answers call 1 of 2, \"f\", by its place",
                                 "a tool result without an id answers call 2 of 2, \"f\", by its place"});
}

TEST_CASE("bug: results with ids that nobody handed out were placed without a note") {
  ParsedCompletion completion = said("", 2);
  const auto notes = [&](std::initializer_list<const char*> ids) {
    json::Array answers;
    for (const char* id : ids)
      answers.push_back(json::Object{{"role", "tool"}, {"content", "r"}, {"tool_call_id", id}});
    return result_notes(completion, answers);
  };
  const auto taken = [](const std::string& id, const std::string& call) {
    return "a tool result with the id \"" + id + "\", which no call has, answers call " + call +
           ", \"f\", by its place";
  };
  CHECK(notes({"x", "y"}) == std::vector{taken("x", "1 of 2"), taken("y", "2 of 2")});
  CHECK(notes({"x"}) == std::vector<std::string>{taken("x", "1 of 2"), "1 of the turn's 2 calls have no result"});
  // Such ids are those that rondo hands out for calls without ids.
  CHECK(notes({"call_0", "call_1"}).empty());
  completion.message.tool_calls[0].id = "a";
  CHECK(notes({"a", "y"}) == std::vector{taken("y", "2 of 2")});
  // What answers one call alone has no other place.
  completion = said("", 1);
  CHECK(notes({"x"}).empty());
  CHECK(notes({"x", "y"}) == std::vector<std::string>{taken("x", "1 of 1"), "there are 2 tool results for 1 calls"});
}

TEST_CASE("a completion joins the history in the shape that the template wants") {
  ParsedCompletion completion = said("", 1);
  const json::Array answers{user(), result()};
  const auto shown = [&](format::NoContent no_content) {
    completion.input.no_content = no_content;
    return json::to_compact(history_message(completion, answers));
  };
  const std::string calls = R"("tool_calls":[{"id":"c0","type":"function","function":{"name":"f","arguments":{}}}]})";
  CHECK(shown(format::NoContent::kEmpty) == R"({"role":"assistant","content":"",)" + calls);
  CHECK(shown(format::NoContent::kNull) == R"({"role":"assistant","content":null,)" + calls);
  CHECK(shown(format::NoContent::kAbsent) == R"({"role":"assistant",)" + calls);
  completion.message.content = "Hi";
  completion.message.reasoning = "";
  CHECK(shown(format::NoContent::kAbsent) == R"({"role":"assistant","content":"Hi","reasoning_content":"",)" + calls);
  completion.input.reasoning_part = "thinking";
  completion.message.reasoning = "Hm.";
  CHECK(shown(format::NoContent::kAbsent) ==
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"Hi"}],)" + calls);
  completion = said("", 0);
  CHECK(shown(format::NoContent::kAbsent) == R"({"role":"assistant","content":""})");
  completion = said("", 1);
  completion.message.tool_calls[0].arguments = "[1";
  completion.message.tool_calls[0].id = "own";
  CHECK(
      shown(format::NoContent::kAbsent) ==
      R"({"role":"assistant","tool_calls":[{"id":"own","type":"function","function":{"name":"f","arguments":"[1"}}]})");
}

}  // namespace rondo::render
