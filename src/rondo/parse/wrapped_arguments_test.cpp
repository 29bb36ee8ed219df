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
using testing::in_any_chunks;
using testing::offering_tools;
using testing::share;

std::string read_wrapped(const std::shared_ptr<const Format>& format, const std::string& text) {
  return in_any_chunks(format, text, offering_tools());
}

std::string wrapped_closing(const std::shared_ptr<const Format>& format, const std::string& text) {
  Parser parser(format, offering_tools());
  (void)parser.feed(text);
  return parser.closing_text();
}

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
  CHECK(read_wrapped(f, "<do find><parameters><p q>a</p><p n>2</p></parameters></do> Ok.") ==
        R"(C( Ok.) find{"q":"a","n":2})");
  CHECK(read_wrapped(f, "<do find>\n<arguments>\n<p q>a</p>\n</arguments>\n</do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_wrapped(f, "<do find><arguments>{\"q\":\"a\"}</arguments></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_wrapped(f, "<do find><arguments></arguments></do> Ok.") == "C( Ok.) find{}");
  CHECK(read_wrapped(f, "<do find><arguments><p q>a</p></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_wrapped(j, "<do find><arguments>{\"q\":\"a\"}</arguments></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  CHECK(read_wrapped(j, "<do find>\n<parameters>\n{\"q\":\"a\"}\n</parameters>\n</do> Ok.") ==
        R"(C( Ok.) find{"q":"a"})");
  CHECK(read_wrapped(f, "<do find><all><p q>a</p></all></do> Ok.") == R"(C( Ok.) find{"q":"a"})");
  // These are parameters in another syntax.
  CHECK(read_wrapped(f, "<do find><q></q></do> Ok.") == "C( Ok.) find{}!malformed");
  CHECK(read_wrapped(f, "<do find><q>{}</q></do> Ok.") == "C( Ok.) find{}!malformed");
  CHECK(wrapped_closing(f, "<do find><arguments><p q>a") == "</p></do>");
  CHECK(wrapped_closing(f, "<do find><arguments><p q>a</p></argum") == "ents></do>");
  CHECK(wrapped_closing(j, "<do find><arguments>{\"q\":\"a\"}</argum") == "ents></do>");
}

}  // namespace
}  // namespace rondo::parse
