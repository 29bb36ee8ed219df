// Tests the text that closes a turn which is cut off.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "json/parse.h"
#include "parse/markup.h"
#include "parse/parser.h"
#include "parse/values.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::Format;
using testing::json_array;
using testing::json_object;
using testing::share;
using testing::show;
using testing::tags_json;
using testing::tags_parameters;
using testing::tools;

TEST_CASE("what would close the text") {
  const auto closing = [](const std::shared_ptr<const Format>& f, const std::string& text) {
    Parser parser(f, {});
    (void)parser.feed(text);
    return parser.closing_text();
  };
  CHECK(closing(json_object(), "Hello") == "");
  CHECK(closing(json_object(), "<muse>\nhm") == "\n</muse>\n\n");
  CHECK(closing(json_object(), "<do>\n{\"name\": \"find\", \"args\": {\"q\": \"x") == "\"}}\n</do>");
  // Words end with the letters of an exponent, and are whole all the same.
  for (const char* word : {"true", "false", "True", "False", "None"})
    CHECK(closing(json_object(), std::string("<do>\n{\"name\": \"find\", \"args\": {\"q\": [") + word) == "]}}\n</do>");
  CHECK(closing(json_object(), "<do>\n{\"name\": \"find\", \"args\": {\"q\": [1e") == "0]}}\n</do>");
  CHECK(closing(tags_json(), "<|calls|><|call|>find<|args|>{\"q\": [1") == "]}<|end|><|calls_end|>");
  CHECK(closing(tags_parameters(), "<call>\n<f=find>\n<p=q>\nx") == "\n</p>\n</f>\n</call>");
  CHECK(closing(tags_parameters(), "<call>\n<f=find>\n<p=q>\nx\n</p>\n</f>\n</call>") == "");
}

TEST_CASE("bug: values of a call that was cut off were closed as texts, or not at all") {
  Options options;
  options.tools = json::parse(R"([{"type": "function", "function": {"name": "find", "parameters": {"type": "object",
    "properties": {"q": {"type": "object"}, "n": {"type": "integer"}, "b": {"type": "boolean"}, "s": {"type": "string"}}}}}])")
                      .value();
  const auto arguments = [&](const std::shared_ptr<const Format>& format, const std::string& text) {
    Parser cut(format, options);
    (void)cut.feed(text);
    std::string closing = cut.closing_text();
    std::size_t begun = cut.closes_from_end() ? 0 : std::min(text.size(), closing.size());
    while (!text.ends_with(closing.substr(0, begun))) --begun;
    closing.erase(0, begun);
    const auto message = parse(format, options, text + closing);
    REQUIRE(message.ok());
    REQUIRE(message.value().tool_calls.size() == 1);
    CHECK_MESSAGE(message.value().complete, text << " + " << closing);
    return message.value().tool_calls[0].arguments;
  };
  const std::string json = R"(<do>{"name": "find", "args")";
  CHECK(arguments(json_object(), json) == "{}");
  CHECK(arguments(json_object(), json + ": ") == "{}");
  CHECK(arguments(json_object(), json + R"(: {"n": -)") == R"({"n": -0})");
  const std::string tags = "<call>\n<f=find>\n<p=";
  CHECK(arguments(tags_parameters(), tags + "q>\n{'a': [1, 'x") == R"({"q":{"a":[1,"x"]}})");
  CHECK(arguments(tags_parameters(), tags + "q>\n{\"a\": {\"b") == R"({"q":{"a":{"b":""}}})");
  CHECK(arguments(tags_parameters(), tags + "b>\nfal") == R"({"b":false})");
  CHECK(arguments(tags_parameters(), tags + "n>\n-") == R"({"n":-0})");
  CHECK(arguments(tags_parameters(), tags + "s>\n{a") == R"({"s":"{a"})");
  // The value is closed, and the next parameter has begun.
  CHECK(arguments(tags_parameters(), tags + "n>\n3\n</p>\n<p") == R"({"n":3})");
  CHECK(arguments(tags_parameters(), tags + "n>\n3\n</p>\n</f") == R"({"n":3})");
}

