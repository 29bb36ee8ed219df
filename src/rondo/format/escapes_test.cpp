#include "format/escapes.h"

#include <doctest/doctest.h>

#include <vector>

namespace rondo::format {
namespace {

const std::vector<Escape> kXml{{"&", "&amp;"}, {"<", "&lt;"}};
const std::vector<Escape> kQuoted{{"\\", R"(\\)"}, {"\"", R"(\")"}};

TEST_CASE("what is escaped is unescaped again, from left to right") {
  CHECK(escaped("a<b && c", kXml) == "a&lt;b &amp;&amp; c");
  CHECK(unescaped("a&lt;b &amp;&amp; c", kXml) == "a<b && c");
  CHECK(unescaped("&amp;lt; & &gt;", kXml) == "&lt; & &gt;");
  CHECK(escaped(R"(\"x\\)", kQuoted) == R"(\\\"x\\\\)");
  CHECK(unescaped(R"(\\\"x\\\\)", kQuoted) == R"(\"x\\)");
  CHECK(unescaped(R"(a\n\)", kQuoted) == R"(a\n\)");
  CHECK(unescaped("&lt;", {}) == "&lt;");
  CHECK(escaped("", kXml).empty());
}

TEST_CASE("a string of JSON is read without its quotes, other texts keep theirs") {
  CHECK(unescaped_text(R"("a \"b\"\n")", json_escapes()) == "a \"b\"\n");
  CHECK(unescaped_text("\"", json_escapes()) == "\"");
  CHECK(unescaped_text("\"\"", json_escapes()).empty());
  CHECK(unescaped_text("\"a &lt;\"", kXml) == "\"a <\"");
  CHECK(unescaped_text("\"a\"", {}) == "\"a\"");
}

TEST_CASE("the longest escape counts") {
  const std::vector<Escape> both{{"1", "!a"}, {"2", "!ab"}};
  CHECK(unescaped("!ab!a", both) == "21");
  CHECK(unit_size("!abc", both) == 3);
  CHECK(unit_size("!ac", both) == 2);
  CHECK(unit_size("x", both) == 1);
}

TEST_CASE("bug: other characters than those of ASCII kept the percent signs of a web address") {
  const std::vector<Escape> percents{{"%", "%25"}, {"&", "%26"}};
  CHECK(unescaped("%E6%97%a5%0D%26%2541", percents) == "\u65e5\r&%41");
  CHECK(unescaped("%F0%9F%99%82.", percents) == "\U0001F642.");
  // No character, or not a whole one.
  CHECK(unescaped("%E6%97 100% %FF %9", percents) == "%E6%97 100% %FF %9");
  CHECK(unescaped("%E6%97%A5", kXml) == "%E6%97%A5");
  CHECK(unit_size("%E6%97%A5%E6", percents) == 9);
  CHECK(unit_size("%E6%97", percents) == 1);
  CHECK(whole_units("a%E6%97%", percents) == 1);
  CHECK(whole_units("a%E6%9", percents) == 1);
  CHECK(whole_units("a%E6%97%A5", percents) == 10);
  CHECK(whole_units("a%E6x", percents) == 5);
  CHECK(whole_units("a%FF", percents) == 4);
}

TEST_CASE("what may become an escape is not certain yet") {
  CHECK(whole_units("a&l", kXml) == 1);
  CHECK(whole_units("a&lt;", kXml) == 5);
  CHECK(whole_units("a&x", kXml) == 3);
  CHECK(whole_units("a&", kXml) == 1);
  CHECK(whole_units(R"(\\)", kQuoted) == 2);
  CHECK(whole_units(R"(\\\)", kQuoted) == 2);
  CHECK(whole_units("abc", {}) == 3);
  CHECK(whole_units("", kXml) == 0);
  CHECK(plain_size("ab&c", kXml) == 2);
  CHECK(plain_size("ab<c", kXml) == 4);
  CHECK(plain_size("ab", {}) == 2);
}

}  // namespace
}  // namespace rondo::format
