// Tests several calls between the tags of one, and calls in the shape of the public APIs between the tags of others.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::Format;
using testing::base;
using testing::closing_of;
using testing::in_any_chunks;
using testing::offering_tools;
using testing::read_with_tools;
using testing::share;
using testing::tags_parameters;

TEST_CASE("bug: the second of two objects between the tags of one call was content") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<act>";
  format.calls.call_close = "</act>";
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  const auto f = share(format);
  const std::string two = "C( Ok.) find{\"n\":1} now{}";
  for (const char* between : {"", ",", ", ", ",\n", "\n"})
    CHECK(read_with_tools(f, "<act>{\"name\":\"find\",\"args\":{\"n\":1}}" + std::string(between) +
                                 "{\"name\":\"now\",\"args\":{}}</act> Ok.") == two);
  CHECK(read_with_tools(f, "<act>[{\"name\":\"find\",\"args\":{\"n\":1}},{\"name\":\"now\",\"args\":{}}]</act> Ok.") ==
        two);
  CHECK(read_with_tools(f, "<act>{\"name\":\"find\",\"args\":{}}, and so on.") == "C(, and so on.) find{}");
  CHECK(read_with_tools(f, "<act>{\"name\":\"find\",\"args\":{}}, {\"x\": 1}</act>") == "C(, {\"x\": 1}</act>) find{}");
  // Names are keys, and the model writes the shape of the public APIs.
  format.calls.roles = {};
  format.calls.roles.name_is_key = true;
  const auto keyed = share(format);
  CHECK(read_with_tools(keyed, "<act>{\"find\": {\"n\":1}}</act>") == "C() find{\"n\":1}");
  CHECK(read_with_tools(keyed, "<act>{\"name\": \"find\", \"arguments\": {\"n\":1}}</act> Ok.") ==
        "C( Ok.) find{\"n\":1}");
  CHECK(read_with_tools(keyed,
                        "<act>[{\"name\": \"find\", \"arguments\": {\"n\":1}}, {\"name\": \"now\"}]</act> Ok.") == two);
  CHECK(read_with_tools(keyed, "<act>{\"function\": {\"name\": \"now\", \"arguments\": {}}}</act>") == "C() now{}");
  CHECK(closing_of(keyed, "<act>{\"na", offering_tools()) == "\":{}}</act>");
}

TEST_CASE("bug: a bracket too many made content of the calls behind it") {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "<acts>";
  format.calls.section_close = "</acts>";
  format.calls.envelope = format::Envelope::kJsonArray;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  const std::string first = "<acts>[{\"name\":\"find\",\"args\":{\"n\":1}}}";
  const std::string second = "{\"name\":\"now\",\"args\":{}}";
  CHECK(read_with_tools(share(format), first + ", " + second + "]</acts> Ok.") == "C( Ok.) find{\"n\":1} now{}");
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.separator = ";";
  CHECK(read_with_tools(share(format), "<acts>{\"name\":\"find\",\"args\":{\"n\":1}}};" + second + "</acts> Ok.") ==
        "C( Ok.) find{\"n\":1} now{}");
}

TEST_CASE(
    "bug: without a list of tools, calls behind the first were content where nothing but their names begins them") {
  Format format = testing::base();
  format.calls.present = true;
  format.calls.section_open = "<do>";
  format.calls.section_close = "</do>";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""},
                         {format::CallPiece::Kind::kLiteral, ": "},
                         {format::CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = ";";
  const auto f = testing::share(format);
  CHECK(testing::in_any_chunks(f, "<do>find: {\"q\": 1};now: {};find: {};</do><eot>") ==
        "C() find{\"q\": 1} now{} find{}");
  CHECK(testing::in_any_chunks(f, "<do>find: {\"q\": 1};</do> now: {};") == "C( now: {};) find{\"q\": 1}");
}

TEST_CASE("bug: a call in JSON was text of the answer where a section of calls in tags had begun") {
  Format format = *tags_parameters();
  format.calls.section_open = "<calls>\n";
  format.calls.section_close = "\n</calls>";
  format.calls.call_open = "<f=";
  format.calls.call_close = "</f>";
  const auto f = share(format);
  const std::string call = R"({"name": "find", "arguments": {"q": "x"}})";
  const std::string read = R"(C() find{"q": "x"})";
  CHECK(read_with_tools(f, "<calls>\n" + call + "\n</calls>") == read);
  CHECK(read_with_tools(f, "<calls>[" + call + "]</calls>") == read);
  CHECK(read_with_tools(f, "<calls>" + call + ", " + call + "</calls>") == read + R"( find{"q": "x"})");
  CHECK(read_with_tools(f, "Look: <calls>" + call + "</calls> Ok.") == R"(C(Look:  Ok.) find{"q": "x"})");
  CHECK(read_with_tools(f, "<calls>{\"a\": 1}</calls>") == "C(<calls>{\"a\": 1}</calls>)");
  CHECK(read_with_tools(f, "<calls>[1]</calls>") == "C(<calls>[1]</calls>)");
  CHECK(in_any_chunks(f, "<calls>" + call + "</calls>") == "C(<calls>" + call + "</calls>)");
}

TEST_CASE("bug: the bracket that begins a section's close was one of the call's own, whose close was missing") {
  Format format = *tags_parameters();
  format.calls.section_open = "]<calls>";
  format.calls.section_close = "]</calls>";
  format.calls.call_open = "]<f=";
  format.calls.call_close = "]</f>";
  const auto f = share(format);
  const std::string call = R"({"name": "find", "arguments": {"q": "x"}})";
  CHECK(read_with_tools(f, "]<calls>" + call + "]</calls> Ok.") == R"(C( Ok.) find{"q": "x"})");
  CHECK(read_with_tools(f, "]<calls>" + call + "]</f>]</calls> Ok.") == R"(C( Ok.) find{"q": "x"})");
  CHECK(read_with_tools(f, "]<calls>]<f=find>\n<p=q>\nx\n</p>]</calls> Ok.") == R"(C( Ok.) find{"q":"x"})");
  CHECK(read_with_tools(f, "]<calls>" + call + "] Ok.") == R"(C( Ok.) find{"q": "x"})");
}

}  // namespace
}  // namespace rondo::parse
