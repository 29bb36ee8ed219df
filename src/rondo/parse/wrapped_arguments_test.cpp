// Tests tags around arguments that the format does not have.
#include <doctest/doctest.h>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using testing::base;
using testing::closing_of;
using testing::in_any_chunks;
using testing::offering_tools;
using testing::read_with_tools;
using testing::share;

TEST_CASE("bug: a tag that the model adds around all arguments lost them") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<do ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</do>";
  Format json = format;
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "<p ";
  format.calls.parameters.key_close = ">";
  format.calls.parameters.close = "</p>";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", ""},
                                   {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", ""}};
  const auto f = share(format);
  const auto j = share(json);
  CHECK(read_with_tools(f, "<do find><parameters><p q>a</p><p n>2</p></parameters></do> Ok.") ==
        R"(C( Ok.) find{"q":"a","n":2})");
  CHECK(read_with_tools(f, "<do find>\n<arguments>\n<p q>a</p>\n</arguments>\n</do> Ok.") ==
        R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(f, "<do find><arguments>{\"q\":\"a\"}</arguments></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(f, "<do find><arguments></arguments></do> Ok.") == "C( Ok.) find{}");
  CHECK(read_with_tools(f, "<do find><arguments><p q>a</p></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(j, "<do find><arguments>{\"q\":\"a\"}</arguments></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(j, "<do find>\n<parameters>\n{\"q\":\"a\"}\n</parameters>\n</do> Ok.") ==
        R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(f, "<do find><all><p q>a</p></all></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  // These are parameters in another syntax.
  CHECK(read_with_tools(f, "<do find><q></q></do> Ok.") == "C( Ok.) find{}!malformed");
  CHECK(read_with_tools(f, "<do find><q>{}</q></do> Ok.") == "C( Ok.) find{}!malformed");
  CHECK(closing_of(f, "<do find><arguments><p q>a", offering_tools()) == "</p></do>");
  CHECK(closing_of(f, "<do find><arguments><p q>a</p></argum", offering_tools()) == "ents></do>");
  CHECK(closing_of(j, "<do find><arguments>{\"q\":\"a\"}</argum", offering_tools()) == "ents></do>");
}

TEST_CASE("bug: all arguments in one parameter called `arguments` were the value of an unknown parameter") {
  Format format = base();
  format.calls.present = true;
  format.calls.call_open = "<do ";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "</do>";
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "<p ";
  format.calls.parameters.key_close = ">\n";
  format.calls.parameters.close = "\n</p>";
  format.calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kRaw, "", "", ""},
                                   {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", ""}};
  const auto f = share(format);
  CHECK(read_with_tools(f, "<do find><p arguments>{\"q\":\"a\"}</p></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_with_tools(f, "<do find>\n<p parameters>\n{\"q\": \"</p>\", \"n\":2}\n</p>\n</do> Ok.") ==
        R"(C( Ok.) find{"q": "</p>", "n":2})");
  CHECK(read_with_tools(f, "<do find><p arguments>{}</p></do>") == "C() find{}");
  // Other parameters, and other values.
  CHECK(read_with_tools(f, "<do find><p input>{}</p></do>") == R"(C() find{"input":{}}!malformed)");
  CHECK(read_with_tools(f, "<do find><p arguments>[1]</p></do>") == R"(C() find{"arguments":[1]}!malformed)");
  CHECK(read_with_tools(f, "<do find><p q>a</p><p arguments>{}</p></do>") ==
        R"(C() find{"q":"a","arguments":{}}!malformed)");
  CHECK(in_any_chunks(f, "<do find><p arguments>{\"q\":1}</p></do>") == R"(C() find{"arguments":{"q":1}})");
  CHECK(closing_of(f, "<do find><p arguments>{\"q\":\"a\"", offering_tools()) == "}</do>");
  CHECK(read_with_tools(f, "<do find><p arguments>{\"q\":\"a\"}</p><p n>2</p></do>") ==
        R"(C(<p n>2</p></do>) find{"q":"a"}!malformed)");
  format.calls.parameters.open = "<";
  format.calls.parameters.key_in_close = "</";
  format.calls.parameters.close = ">";
  CHECK(read_with_tools(share(format), "<do find><arguments>{\"q\":\"a\"}</arguments></do> Ok.") ==
        R"(C( Ok.) find{"q":"a"})");
}

}  // namespace
}  // namespace rondo::parse
