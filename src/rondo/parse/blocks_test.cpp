// Tests formats whose reasoning, answers and calls are blocks of one kind, and openers that models write twice or in
// vain.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using testing::in_any_chunks;
using testing::read_with_tools;
using testing::share;

// A format of blocks, each with a heading: <|start|>bot, then <|to|>self<|body|>R<|end|>, <|to|>user<|body|>C or
// <|to|>N<|body|>{...}<|end|>.
std::shared_ptr<const Format> blocks() {
  Format format;
  format.header = "<|start|>bot";
  format.reasoning = {true, "<|to|>self<|body|>", "<|end|>", false};
  format.content.open = "<|to|>user<|body|>";
  format.calls.present = true;
  format.calls.call_open = "<|to|>";
  format.calls.separator = "<|end|><|start|>bot";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "<|body|>"}, {CallPiece::Kind::kArguments, ""}};
  format.stops.content = {"<|eot|>"};
  return share(format);
}

// A format that writes each call as <|call|>call:N{k:V,k:V}<|/call|>.
std::shared_ptr<const Format> braces() {
  Format format;
  format.calls.present = true;
  format.calls.call_open = "<|call|>call:";
  format.calls.call_close = "}<|/call|>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "{"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.key_close = ":";
  format.calls.parameters.separator = ",";
  format.calls.parameters.forms = {{format::ValueType::kInteger, format::ValueStyle::kJson, "", "", ""}};
  format.stops.content = {"<|eot|>"};
  return share(format);
}

TEST_CASE("bug: a second call in the markers of the first was text of the answer") {
  const auto f = braces();
  const std::string both = "C() f{\"a\":1} g{\"b\":2}";
  CHECK(in_any_chunks(f, "<|call|>call:f{a:1}<|/call|><|call|>call:g{b:2}<|/call|>") == both);
  CHECK(in_any_chunks(f, "<|call|>call:f{a:1}call:g{b:2}<|/call|>") == both);
  CHECK(in_any_chunks(f, "<|call|>call:f{a:1}\ncall:g{b:2}<|/call|><|eot|>") == both);
  CHECK(in_any_chunks(f, "<|call|>call:f{a:1}call: me later") == "C(call: me later) f{\"a\":1}");
  CHECK(in_any_chunks(f, "<|call|>call:f{a:1}<|/call|>call: me later") == "C(call: me later) f{\"a\":1}");
}

TEST_CASE("bug: an opener without the word between its tag and its colon was text of the answer") {
  const auto f = braces();
  CHECK(read_with_tools(f, "<|call|>:find{n:1}<|/call|>") == "C() find{\"n\":1}");
  CHECK(read_with_tools(f, "See: <|call|>:find{n:1}<|/call|>") == "C(See: ) find{\"n\":1}");
  CHECK(read_with_tools(f, "<|call|>find{n:1}<|/call|>") == "C() find{\"n\":1}");
  CHECK(read_with_tools(f, "<|call|>:no{n:1}") == "C(<|call|>:no{n:1})");
}

TEST_CASE("bug: the header of a call's block behind an answer was text of the answer") {
  const auto f = blocks();
  CHECK(in_any_chunks(f, "<|to|>user<|body|>Hi\nyou<|end|><|start|>bot<|to|>find<|body|>{\"q\": 1}<|eot|>") ==
        "C(Hi\nyou) find{\"q\": 1}");
  CHECK(in_any_chunks(f, "<|to|>user<|body|>Hi<|eot|>") == "C(Hi)");
}

TEST_CASE("bug: the first of two headings in a row was read, and a call made of it") {
  Format format = *blocks();
  format.calls.call_open = " to=";
  format.reasoning.open = "<|channel|>analysis<|body|>";
  format.content.open = "<|channel|>final<|body|>";
  format.calls.heading_close = "<|body|>";
  const auto f = share(format);
  CHECK(in_any_chunks(
            f,
            "<|channel|>commentary to=bot<|channel|>analysis<|body|>hm<|end|><|start|>bot<|channel|>final<|body|>Hi") ==
        "R(hm) C(Hi)");
  CHECK(in_any_chunks(f, "<|channel|>commentary to=find<|body|>{}") == "C() find{}");
}

TEST_CASE("bug: a block that a heading addressed to the model itself was a call") {
  Format format = *blocks();
  format.calls.call_open = " to=tools.";
  format.reasoning.open = "<|channel|>analysis<|body|>";
  format.content.open = "<|channel|>final<|body|>";
  format.calls.heading_close = "<|body|>";
  const auto f = share(format);
  CHECK(in_any_chunks(f,
                      "<|channel|>commentary to=bot<|channel|>analysis<|body|>hm<|end|><|start|>bot"
                      "<|channel|>commentary to=bot<|channel|>final<|body|>Hi") == "R(hm) C(Hi)");
  CHECK(in_any_chunks(f, "<|channel|>commentary to=bot<|body|>Hi") == "C(Hi)");
  CHECK(in_any_chunks(f, "<|channel|>commentary to=botany<|body|>{}") == "C() botany{}");
  Options options;
  options.tools = testing::tools();
  const std::string other = "<|channel|>commentary to=tools.find<|channel|>final<|body|>{}";
  CHECK(testing::run(f, options, {other}) == "C() find{}");
}

// The format of blocks() with words in front of the recipient, such as <|part|>muse<|body|>R<|end|>.
Format parts() {
  Format format = *blocks();
  format.calls.call_open = " to=tools.";
  format.reasoning.open = "<|part|>muse<|body|>";
  format.content.open = "<|part|>say<|body|>";
  format.calls.heading_close = "<|body|>";
  return format;
}

TEST_CASE("bug: a call in a block of reasoning was reasoning, and nobody saw whom it was for") {
  const auto f = share(parts());
  CHECK(in_any_chunks(f, "<|part|>muse<|body|>Hm.<|end|><|start|>bot<|part|>muse to=web.look code<|body|>{\"q\": 1}") ==
        "R(Hm.) C() web.look{\"q\": 1}");
  CHECK(in_any_chunks(f, "<|part|>muse to=find code<|body|>{}") == "C() find{}");
  CHECK(in_any_chunks(f, "<|part|>say to=web.look<|body|>{}") == "C() web.look{}");
  Options options;
  options.tools = testing::tools();
  CHECK(testing::run(f, options, {"<|part|>muse to=web.look code<|body|>{}"}) == "C() web.look{}!unknown_tool");
  Format own = parts();
  own.reasoning.open = "<|part|>muse to=self<|body|>";
  CHECK(in_any_chunks(share(own), "<|part|>muse to=self<|body|>Hm.<|end|><|start|>bot<|part|>say<|body|>Hi") ==
        "R(Hm.) C(Hi)");
}

TEST_CASE("bug: a space behind each control token made text of headings and openers") {
  const auto f = share(parts());
  const std::string text = "<|part|> muse<|body|> Hm.<|end|><|start|> bot<|part|> say<|body|> Hi<|eot|>";
  CHECK(in_any_chunks(f, text) == "R( Hm.) C( Hi)");
  CHECK(in_any_chunks(f, "<|part|> muse to=web.look code<|body|> {}") == "C() web.look{}");
  Format plain = *blocks();
  plain.reasoning.open = "<|part|>muse<|body|>";
  plain.content.open = "<|part|>say<|body|>";
  CHECK(in_any_chunks(share(plain), text) == "R( Hm.) C( Hi)");
  CHECK(in_any_chunks(share(plain), "<|to|> find <|body|> {}<|eot|>") == "C() find{}");
}

TEST_CASE("bug: an opener that was begun twice was text of the answer") {
  Format format;
  format.stops.content = {"<eot>"};
  format.reasoning = {true, "<|channel>thought\n", "<channel|>", false};
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<|channel><|channel>thought\nhm<channel|>Hi") == "R(hm) C(Hi)");
  // Other words after the token belong to the reasoning.
  CHECK(in_any_chunks(f, "<|channel>hm\nhm<channel|>Hi") == "R(hm\nhm) C(Hi)");
  CHECK(in_any_chunks(f, "Hi\n<|channel>thousand<channel|>you") == "R(thousand) C(Hi\nyou)");
}

TEST_CASE("bug: what the prompt began of an opener was content where the model wrote something else") {
  Format format = *blocks();
  format.header = "[bot]";
  format.content = {">>>all\n", ""};
  format.calls.call_open = ">>>";
  format.calls.separator = "";
  format.generation_prompts = {{"default", "[bot]>>>"}};
  Options options;
  options.prompt_tail = "[bot]>>>";
  options.json_answer = true;
  for (const bool has_calls : {false, true}) {
    options.calls = has_calls;
    const auto said = [&](const std::string& text) { return testing::run(share(format), options, {text}); };
    CHECK(said("all\n{\"n\": 1}") == "C({\"n\": 1})");
    CHECK(said("{\"n\": 1}") == "C({\"n\": 1})");
    CHECK(said("```json\n{\"n\": 1}\n```") == "C({\"n\": 1})");
    CHECK(said("Hi you") == "C(Hi you)");
    CHECK(said("\n Hi") == "C(\n Hi)");
  }
}

TEST_CASE("bug: reasoning that the prompt opened and nobody wrote was an opener in the answer") {
  Format format = *blocks();
  format.header = "[bot]";
  format.reasoning = {true, "<muse>\n", "\n</muse>\n\n", false};
  format.content = {"<|say|>", "<|said|>"};
  Options options;
  options.inline_reasoning = true;
  options.prompt_tail = "[bot]<muse>\n";
  const auto said = [&](const std::string& text) { return testing::run(share(format), options, {text}); };
  CHECK(said("<|say|>Hi<|said|>") == "C(Hi)");
  CHECK(said("<|to|>find<|body|>{}") == "C() find{}");
  CHECK(said("hm<|to|>find<|body|>{}") == "C(<muse>\nhm) find{}");
  CHECK(said("</muse>\n\n<|say|>Hi<|said|>") == "C(<muse>\n</muse>\n\nHi)");
}

TEST_CASE("bug: the prompt's opener in the content was reported at the start, although text stood before it") {
  Format format;
  format.header = "[bot]";
  format.reasoning = {true, "<|part|>muse<|text|>", "<|part_end|>", false};
  format.content.open = "<|part|>say<|text|>";
  format.stops = {.content = {"<|done|>"}, .history_close = {"<|part_end|>"}};
  Options options;
  options.inline_reasoning = true;
  options.prompt_tail = "[bot]<|part|>muse<|text|>";
  Parser parser(share(format), options);
  std::size_t end = 0;
  std::string content;
  for (const char byte : std::string("<|part|>say<|text|><|part|>muse<|text|>hm")) {
    for (const Event& event : parser.feed(std::string(1, byte))) {
      CHECK(event.begin == end);
      end = event.end;
      content += event.text;
    }
  }
  CHECK(content == "<|part|>muse<|text|><|part|>muse<|text|>hm");
}

TEST_CASE("bug: the prompt's tail ended in reasoning with a heading of other words, which is kept in the content") {
  Format format = *blocks();
  format.calls.call_open = "<|to|>tools.";
  format.calls.heading_close = "<|body|>";
  Options options;
  options.inline_reasoning = true;
  options.prompt_tail = "<|start|>bot<|to|>self now<|body|>hm";
  CHECK(testing::run(share(format), options, {"m<|end|>"}) == "C(<|to|>self now<|body|>hmm<|end|>)");
}

TEST_CASE("bug: what separates two calls and begins the second was taken for a section's close that breaks off") {
  Format format;
  format.calls.present = true;
  format.calls.section_open = "## calls";
  format.calls.call_open = "\n## one\n<name>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "</name>"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.separator = "## /one<>\n## end";
  format.calls.section_close = "## /one<>\n## end\n## /calls";
  format.stops.content = {"<eot>"};
  const auto f = share(format);
  const std::string one = "\n## one\n<name>find</name>{}";
  CHECK(in_any_chunks(f, "## calls" + one + "## /one<>\n## end" + one + "## /one<>\n## end\n## /calls<eot>") ==
        "C() find{} find{}");
  // Text that may be either stays text.
  CHECK(in_any_chunks(f, "## calls" + one + "## /one<>\n## end\n##<eot>") == "C(\n##) find{} ...");
}

TEST_CASE("bug: the next call's opener was taken for a beginning of the section's close, with other white space") {
  Format format;
  format.header = "[bot]";
  format.stops.content = {"<eot>"};
  format.calls.present = true;
  format.calls.section_open = "Begin calls:";
  format.calls.call_open = "\n\nBegin call:\n";
  format.calls.call_close = "\n";
  format.calls.separator = "Begin end:";
  format.calls.section_close = "Begin end:\nBegin over:";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, " "}, {CallPiece::Kind::kArguments, ""}};
  const auto f = share(format);
  CHECK(in_any_chunks(
            f, "Begin calls:\n\nBegin call:\nf {}\nBegin end:\n\nBegin call:\ng {}\nBegin end:\nBegin over:<eot>") ==
        "C() f{} g{}");
}

TEST_CASE("bug: a bracket that closes a call ended the turn where it also stops one") {
  Format format;
  format.header = "{\"say\": ";
  format.content = {"\"", "\""};
  format.stops.content = {"}"};
  format.calls.present = true;
  format.calls.section_open = ", \"acts\": [";
  format.calls.section_close = "]";
  format.calls.call_open = "{\"act\": \"";
  format.calls.call_close = "}";
  format.calls.separator = ", ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "\", \"with\": "}, {CallPiece::Kind::kArguments, ""}};
  const auto f = share(format);
  CHECK(in_any_chunks(f, R"("x", "acts": [{"act": "f", "with": {}}, {"act": "g", "with": {}}]})") == "C(x) f{} g{}");
}

}  // namespace
}  // namespace rondo::parse
