#include "render/stand_in.h"

#include <doctest/doctest.h>

#include <utility>

namespace rondo::render {
namespace {

// The calls and content of each rung; `~` stands for the other type of arguments.
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
  // A turn that says nothing is shown by few templates.
  CHECK(ladder_text(said("", 0), {user()}) == "own/text");
  CHECK(ladder_text(said(" ", 0), {user()}) == "own/text");
  // Results that answer no call of the turn.
  CHECK(ladder_text(said("Hello", 0), {result()}) ==
        "own/own results/own ~results/own results/shape ~results/shape results/other ~results/other");
  // The result gives the call its id; without a result it is made up.
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

}  // namespace rondo::render
