#include "format/format.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::format {
namespace {

Format tagged() {
  Format format;
  format.header = "[[assistant>>";
  format.generation_prompts = {{"default", "[[assistant>>"}};
  format.reasoning = {true, "(* ", " *)", false};
  format.calls.present = true;
  format.calls.call_open = "{!do ";
  format.calls.call_close = "!}";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, " with "}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = ArgumentStyle::kParameters;
  format.calls.parameters.open = "@";
  format.calls.parameters.key_close = "=";
  format.calls.parameters.close = ";";
  format.calls.parameters.forms = {{ValueType::kTrue, ValueStyle::kConstant, "", "", "yes"}};
  format.stops.content = {"~fin~"};
  format.atoms = {"]~b]"};
  format.losses = {{"null arguments", "they are left out", 7}};
  return format;
}

TEST_CASE("a format survives JSON") {
  const std::string written = json::to_compact(to_json(tagged()));
  const auto read = from_json(json::parse(written).value());
  REQUIRE_MESSAGE(read.ok(), read.error().to_string());
  CHECK(json::to_compact(to_json(read.value())) == written);
  CHECK(read.value().to_string() == tagged().to_string());
}

TEST_CASE("mistakes in a format file are named") {
  const auto message = [](const char* text) {
    const auto read = from_json(json::parse(text).value());
    return read.ok() ? std::string("fine") : read.error().message;
  };
  CHECK(message("{}") == "fine");
  CHECK(message("[]") == "format must be an object, found an array");
  CHECK(message(R"({"header": 1})") == "format.header must be a string, found an integer");
  CHECK(message(R"({"calls": {"envelope": "x"}})") == "format.calls.envelope: unknown value `x`");
  CHECK(message(R"({"stops": {"contents": []}})") == "format.stops: unknown member `contents`");
  CHECK(message(R"({"reasoning": {"present": true}})") == "format: reasoning.close: nothing ends the reasoning");
  CHECK(message(R"({"losses": [{"line": -1}]})") == "format.losses[0].line: -1 is out of range");
  CHECK(message(R"({"calls": {"present": true, "call_open": "<", "pieces": [{"kind": "name"}]}})") ==
        "format: calls.pieces: there must be exactly one place for the arguments");
}

