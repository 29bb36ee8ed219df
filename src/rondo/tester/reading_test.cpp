#include "tester/reading.h"

#include <doctest/doctest.h>

#include "json/parse.h"

namespace rondo::tester {
namespace {

std::shared_ptr<const format::Format> small_format() {
  auto out = std::make_shared<format::Format>();
  out->reasoning.present = true;
  out->reasoning.open = "(*mull ";
  out->reasoning.close = " mull*)";
  out->stops.content = {"~fin~"};
  return out;
}

TEST_CASE("a text is read in pieces, with what the events told") {
  const Reading reading = read_in_pieces(parse::Parser(small_format(), {}), {"(*mu", "ll so mull*)He", "llo~fin~"});
  CHECK(to_text(reading.message) == "reasoning: so\ncontent: Hello\n");
  CHECK(reading.events == to_text(reading.message));
  CHECK(reading.place == parse::Place::kEnded);
  CHECK(reading.taken_back.empty());
}

TEST_CASE("cuts cover the text") {
  for (const Cut& cut : cuts_of("(*mull so mull*)Hello~fin~")) {
    std::string all;
    for (const std::string_view piece : cut.pieces) all += piece;
    CHECK(all == "(*mull so mull*)Hello~fin~");
  }
  CHECK(cuts_of("ab").front().pieces.size() == 2);
  CHECK(cuts_of("").front().pieces.empty());
}

TEST_CASE("messages are compared by what they mean") {
  const auto message = [](const char* text) { return json::parse(text).value(); };
  CHECK(to_text(meant(message(R"({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})"), "")) ==
        "content: ab\n");
  CHECK(to_text(meant(message(R"({"content": null, "thinking": "t", "tool_calls": [
          {"id": "x", "function": {"name": "f", "arguments": {"b": 1, "a": "x"}}},
          {"function": {"name": "g", "arguments": "{\"b\": 1}"}}]})"),
                      "")) == "reasoning: t\ncall 1: f {\"a\": \"x\", \"b\": 1}\ncall 2: g {\"b\": 1}\n");
  CHECK(to_text(meant(message(R"({"content": "a", "musing": "m"})"), "musing")) == "reasoning: m\ncontent: a\n");
  chat::AssistantMessage said;
  said.content = " a\n";
  said.reasoning = "\n";
  chat::ToolCall& call = said.tool_calls.emplace_back();
  call.id = "i";
  call.name = "f";
  call.arguments = "{\"b\":1,\"a\":2}";
  CHECK(to_text(comparable(said)) == "content: a\ncall 1: f {\"a\": 2, \"b\": 1}\n");
  CHECK(canonical_arguments("{broken") == "{broken");
}

}  // namespace
}  // namespace rondo::tester
