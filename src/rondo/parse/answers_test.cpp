// Tests answers that look like calls, and what the template writes only beside calls or only without them.
#include <doctest/doctest.h>

#include "json/parse.h"
#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using testing::base;
using testing::in_any_chunks;
using testing::json_object;
using testing::offering_tools;
using testing::share;
using testing::tags_json;
using testing::tags_parameters;
using testing::tools;

// OPEN NAME CLOSE_NAME {...} CLOSE
Format tagged(const std::string& open, const std::string& close_name, const std::string& close) {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = open;
  format.calls.call_close = close;
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, close_name}, {CallPiece::Kind::kArguments, ""}};
  return format;
}

TEST_CASE("the definition of a tool is no call, unless it is marked as one") {
  const std::string definition =
      "{\"name\": \"find\", \"description\": \"Finds.\", \"parameters\": {\"type\": \"object\", \"properties\": {}}}";
  const std::string bare = "{\"name\": \"find\", \"parameters\": {\"type\": \"object\"}}";
  for (const auto& format : {json_object(), tags_json(), tags_parameters(), testing::bare_json()}) {
    for (const std::string& text : {definition, bare, "[{\"type\": \"function\", \"function\": " + definition + "}]",
                                    "```json\n" + definition + "\n```"})
      CHECK(in_any_chunks(format, text, offering_tools()) == "C(" + text + ")");
  }
  // Arguments may have those names too, as long as they are no schema.
  CHECK(in_any_chunks(tags_json(), "{\"name\": \"find\", \"parameters\": {\"type\": \"x\", \"q\": 1}}",
                      offering_tools()) == "C() find{\"type\": \"x\", \"q\": 1}!malformed");
  CHECK(in_any_chunks(json_object(), "<do>{\"name\": \"find\", \"args\": {\"type\": \"object\"}}</do>") ==
        "C() find{\"type\": \"object\"}");
}

TEST_CASE("words open a call only if a tool or an object follows") {
  const auto f = share(tagged("\nRun ", ": ", ""));
  const std::string list = "First:\nRun the tests: all\nThen commit.";
  CHECK(in_any_chunks(f, list) == "C(" + list + ")");
  CHECK(in_any_chunks(f, list, offering_tools()) == "C(" + list + ")");
  CHECK(in_any_chunks(f, "Yes.\nRun find: {\"q\": 1}") == "C(Yes.) find{\"q\": 1}");
  CHECK(in_any_chunks(f, "Yes.\nRun nobody: {\"q\": 1}", offering_tools()) == "C(Yes.) nobody{\"q\": 1}!unknown_tool");
  // A fence is no word.
  const auto fenced = share(tagged("\nDo:\n```json\n", "\n", "\n```"));
  CHECK(in_any_chunks(fenced, "\nDo:\n```json\nnobody\n5\n```").find("nobody") != std::string::npos);
}

TEST_CASE("an answer in the shape of a call that names no tool is closed by nothing") {
  const auto closing = [](const std::shared_ptr<const Format>& format, const std::string& text) {
    Parser parser(format, offering_tools());
    (void)parser.feed(text);
    return parser.closing_text();
  };
  for (const auto& format :
       {json_object(), tags_json(), tags_parameters(), testing::bare_json(), testing::python_calls()}) {
    for (const char* text : {"{\"name\": \"Ann\",", "{\"city\": \"Oslo\", \"te", "[\"red\", \"bl", "- [ ] to", "[1, 2"})
      CHECK_MESSAGE(closing(format, text).empty(), text);
  }
  CHECK(closing(share(tagged("\nRun ", ": ", "\n")), "Yes.\nRun the te").empty());
  CHECK(closing(testing::bare_json(), "{\"name\": \"find\", \"parameters\": {\"q\"") == ":null}}");
  // A stop ends it like any answer.
  CHECK(in_any_chunks(testing::bare_json(), "{\"name\": \"Ann\",<eot>", offering_tools()) == "C({\"name\": \"Ann\",)");
}

TEST_CASE("a section that has closed is not closed once more") {
  Format format = *tags_json();
  format.calls.section_open = "\n```sh\n";
  format.calls.section_close = "\n```";
  format.calls.call_close = "";
  Parser parser(share(format), {});
  (void)parser.feed("\n```sh\n<|call|>find<|args|>{}\n```");
  CHECK(parser.closing_text() == "");
}

TEST_CASE("a call without arguments may end behind its name") {
  Format format = tagged("<do><to>", "</to><with>", "</with></do>");
  format.calls.omits_arguments = true;
  format.calls.bare_close = "</to></do>";
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<do><to>now</to></do><do><to>find</to><with>{\"q\": 1}</with></do><eot>") ==
        "C() now{} find{\"q\": 1}");
  CHECK(in_any_chunks(f, "Hm.<do><to>now</to></do> Done.") == "C(Hm. Done.) now{}");
  Format tag = tagged("<do to=\"", "\">", "</do>");
  tag.calls.omits_arguments = true;
  tag.calls.bare_close = "\"/>";
  CHECK(in_any_chunks(share(tag), "<do to=\"now\"/><do to=\"find\">{}</do>") == "C() now{} find{}");
}

TEST_CASE("an id may be the last text of a call") {
  Format format = tagged("<do>", " ", "");
  format.calls.pieces.push_back({CallPiece::Kind::kLiteral, " #"});
  format.calls.pieces.push_back({CallPiece::Kind::kId, ""});
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<do>now {} #a1<do>find {\"q\": 1} #b2<eot>") == "C() now{}#a1 find{\"q\": 1}#b2");
}