TEST_CASE("parts that do not fit each other are named") {
  const auto wrong = [](const auto& change) {
    Format format = tagged();
    change(format);
    return format.verify().value_or("fine");
  };
  CHECK(wrong([](Format&) {}) == "fine");
  CHECK(wrong([](Format& f) { f.calls.pieces.erase(f.calls.pieces.begin()); }) == "calls.pieces: there is no name");
  CHECK(wrong([](Format& f) { f.calls.parameters.key_close = ""; }) ==
        "calls.parameters.key_close: nothing separates keys from values");
  CHECK(wrong([](Format& f) {
          f.calls.parameters.key_close = " ";
          f.calls.parameters.open = "\n";
        }) == "calls.parameters.key_close: nothing separates keys from values");
  CHECK(wrong([](Format& f) {
          f.calls.parameters.key_close = " ";
          f.calls.parameters.open = " :";
        }) == "fine");
  CHECK(wrong([](Format& f) { f.calls.argument_escapes = {{"<", "&lt;"}}; }) ==
        "calls.argument_escapes: parameters have escapes of their own");
  CHECK(wrong([](Format& f) { f.calls.name_escapes = {{"<", ""}}; }) == "calls.name_escapes: an escape has no text");
  CHECK(wrong([](Format& f) { f.calls.parameters.forms[0].constant = ""; }) ==
        "calls.parameters.forms: a constant has no text");
  CHECK(wrong([](Format& f) { f.calls.parameters.forms[0].style = ValueStyle::kRaw; }) ==
        "calls.parameters.forms: only strings can be raw");
  CHECK(wrong([](Format& f) { f.calls.parameters.item_open = "<li>"; }) ==
        "calls.parameters: item_open and item_close need each other");
  CHECK(wrong([](Format& f) { f.calls.parameters.open = f.calls.parameters.close = ""; }) ==
        "calls.parameters.separator: nothing stands between two values");
  CHECK(wrong([](Format& f) { f.calls.envelope = Envelope::kJsonObject; }) == "calls.roles: there is no name");
  const auto json = [&](JsonRoles roles, ArgumentStyle arguments) {
    return wrong([&](Format& f) {
      f.calls.envelope = Envelope::kJsonObject;
      f.calls.pieces.clear();
      f.calls.roles = std::move(roles);
      f.calls.arguments = arguments;
    });
  };
  CHECK(json({{"n"}, {}, {}, false}, ArgumentStyle::kJson) == "calls.roles: there are no arguments");
  CHECK(json({{"n"}, {"a"}, {}, false}, ArgumentStyle::kParameters) ==
        "calls: a JSON envelope cannot hold tagged parameters");
  CHECK(json({{"n"}, {"a"}, {}, false}, ArgumentStyle::kJsonText) == "fine");
  CHECK(json({{}, {}, {}, true}, ArgumentStyle::kJson) == "fine");
  // An id may stand beside the object.
  using enum CallPiece::Kind;
  const auto beside = [&](std::vector<CallPiece> pieces, Envelope envelope = Envelope::kJsonObject) {
    return wrong([&](Format& f) {
      f.calls.envelope = envelope;
      f.calls.pieces = std::move(pieces);
      f.calls.roles = {{"n"}, {"a"}, {}, false};
      f.calls.arguments = ArgumentStyle::kJson;
    });
  };
  CHECK(beside({{kId, ""}, {kLiteral, ": "}, {kObject, ""}}) == "fine");
  CHECK(beside({{kObject, ""}, {kLiteral, " of "}, {kId, ""}}) == "fine");
  CHECK(beside({{kId, ""}}) == "calls.pieces: there must be exactly one place for the object");
  CHECK(beside({{kObject, ""}, {kLiteral, "."}}) == "calls.pieces: there is no id beside the object");
  CHECK(beside({{kId, ""}, {kObject, ""}, {kName, ""}}) ==
        "calls.pieces: the name and the arguments of a call in JSON stand in its object");
  CHECK(beside({{kId, ""}, {kObject, ""}}, Envelope::kJsonArray) ==
        "calls.pieces: only objects of one call each have an id beside them");
  CHECK(wrong([](Format& f) { f.calls.pieces.push_back({kObject, ""}); }) ==
        "calls.pieces: an object is a piece of calls in JSON only");
  // A call begins at a mark, or at a tool's name followed by text.
  const auto begins = [&](std::string section, std::string open, std::string behind) {
    return wrong([&](Format& f) {
      f.calls.section_open = std::move(section);
      f.calls.call_open = std::move(open);
      f.calls.pieces[1].text = std::move(behind);
    });
  };
  const std::string unmarked = "calls: nothing marks where a call begins";
  CHECK(begins("", " ", "\n") == unmarked);
  CHECK(begins("", " ", ": ") == "fine");
  CHECK(begins("", "<", "\n") == "fine");
  CHECK(begins("<", "", "\n") == "fine");
  CHECK(wrong([](Format& f) {
          f.calls.call_open = "";
          f.calls.pieces[0].kind = CallPiece::Kind::kNameInId;
        }) == unmarked);
  CHECK(wrong([](Format& f) { f.calls.heading_close = "|"; }) == "fine");
  CHECK(wrong([](Format& f) {
          f.calls.heading_close = "|";
          f.calls.pieces[0].kind = CallPiece::Kind::kNameInId;
        }) == "calls.heading_close: a heading needs call_open with the name behind it");
  CHECK(wrong([](Format& f) { f.calls.pieces.insert(f.calls.pieces.begin(), {CallPiece::Kind::kId, ""}); }) ==
        "calls.pieces: two slots touch each other");
  CHECK(wrong([](Format& f) {
          f.calls.heading_close = "|";
          f.calls.call_open = "";
          f.calls.section_open = "<";
        }) == "calls.heading_close: a heading needs call_open with the name behind it");
  CHECK(wrong([](Format& f) { f.stops.tool = {""}; }) == "stops: one is empty");
  CHECK(wrong([](Format& f) { f.atoms = {" "}; }) == "atoms: one is blank");
  CHECK(wrong([](Format& f) { f.generation_prompts = {{"", "x"}}; }) == "generation_prompts: a prompt has no name");
}

