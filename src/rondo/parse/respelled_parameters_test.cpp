// Tests parameters and calls whose markup models write in another way, and values that the end of the text cuts off.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::ArgumentStyle;
using format::CallPiece;
using format::Format;
using format::ValueStyle;
using format::ValueType;
using testing::base;
using testing::python_calls;
using testing::read_with_tools;
using testing::share;
using testing::tags_json;
using testing::tags_parameters;

// <f name="N"><p name="K">V</p></f>
Format attributes() {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<f name=\"";
  format.calls.call_close = "</f>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "\">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = ArgumentStyle::kParameters;
  auto& parameters = format.calls.parameters;
  parameters.open = "<p name=\"";
  parameters.key_close = "\">";
  parameters.close = "</p>";
  parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "", "", ""},
                      {ValueType::kInteger, ValueStyle::kJson, "", "", ""}};
  return format;
}

TEST_CASE("bug: parameters in tags with other quotes, or with other attributes before the name, were lost") {
  const auto f = share(attributes());
  const std::string read = "C( Ok.) find{\"q\":\"Oslo\",\"n\":3}!malformed";
  for (const char* q : {"<p name='q'>", "<p name=q>", "<p type=\"text\" name=\"q\">", "<p type='text' name='q' >"})
    for (const char* n : {"<p name='n'>", "<p name=n>", "<p kind=x name=\"n\">", "<p name=\"n\">"})
      CHECK(read_with_tools(f, "<f name=\"find\">" + std::string(q) + "Oslo</p>\n" + n + "3</p></f> Ok.") == read);
  CHECK(read_with_tools(f, "<f name='find'><p name='q'>a</p></f>") == "C() find{\"q\":\"a\"}!malformed");
  // A tag without the name is none, and a value may quote the close of a parameter.
  CHECK(read_with_tools(f, "<f name=\"find\"><p key='q'>a</p><p name=\"n\">3</p></f>") ==
        "C() find{\"n\":3}!malformed");
  CHECK(read_with_tools(f, "<f name=\"find\"><p name=\"q\">a</p> <p name='x'>b</p></f>") ==
        "C() find{\"q\":\"a</p> <p name='x'>b\"}");
}

TEST_CASE("bug: parameters in tags with other quotes were lost where the tag tells the value's type") {
  Format format = attributes();
  format.calls.parameters.key_close = "\" type=\"";
  format.calls.parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "text\">", "", ""},
                                   {ValueType::kInteger, ValueStyle::kJson, "json\">", "", ""}};
  CHECK(read_with_tools(share(format), "<f name=\"find\"><p name='q' type='text'>7</p><p name='n'>3</p></f>") ==
        "C() find{\"q\":\"7\",\"n\":3}!malformed");
}

TEST_CASE("bug: a parameter was lost where its tag lacks the closing bracket") {
  const auto f = tags_parameters();
  const std::string call = "<call>\n<f=find>\n";
  CHECK(read_with_tools(f, call + "<p=q\na>b\n</p>\n</f>\n</call>") == "C() find{\"q\":\"a>b\"}!malformed");
  CHECK(read_with_tools(f, call + "<p=q\nOslo\n</p>\n<p=n\n3\n</p>\n</f>\n</call> Ok.") ==
        "C( Ok.) find{\"q\":\"Oslo\",\"n\":3}!malformed");
  CHECK(read_with_tools(f, call + "<p=q\n>\nOslo\n</p>\n</f>\n</call>") == "C() find{\"q\":\"Oslo\"}");
  CHECK(read_with_tools(f, call + "<p=lost\nOslo\n</p>\n</f>\n</call>") == "C() find{}!malformed");
}

TEST_CASE("bug: a call was content where blanks stand around an id that names a tool") {
  Format format = *tags_json();
  format.calls.pieces[0].kind = CallPiece::Kind::kNameInId;
  format.calls.pieces[0].front = "tools.";
  const auto f = share(format);
  CHECK(read_with_tools(f, "<|calls|>\n<|call|> tools.find:0 <|args|> {\"n\":1} <|end|>\n<|calls_end|>") ==
        "C() find{\"n\":1}#tools.find:0");
  const std::string prose = "between <|call|> and <|end|>";
  CHECK(read_with_tools(f, prose) == "C(" + prose + ")");
}

TEST_CASE("bug: a call of another format was content behind the control token that opens content") {
  Format format = base();
  format.calls.present = true;
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  format.content = {"<|say|>", "<|/say|>"};
  const auto f = share(format);
  CHECK(read_with_tools(f, "<|say|>[find(q='a', n=1)]<|/say|>") == "C() find{\"q\":\"a\",\"n\":1}");
  CHECK(read_with_tools(f, "<|say|>[find] is a tool.<|/say|><eot>") == "C([find] is a tool.)");
  CHECK(read_with_tools(f, "<|say|>\n [1] Hello.<|/say|>") == "C(\n [1] Hello.)");
}

