#include "base/printing.h"

#include <doctest/doctest.h>

namespace rondo::printing {

TEST_CASE("printing: nothing printable steers a terminal") {
  CHECK(printable("a\x1b[2J\r\n\tb", false) == "a\\u001b[2J\\r\\n\\tb");
  CHECK(printable("a\r\n\tb", true) == "a\\r\n\tb");
  CHECK(printable("\x7F\xC2\x9B\xC2\xA0", true) == "\\u007f\\u009b\\u00a0");
  CHECK(printable("\xE2\x80\xAE\xE2\x80\xA8\xEF\xBB\xBF\xE2\x81\xA6", true) == "\\u202e\\u2028\\ufeff\\u2066");
  // The first and the last of each range, and what stands beside them.
  CHECK(printable("\u200a\u200b\u200f\u2010\u2027\u2028\u202f\u2030", true) ==
        "\u200a\\u200b\\u200f\u2010\u2027\\u2028\\u202f\u2030");
  CHECK(printable("\u205f\u2060\u206f\u2070\ufff8\ufff9\ufffb\ufffc", true) ==
        "\u205f\\u2060\\u206f\u2070\ufff8\\ufff9\\ufffb\ufffc");
  CHECK(printable("\xF3\xA0\x81\x81", true) == "\\u{e0041}");
  CHECK(printable("é😀\xC3", true) == "é😀\xEF\xBF\xBD");
}

TEST_CASE("printing: long texts lose their middle") {
  CHECK(elided("abc", 3) == "abc");
  CHECK(elided("abcdefghij", 7) == "abcd…ij");
  CHECK(elided("ééééé", 3) == "éé…");
  CHECK(elided("", 3) == "");
}

}  // namespace rondo::printing