TEST_CASE("bug: a call without arguments was text if what follows arguments came directly behind its name") {
  Format format = tagged("<do>", "", "</id></do>");
  format.calls.pieces = {{CallPiece::Kind::kName, ""},
                         {CallPiece::Kind::kArguments, ""},
                         {CallPiece::Kind::kLiteral, "\n<id>"},
                         {CallPiece::Kind::kId, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "\n";
  format.calls.parameters.key_close = ":=";
  format.calls.parameters.close = ";";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", ""}};
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<do>now\n<id>a1</id></do>") == "C() now{}#a1");
  CHECK(in_any_chunks(f, "<do>now<id>a1</id></do>") == "C() now{}#a1");
  CHECK(in_any_chunks(f, "<do>find\nq:=x;\n<id>a1</id></do>") == R"(C() find{"q":"x"}#a1)");
}

TEST_CASE("bug: a bracket that nothing closes took the parameters behind it into a text where each is a line") {
  Format format = tagged("<do>", "", "\n</do>");
  format.calls.pieces = {{CallPiece::Kind::kName, ""}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "\n-- ";
  format.calls.parameters.key_close = "\n";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", ""},
                                   {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", ""}};
  Options options;
  options.tools = json::parse(R"([{"type": "function", "function": {"name": "find", "parameters": {"type": "object",
    "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}}}])")
                      .value();
  CHECK(in_any_chunks(share(format), "<do>find\n-- q\nhello :(\n-- n\n3\n</do>", options) ==
        R"(C() find{"q":"hello :(","n":3})");
}

TEST_CASE("bug: a call was text if its opener of one sign stood directly before it once more") {
  const auto f = share(tagged("\n@", "\n", "\n@end"));
  const std::string call = "@find\n{\"n\": 1}\n@end";
  CHECK(in_any_chunks(f, "See:\n" + call, offering_tools()) == "C(See:) find{\"n\": 1}");
  CHECK(in_any_chunks(f, "See @" + call, offering_tools()) == "C(See @) find{\"n\": 1}");
  CHECK(in_any_chunks(f, "See @@@" + call, offering_tools()) == "C(See @@@) find{\"n\": 1}");
  CHECK(in_any_chunks(f, "See @@nobody\n{}", offering_tools()) == "C(See @@nobody\n{})");
}

TEST_CASE("content before calls may have markers of its own") {
  Format format = *json_object();
  format.content = {"", "", "<remark>", "</remark>"};
  const auto f = share(format);
  const std::string call = "<do>{\"name\": \"now\", \"args\": {}}</do>";
  CHECK(in_any_chunks(f, "<remark>Hm.</remark>" + call) == "C(Hm.) now{}");
  CHECK(in_any_chunks(f, "Hm.<eot>") == "C(Hm.)");
  CHECK(in_any_chunks(f, "No </remark> yet.<eot>") == "C(No </remark> yet.)");
  Parser parser(f, {});
  (void)parser.feed("<remark>Hm");
  CHECK(parser.closing_text() == "</remark>");
  format.content = {"[SAY]", "", "[ACT]", ""};
  const auto headed = share(format);
  CHECK(in_any_chunks(headed, "[ACT]Hm." + call) == "C(Hm.) now{}");
  CHECK(in_any_chunks(headed, "[ACT]" + call + "<eot>") == "C() now{}");
  CHECK(in_any_chunks(headed, "[SAY]Hm.<eot>") == "C(Hm.)");
}

TEST_CASE("what the template writes without reasoning is no content") {
  Format format = *json_object();
  format.reasoning.absent = "<|no-muse|>";
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<|no-muse|>Hello<eot>") == "C(Hello)");
  CHECK(in_any_chunks(f, "<muse>\nhm\n</muse>\n\nHello<eot>") == "R(hm) C(Hello)");
  CHECK(in_any_chunks(f, "<|no-muse|>now and then<eot>", offering_tools()) == "C(now and then)");
}

TEST_CASE("calls whose names are keys: each member of an object is a call") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<do>";
  format.calls.call_close = "</do>";
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.roles.name_is_key = true;
  const auto keyed = share(format);
  CHECK(in_any_chunks(keyed, R"(<do>{"find": {"q": "a"}, "find": {"q": "b"}}</do><eot>)", offering_tools()) ==
        R"(C() find{"q": "a"} find{"q": "b"})");
  CHECK(in_any_chunks(keyed, R"(<do>{"find": {"q": "a"}, "lose": {}}</do><eot>)", offering_tools()) ==
        R"(C() find{"q": "a"} lose{}!unknown_tool)");
  CHECK(in_any_chunks(keyed, R"(<do>{"find": {"q": "a"}, "find": {"q": )", offering_tools()) ==
        R"(C() find{"q": "a"} find{"q": !unclosed ...)");
  // Without a mark, what is no tool's name is no call.
  format.calls.call_open = format.calls.call_close = "";
  CHECK(in_any_chunks(share(format), R"({"find": {"q": "a"}, "note": {"q": "b"}}<eot>)", offering_tools()) ==
        R"(C(, "note": {"q": "b"}}) find{"q": "a"})");
}

TEST_CASE("bug: brackets in front of a stop vanished from text that nothing had opened") {
  Format format = base();
  format.content = {R"({"say": ")", R"(", "acts": [)"};
  format.stops.content = {"]}<|end|>"};
  const auto whole = share(format);
  CHECK(in_any_chunks(whole, R"({"say": "x", "acts": []}<|end|>)", {}) == "C(x)");
  CHECK(in_any_chunks(whole, R"({"tell": "x", "acts": []}<|end|>)", {}) == R"(C({"tell": "x", "acts": []}))");
  CHECK(in_any_chunks(whole, "see [a[1]}<|end|>", {}) == "C(see [a[1]})");
}

}  // namespace
}  // namespace rondo::parse
