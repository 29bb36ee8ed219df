// Tests calls in JSON that have an id beside their object.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Envelope;
using format::Format;
using testing::base;
using testing::closing_of;
using testing::in_any_chunks;
using testing::share;

Format json_in_tags() {
  Format format = base();
  format.calls.present = true;
  format.calls.envelope = Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  return format;
}

// <act id="ID">{"name": N, "args": A}</act>
std::shared_ptr<const Format> id_before() {
  Format format = json_in_tags();
  format.calls.call_open = "<act id=\"";
  format.calls.pieces = {
      {CallPiece::Kind::kId, ""}, {CallPiece::Kind::kLiteral, "\">"}, {CallPiece::Kind::kObject, ""}};
  format.calls.call_close = "</act>";
  return share(format);
}

// <act>{"name": N, "args": A}</act of=ID>
std::shared_ptr<const Format> id_behind() {
  Format format = json_in_tags();
  format.calls.call_open = "<act>";
  format.calls.pieces = {
      {CallPiece::Kind::kObject, ""}, {CallPiece::Kind::kLiteral, "</act of="}, {CallPiece::Kind::kId, ""}};
  format.calls.call_close = ">";
  return share(format);
}

TEST_CASE("bug: the JSON of a call with an id beside it was read letter by letter") {
  const auto before = id_before();
  CHECK(in_any_chunks(before, "Hm.<act id=\"c1\">\n{\"args\":{\"q\":1}, \"name\":\"find\"}\n</act><eot>") ==
        "C(Hm.) find{\"q\":1}#c1");
  CHECK(in_any_chunks(before,
                      "<act id=\"c1\">{\"name\": \"find\", \"args\": {}}</act>"
                      "<act id=\"c2\">{\"name\": \"now\"}</act>") == "C() find{}#c1 now{}#c2");
  CHECK(in_any_chunks(id_behind(), "<act>{\"args\":{\"q\":1}, \"name\":\"find\"}</act of=c1> Ok.") ==
        "C( Ok.) find{\"q\":1}#c1");
}

TEST_CASE("a call in JSON is closed with the text beside it") {
  const auto before = id_before();
  CHECK(closing_of(before, "<act id=\"c1\">{\"name\": \"find\", \"args\": {\"q\": \"a") == "\"}}</act>");
  CHECK(closing_of(before, "<act id=\"c1\">") == "{}</act>");
  CHECK(closing_of(before, "<act id=\"c") == "\">{}</act>");
  CHECK(in_any_chunks(before, "<act id=\"c\">{}</act> Ok.") == "C( Ok.)");
  const auto behind = id_behind();
  CHECK(closing_of(behind, "<act>{\"name\": \"find\", \"args\": {\"q\": 1") == "}}</act of=>");
  CHECK(closing_of(behind, "<act>{\"name\": \"find\", \"args\": {}}</act of=c1") == ">");
}

TEST_CASE("a call in JSON whose arguments are broken keeps the text beside them") {
  CHECK(in_any_chunks(id_behind(), "<act>{\"name\": \"find\", \"args\": {\"q\": x}}</act of=c1> Ok.") ==
        "C( Ok.) find{\"q\": x}}#c1!invalid_json");
  CHECK(in_any_chunks(id_before(), "<act id=\"c1\">Nothing.</act>") == "C(<act id=\"c1\">Nothing.</act>)");
}

}  // namespace
}  // namespace rondo::parse
