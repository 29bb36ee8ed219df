// Tests arguments that are cut off, or whose end only what follows them shows.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using testing::base;
using testing::read_with_tools;
using testing::share;

Format calls_in_tags() {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "<args>"}, {CallPiece::Kind::kArguments, ""}};
  return format;
}

TEST_CASE("bug: arguments in a string that was cut off were lost") {
  Format tagged = calls_in_tags();
  tagged.calls.arguments = format::ArgumentStyle::kJsonText;
  CHECK(read_with_tools(share(tagged), R"(<call>find<args>"{\"q\": \"Os)") == R"(C() find{"q": "Os!unclosed ...)");
  CHECK(read_with_tools(share(tagged), R"(<call>find<args>"{\"q\": \"O\\\\)") == R"(C() find{"q": "O\\!unclosed ...)");
  CHECK(read_with_tools(share(tagged), R"(<call>find<args>"{\"q\)") == R"(C() find{"q!unclosed ...)");
  CHECK(read_with_tools(share(tagged), R"(<call>find<args>")") == "C() find!unclosed ...");
  Format object = base();
  object.calls.present = true;
  object.calls.call_open = "<call>";
  object.calls.call_close = "</call>";
  object.calls.envelope = format::Envelope::kJsonObject;
  object.calls.arguments = format::ArgumentStyle::kJsonText;
  object.calls.roles.name = {"name"};
  object.calls.roles.arguments = {"args"};
  CHECK(read_with_tools(share(object), R"(<call>{"name": "find", "args": "{\"q\": \"Os)") ==
        R"(C() find{"q": "Os!unclosed ...)");
  CHECK(read_with_tools(share(object), R"(<call>{"name": "find", "args": "{\"q\": \"\u00)") ==
        R"(C() find{"q": "!unclosed ...)");
}

TEST_CASE("bug: a text without quotes held the parameters on the lines behind it") {
  Format yaml = calls_in_tags();
  yaml.calls.call_close = "\n</call>";
  yaml.calls.pieces[1].text = "\nargs:\n  ";
  yaml.calls.arguments = format::ArgumentStyle::kParameters;
  yaml.calls.parameters.key_close = ": ";
  yaml.calls.parameters.separator = "\n  ";
  yaml.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "", "", {}},
                                 {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", "", {}}};
  CHECK(read_with_tools(share(yaml), "<call>find\nargs:\n  q: Oslo\n  n: 3\n</call>") ==
        R"(C() find{"q":"Oslo","n":3})");
  CHECK(read_with_tools(share(yaml), "<call>find\nargs:\n  q: a\n\n b\n  n: 3\n</call>") ==
        R"(C() find{"q":"a\n\n b","n":3})");
  CHECK(read_with_tools(share(yaml), "<call>find\nargs:\n  q: \"a\\n  n: 3\"\n  n: 3\n</call>") ==
        R"(C() find{"q":"a\n  n: 3","n":3})");
}

TEST_CASE("bug: an id behind the arguments was a part of them where the close is missing") {
  Format format = calls_in_tags();
  format.calls.pieces.push_back({CallPiece::Kind::kLiteral, "<id>"});
  format.calls.pieces.push_back({CallPiece::Kind::kId, ""});
  const std::string whole = R"(C() find{"n":1}#a1 now{}#a2)";
  CHECK(read_with_tools(share(format), R"(<call>find<args>{"n":1}<id>a1</call><call>now<args>{}<id>a2</call><eot>)") ==
        whole);
  CHECK(read_with_tools(share(format), R"(<call>find<args>{"n":1}<id>a1<call>now<args>{}<id>a2<eot>)") == whole);
}

TEST_CASE("bug: a bracket too many behind the arguments made text of what closes the call") {
  const std::string read = R"(C(Ok.) find{"n":1}!malformed)";
  CHECK(read_with_tools(share(calls_in_tags()), R"(Ok.<call>find<args>{"n":1}}</call><eot>)") == read);
  Format format = calls_in_tags();
  format.calls.pieces.push_back({CallPiece::Kind::kLiteral, "<id>"});
  format.calls.pieces.push_back({CallPiece::Kind::kId, ""});
  CHECK(read_with_tools(share(format), R"(Ok.<call>find<args>{"n":1}}<id>a1</call><eot>)") ==
        R"(C(Ok.) find{"n":1}#a1!malformed)");
}

TEST_CASE("bug: a heading in open reasoning was reasoning, with the answer behind it") {
  Format format = base();
  format.header = "<|bot|>";
  format.reasoning = {true, "<|to|>self<|body|>", "<|close|>", false};
  format.content = {"<|to|>user<|body|>", "<|close|>"};
  format.calls.present = true;
  format.calls.call_open = "<|to|>tools ";
  format.calls.call_close = "<|close|>";
  format.calls.separator = "<|bot|>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "<|body|>"}, {CallPiece::Kind::kArguments, ""}};
  CHECK(read_with_tools(share(format), "<|to|>self<|body|>hm<|bot|><|to|>user<|body|>Yes.<|close|><eot>") ==
        "R(hm) C(Yes.)");
}

TEST_CASE("bug: a call that was cut off was whole where a text before its second name closes it") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "BEGIN ";
  format.calls.call_close = "\n";
  format.calls.pieces = {{CallPiece::Kind::kName, ""},
                         {CallPiece::Kind::kArguments, ""},
                         {CallPiece::Kind::kLiteral, "\nEND "},
                         {CallPiece::Kind::kName, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "\nSET ";
  format.calls.parameters.key_close = " TO ";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "", "", {}}};
  format.stops.content = {"<|stop|>"};
  const auto shared = share(format);
  CHECK(read_with_tools(shared, "BEGIN find\nSET q TO \"a\"\nEND find\n<|stop|>") == R"(C() find{"q":"a"})");
  CHECK(read_with_tools(shared, "BEGIN find\nEND find\n<|stop|>") == "C() find{}");
  for (const std::string end : {"", "<|stop|>"}) {
    CHECK(read_with_tools(shared, "BEGIN find\n" + end) == "C() find{}!unclosed ...");
    CHECK(read_with_tools(shared, "BEGIN find\nSET q TO" + end) == R"(C() find{"q":""}!unclosed ...)");
    CHECK(read_with_tools(shared, "BEGIN find\nSET q TO \"a\"\n" + end) == R"(C() find{"q":"a"}!unclosed ...)");
  }
}

}  // namespace
}  // namespace rondo::parse
