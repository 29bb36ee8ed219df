// Tests tags around calls that a model writes in another way than the format.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using testing::base;
using testing::in_any_chunks;
using testing::read_with_tools;
using testing::share;

// <call name="N" id="I">{...}</call>
Format named_tag() {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<call name=\"";
  format.calls.pieces = {{CallPiece::Kind::kName, ""},
                         {CallPiece::Kind::kLiteral, "\" id=\""},
                         {CallPiece::Kind::kId, ""},
                         {CallPiece::Kind::kLiteral, "\">"},
                         {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</call>";
  return format;
}

TEST_CASE("bug: a call whose tag has its attributes in another order was content") {
  const auto f = share(named_tag());
  CHECK(read_with_tools(f, "<call name=\"find\" id=\"c1\">{\"n\":1}</call>") == "C() find{\"n\":1}#c1");
  const std::string found = "C(Hm. Ok.) find{\"n\":1}#c1!malformed";
  for (const char* tag : {"id=\"c1\" name=\"find\"", "name='find' id='c1'", "name=find id=c1", "id='c1' name=\"find\"",
                          "id=\"c1\" type=\"function\" name=\"find\"", "name=\"find\" type=\"function\" id=\"c1\""})
    CHECK(read_with_tools(f, "Hm.<call " + std::string(tag) + ">{\"n\":1}</call> Ok.") == found);
  CHECK(read_with_tools(f, "<call id=\"c1\" name=\"now\"/> Ok.") == "C( Ok.) now{}#c1!malformed");
  // Nothing names a tool.
  for (const char* text :
       {"<call id=\"c1\">{\"n\":1}</call>", "<call id=\"c1\" name=\"nope\">{}</call>", "<caller name=\"find\">",
        "Write <call> first.", "`<call id=\"c1\" name=\"find\">{}</call>`", "<call id=\"c1\" na"})
    CHECK(read_with_tools(f, text) == "C(" + std::string(text) + ")");
}

TEST_CASE("bug: the tag of a section's first call could not have another order of attributes") {
  Format format = named_tag();
  format.calls.section_open = "<calls>";
  format.calls.section_close = "</calls>";
  CHECK(read_with_tools(
            share(format),
            "<calls><call id=\"c1\" name=\"find\">{\"n\":1}</call>\n<call id=\"c2\" name=\"now\">{}</call></calls> "
            "Ok.") == "C( Ok.) find{\"n\":1}#c1!malformed now{}#c2!malformed");
}

TEST_CASE("bug: a call without the counter that the format has in its tag was content") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<call n=\"\x1A\">";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ": "}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</call n=\"\x1A\">";
  const auto f = share(format);
  CHECK(read_with_tools(f, "<call n=\"1\">find: {\"n\":1}</call n=\"1\">") == "C() find{\"n\":1}");
  CHECK(read_with_tools(f, "<call>find: {\"n\":1}</call><call>now: {}</call> Ok.") == "C( Ok.) find{\"n\":1} now{}");
  CHECK(read_with_tools(f, "<call n=\"1\">find: {\"n\":1}</call> Ok.") == "C( Ok.) find{\"n\":1}");
  CHECK(read_with_tools(f, "<call>Finding it.</call>") == "C(<call>Finding it.</call>)");
  // Without tools nothing tells a call.
  CHECK(in_any_chunks(f, "<call>find: {\"n\":1}</call>") == "C(<call>find: {\"n\":1}</call>)");

  format.calls.call_open = "<call n=\"\x1A\" name=\"";
  format.calls.pieces[1].text = "\">";
  format.calls.call_close = "</call>";
  const auto named = share(format);
  CHECK(read_with_tools(named, "<call n=\"1\" name=\"find\">{\"n\":1}</call>") == "C() find{\"n\":1}");
  CHECK(read_with_tools(named, "<call name=\"find\">{\"n\":1}</call> Ok.") == "C( Ok.) find{\"n\":1}");
  CHECK(read_with_tools(named, "<call name=\"find\" n=\"1\">{\"n\":1}</call>") == "C() find{\"n\":1}!malformed");
}

TEST_CASE("bug: the counter of a section and of a call's JSON could not be missing") {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "<acts n=\"\x1A\">";
  format.calls.section_close = "</acts>";
  format.calls.call_open = "<act#\x1A>";
  format.calls.call_close = "</act#\x1A>";
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  const auto f = share(format);
  CHECK(
      read_with_tools(
          f, "<acts><act>{\"name\":\"find\",\"args\":{}}</act><act>{\"name\":\"now\",\"args\":{}}</act></acts> Ok.") ==
      "C( Ok.) find{} now{}");
  CHECK(read_with_tools(f, "<acts n=\"1\"><act#1>{\"name\":\"find\",\"args\":{}}</act></acts> Ok.") ==
        "C( Ok.) find{}");
}

}  // namespace
}  // namespace rondo::parse
