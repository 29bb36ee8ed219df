// Tests text that is the template's own only in some turns, and text that was taken for it.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::Format;
using testing::base;
using testing::in_any_chunks;
using testing::json_object;
using testing::offering_tools;
using testing::read_with_tools;
using testing::share;
using testing::tags_json;

TEST_CASE("bug: an opener that answers have only where there are tools was text of the answer") {
  Format format = *json_object();
  format.content.open_with_tools = "Bot: ";
  CHECK(read_with_tools(share(format), "Bot: Hi.<eot>") == "C(Hi.)");
  CHECK(read_with_tools(share(format), "<muse>\nso\n</muse>\n\nBot: Hi.<eot>") == "R(so) C(Hi.)");
  CHECK(read_with_tools(share(format), "Hi. Bot: Hi.<eot>") == "C(Hi. Bot: Hi.)");
  CHECK(in_any_chunks(share(format), "Bot: Hi.<eot>") == "C(Bot: Hi.)");
}

TEST_CASE("bug: white space that the template writes only before calls was content") {
  Format format = *tags_json();
  format.content.open = "  ";
  format.content.preamble_open = " ";
  const std::string call = "<|calls|><|call|>find<|args|>{}<|end|><|calls_end|><eot>";
  CHECK(in_any_chunks(share(format), "   " + call) == "C() find{}");
  CHECK(in_any_chunks(share(format), "  " + call) == "C() find{}");
  CHECK(in_any_chunks(share(format), "    " + call) == "C( ) find{}");
  CHECK(in_any_chunks(share(format), "  Well. " + call) == "C(Well. ) find{}");
}

TEST_CASE("bug: the white space between calls was content where a call lacked its section's opener") {
  Format format = *tags_json();
  format.calls.separator = "\n";
  CHECK(in_any_chunks(share(format), "\n<|call|>find<|args|>{}<|end|><|calls_end|><eot>") == "C() find{}");
  CHECK(in_any_chunks(share(format), "\n\n<|call|>find<|args|>{}<|end|><|calls_end|><eot>") == "C(\n) find{}");
}

TEST_CASE("bug: behind a prompt with the first tags of a header, the last one was text of the answer") {
  Format format = *json_object();
  format.header = "<|turn|><|bot|><|say|>";
  Options options;
  options.prompt_tail = "<|turn|><|bot|>";
  CHECK(in_any_chunks(share(format), "<|say|>Hi.<eot>", options) == "C(Hi.)");
  CHECK(in_any_chunks(share(format), "Hi.<|say|><eot>", options) == "C(Hi.<|say|>)");
  CHECK(in_any_chunks(share(format), "<|say|>Hi.<eot>") == "C(<|say|>Hi.)");
}

TEST_CASE("bug: a word directly before a list of calls was lost where the format writes content there") {
  Format format = base();
  format.calls.present = true;
  format.calls.envelope = format::Envelope::kJsonArray;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"arguments"};
  const std::string list = "[{\"name\": \"find\", \"arguments\": {}}]<eot>";
  CHECK(read_with_tools(share(format), "checking" + list) == "C(checking) find{}");
  CHECK(read_with_tools(share(format), "TOOL_CALLS" + list) == "C() find{}");
}

TEST_CASE("bug: arguments beside a call's function and in it were joined") {
  const auto call = [](const std::string& flat, const std::string& nested) {
    return "<do>\n{\"name\": \"find\", \"args\": " + flat + ", \"function\": {\"arguments\": " + nested +
           "}}\n</do><eot>";
  };
  CHECK(read_with_tools(json_object(), call("{\"q\": \"x\"}", "{ \"q\": \"x\" }")) == "C() find{\"q\": \"x\"}");
  CHECK(read_with_tools(json_object(), call("{\"q\": \"x\"}", "{\"q\": \"y\"}")) == "C() find{\"q\": \"x\"}!malformed");
}

TEST_CASE("bug: a name in other letters behind a value that nothing ends was part of the value") {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "[";
  format.calls.section_close = "]";
  format.calls.call_close = ")";
  format.calls.separator = ", ";
  using Kind = format::CallPiece::Kind;
  format.calls.pieces = {{Kind::kName, ""}, {Kind::kLiteral, "("}, {Kind::kArguments, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.key_close = "=";
  format.calls.parameters.separator = ", ";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "", "", {}},
                                   {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", "", {}}};
  CHECK(read_with_tools(share(format), "[find(q=\"x\"ключ=\"é\"n=3)]<eot>") ==
        R"(C() find{"q":"x","ключ":"é","n":3}!malformed)");
}

}  // namespace
}  // namespace rondo::parse
