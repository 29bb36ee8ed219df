#include "parse/parser.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::ArgumentStyle;
using format::CallPiece;
using format::Envelope;
using format::Format;
using format::ValueStyle;
using format::ValueType;
using testing::bare_json;
using testing::base;
using testing::json_array;
using testing::json_object;
using testing::python_calls;
using testing::share;
using testing::tags_json;
using testing::tags_parameters;
using testing::tools;

using testing::run;
using testing::show;

std::string parsed(const std::shared_ptr<const Format>& format, const std::string& text, const Options& options = {}) {
  return testing::in_any_chunks(format, text, options);
}

TEST_CASE("content, reasoning and the stop") {
  const auto f = json_object();
  CHECK(parsed(f, "") == "C()");
  CHECK(parsed(f, "Hello") == "C(Hello)");
  CHECK(parsed(f, "Hello<eot>") == "C(Hello)");
  CHECK(parsed(f, "Hello\n\n<eot>\n") == "C(Hello\n\n)");
  CHECK(parsed(f, "a < b <e <eo") == "C(a < b <e <eo)");
  CHECK(parsed(f, "<muse>\nhm\n</muse>\n\nHello<eot>") == "R(hm) C(Hello)");
  CHECK(parsed(f, "\n<muse>hm</muse>Hello") == "R(hm) C(Hello)");
  CHECK(parsed(f, "<muse>\n\nhm\n\n</muse>\n\n\nHello") == "R(\nhm\n) C(\nHello)");
  CHECK(parsed(f, "<muse>\n\n</muse>\n\nHello") == "R() C(Hello)");
  CHECK(parsed(f, "Hello <muse>x</muse>") == "C(Hello <muse>x</muse>)");
  CHECK(parsed(f, "</muse>\n\nHello") == "C(Hello)");
  CHECK(parsed(f, "<muse>\nhm") == "R(hm) C() ...");
  CHECK(parsed(f, "\xC3\xA9t\xC3\xA9 \xF0\x9F\x98\x80") == "C(\xC3\xA9t\xC3\xA9 \xF0\x9F\x98\x80)");
}

TEST_CASE("an answer may begin with the words that a header is, unless the header has a mark") {
  const auto read = [](const std::string& header, const std::string& text) {
    Format format = base();
    format.header = header;
    return parsed(share(format), text);
  };
  for (const char* words : {"bot", "the bot says", "Answer:", "\u56DE\u7B54\uFF1A"})
    CHECK(read(words, std::string(words) + " yes") == "C(" + std::string(words) + " yes)");
  // No answer begins with a mark.
  for (const char* mark : {"[bot]", "<bot>:", "\u56DE\u7B54"})
    CHECK(read(mark, std::string(mark) + " yes") == "C( yes)");
  // The template's own white space shows that it is a header.
  CHECK(read("\n\nAnswer:", "\n\nAnswer: yes") == "C( yes)");
  CHECK(read("\n\nAnswer:", "Answer: yes") == "C(Answer: yes)");
}

TEST_CASE("bug: behind a prompt without the header, a header of plain words was a part of the answer") {
  Format format = base();
  format.header = "Bot:";
  format.content.open = " ";
  const auto read = [&format](const std::string& tail, const std::string& text) {
    Options options;
    options.prompt_tail = tail;
    return parsed(share(format), text, options);
  };
  CHECK(read("<eot>\n", "Bot: Bot: yes") == "C(Bot: yes)");
  CHECK(read("<eot>\n", "Yes. Bot: yes") == "C(Yes. Bot: yes)");
  CHECK(read("<eot>\nBot:", " Bot: yes") == "C(Bot: yes)");
}