TEST_CASE("bug: what had begun behind a value became a part of it where a turn was cut off") {
  Options options;
  options.tools = tools();
  const auto read = [&](const std::shared_ptr<const Format>& format, const std::string& text) {
    Parser cut(format, options);
    (void)cut.feed(text);
    std::string closing = cut.closing_text();
    std::size_t begun = cut.closes_from_end() ? 0 : std::min(text.size(), closing.size());
    while (!text.ends_with(closing.substr(0, begun))) --begun;
    return show(parse(format, options, text + closing.substr(begun)).value());
  };
  // White space behind the close of a value.
  CHECK(read(tags_parameters(), "<call>\n<f=find>\n<p=n>\n3\n</p>\n ") == R"(C() find{"n":3})");
  // A parameter on the next line.
  Format lines = testing::base();
  lines.calls.present = true;
  lines.calls.call_open = "<call>";
  lines.calls.call_close = "</call>";
  lines.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                        {format::CallPiece::Kind::kLiteral, "\nargs:\n"},
                        {format::CallPiece::Kind::kArguments, ""}};
  lines.calls.arguments = format::ArgumentStyle::kParameters;
  lines.calls.parameters.open = "  ";
  lines.calls.parameters.key_close = ": ";
  lines.calls.parameters.close = "\n";
  lines.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "", "", {}},
                                  {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", "", {}}};
  CHECK(read(share(lines), "<call>find\nargs:\n  n: 3\n  q") == R"(C() find{"n":3,"q":""})");
  lines.calls.parameters.open = "@arg ";
  CHECK(read(share(lines), "<call>find\nargs:\n@arg n: 3\n@a") == R"(C() find{"n":3})");
}

// Returns what would be appended to `text`, where the format closes it.
std::string appended(const Format& format, const std::string& text) {
  Options options;
  options.tools = tools();
  Parser cut(share(format), options);
  (void)cut.feed(text);
  const std::string closing = cut.closing_text();
  std::size_t begun = cut.closes_from_end() ? 0 : std::min(text.size(), closing.size());
  while (!text.ends_with(closing.substr(0, begun))) --begun;
  return closing.substr(begun);
}

Format calls_in_tags_of_parameters() {
  Format format = testing::base();
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                         {format::CallPiece::Kind::kLiteral, "<args>"},
                         {format::CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "<p=";
  format.calls.parameters.key_close = ">";
  format.calls.parameters.close = "</p>";
  return format;
}

TEST_CASE("bug: an object with escapes was closed without them") {
  Format format = calls_in_tags_of_parameters();
  const std::vector<format::Escape> escapes = {{"&", "&amp;"}, {"\"", "&quot;"}};
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", "", escapes},
                                   {format::ValueType::kObject, format::ValueStyle::kJson, "", "", "", escapes}};
  const std::string begun = "<call>find<args><p=deep>{";
  CHECK(appended(format, begun + "&quot;a") == "&quot;:&quot;&quot;}</p></call>");
  CHECK(appended(format, begun + "&quot;a&quot;: &qu") == "ot;&quot;}</p></call>");
  CHECK(appended(format, begun + "&quot;a&quot;: [1") == "]}</p></call>");
}

TEST_CASE("bug: a parameter with a tag of its type was closed as one of another type") {
  Format format = calls_in_tags_of_parameters();
  format.calls.parameters.open = "<str k=\"";
  format.calls.parameters.key_close = "\">";
  format.calls.parameters.close = "";
  format.calls.parameters.forms = {
      {format::ValueType::kString, format::ValueStyle::kRaw, "", "</str>", "", {}},
      {format::ValueType::kInteger, format::ValueStyle::kJson, "", "</num>", "", {}, "<num k=\""}};
  for (const char* begun : {"<num k=\"", "<nu", "<num"}) {
    const std::string text = "<call>find<args><str k=\"q\">x</str>" + std::string(begun);
    CHECK(appended(format, text).ends_with("\">null</num></call>"));
    Options options;
    options.tools = tools();
    CHECK(show(parse(share(format), options, text + appended(format, text)).value()) == R"(C() find{"q":"x"})");
  }
  CHECK(appended(format, "<call>find<args><num k=\"n") == "\">null</num></call>");
}

