#include "format/units.h"

#include <doctest/doctest.h>

namespace rondo::format {
namespace {

using Offsets = std::vector<std::size_t>;

TEST_CASE("markers are cut between units, never inside one") {
  CHECK(unit_boundaries("<a>\n<b") == Offsets{0, 3, 4, 6});
  CHECK(unit_boundaries("<|open|>x<|sep|>") == Offsets{0, 16});
  CHECK(unit_boundaries("") == Offsets{0});
}

TEST_CASE("punctuation on both sides of brackets belongs to them") {
  CHECK(unit_boundaries("#[call]##[name]#") == Offsets{0, 8, 16});
  CHECK(unit_boundaries("@@(a)@@@@(b)@@x") == Offsets{0, 7, 14, 15});
  CHECK(unit_boundaries("\"[x]\"") == Offsets{0, 4, 5});
  CHECK(unit_boundaries("#[x]") == Offsets{0, 4});
  CHECK(unit_boundaries("##[x]#b") == Offsets{0, 6, 7});
  // Letters, white space, brackets, quotes and non-ASCII characters are not such punctuation.
  CHECK(unit_boundaries("a[x]a [x] ") == Offsets{0, 5, 6, 9, 10});
  CHECK(unit_boundaries(",[x],") == Offsets{0, 4, 5});
  CHECK(unit_boundaries("\xA9[x]\xA9") == Offsets{0, 4, 5});
  CHECK(unit_boundaries(">[x]>a") == Offsets{0, 1, 4, 6});
}

TEST_CASE("words are of ASCII letters, digits and underscores") {
  for (const char byte : {'a', 'z', 'A', 'Z', '0', '9', '_'}) CHECK(is_word(byte));
  for (const char byte : {'@', '[', '`', '{', '/', ':', '^', '-', '\xC3'}) CHECK(!is_word(byte));
}

TEST_CASE("white space is cut off at both ends") {
  CHECK(trimmed(" \t\r\n a b\n ") == "a b");
  CHECK(trimmed(" \n") == "");
  CHECK(trimmed("a") == "a");
}

TEST_CASE("a counter stands for a number") {
  CHECK(numbered("</call#\x1A>", 12) == "</call#12>");
  CHECK(numbered("\x1A. \x1A", 0) == "0. 0");
  CHECK(numbered("<call>", 3) == "<call>");
  CHECK(before_counter("<call#\x1A>\x1A") == "<call#");
  CHECK(before_counter("\x1A.") == "");
  CHECK(before_counter("<call>") == "<call>");
  CHECK(numbered_suffix("a</call#12>", "</call#\x1A>") == 10);
  CHECK(numbered_suffix("12", "\x1A") == 2);
  CHECK(numbered_suffix("</b>", "</b>") == 4);
  for (const char* other : {"</call#>", "</call#1x>", "all#1>", ""}) CHECK(numbered_suffix(other, "</call#\x1A>") == 0);
  CHECK(numbered_suffix("a", "") == 0);
  CHECK(numbered_suffix("a </call>\n\n</calls>", "</call></calls>") == 17);
  CHECK(numbered_suffix("</b>\n", "</b>") == 0);
  CHECK(numbered_suffix("<b>\n\n-", "\n-") == 2);
  for (const char byte : {'0', '5', '9'}) CHECK(is_digit(byte));
  for (const char byte : {'/', ':', 'a', '_'}) CHECK(!is_digit(byte));
}

TEST_CASE("a constant whose brackets do not pair is a unit when it is named") {
  const std::vector<std::string> atoms{"]~b]", "]<]x[>["};
  CHECK(unit_boundaries("]~b]ai\n", atoms) == Offsets{0, 4, 6, 7});
  CHECK(unit_boundaries("]<]x[>[<call>\n]<]x[>[<invoke", atoms) == Offsets{0, 7, 13, 14, 21, 28});
  CHECK(common_prefix("]<]x[>[</a>", "]<]x[>[</b>", atoms) == 7);
  CHECK(common_suffix("</a>]<]x[>[<", "\n]<]x[>[<", atoms) == 8);
}

TEST_CASE("a mark without brackets is a unit when it is named, but not inside brackets") {
  const std::vector<std::string> atoms{"%%done", "@@@"};
  CHECK(unit_boundaries("%%done@@@\n", atoms) == Offsets{0, 6, 9, 10});
  CHECK(unit_boundaries("<x%%done>", atoms) == Offsets{0, 9});
  CHECK(is_mark("%%done"));
  CHECK(!is_mark("done"));
  CHECK(!is_mark("<done>"));
  CHECK(!is_paired("]~b]"));
  CHECK(is_paired("<a[b]>"));
}

}  // namespace
}  // namespace rondo::format
