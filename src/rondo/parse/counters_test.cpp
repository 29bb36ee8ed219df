// Tests markers with a number that the template counts.
#include <doctest/doctest.h>

#include "parse/parser.h"
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
using testing::base;
using testing::closing_of;
using testing::in_any_chunks;
using testing::share;

// <calls n="2"><call#1>{"name": N, "args": A}</call#1><call#2>...</call#2></calls>
std::shared_ptr<const Format> numbered_calls() {
  Format format = base();
  format.calls.present = true;
  format.calls.section_open = "<calls n=\"\x1A\">";
  format.calls.section_close = "</calls>";
  format.calls.call_open = "<call#\x1A>";
  format.calls.call_close = "</call#\x1A>";
  format.calls.envelope = Envelope::kJsonObject;
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"args"};
  return share(format);
}

TEST_CASE("a counter in a marker is any number") {
  const auto f = numbered_calls();
  CHECK(in_any_chunks(f,
                      "<calls n=\"2\"><call#1>{\"name\": \"find\", \"args\": {}}</call#1><call#2>{\"name\": \"now\", "
                      "\"args\": {}}</call#2></calls><eot>") == "C() find{} now{}");
  CHECK(in_any_chunks(f, "Hm.<calls n=\"10\"> <call#987>{\"name\": \"find\", \"args\": {}}</call#1></calls> Done.") ==
        "C(Hm. Done.) find{}");
  CHECK(in_any_chunks(f, "<call#12>{\"name\": \"find\", \"args\": {\"q\": \"</call#12>\"}}</call#12>") ==
        "C() find{\"q\": \"</call#12>\"}");
  // Without a number it is text, and with other characters too.
  for (const char* text : {"<call#>", "<call#x>", "<call#1x>", "<call#1", "<calls n=\"", "<calls n=\"1"})
    CHECK(in_any_chunks(f, std::string(text) + "?") == std::string("C(") + text + "?)");
}

TEST_CASE("a marker may begin or end with a counter") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "\n\x1A. ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, " <- "}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = " end \x1A";
  const auto f = share(format);
  CHECK(in_any_chunks(f, "\n1. find <- {\"q\": 1} end 1\n2. now <- {} end 22<eot>") == "C() find{\"q\": 1} now{}");
  CHECK(in_any_chunks(f, "I found:\n1. apples\n2. 20 pears") == "C(I found:\n1. apples\n2. 20 pears)");
}

TEST_CASE("parameters are numbered") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<do ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</do>";
  format.calls.arguments = ArgumentStyle::kParameters;
  format.calls.parameters.open = "<p\x1A ";
  format.calls.parameters.key_close = ">";
  format.calls.parameters.close = "</p\x1A>";
  format.calls.parameters.forms = {{ValueType::kString, ValueStyle::kRaw, "", "", ""},
                                   {ValueType::kInteger, ValueStyle::kJson, "", "", ""}};
  const auto f = share(format);
  CHECK(in_any_chunks(f, "<do find><p1 q>a </p> b</p1><p2 n>7</p2></do><eot>") ==
        "C() find{\"q\":\"a </p> b\",\"n\":7}");
  CHECK(closing_of(f, "<do find><p1 q>a") == "</p1></do>");
}

TEST_CASE("what closes a numbered call has a number") {
  const auto f = numbered_calls();
  CHECK(closing_of(f, "<calls n=\"2\"><call#1>{\"name\": \"find\", \"args\": {") == "}}</call#1></calls>");
  CHECK(closing_of(f,
                   "<calls n=\"2\"><call#1>{\"name\": \"find\", \"args\": {}}</call#1><call#2>{\"name\": \"now\", "
                   "\"args\": {") == "}}</call#2></calls>");
}

}  // namespace
}  // namespace rondo::parse