TEST_CASE("bug: a call that only the stop closes counted as cut off between two parameters") {
  Format format = calls_in_tags_of_parameters();
  format.calls.call_open = "\n[[call]]\nname = \"";
  format.calls.call_close = "";
  format.calls.pieces[1].text = "\"\n[args]";
  format.calls.parameters.open = "\n@";
  format.calls.parameters.key_close = " = ";
  format.calls.parameters.close = ";";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "", "", {}}};
  format.stops.content = format.stops.tool = {"<|end|>"};
  const auto read = [&format](const std::string& text, bool has_stop) {
    Options options;
    options.tools = tools();
    options.special_tokens = {"<|end|>"};
    Parser parser(share(format), options);
    (void)parser.feed(std::vector<Piece>{{0, text, false}});
    if (has_stop) (void)parser.feed(std::vector<Piece>{{1, "<|end|>", true}});
    return show(parser.finish().value());
  };
  for (const char* end : {"@q = \"x\";", "@q = \"x\";\n"}) {
    const std::string text = std::string("\n[[call]]\nname = \"find\"\n[args]\n") + end;
    CHECK(read(text, true) == R"(C() find{"q":"x"})");
    CHECK(read(text, false) == R"(C() find{"q":"x"} ...)");
  }
}

TEST_CASE("bug: the begun close of a section, and a begun opener of reasoning in two brackets, were written twice") {
  Format format = calls_in_tags_of_parameters();
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", "", {}}};
  format.calls.section_open = "<acts>";
  format.calls.section_close = "\n</acts>";
  format.calls.call_open = "\n  <call>";
  CHECK(appended(format, "<acts>\n  <") == "/acts>");
  format.reasoning = {true, "[[MUSE]]", "[[/MUSE]]", false};
  CHECK(appended(format, "[[MUSE]") == "][[/MUSE]]");
}

TEST_CASE("bug: a quote that opens a string was taken for its close in arguments before the call's name") {
  Format format = testing::base();
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.pieces = {{format::CallPiece::Kind::kArguments, ""},
                         {format::CallPiece::Kind::kLiteral, " => "},
                         {format::CallPiece::Kind::kName, ""}};
  Parser cut(share(format), {});
  (void)cut.feed(R"(<call>{"q": ")");
  CHECK(cut.closing_text() == R"("} => </call>)");
  CHECK(cut.closes_from_end());
}

TEST_CASE("bug: a call was not closed behind a tag that is its name") {
  Format format = calls_in_tags_of_parameters();
  format.calls.call_open = "\n<";
  format.calls.call_close = ">";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                         {format::CallPiece::Kind::kLiteral, "><"},
                         {format::CallPiece::Kind::kArguments, ""},
                         {format::CallPiece::Kind::kLiteral, "/"},
                         {format::CallPiece::Kind::kName, ""}};
  format.calls.parameters = {};
  format.calls.parameters.key_close = ">";
  format.calls.parameters.key_in_close = "</";
  format.calls.parameters.close = "><";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", "", {}}};
  CHECK(appended(format, "Yes.\n<find>") == "</find>");
  CHECK(appended(format, "Yes.\n<find><q>x") == "</q></find>");
  CHECK(appended(format, "Yes.\n<fin") == "");
  CHECK(appended(format, "Yes.\n<nobody>") == "");
}

TEST_CASE("bug: quotes that open a string, and parts in tags of the format, were not closed") {
  NestedSyntax own{"<|q|>", "<|q|>", true};
  const auto closing = [&](const std::string& text) { return literal_closing(text, own).value_or("none"); };
  CHECK(closing("{a:[<|q|>x") == "<|q|>]}");
  CHECK(closing("{a:[<|q|>x<|q") == "|>]}");
  CHECK(closing("{a:[<|q|>x<|q|>,") == "]}");
  CHECK(closing("{a") == ":<|q|><|q|>}");
  CHECK(closing("{'a': \"x\\") == "\\\"}");
  CHECK(closing("('a', \"\\u00") == "00\")");
  CHECK(closing("{a:Tr") == "ue}");
  CHECK(closing("{a:1}") == "");
  CHECK(closing("{a:1} x") == "none");
  CHECK(closing(std::string(100, '[') + "1") == std::string(100, ']'));
  CHECK(closing(std::string(1'000'000, '[')) == "none");  // deeper than values are read
  CHECK(closing("text") == "none");
  format::Parameters parameters;
  parameters.open = "<";
  parameters.key_close = ">";
  parameters.key_in_close = "</";
  parameters.close = ">";
  parameters.item_open = "<item>";
  parameters.item_close = "</item>";
  Markup markup;
  markup.is_possible = true;
  const auto parts = [&](const std::string& text, bool is_list = false) {
    return markup.closing(text, parameters, "</v>", is_list).value_or("none");
  };
  CHECK(parts("<a>x") == "</a></v>");
  CHECK(parts("<a>x</") == "a></v>");
  CHECK(parts("<a>x</a><b><item>1</item><ite") == "m></item></b></v>");
  CHECK(parts("<a>x</a><ite") == "></ite></v>");  // members do not stand beside items
  CHECK(parts("<a>x</a><bc") == "></bc></v>");
  CHECK(parts("<a>x</a>") == "</v>");
  CHECK(parts("<a>x</a></") == "v>");
  CHECK(parts("<") == "/v>");
  CHECK(parts("<it") == "></it></v>");
  CHECK(parts("<it", true) == "em></item></v>");
  CHECK(parts("<item>1") == "</item></v>");
  CHECK(parts("") == "none");
  CHECK(parts("x<a>") == "none");
}