TEST_CASE("bug: a quote was part of a text, and a list or object a text, where the end cut off their call") {
  const auto f = python_calls();
  CHECK(read_with_tools(f, "<|py|>[find(q=\"Os") == "C() find{\"q\":\"Os\"}!unclosed ...");
  CHECK(read_with_tools(f, "<|py|>[find(n=1, q=\"\"\"Os\nlo") == "C() find{\"n\":1,\"q\":\"Os\\nlo\"}!unclosed ...");
  CHECK(read_with_tools(f, "<|py|>[find(any=[\"a\", 'b") == "C() find{\"any\":[\"a\",\"b\"]}!unclosed ...");
  CHECK(read_with_tools(f, "<|py|>[find(any={\"a\": [1") == "C() find{\"any\":{\"a\":[1]}}!unclosed ...");
  CHECK(read_with_tools(f, "<|py|>[find(q=Os") == "C() find{\"q\":\"Os\"}!unclosed ...");
}

TEST_CASE("bug: a value had its closing tag where the end cut off the marker behind that") {
  const auto f = tags_parameters();
  const std::string call = "<call>\n<f=find>\n<p=q>\nOslo\n</p>\n";
  const std::string read = "C() find{\"q\":\"Oslo\"}!unclosed ...";
  for (const char* end : {"", "<", "</", "</f", "<p", "<p="}) CHECK(read_with_tools(f, call + end) == read);
  CHECK(read_with_tools(f, call + "b") == "C() find{\"q\":\"Oslo\\n</p>\\nb\"}!unclosed ...");
}

TEST_CASE("bug: white space was a text where the tool wants a list") {
  Format format = attributes();
  format.calls.parameters.forms.push_back({ValueType::kArray, ValueStyle::kJson, "", "", ""});
  Options options;
  options.tools = json::parse(R"([{"type":"function","function":{"name":"sort","parameters":{"type":"object",
      "properties":{"list":{"type":"array"},"q":{"type":"string"}}}}}])")
                      .value();
  CHECK(testing::in_any_chunks(share(format), "<f name=\"sort\"><p name=\"list\">\n </p><p name=\"q\"> </p></f>",
                               options) == "C() sort{\"list\":[],\"q\":\" \"}");
}

TEST_CASE("bug: a listed name was cut where it contains the text that closes names") {
  Format format = *python_calls();
  format.calls.parameters.key_close = ":";
  Options options;
  options.tools = json::parse(R"([{"type":"function","function":{"name":"find","parameters":{"type":"object",
      "properties":{"a:b":{"type":"integer"},"a":{"type":"string"}}}}}])")
                      .value();
  CHECK(testing::in_any_chunks(share(format), "<|py|>[find(a:b:1, a:'x')]<|/py|>", options) ==
        "C() find{\"a:b\":1,\"a\":\"x\"}");
}

TEST_CASE("bug: an object was a text where its first member is called as the items of lists are") {
  Format format = attributes();
  format.calls.call_open = "<call=";
  format.calls.call_close = "</call>";
  format.calls.pieces[1].text = ">";
  auto& parameters = format.calls.parameters;
  parameters.open = "<";
  parameters.key_close = ">";
  parameters.key_in_close = "</";
  parameters.close = ">";
  parameters.item_open = "<item>";
  parameters.item_close = "</item>";
  parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "", "", ""},
                      {ValueType::kObject, ValueStyle::kNested, "", "", ""},
                      {ValueType::kArray, ValueStyle::kNested, "", "", ""}};
  Options options;
  options.tools = json::parse(R"([{"type":"function","function":{"name":"todo","parameters":{"type":"object",
      "properties":{"list":{"type":"array","items":{"type":"object"}},"any":{}}}}}])")
                      .value();
  const std::string list = "<list><item><item>a</item><late>b</late></item><item><item>c</item></item></list>";
  CHECK(testing::in_any_chunks(share(format), "<call=todo>" + list + "</call>", options) ==
        "C() todo{\"list\":[{\"item\":\"a\",\"late\":\"b\"},{\"item\":\"c\"}]}");
  CHECK(testing::in_any_chunks(share(format), "<call=todo><any><item>a</item><late>b</late></any></call>", options) ==
        "C() todo{\"any\":{\"item\":\"a\",\"late\":\"b\"}}");
}

TEST_CASE("bug: a second call was content where it lacks its opener") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "[CALL]";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "[ARGS]"}, {CallPiece::Kind::kArguments, ""}};
  const auto f = share(format);
  CHECK(read_with_tools(f, "[CALL]find[ARGS]{\"n\":1}now[ARGS]{}<eot>") == "C() find{\"n\":1} now{}");
  CHECK(read_with_tools(f, "[CALL]find[ARGS]{\"n\":1}\nnow[ARGS]{} Ok.") == "C( Ok.) find{\"n\":1} now{}");
  CHECK(read_with_tools(f, "[CALL]find[ARGS]{\"n\":1} now is late.") == "C( now is late.) find{\"n\":1}");
  CHECK(read_with_tools(f, "now[ARGS]{}") == "C(now[ARGS]{})");
}

}  // namespace
}  // namespace rondo::parse
