#include <doctest/doctest.h>

#include <iterator>
#include <string>

#include "unicode/classes.h"
#include "unicode/graphemes.h"
#include "unicode/normalise.h"
#include "unicode/reference.h"

namespace rondo::unicode {

TEST_CASE("categories are those of Unicode 16") {
  CHECK(category(U'a') == Category::kLl);
  CHECK(category(U'A') == Category::kLu);
  CHECK(category(U'5') == Category::kNd);
  CHECK(category(U'_') == Category::kPc);
  CHECK(category(U'\u4e2d') == Category::kLo);
  CHECK(category(0x10FFFF) == Category::kCn);
  CHECK(category(0x110000) == Category::kCn);
  CHECK(category(0xD800) == Category::kCs);
  CHECK(category(0x1C89) == Category::kLu);   // new in 16
  CHECK(category(0x2EBF0) == Category::kLo);  // new in 15.1
  CHECK(is_number(U'\u00bd'));
  CHECK(is_mark(0x301));
  CHECK(is_symbol(U'+'));
  CHECK_FALSE(is_punctuation(U'+'));
}

TEST_CASE("white space is the property, not Perl's") {
  CHECK(is_white_space(U'\u3000'));
  CHECK(is_white_space(0x85));
  CHECK_FALSE(is_white_space(0x180E));
  CHECK_FALSE(is_white_space(0x200B));
  CHECK_FALSE(is_white_space(0x1C));
}

TEST_CASE("white space is a list of 25 code points") {
  std::u32string found;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (is_white_space(c)) found += c;
  }
  CHECK(found ==
        U"\t\n\v\f\r \x85\u00A0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u2028\u2029"
        U"\u202F\u205F\u3000");
}

TEST_CASE("the five groups of categories have their first letter") {
  // One code point of each category, in the order of the enumeration.
  const char32_t samples[] = {0x378, 0x0,   0xAD,  0xE000, 0xD800, 'a',  0x2B0, 0x5D0,  0x1C5,  'A',
                              0x903, 0x488, 0x300, '0',    0x2160, 0xB2, '_',   '-',    ')',    0xBB,
                              0xAB,  '!',   '(',   '$',    '^',    '+',  0xA6,  0x2028, 0x2029, ' '};
  for (std::size_t i = 0; i < std::size(samples); ++i) {
    const char32_t c = samples[i];
    CAPTURE(i);
    CHECK(category(c) == static_cast<Category>(i));
    CHECK(is_letter(c) == (i >= 5 && i <= 9));
    CHECK(is_mark(c) == (i >= 10 && i <= 12));
    CHECK(is_number(c) == (i >= 13 && i <= 15));
    CHECK(is_punctuation(c) == (i >= 16 && i <= 22));
    CHECK(is_symbol(c) == (i >= 23 && i <= 26));
  }
}

TEST_CASE("word characters are those of regular expressions") {
  std::size_t count = 0;
  for (char32_t c = 0; c < 0x110000; ++c) count += is_word(c) && (c < 0xD800 || c > 0xDFFF) ? 1U : 0U;
  CHECK(count == 144667);  // as many as the reference's \\w matches
  for (const char32_t c : {U'_', U'7', U'\u00E9', U'\u0301', U'\u200D', U'\u24B6', U'\U0001F130', U'\u2160'})
    CHECK(is_word(c));
  for (const char32_t c : {U'-', U' ', U'\u00B2', U'\u00BD', U'\U0001F600', U'\u2028'}) CHECK_FALSE(is_word(c));
}

TEST_CASE("newer characters are replaced by ones of the same size") {
  std::string out = "untouched";
  CHECK_FALSE(substitute_newer("abc \u4e2d\u6587", out));
  CHECK(out == "untouched");
  REQUIRE(substitute_newer("x\U0002EBF0y\u180Ez", out));
  CHECK(out.size() == 10);
  CHECK(out.substr(5) == "y\u200Bz");
  const std::string first = out;
  REQUIRE(substitute_newer("\u00e9\u180E\u4e2d\u180E", out));
  CHECK(out == "\u00e9\u200B\u4e2d\u200B");
  // What was replaced once needs no further replacement.
  std::string again;
  CHECK_FALSE(substitute_newer(first, again));
}

TEST_CASE("normalisation forms") {
  CHECK(normalise("e\u0301", Form::kNfc) == "\u00e9");
  CHECK(normalise("\u00e9", Form::kNfd) == "e\u0301");
  CHECK(normalise("\u212b\ufb01", Form::kNfc) == "\u00c5\ufb01");
  CHECK(normalise("\u212b\ufb01", Form::kNfkc) ==
        "\u00c5"
        "fi");
  CHECK(normalise("\u1100\u1161\u11a8", Form::kNfc) == "\uac01");
  CHECK(normalise("\uac01", Form::kNfd) == "\u1100\u1161\u11a8");
  CHECK(normalise("a\u0323\u0307", Form::kNfc) == "\u1ea1\u0307");
  CHECK(normalise("a\u0307\u0323", Form::kNfc) == "\u1ea1\u0307");
  CHECK(normalise("\u0344", Form::kNfc) == "\u0308\u0301");  // excluded from composition
  CHECK(normalise("plain", Form::kNfkd) == "plain");
}