TEST_CASE("bug: an answer of white space alone vanished, or took in the white space that ends the turn") {
  Format marked = base();
  marked.content = {"<say>", "</say>"};
  CHECK(parsed(share(marked), "\n\n<eot>") == "C(\n\n)");
  CHECK(parsed(share(marked), "\n\n<say>\n</say>\n<eot>") == "C(\n)");
  Format spaced = base();
  spaced.content.open = " ";
  spaced.stops.content = {" "};
  CHECK(parsed(share(spaced), " \n\n ") == "C(\n\n)");
  CHECK(parsed(share(spaced), "  ") == "C()");
  CHECK(parsed(share(spaced), " yes ") == "C(yes)");
}

TEST_CASE("calls as JSON objects") {
  const auto f = json_object();
  CHECK(parsed(f, "<do>\n{\"name\": \"find\", \"args\": {\"q\": \"x\"}}\n</do><eot>") == "C() find{\"q\": \"x\"}");
  CHECK(parsed(f,
               "Look.\n<do>\n{\"name\": \"find\", \"args\": {}}\n</do>\n<do>\n{\"name\": \"now\", \"args\": "
               "{}}\n</do><eot>") == "C(Look.) find{} now{}");
  CHECK(parsed(f, "<muse>\nhm\n</muse>\n\n<do>{\"name\":\"find\",\"args\":{\"a\":[1,{\"b\":2}]}}</do>") ==
        "R(hm) C() find{\"a\":[1,{\"b\":2}]}");
  CHECK(parsed(f, "<do>{\"args\":{\"a\":\"</do>\"},\"name\":\"find\"}</do>") == "C() find{\"a\":\"</do>\"}");
  CHECK(parsed(f, "<do>{\"name\":\"now\"}</do>") == "C() now{}");
  CHECK(parsed(f, "<do>{\"name\":\"find\",\"args\":\"{\\\"q\\\": 1}\"}</do>") == "C() find{\"q\": 1}");
  CHECK(parsed(f, "<do>{\"x\":1,\"name\":\"find\",\"y\":[true],\"args\":{}}</do> bye") == "C( bye) find{}!malformed");
}

TEST_CASE("an answer in a fence, where a schema was asked for, is the JSON in it") {
  const auto f = json_object();
  Options options;
  options.json_answer = true;
  const auto answer = [&](const std::string& text) { return testing::in_any_chunks(f, text, options); };
  CHECK(answer("```json\n{\"a\": 1}\n```<eot>") == "C({\"a\": 1})");
  CHECK(answer("\n```\n[\n  1\n]\n```\n") == "C([\n  1\n])");
  CHECK(answer("{\"a\": 1}") == "C({\"a\": 1})");
  CHECK(answer("```json\n{\"a\": \"\\n```\"}\n```") == "C({\"a\": \"\\n```\"})");
  // If there is more than the fence, everything stays as written.
  CHECK(answer("```json\n{\"a\": 1}\n```\nSo.") == "C(```json\n{\"a\": 1}\n```\nSo.)");
  CHECK(answer("```json\n{\"a\": \n```") == "C(```json\n{\"a\": \n```)");
  CHECK(answer("```json\n{\"a\": 1}") == "C(```json\n{\"a\": 1})");
  CHECK(answer("See:\n```json\n1\n```") == "C(See:\n```json\n1\n```)");
  CHECK(parsed(f, "```json\n1\n```") == "C(```json\n1\n```)");
}

TEST_CASE("a fence that begins late in a text is read from its own begin") {
  Options options;
  options.json_answer = true;
  Parser parser(json_object(), options);
  // The parser does not keep earlier text; it drops it from its buffer.
  for (int i = 0; i < 2000; ++i)
    (void)parser.feed(i == 0 ? "<muse>\nmull " : i == 1999 ? "\n</muse>\n\n" : "and mull ");
  for (const char* part : {"```json\n", "{\"a\": ", "1}\n", "```"}) (void)parser.feed(part);
  CHECK(parser.finish().value().content == "{\"a\": 1}");
}