// Returns "CLOSING => the message read from the text and that closing".
std::string closed(const std::shared_ptr<const Format>& format, const std::string& text, const Options& options) {
  Parser cut(format, options);
  (void)cut.feed(text);
  const std::string closing = cut.closing_text();
  Parser whole(format, options);
  (void)whole.feed(text + closing + "<eot>");
  return closing + " => " + show(whole.finish().value());
}

TEST_CASE(
    "what breaks off in reasoning that the prompt opened is closed as a call where it is one, else as a thought") {
  Options options;
  options.tools = tools();
  options.prompt_tail = "[bot]<muse>\n";
  const auto format = tags_json();
  const auto read = [&](const std::string& text) { return closed(format, "Hm." + text, options); };
  const auto thought = [](const std::string& closing, const std::string& text) {
    return closing + "\n</muse>\n\n => " + show({.reasoning = "Hm." + text, .complete = true});
  };
  CHECK(read("") == thought("", ""));
  CHECK(read("<|calls|><|call|>") ==
        thought("<|args|>{}<|end|><|calls_end|>", "<|calls|><|call|><|args|>{}<|end|><|calls_end|>"));
  CHECK(read("<|calls|><|call|>fi") ==
        thought("<|args|>{}<|end|><|calls_end|>", "<|calls|><|call|>fi<|args|>{}<|end|><|calls_end|>"));
  // Once the name has ended, it is a call.
  const std::string found =
      show({.reasoning = "Hm.", .tool_calls = {{.name = "find", .arguments = "{}"}}, .complete = true});
  CHECK(closed(json_object(), "Hm.\n<do>\n{\"name\": \"find\"", options) == "}\n</do> => " + found);
  Format fenced = *tags_json();
  fenced.calls.pieces[1].text = "\n```json\n";
  fenced.atoms = {"```json"};
  Parser pending(share(fenced), options);
  (void)pending.feed(
      "Hm.<|calls|><|call|>find\n```json");  // the name may go on: the text ends with the beginning of its close
  CHECK(pending.closing_text() == "\n```json\n{}<|end|><|calls_end|>");
  // A call stays a call, and so does one before another that has only begun.
  chat::AssistantMessage said{.reasoning = "Hm.", .complete = true};
  said.tool_calls = {{.name = "find", .arguments = "{\"q\": \"x\"}"}};
  const std::string call = "<|calls|><|call|>find<|args|>{\"q\": \"x";
  CHECK(read(call) == "\"}<|end|><|calls_end|> => " + show(said));
  CHECK(read(call + "\"}<|end|>") == "<|calls_end|> => " + show(said));
  CHECK(read(call + "\"}<|end|><|calls_end|>") == " => " + show(said));
  said.reasoning = "Hm.<|call|>fi<|args|>{}<|end|>";
  CHECK(read(call + "\"}<|end|><|call|>fi") == "<|args|>{}<|end|><|calls_end|> => " + show(said));
  // Text after a call leaves the reasoning open.  If that were closed, the call would become a thought.
  said.reasoning = "Hm. More";
  said.complete = false;
  CHECK(read(call + "\"}<|end|><|calls_end|> More") == " => " + show(said));
}

