#include <doctest/doctest.h>

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
}

TEST_CASE("classes of the reference's parts") {
  CHECK(reference::is_control(0xFFFD));
  CHECK_FALSE(reference::is_control('\n'));
  CHECK(reference::is_nonspacing(0x0301));
  CHECK_FALSE(reference::is_accent(0x0897));  // younger than its tables
  CHECK(reference::is_punctuation('$'));
  CHECK(reference::is_numeric(0x00BD));
  CHECK(reference::is_word(0x200D));
  CHECK_FALSE(reference::is_regex_word(0x200D));
  CHECK_FALSE(reference::is_word(0x110000));
  CHECK(reference::to_lower(0x0130).count == 2);
  CHECK(reference::to_lower(0x1C89).code_points[0] == 0x1C8A);
  CHECK(reference::script(0x30FC) == reference::script(0x4E00));
  CHECK(reference::script(' ') == 0);
}

}  // namespace rondo::unicode