TEST_CASE("a call is announced as soon as nothing can make it text") {
  Options options;
  options.tools = tools();
  // Without a mark and without tools, a string in the place of arguments may still be no arguments.
  const auto f = bare_json();
  CHECK(testing::known(f, options, {R"({"name": "find", "parameters": {"q")"}) == R"(R() C() find{"q")");
  CHECK(testing::known(f, {}, {R"({"name": "nobody", "parameters": "{)"}) == "R() C()");
  CHECK(testing::known(json_object(), options, {R"(<do>{"name": "nobody", "args": "{)"}) == "R() C() nobody");
}

TEST_CASE("a piece is plain text unless it says which token it is") {
  CHECK(Piece{}.id == -1);
  CHECK_FALSE(Piece{}.is_special);
}

TEST_CASE("white space inside a marker may be of any size up to a limit") {
  const auto f = tags_parameters();
  const auto with_gap = [](std::size_t size) { return "<call>" + std::string(size, ' ') + "<f=now>\n</f>\n</call>"; };
  CHECK(parsed(f, with_gap(64)) == "C() now{}");
  CHECK(parsed(f, with_gap(65)) != "C() now{}");
}

TEST_CASE("malformed calls") {
  const auto f = json_object();
  CHECK(parsed(f, "<do>\n{\"name\": \"find\", \"args\": {\"q\": \"x") == "C() find{\"q\": \"x!unclosed ...");
  CHECK(parsed(f, "<do>\n{\"name\": \"find\", \"args\": {\"q\": 1}}") == "C() find{\"q\": 1} ...");
  CHECK(parsed(f, "<do>\n{\"name\": \"find\", \"args\": {\"q\": x}}\n</do><eot>") ==
        "C() find{\"q\": x}}!invalid_json");
  CHECK(parsed(f, "see <do> in the text") == "C(see <do> in the text)");
  CHECK(parsed(f, "<do>\n{\"args\": {}}\n</do>") == "C(<do>\n{\"args\": {}}\n</do>)");
  CHECK(parsed(f, "<do>{\"nam") == "C(<do>{\"nam) ...");
  Options options;
  options.tools = tools();
  CHECK(parsed(f, "<do>{\"name\":\"other\",\"args\":{}}</do>", options) == "C() other{}!unknown_tool");
  options.calls = false;
  CHECK(parsed(f, "<do>{\"name\":\"find\",\"args\":{}}</do>", options) ==
        "C(<do>{\"name\":\"find\",\"args\":{}}</do>)");
}

// The opener's own new line belonged to the arguments or to the marker, depending on the chunks.
TEST_CASE("bug: a call's opener inside a call's broken JSON") {
  const auto f = json_object();
  CHECK(parsed(f, "<do>{\"name\":\"f\",\"args\":{\n<do>") == "C(<do>) f{\n!invalid_json ...");
  CHECK(parsed(f, "<do>{\"name\":\"f\",\"args\":{\n<do>{\"name\":\"g\",\"args\":{}}</do>") ==
        "C() f{\n!invalid_json g{}");
}

TEST_CASE("calls as a JSON array") {
  const auto f = json_array();
  CHECK(parsed(f,
               "[CALLS][{\"id\":\"7\",\"function\":{\"name\":\"find\",\"args\":{\"q\":1}}},{\"function\":{\"args\":{},"
               "\"name\":\"now\"},\"id\":\"8\"}]<eot>") == "C() find{\"q\":1}#7 now{}#8");
  CHECK(parsed(f, "Hm [CALLS] [ {\"function\": {\"name\": \"now\"}} ] ") == "C(Hm ) now{}");
  CHECK(parsed(f, "[CALLS]{\"function\": {\"name\": \"now\", \"args\": {}}}") == "C() now{}");
  CHECK(parsed(f, "[CALLS][{\"function\": {\"name\": \"now\", \"args\": {}}}<eot>") == "C() now{}");
}

TEST_CASE("bare JSON calls") {
  const auto f = bare_json();
  Options options;
  options.tools = tools();
  CHECK(parsed(f, "{\"name\": \"find\", \"parameters\": {\"q\": \"x\"}}<eot>", options) == "C() find{\"q\": \"x\"}");
  CHECK(parsed(f, "{\"name\": \"Ann\", \"parameters\": {}}<eot>", options) ==
        "C({\"name\": \"Ann\", \"parameters\": {}})");
  CHECK(parsed(f, "{\"x\": 1}") == "C({\"x\": 1})");
  CHECK(parsed(f, "Yes: {\"name\": \"find\", \"parameters\": {}}") ==
        "C(Yes: {\"name\": \"find\", \"parameters\": {}})");
}

TEST_CASE("calls in tags with JSON") {
  const auto f = tags_json();
  CHECK(parsed(f, "<|calls|><|call|>find<|args|>{\"q\": 1}<|end|><|call|>now<|args|>{}<|end|><|calls_end|><eot>") ==
        "C() find{\"q\": 1} now{}");
  CHECK(parsed(f, "ok\n<|calls|>\n<|call|> find <|args|>\n{\"q\": 1}\n<|end|>\n<|calls_end|>\n") ==
        "C(ok\n) find{\"q\": 1}");
  CHECK(parsed(f, "<|call|>now<|args|><|end|>") == "C() now{}");
  CHECK(parsed(f, "<|calls|><|call|>find<|args|>{\"q\": 1}<|calls_end|>") == "C() find{\"q\": 1}");
  CHECK(parsed(f, "<|calls|><|call|>fi nd<|args|>{}") == "C(<|calls|><|call|>fi nd<|args|>{})");
  CHECK(parsed(f, "<|calls|><|call|>find<|args|>{'q': 1}<|end|><|calls_end|>") == "C() find{'q': 1}!invalid_json");
}

TEST_CASE("bug: what closes a section that nobody opened was text of the answer") {
  const auto f = tags_json();
  CHECK(parsed(f, "<|call|>find<|args|>{}<|end|><|calls_end|><eot>") == "C() find{}");
  CHECK(parsed(f, "Hi <|call|>find<|args|>{}<|end|>\n<|call|>now<|args|>{}<|end|>\n<|calls_end|>") ==
        "C(Hi ) find{} now{}");
  // Anywhere else it is text.
  CHECK(parsed(f, "Hi <|calls_end|>") == "C(Hi <|calls_end|>)");
  CHECK(parsed(f, "<|calls_end|>Hi") == "C(<|calls_end|>Hi)");
  CHECK(parsed(f, "<|call|>find<|args|>{}<|end|>Done.<|calls_end|>") == "C(Done.<|calls_end|>) find{}");
}

TEST_CASE("calls in tags with parameters") {
  const auto f = tags_parameters();
  Options options;
  options.tools = tools();
  const std::string call = "<call>\n<f=find>\n<p=q>\n42\n</p>\n<p=n>\n7\n</p>\n<p=deep>\nTrue\n</p>\n</f>\n</call>";
  CHECK(parsed(f, call + "<eot>") == "C() find{\"q\":42,\"n\":7,\"deep\":true}");
  CHECK(parsed(f, call, options) == "C() find{\"q\":\"42\",\"n\":7,\"deep\":true}");
  CHECK(parsed(f, call + "\n" + call, options) ==
        "C() find{\"q\":\"42\",\"n\":7,\"deep\":true} find{\"q\":\"42\",\"n\":7,\"deep\":true}");
  CHECK(parsed(f, "<call><f=find><p=q>a\nb</p></f></call>", options) == "C() find{\"q\":\"a\\nb\"}");
  CHECK(parsed(f, "<call>\n<f=now>\n</f>\n</call>", options) == "C() now{}");
  CHECK(parsed(f, "<call>\n<f=find>\n<p=q>\nuse </p> here\n</p>\n</f>\n</call>", options) ==
        "C() find{\"q\":\"use </p> here\"}");
  CHECK(parsed(f, "<call>\n<f=find>\n<p=q>\nx\n</p>\n</call>", options) == "C() find{\"q\":\"x\"}");
  CHECK(parsed(f, "<call>\n<f=find>\n<p=q>\nx", options) == "C() find{\"q\":\"x\"}!unclosed ...");
  CHECK(parsed(f, "<call>\n<f=find>\noops\n</f>\n</call>", options) == "C() find{}!malformed");
}

TEST_CASE("parameters whose opener tells the type of their value") {
  Format format = *tags_parameters();
  for (format::ValueForm& form : format.calls.parameters.forms) {
    if (form.type != ValueType::kString) form.key_open = "<num p=";
  }
  const auto f = share(format);
  const std::string begin = "<call>\n<f=find>\n<p=q>\n42\n</p>\n<num p=n>\n";
  CHECK(parsed(f, begin + "7\n</p>\n</f>\n</call>") == "C() find{\"q\":\"42\",\"n\":7}");
  CHECK(parsed(f, "<call>\n<f=find>\n<num p=n>\n7\n</p>\n</f>\n</call>") == "C() find{\"n\":7}");
  Parser cut(f, {});
  (void)cut.feed(begin + "7");
  CHECK(cut.closing_text() == "\n</p>\n</f>\n</call>");
  // No form is for the usual opener.
  for (format::ValueForm& form : format.calls.parameters.forms) form.key_open = "<num p=";
  Parser none(share(format), {});
  (void)none.feed("<call>\n<f=find>\n<p=q>\n4");
  CHECK(none.closing_text() == "\n</p>\n</f>\n</call>");
  CHECK(none.finish().value().tool_calls[0].arguments == "{\"q\":4}");
}

TEST_CASE("reasoning behind content, where the template writes it there") {
  Format format = *json_object();
  const std::string text = "Hello.<muse>\nhm\n</muse>\n\n";
  CHECK(parsed(share(format), text) == "C(" + text + ")");
  format.reasoning.behind_content = true;
  CHECK(parsed(share(format), text + "<eot>") == show({.content = "Hello.", .reasoning = "hm", .complete = true}));
}

TEST_CASE("calls as Python") {
  const auto f = python_calls();
  CHECK(parsed(f, "<|py|>[find(q='it's, ok', n=3), now(), find(deep=True, any=['a', \"b)\"])]<|/py|><eot>") ==
        "C() find{\"q\":\"it's, ok\",\"n\":3} now{} find{\"deep\":true,\"any\":[\"a\",\"b)\"]}");
}

TEST_CASE("calls that nothing announces but the name of a tool") {
  Format format = *python_calls();
  format.calls.section_open = format.calls.section_close = "";
  format.calls.separator = "\n";
  const auto f = share(format);
  const std::string calls = "find(q='a', n=3)\nnow()";
  CHECK(parsed(f, calls + "<eot>") == "C(" + calls + ")");
  Options options;
  options.tools = tools();
  CHECK(parsed(f, calls + "<eot>", options) == "C() find{\"q\":\"a\",\"n\":3} now{}");
  CHECK(parsed(f, "<muse>\nhm\n</muse>\n\n" + calls, options) == "R(hm) C() find{\"q\":\"a\",\"n\":3} now{}");
  CHECK(parsed(f, "find it now(", options) == "C(find it now()");
  CHECK(parsed(f, "findings()", options) == "C(findings())");
  CHECK(parsed(f, "I find(q='a')", options) == "C(I find(q='a'))");
  CHECK(parsed(f, "fin", options) == "C(fin)");
}

TEST_CASE("strings without quotes that end with their line") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "\n"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = ArgumentStyle::kParameters;
  format.calls.parameters.key_close = ": ";
  format.calls.parameters.close = "\n";
  format.calls.parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "", "", ""},
                                   {ValueType::kInteger, ValueStyle::kJson, "", "", ""},
                                   {ValueType::kObject, ValueStyle::kJson, "", "", ""}};
  const auto f = share(format);
  Options options;
  options.tools = tools();
  CHECK(parsed(f, "<call>find\nq: it's, \"so\"\nn: 3\nany: {\n  \"a\": 1\n}\n</call><eot>", options) ==
        R"(C() find{"q":"it's, \"so\"","n":3,"any":{"a":1}})");
  CHECK(parsed(f, "<call>find\nq:  x \n</call>", options) == R"(C() find{"q":" x "})");
  CHECK(parsed(f, "<call>find\nq: a\nb c\nn: 3\n</call>", options) == R"(C() find{"q":"a\nb c","n":3})");
  CHECK(parsed(f, "<call>find\nq: x</call>", options) == R"(C() find{"q":"x"})");
  CHECK(parsed(f, "<call>now\n</call>", options) == "C() now{}");
}

TEST_CASE("words with which the prompt begins the reasoning are read as its own") {
  Format format = *json_object();
  format.reasoning = {true, "My steps:\n", "[ANSWER]", false, true};
  format.generation_prompts = {{"default", "[bot]My steps:\n"}};
  Options options;
  options.prompt_tail = "[user]hi[bot]My steps:\n";
  CHECK(parsed(share(format), "one[ANSWER]two", options) == "R(My steps:\none) C(two)");
}

TEST_CASE("the prompt says where the text begins") {
  const auto f = json_object();
  Options options;
  options.prompt_tail = "[user]hi[bot]<muse>\n";
  CHECK(parsed(f, "hm\n</muse>\n\nHello", options) == "R(hm) C(Hello)");
  CHECK(parsed(f, "\n</muse>\n\nHello", options) == "R() C(Hello)");
  CHECK(parsed(f, "<muse>\nhm</muse>Hello", options) == "R(hm) C(Hello)");
  options.inline_reasoning = true;
  CHECK(run(f, options, {"hm\n</muse>\n\nHello"}) == "C(<muse>\nhm\n</muse>\n\nHello)");
  options.inline_reasoning = false;
  options.prompt_tail = "[user]hi[bot]<muse>\n\n</muse>\n\n";
  CHECK(parsed(f, "Hello", options) == "C(Hello)");
  options.prompt_tail = "[user]hi[bot]Hel";
  CHECK(run(f, options, {"lo"}) == "C(Hello)");
  options.prompt_tail = "[bot]old<eot>[user]hi";
  CHECK(parsed(f, "Hello", options) == "C(Hello)");
}

TEST_CASE("where calls are not looked for, none is closed") {
  Options options;
  options.calls = false;
  for (const auto& f : {json_object(), tags_json(), tags_parameters()}) {
    for (std::size_t size = 1; size < 7; ++size) {
      Parser parser(f, options);
      (void)parser.feed(f->calls.call_open.substr(0, size));
      CHECK(parser.closing_text().empty());
    }
  }
}

TEST_CASE("JSON in the place of a call that is none stays text, and an empty call or list of calls is markup") {
  const auto content = [](const std::shared_ptr<const Format>& f, const std::string& text) {
    Parser parser(f, {});
    (void)parser.feed(text);
    const auto read = parser.finish();
    REQUIRE(read.ok());
    CHECK(read.value().tool_calls.empty());
    return read.value().content;
  };
  for (const char* value : {"null", "5", "\"a\"", "[1]", "[[]]", "[{}]", "{\"a\": {}}"}) {
    const std::string text = "<do>\n" + std::string(value) + "\n</do>";
    CHECK(content(json_object(), text) == text);
  }
  CHECK(content(json_object(), "<do>\n{}\n</do>").empty());
  CHECK(content(json_object(), "<do>\n{}\nnone") == "<do>\n{}\nnone");
  CHECK(content(json_object(), "<do>\n{}") == "<do>\n{}");
  CHECK(content(json_array(), "[CALLS][{}, {}]").empty());
  CHECK(content(tags_json(), "<|calls|><|call|><|args|>{}<|end|><|calls_end|>").empty());
  const std::string value = "<|calls|><|call|><|args|>{\"a\": 1}<|end|><|calls_end|>";
  CHECK(content(tags_json(), value) == value);
  CHECK(content(tags_parameters(), "<call>\n<f=>\n</f>\n</call>").empty());
  for (const char* text : {"[CALLS][1]", "[CALLS][1, {}]", "[CALLS][{}, 1]", "[CALLS][[]]"})
    CHECK(content(json_array(), text) == text);
  CHECK(content(json_array(), "[CALLS][ ]") == "");
}

TEST_CASE("the text of an opener that calls and answers share is closed as what it can still become") {
  Format format = base();
  format.header = "<s>bot";
  format.reasoning = {true, " to=self<m>", "<e>", false};
  format.content.open = " to=user<m>";
  format.calls.present = true;
  format.calls.call_open = " to=";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, "<m><call>"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</call>";
  const auto shared = share(std::move(format));
  const auto closing = [&](const std::string& text) {
    Options options;
    options.prompt_tail = "<s>bot";
    Parser parser(shared, options);
    (void)parser.feed(text);
    return parser.closing_text();
  };
  CHECK(closing(" to=") == "user<m>");
  CHECK(closing(" to=self") == "<m><e>");
  CHECK(closing(" to=self<m>Hm.<e><s>bot to=us") == "er<m>");
  CHECK(closing("") == " to=user<m>");
}

// Text is held back until its kind is known.
TEST_CASE("reasoning that nothing opens") {
  Format format = base();
  format.reasoning = {true, "", "<over>", false};
  format.calls.present = true;
  format.calls.call_open = "<do ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</do>";
  const auto shared = share(format);
  const auto read = [&](std::string_view text, std::size_t size) {
    Parser parser(shared, {});
    for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) (void)parser.feed(text.substr(0, size));
    return testing::show(parser.finish().value());
  };
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
    CHECK(read("Hm.<over>Yes<eot>", size) == testing::show({.content = "Yes", .reasoning = "Hm.", .complete = true}));
    CHECK(read("Yes<eot>", size) == testing::show({.content = "Yes", .complete = true}));
    CHECK(read("Yes", size) == testing::show({.content = "Yes", .complete = true}));
    CHECK(read("Hm.<over><do f>{}</do><eot>", size).find("Hm.") != std::string::npos);
    CHECK(read("Yes<do f>{}</do><eot>", size).find("Hm.") == std::string::npos);
  }
  Parser parser(shared, {});
  CHECK(parser.feed("Hm, well").empty());
  CHECK(parser.closing_text().empty());
  CHECK(parser.feed("<over>").front().kind == EventKind::kReasoning);
  // A prompt that closes the reasoning decides the kind.
  Parser answering(shared, {.prompt_tail = "[bot]<over>"});
  CHECK(!answering.feed("Yes, well").empty());
}

TEST_CASE("partial text and strict parsing") {
  Options options;
  options.partial = true;
  CHECK(run(json_object(), options, {"Hello <d"}) == "C(Hello )");
  CHECK(run(json_object(), options, {"<do>{\"name\":\"find\",\"args\":{\"q\":\"x"}) ==
        "C() find{\"q\":\"x!unclosed ...");
  options.partial = false;
  options.strict = true;
  const auto strict = parse(json_object(), options, "ok <do>{\"name\":\"find\",\"args\":{x}}</do>");
  REQUIRE(!strict.ok());
  CHECK(strict.error().offset.value_or(0) == 30);
  CHECK(parse(json_object(), options, "ok").ok());
}

TEST_CASE("a control token ends the turn even inside a string") {
  Parser parser(json_object(), {});
  const Piece pieces[] = {{1, "<do>{\"name\":\"find\",\"args\":{\"q\":\"x", false}, {2, "<eot>", true}};
  (void)parser.feed(pieces);
  CHECK(parser.ended());
  CHECK(show(parser.finish().value()) == "C() find{\"q\":\"x!unclosed ...");
}

TEST_CASE("white space that only the generation prompt has is no text of the message") {
  Format format = base();
  format.reasoning = {true, "<muse>", "</muse>", false};
  format.generation_prompts = {{"default", "[bot]\n"}, {"on", "[bot]<muse>\n"}};
  const auto shared = share(format);
  Options options;
  options.prompt_tail = "[bot]\n";
  CHECK(show(parse(shared, options, "Hello").value()) == "C(Hello)");
  CHECK(show(parse(shared, options, "\nHello").value()) == "C(\nHello)");
  options.prompt_tail = "[bot]<muse>\n";
  CHECK(show(parse(shared, options, "hm</muse>Hello").value()) == "R(hm) C(Hello)");
  CHECK(show(parse(shared, options, "\nhm</muse>Hello").value()) == "R(\nhm) C(Hello)");
}

TEST_CASE("the states say what is looked for where") {
  std::string out;
  for (const StateView& state : states(json_object(), {})) {
    out += state.name + ":";
    for (const StateExit& exit : state.exits) out += " " + exit.marker + "->" + exit.next;
    out += "; ";
  }
  CHECK(out ==
        "start: <muse>->reasoning </muse>->start [bot]->start <eot>->end <do>->call; reasoning: </muse>->start "
        "<eot>->end; content: <eot>->end <do>->call; calls: <eot>->end <do>->call; behind a call: <eot>->end "
        "</do>->behind a call <do>->call; between calls: <eot>->end <do>->call </do>->behind a call [bot]->start; "
        "broken call: "
        "<eot>->end </do>->behind a call <do>->call; ");
  Options no_calls;
  no_calls.calls = false;
  CHECK(states(json_object(), no_calls).size() == 3);
}

// A format with headings: [s]bot[c]think[m]...[e][s]bot[c]say[m]...  Calls are addressed in the heading.
std::shared_ptr<const Format> headings() {
  Format format;
  format.header = "<s>bot";
  format.reasoning = {true, "<c>think<m>", "<e>", false};
  format.content.open = "<c>say<m>";
  format.calls.present = true;
  format.calls.call_open = " to=fn.";
  format.calls.envelope = Envelope::kTags;
  format.calls.pieces = {CallPiece{.kind = CallPiece::Kind::kName, .text = ""},
                         CallPiece{.kind = CallPiece::Kind::kLiteral, .text = "<c>act json<m>"},
                         CallPiece{.kind = CallPiece::Kind::kArguments, .text = ""}};
  format.calls.heading_close = "<m>";
  format.calls.arguments = ArgumentStyle::kJson;
  format.stops.content = {"<eot>"};
  format.stops.tool = {"<run>"};
  format.stops.history_close = {"<e>"};
  return share(std::move(format));
}

TEST_CASE("a heading that breaks off anywhere is closed, also where a heading begins with a mark") {
  const auto format = headings();
  for (const std::string text :
       {"<c>think<m>Hm.<e><s>bot<c>say<m>Yes", "<c>think<m>Hm.<e><s>bot to=fn.look<c>act json<m>{\"a\": 1}",
        "<c>say<m>Yes", " to=fn.look<c>act json<m>{}", "<c>thi", "<c>xyz", "<c>say "}) {
    for (std::size_t size = 0; size <= text.size(); ++size) {
      Options options;
      options.prompt_tail = "<s>bot";
      Parser parser(format, options);
      const std::string cut = text.substr(0, size);
      static_cast<void>(parser.feed(cut));
      const std::string closing = parser.closing_text();
      Parser whole(format, options);
      static_cast<void>(whole.feed(cut + closing));
      const auto read = whole.finish();
      REQUIRE(read.ok());
      CAPTURE(cut);
      CAPTURE(closing);
      for (const chat::ToolCall& call : read.value().tool_calls) CHECK(call.status != chat::CallStatus::kUnclosed);
    }
  }
}

}  // namespace
}  // namespace rondo::parse