// <|act|acts>\n<|act|do name="N">\n<|act|with name="K" type="text">V</|act|with>\n</|act|do>\n</|act|acts>
std::shared_ptr<const Format> token_tags() {
  Format format = *tags_parameters();
  format.calls.section_open = "\n\n<|act|acts>";
  format.calls.section_close = "\n</|act|acts>";
  format.calls.call_open = "\n<|act|do name=\"";
  format.calls.call_close = "\n</|act|do>";
  format.calls.separator = "";
  format.calls.pieces[1].text = "\">";
  auto& parameters = format.calls.parameters;
  parameters.open = "\n<|act|with name=\"";
  parameters.key_close = "\" type=\"";
  parameters.close = "</|act|with>";
  for (format::ValueForm& form : parameters.forms)
    form.open = form.type == format::ValueType::kString ? "text\">" : "json\">";
  return share(format);
}

TEST_CASE("bug: tags that broke off inside of a call were left open, or closed without what their quotes need") {
  Options options;
  options.tools = tools();
  const auto read = [&](const std::string& text) { return closed(token_tags(), text, options); };
  const std::string end = "\n</|act|do>\n</|act|acts>";
  const std::string nobody = "\">" + end + " => " + show({.complete = true});
  for (const char* begun : {"<|a", "<|act|", "<|act|act", "<|act|acts"})
    CHECK(read("\n\n" + std::string(begun)) == std::string("<|act|acts>").substr(std::string(begun).size()) +
                                                   "\n</|act|acts> => " + show({.complete = true}));
  CHECK(read("\n\n<|") == " => " + show({.content = "\n\n<|", .complete = true}));  // any token may begin so
  const std::string open = "\n\n<|act|acts>\n";
  const std::string opener = "<|act|do name=\"";
  for (std::size_t size = 2; size < opener.size(); ++size)
    CHECK(read(open + opener.substr(0, size)) == opener.substr(size) + nobody);
  Parser parser(token_tags(), options);
  (void)parser.feed(open + opener);
  CHECK(parser.closing_text() == "\">" + end);
  CHECK(parser.closes_from_end());  // the quote at the end of the text opens the name
  chat::AssistantMessage said{.complete = true};
  said.tool_calls = {{.name = "find", .arguments = "{}"}};
  const std::string find = open + opener + "find\">\n";
  const std::string with = "<|act|with name=\"";
  for (std::size_t size = 2; size < with.size(); ++size)
    CHECK(read(find + with.substr(0, size)) ==
          with.substr(size) + "\" type=\"text\"></|act|with>" + end + " => " + show(said));
  said.tool_calls[0].arguments = "{\"q\":\"x\"}";
  const std::string value = find + with + "q\" type=\"text\">x</|act|with>\n";
  for (std::size_t size = 2; size <= with.size(); ++size)
    CHECK(read(value + with.substr(0, size)) ==
          with.substr(size) + "\" type=\"text\"></|act|with>" + end + " => " + show(said));
}

TEST_CASE("an opener of a list of calls is closed by an empty list") {
  CHECK(closed(json_array(), "Yes[CALLS]", {}) == "[] => " + show({.content = "Yes", .complete = true}));
  // The last word of this opener may go on, so it is not taken yet.
  Format format = *json_array();
  format.calls.section_open = "\nDo:\n```json\n";
  format.calls.section_close = "\n```";
  format.atoms = {"```json", "```"};
  CHECK(closed(share(format), "Yes\nDo:\n```json", {}) == "\n[]\n``` => " + show({.content = "Yes", .complete = true}));
}