TEST_CASE("alignment names the source bytes") {
  const auto units = normalise_aligned("xe\u0301y", Form::kNfc);
  REQUIRE(units.size() == 3);
  CHECK(units[1].begin == 1);
  CHECK(units[1].end == 4);
  CHECK(units[2].begin == 4);
}

TEST_CASE("clusters of characters") {
  const auto sizes = [](std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = grapheme_end(text, at);
      out += std::to_string(end - at) + " ";
      at = end;
    }
    return out;
  };
  CHECK(sizes("ab") == "1 1 ");
  CHECK(sizes("e\u0301\r\n\n\u0301") == "3 2 1 2 ");
  CHECK(sizes("\u1100\u1161\u11a8\uac00\u11a8") == "9 6 ");
  CHECK(sizes("\u0915\u094d\u0937\u0915\u0937") == "9 3 3 ");
  CHECK(sizes("\U0001f1e9\U0001f1ea\U0001f1eb\u0301\U0001f1eb") == "8 6 4 ");
  CHECK(sizes("\U0001f468\u200d\U0001f469\U0001f469\u00a9\u200d\u00a9") == "11 4 7 ");
  CHECK(sizes("\u0600a\u200da") == "6 1 ");
  CHECK(sizes("\r\u0301\n\r") == "1 2 1 1 ");
  CHECK(sizes("\u0600\n\u0600\u0600a") == "2 1 5 ");
  CHECK(sizes("a\x7f\u0301 \u0301") == "1 1 2 3 ");
  CHECK(sizes("\u1100\u1100\uac00\u1161\u11a8\u11a8\u1100\uac01\u11a8\u1161") == "18 9 3 ");
  CHECK(sizes("\u1161\uac00\u11a8\uac00") == "3 6 3 ");
  CHECK(sizes("\u0915\u0937\u094d\u200d\u0937") == "3 12 ");
  CHECK(sizes("\u0915\u094da\u094d\u0937") == "6 4 3 ");
  CHECK(sizes("\U0001f468\u0301\u200d\U0001f469\u200da\u200d\U0001f469") == "16 4 4 ");
  CHECK(sizes("\U0001f468\u200d\u200d\U0001f469") == "10 4 ");
  CHECK(sizes("\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1ec") == "8 8 ");
  CHECK(sizes("\U0001f1e9a\U0001f1ea\U0001f1eb") == "4 1 8 ");
  CHECK(sizes("\u0915\u0903\u094d") == "9 ");
}

TEST_CASE("classes of the reference's parts") {
  CHECK(reference::is_control(0xFFFD));
  CHECK_FALSE(reference::is_control('\n'));
  CHECK(reference::is_nonspacing(0x0301));
  CHECK_FALSE(reference::is_accent(0x0897));  // newer than its tables
  CHECK(reference::is_punctuation('$'));
  CHECK(reference::is_numeric(0x00BD));
  CHECK(reference::is_word(0x200D));
  CHECK_FALSE(reference::is_regex_word(0x200D));
  CHECK_FALSE(reference::is_word(0x110000));
  CHECK(reference::script(0x110000) == 0);
  CHECK(reference::script(0x4E00) != reference::script('a'));
  CHECK(reference::is_accent(0x0301));
  CHECK_FALSE(reference::is_punctuation('a'));
  CHECK_FALSE(reference::is_numeric('a'));
  CHECK(reference::is_regex_word('a'));
  for (char32_t c = 0; c < 0x80; ++c) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    CHECK(reference::to_lower(c).code_points[0] == (is_capital ? c + 32 : c));
    CHECK(reference::to_lower(c).count == 1);
  }
  CHECK(reference::to_lower(0xC0).code_points[0] == 0xE0);
  CHECK(reference::to_lower(0xC0).count == 1);
  CHECK(reference::to_lower(0xE0).code_points[0] == 0xE0);
  CHECK(reference::to_lower(0x110000).code_points[0] == 0x110000);
  CHECK(reference::to_lower(0x0130).count == 2);
  CHECK(reference::to_lower(0x1C89).code_points[0] == 0x1C8A);
  CHECK(reference::script(0x30FC) == reference::script(0x4E00));
  CHECK(reference::script(' ') == 0);
}

}  // namespace rondo::unicode
