// Tests reasoning and content that the template writes with escapes, such as strings of JSON.
#include <doctest/doctest.h>

#include "format/escapes.h"
#include "parse/parser.h"
#include "tests/support/parse_formats.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::Format;
using testing::in_any_chunks;

// {"why": "R", "say": "C"}, then calls.
Format quoted_texts() {
  Format format;
  format.header = "[bot]";
  format.reasoning = {true, "{\"why\": \"", "\", \"say\": ", false};
  format.reasoning.escapes = format::json_escapes();
  format.content = {"\"", "\"}"};
  format.content.escapes = format::json_escapes();
  format.stops.content = {"<eot>"};
  format.calls = testing::json_object()->calls;
  return format;
}

TEST_CASE("texts that are strings of JSON are read without their escapes") {
  const auto f = testing::share(quoted_texts());
  CHECK(in_any_chunks(f, R"({"why": "a \"b\"", "say": "c\\d"}<eot>)") == R"(R(a "b") C(c\d))");
  CHECK(in_any_chunks(f, R"({"why": "", "say": "two\nlines \u0001"}<eot>)") == "R() C(two\nlines \x01)");
  CHECK(in_any_chunks(f, R"({"why": "x", "say": "\"}, he wrote"}<eot>)") == R"(R(x) C("}, he wrote))");
}

TEST_CASE("a text that is cut off inside an escape is closed so that it can be read") {
  const auto f = testing::share(quoted_texts());
  const auto closed = [&f](const std::string& text) {
    Parser parser(f, {});
    (void)parser.feed(text);
    return text + parser.closing_text();
  };
  CHECK(in_any_chunks(f, closed(R"({"why": "x", "say": "a \)")) == "R(x) C(a \\)");
  CHECK(in_any_chunks(f, closed(R"({"why": "x", "say": "a)")) == "R(x) C(a)");
  CHECK(closed(R"({"why": "x \)").ends_with("\\\", \"say\": "));
}

TEST_CASE("characters that the template writes as in markup are read as themselves, and others stay") {
  Format format;
  format.header = "[bot]";
  format.content = {"<text>", "</text>"};
  format.content.escapes = {{"&", "&amp;"}, {"<", "&lt;"}};
  format.stops.content = {"<eot>"};
  const auto f = testing::share(format);
  CHECK(in_any_chunks(f, "<text>a &lt; b &amp;amp; c &gt; d</text><eot>") == "C(a < b &amp; c &gt; d)");
  CHECK(in_any_chunks(f, "<text>a &l</text><eot>") == "C(a &l)");
  CHECK(in_any_chunks(f, "a &lt; b<eot>") == "C(a &lt; b)");  // no opener, so nothing is escaped
}

TEST_CASE("bug: a stop of punctuation ended content that a quote closes") {
  Format format = quoted_texts();
  format.content.close = "\"";
  format.stops.content = {"}"};
  const auto f = testing::share(format);
  CHECK(in_any_chunks(f, R"({"why": "{x}", "say": "f() {}"})") == "R({x}) C(f() {})");
}

TEST_CASE("what looked like a call inside such a text keeps its escapes") {
  Format format = quoted_texts();
  format.calls.section_open = "[";
  format.calls.section_close = "]";
  const auto f = testing::share(format);
  CHECK(in_any_chunks(f, R"({"why": "", "say": "[\n"}<eot>)") == "R() C([\n)");
}

TEST_CASE("bug: the close of quoted reasoning swallowed the last quote of the content") {
  Format format;
  format.reasoning = {true, "<why>\"", "\"<|over|>", false};
  format.reasoning.escapes = format::json_escapes();
  format.content = {"<say>", "<|over|>"};
  format.stops.content = {"<eot>"};
  const auto f = testing::share(format);
  CHECK(in_any_chunks(f, "<why>\"x\"<|over|><say>\"y\"<|over|><eot>") == "R(x) C(\"y\")");
}

}  // namespace
}  // namespace rondo::parse