TEST_CASE("bug: only the string was closed around arguments that are an object in a string") {
  Options options;
  options.tools = tools();
  const auto format = json_object();
  const std::string call = R"(<do>{"name": "find", "args": )";
  const std::string object = R"("{\"q\": \"a\\\"b\\n\u0041\", \"n\": [1, {}]}")";
  for (std::size_t size = 1; size < object.size(); ++size) {
    const std::string text = call + object.substr(0, size);
    CAPTURE(text);
    Parser cut(format, options);
    (void)cut.feed(text);
    const auto message = parse(format, options, text + cut.closing_text());
    REQUIRE(message.ok());
    REQUIRE(message.value().tool_calls.size() == 1);
    CHECK(message.value().complete);
    const auto arguments = json::parse(message.value().tool_calls[0].arguments);
    CHECK((arguments.ok() && arguments.value().is_object()));
  }
  CHECK(json_text_closing(R"("{\"a\)").value().text == "\":null}\"");
  CHECK(json_text_closing(R"("{\)").value().text == "n}\"");  // white space
  CHECK(json_text_closing(R"("{\"a\": \"\u00)").value().text == R"(20\"}")");
  CHECK_FALSE(json_text_closing(R"("text)"));
  CHECK_FALSE(json_text_closing(R"("{}")"));
}

TEST_CASE("bug: ordinary text was completed as the opener of a call") {
  Options options;
  options.tools = tools();
  Format lines = *tags_json();
  lines.calls.section_open = lines.calls.section_close = "";
  lines.calls.call_open = "\n### Call ";
  lines.calls.pieces[1].text = ":\n";
  lines.calls.call_close = "";
  const auto closing = [&](const Format& format, const std::string& text) {
    Parser cut(share(format), options);
    (void)cut.feed(text);
    return cut.closing_text();
  };
  for (const char* text : {"Here:\n###", "Here:\n### ", "Here:\n### Ca", "### Call"}) CHECK(closing(lines, text) == "");
  CHECK(closing(lines, "### Call find:\n{\"q\": \"x") == "\"}");
  lines.calls.call_open = "\n- tool: ";
  for (const char* text : {"A list:\n-", "A list:\n- one\n- t"}) CHECK(closing(lines, text) == "");
}

TEST_CASE("bug: whole openers of words were left open as ordinary text") {
  Options options;
  options.tools = tools();
  Format lines = *tags_json();
  lines.calls.section_open = lines.calls.section_close = lines.calls.call_close = "";
  lines.calls.pieces[1].text = "\n";
  lines.reasoning.open = "%%muse\n";
  lines.reasoning.close = "\n%%\n";
  const auto closing = [&](const Format& format, const std::string& text) {
    Parser cut(share(format), options);
    (void)cut.feed(text);
    return cut.closing_text();
  };
  lines.calls.call_open = "\n%%call ";
  CHECK(closing(lines, "Here:\n%%call") == " \n{}");
  CHECK(closing(lines, "%%muse") == "\n\n%%\n");
  CHECK(closing(lines, "%%mus").empty());
  lines.calls.call_open = "\n~~~call ";
  CHECK(closing(lines, "Here:\n~~~call") == " \n{}");
}

TEST_CASE("bug: a call that breaks off behind the word before its name was closed to text") {
  Options options;
  options.tools = tools();
  Format format = *tags_json();
  format.calls.pieces[0] = {.kind = format::CallPiece::Kind::kNameInId, .front = "functions."};
  format.calls.pieces[1].text = "<|args|>";
  const std::string open = format.calls.section_open + format.calls.call_open;
  for (const std::string& before : {std::string(), std::string("functions.find:0<|args|>{}")}) {
    std::string text = open + before;
    if (!before.empty()) text += format.calls.call_close + format.calls.call_open;
    text += "functions.";
    CAPTURE(text);
    Parser cut(share(format), options);
    (void)cut.feed(text);
    const auto message = parse(share(format), options, text + cut.closing_text());
    REQUIRE(message.ok());
    CHECK(message.value().complete);
    CHECK(message.value().content.empty());
    CHECK(message.value().tool_calls.size() == (before.empty() ? 0 : 1));
  }
}

TEST_CASE("bug: an escape that breaks off in reasoning or content was taken for the beginning of what closes it") {
  Format format = *tags_json();
  format.reasoning = {.present = true, .open = "(think \"", .close = "\")\n"};
  format.content = {.open = "(say \"", .close = "\")\n"};
  format.reasoning.escapes =
      format.content.escapes = {{.text = "\"", .written = "\\\""}, {.text = "\\", .written = "\\\\"}};
  for (const std::string open : {"(think \"", "(say \""}) {
    Parser cut(share(format), {});
    (void)cut.feed(open + "It is \\");
    CHECK(cut.closing_text().starts_with("\\\")"));
    CHECK(cut.closes_from_end());
    Parser whole(share(format), {});
    (void)whole.feed(open + "It is");
    CHECK_FALSE(whole.closes_from_end());
  }
}

TEST_CASE("bug: what a call repeats behind its arguments was left empty") {
  Options options;
  options.tools = tools();
  Format format = *tags_json();
  format.calls.section_open = format.calls.section_close = "";
  format.calls.pieces = {{format::CallPiece::Kind::kId, ""},        {format::CallPiece::Kind::kLiteral, "|>"},
                         {format::CallPiece::Kind::kName, ""},      {format::CallPiece::Kind::kLiteral, "<|with|>"},
                         {format::CallPiece::Kind::kArguments, ""}, {format::CallPiece::Kind::kLiteral, "<|/call:"},
                         {format::CallPiece::Kind::kId, ""}};
  format.calls.call_open = "<|call:";
  format.calls.call_close = "|>";
  Parser cut(share(format), options);
  (void)cut.feed("<|call:c9|>find<|with|>{\"q\": \"x");
  CHECK(cut.closing_text() == "\"}<|/call:c9|>");
}

TEST_CASE("bug: a parameter without a name was malformed where only punctuation closes it") {
  Options options;
  options.tools = tools();
  Format format = *tags_parameters();
  format.calls.parameters.open = " --";
  format.calls.parameters.key_close = " ";
  format.calls.parameters.close = "";
  format.calls.parameters.forms = {{.type = format::ValueType::kString, .style = format::ValueStyle::kJson}};
  CHECK(closed(share(format), "<call>\n<f=find>\n --", options) ==
        " \"\"\n</f>\n</call> => " + show({.tool_calls = {{.name = "find", .arguments = "{}"}}, .complete = true}));
}

TEST_CASE("bug: the text that closes a key was taken for a part of it") {
  Options options;
  options.tools = tools();
  Format format = *tags_parameters();
  format.calls.parameters.open = "\n<";
  format.calls.parameters.key_close = " t=\"";
  format.calls.parameters.key_in_close = "</";
  format.calls.parameters.close = ">";
  format.calls.parameters.forms = {
      {.type = format::ValueType::kString, .style = format::ValueStyle::kRaw, .open = "str\">"}};
  Parser cut(share(format), options);
  (void)cut.feed("<call>\n<f=find>\n<q t");
  CHECK(cut.closing_text().ends_with("t=\"str\"></q>\n</f>\n</call>"));
}

TEST_CASE("bug: the close of a section that nothing opens was left out") {
  Options options;
  options.tools = tools();
  Format format = *tags_parameters();
  format.calls.section_open = format.calls.call_close = format.calls.parameters.open = "";
  format.calls.section_close = "[/calls]";
  format.calls.call_open = "\n[call ";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                         {format::CallPiece::Kind::kLiteral, "]\n"},
                         {format::CallPiece::Kind::kArguments, ""}};
  format.calls.parameters.key_close = "=";
  format.calls.parameters.close = "\n";
  format.calls.parameters.forms = {{.type = format::ValueType::kString, .style = format::ValueStyle::kJson}};
  const auto call = [](std::string arguments) {
    return show({.tool_calls = {{.name = "find", .arguments = std::move(arguments)}}, .complete = true});
  };
  CHECK(closed(share(format), "\n[call find]", options) == "[/calls] => " + call("{}"));
  CHECK(closed(share(format), "\n[call find]\nq=\"x", options) == "\"\n[/calls] => " + call(R"({"q":"x"})"));
  CHECK(closed(share(format), "\n[call find]\nq=\"x\"\n[/calls]", options) == " => " + call(R"({"q":"x"})"));
}

TEST_CASE("bug: a call that breaks off within the words behind its name was closed to text") {
  Options options;
  options.tools = tools();
  Format format = *tags_parameters();
  format.calls.section_open = format.calls.section_close = "";
  format.calls.call_open = "\n---tool\nname: ";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                         {format::CallPiece::Kind::kLiteral, "\nargs:\n"},
                         {format::CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "---end";
  const std::string rest = "\nargs:\n---end";
  const std::pair<std::string, std::string> cuts[] = {{"", ""}, {"\n", rest}, {"\nar", rest}, {"\nargs:", "---end"}};
  for (const auto& [begun, closing] : cuts) {
    Parser cut(share(format), options);
    (void)cut.feed("\n---tool\nname: find" + begun);
    CHECK(cut.closing_text() == closing);  // whoever appends it leaves out what is there already
    CHECK_FALSE(cut.closes_from_end());
  }
  CHECK(closed(share(format), "\n---tool\nname: other\nar", options).starts_with(" => "));
}

}  // namespace
}  // namespace rondo::parse