TEST_CASE("a format prints one fact per line") {
  CHECK(tagged().to_string() ==
        "input: arguments as object\n"
        "generation prompt default: \"[[assistant>>\"\n"
        "header: \"[[assistant>>\"\n"
        "reasoning: \"(* \" .. \" *)\"\n"
        "calls: tags, arguments parameters\n"
        "  call open: \"{!do \"\n"
        "  pieces: NAME \" with \" ARGUMENTS\n"
        "  call close: \"!}\"\n"
        "  parameter open: \"@\"\n"
        "  parameter key_close: \"=\"\n"
        "  parameter close: \";\"\n"
        "  true: constant \"yes\"\n"
        "stop: [\"~fin~\"]\n"
        "atoms: [\"]~b]\"]\n"
        "loses null arguments: they are left out (line 7)\n");
}

TEST_CASE("a format prints whatever it has") {
  Format format;
  format.input = {
      .arguments_as_text = true, .reasoning_field = "thoughts", .reasoning_part = "thinking", .single_call = true};
  format.reasoning = {true, "<", ">", true, true};
  format.content = {"", "|"};
  format.calls.present = true;
  format.calls.envelope = Envelope::kJsonArray;
  format.calls.section_open = "[";
  format.calls.section_close = "]";
  format.calls.separator = ", ";
  format.calls.roles = {{"f", "n"}, {"a"}, {"i"}, true};
  format.calls.heading_close = "#";
  format.calls.content_behind = format.calls.may_stay_open = format.reasoning.behind_content = true;
  format.stops = {{}, {"<t>"}, {"<h>"}};
  format.trims = {true, true, true, true};
  format.losses = {{"nothing", "all is there", 0}, {"one", "it is not", 1}};
  format.notes = {"look twice"};
  CHECK(format.to_string() ==
        "input: arguments as text, reasoning in thoughts, reasoning in content parts of type thinking, one call\n"
        "reasoning: \"<\" .. \">\" begun by the prompt in content behind the content\n"
        "content: \"\" .. \"|\"\n"
        "calls: json_array, arguments json\n"
        "  section open: \"[\"\n"
        "  name: is the key\n"
        "  name: f.n\n"
        "  arguments: a\n"
        "  heading close: \"#\"\n"
        "  content stands behind the calls\n"
        "  the section is not always closed\n"
        "  id: i\n"
        "  separator: \", \"\n"
        "  section close: \"]\"\n"
        "stop after calls: [\"<t>\"]\n"
        "history close: [\"<h>\"]\n"
        "trims: content begin, content end, reasoning begin, reasoning end\n"
        "loses nothing: all is there\n"
        "loses one: it is not (line 1)\n"
        "note: look twice\n");
  format.calls.envelope = Envelope::kTags;
  format.calls.pieces = {{CallPiece::Kind::kIndex, ""}, {CallPiece::Kind::kId, ""}, {CallPiece::Kind::kNameInId, ""}};
  format.content = {"|", ""};
  format.trims = {.content_end = true, .reasoning_end = true};
  const std::string tags = format.to_string();
  CHECK(tags.find("  pieces: INDEX ID ID-WITH-NAME\n") != std::string::npos);
  CHECK(tags.find("content: \"|\" .. \"\"\n") != std::string::npos);
  CHECK(tags.find("trims: content end, reasoning end\n") != std::string::npos);
}

TEST_CASE("a generation prompt is found by its name") {
  Format format = tagged();
  format.generation_prompts.push_back({"on", "<think>"});
  REQUIRE(format.generation_prompt("on") != nullptr);
  CHECK(format.generation_prompt("on")->text == "<think>");
  CHECK(format.generation_prompt("default")->text == "[[assistant>>");
  CHECK(format.generation_prompt("off") == nullptr);
}

}  // namespace
}  // namespace rondo::format
