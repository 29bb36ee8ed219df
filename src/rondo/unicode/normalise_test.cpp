#include "unicode/normalise.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/utf8.h"

namespace rondo::unicode {
namespace {

constexpr Form kForms[] = {Form::kNfc, Form::kNfd, Form::kNfkc, Form::kNfkd};

std::string text_of(char32_t c) {
  std::string out;
  utf8::append(out, c);
  return out;
}

std::string joined(const std::vector<Normalised>& units) {
  std::string out;
  for (const Normalised& unit : units) utf8::append(out, unit.code_point);
  return out;
}

}  // namespace

TEST_CASE("texts of marks, jamo and ligatures are normalised as Python's unicodedata does it") {
  // A text and its forms NFC, NFD, NFKC, NFKD.  The random ones use characters as old as Unicode 3.2.
  const char* const rows[][5] = {
      {"P\u11a9\u00e7\u0149\u1108\u00d1\u0314\u00c5\u0339", "P\u11a9\u00e7\u0149\u1108\u00d1\u0314\u00c5\u0339",
       "P\u11a9c\u0327\u0149\u1108N\u0303\u0314A\u0339\u030a", "P\u11a9\u00e7\u02bcn\u1108\u00d1\u0314\u00c5\u0339",
       "P\u11a9c\u0327\u02bcn\u1108N\u0303\u0314A\u0339\u030a"},
      {"\u0313\u0338\u11b4\u00c3\u0344\u1165\u11a9\u11c2", "\u0338\u0313\u11b4\u00c3\u0308\u0301\u1165\u11a9\u11c2",
       "\u0338\u0313\u11b4A\u0303\u0308\u0301\u1165\u11a9\u11c2",
       "\u0338\u0313\u11b4\u00c3\u0308\u0301\u1165\u11a9\u11c2",
       "\u0338\u0313\u11b4A\u0303\u0308\u0301\u1165\u11a9\u11c2"},
      {"\uac01\u032e\u0e33\u1107\u1104", "\uac01\u032e\u0e33\u1107\u1104", "\u1100\u1161\u11a8\u032e\u0e33\u1107\u1104",
       "\uac01\u032e\u0e4d\u0e32\u1107\u1104", "\u1100\u1161\u11a8\u032e\u0e4d\u0e32\u1107\u1104"},
      {"\ufdfa\u11b5\u017e\u116c", "\ufdfa\u11b5\u017e\u116c", "\ufdfa\u11b5z\u030c\u116c",
       "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064a\u0647 "
       "\u0648\u0633\u0644\u0645\u11b5\u017e\u116c",
       "\u0635\u0644\u0649 \u0627\u0644\u0644\u0647 \u0639\u0644\u064a\u0647 "
       "\u0648\u0633\u0644\u0645\u11b5z\u030c\u116c"},
      {"\u00ea\u033e\u0140U\u030c\u05b9", "\u00ea\u033e\u0140\u01d3\u05b9", "e\u0302\u033e\u0140U\u05b9\u030c",
       "\u00ea\u033el\u00b7\u01d3\u05b9", "e\u0302\u033el\u00b7U\u05b9\u030c"},
      {"\u0e41\u0343\u0e0e\u0317\u00ca\u031d", "\u0e41\u0313\u0e0e\u0317\u00ca\u031d",
       "\u0e41\u0313\u0e0e\u0317E\u031d\u0302", "\u0e41\u0313\u0e0e\u0317\u00ca\u031d",
       "\u0e41\u0313\u0e0e\u0317E\u031d\u0302"},
      {"\u0145\u11bc\u00d1\u033b\u0321\u030a", "\u0145\u11bc\u00d1\u0321\u033b\u030a",
       "N\u0327\u11bcN\u0321\u033b\u0303\u030a", "\u0145\u11bc\u00d1\u0321\u033b\u030a",
       "N\u0327\u11bcN\u0321\u033b\u0303\u030a"},
      {"\u0313\u031c\u0111\u00c1\u1104\u11b6", "\u031c\u0313\u0111\u00c1\u1104\u11b6",
       "\u031c\u0313\u0111A\u0301\u1104\u11b6", "\u031c\u0313\u0111\u00c1\u1104\u11b6",
       "\u031c\u0313\u0111A\u0301\u1104\u11b6"},
      {"\u012c\u031d\u0e09\u0309\u11b3\u0339\u031a\u032f\u0165",
       "\u012c\u031d\u0e09\u0309\u11b3\u0339\u032f\u031a\u0165",
       "I\u031d\u0306\u0e09\u0309\u11b3\u0339\u032f\u031at\u030c",
       "\u012c\u031d\u0e09\u0309\u11b3\u0339\u032f\u031a\u0165",
       "I\u031d\u0306\u0e09\u0309\u11b3\u0339\u032f\u031at\u030c"},
      {"\u05c2\u11af\uac00\u0109\u010e\u1112\u0329\u0335\u11ad",
       "\u05c2\u11af\uac00\u0109\u010e\u1112\u0335\u0329\u11ad",
       "\u05c2\u11af\u1100\u1161c\u0302D\u030c\u1112\u0335\u0329\u11ad",
       "\u05c2\u11af\uac00\u0109\u010e\u1112\u0335\u0329\u11ad",
       "\u05c2\u11af\u1100\u1161c\u0302D\u030c\u1112\u0335\u0329\u11ad"},
      {"\u0343\u033c\u1175\u00fd\u1173", "\u033c\u0313\u1175\u00fd\u1173", "\u033c\u0313\u1175y\u0301\u1173",
       "\u033c\u0313\u1175\u00fd\u1173", "\u033c\u0313\u1175y\u0301\u1173"},
      {"\u0341\u0145\u0172E", "\u0301\u0145\u0172E", "\u0301N\u0327U\u0328E", "\u0301\u0145\u0172E",
       "\u0301N\u0327U\u0328E"},
      {"\u0323\u0146\u0322\u00ef\u0301\u0325\u11ac", "\u0323\u0146\u0322\u1e2f\u0325\u11ac",
       "\u0323n\u0327\u0322i\u0325\u0308\u0301\u11ac", "\u0323\u0146\u0322\u1e2f\u0325\u11ac",
       "\u0323n\u0327\u0322i\u0325\u0308\u0301\u11ac"},
      {"\u1103\u0317\u030b\u0335\u0169\u0330\u05bb", "\u1103\u0335\u0317\u030b\u1e75\u05bb\u0303",
       "\u1103\u0335\u0317\u030bu\u05bb\u0330\u0303", "\u1103\u0335\u0317\u030b\u1e75\u05bb\u0303",
       "\u1103\u0335\u0317\u030bu\u05bb\u0330\u0303"},
      {"\u1163\u11af\u0e33\u031f\u116f\u00d2\u1161", "\u1163\u11af\u0e33\u031f\u116f\u00d2\u1161",
       "\u1163\u11af\u0e33\u031f\u116fO\u0300\u1161", "\u1163\u11af\u0e4d\u0e32\u031f\u116f\u00d2\u1161",
       "\u1163\u11af\u0e4d\u0e32\u031f\u116fO\u0300\u1161"},
      {"\u00dc\u0317\u1166\u0e05\u212b\u0322\u05b2", "\u00dc\u0317\u1166\u0e05\u00c5\u05b2\u0322",
       "U\u0317\u0308\u1166\u0e05A\u05b2\u0322\u030a", "\u00dc\u0317\u1166\u0e05\u00c5\u05b2\u0322",
       "U\u0317\u0308\u1166\u0e05A\u05b2\u0322\u030a"},
      {"\u05b7\u030b\u05b8\u012b", "\u05b7\u05b8\u030b\u012b", "\u05b7\u05b8\u030bi\u0304", "\u05b7\u05b8\u030b\u012b",
       "\u05b7\u05b8\u030bi\u0304"},
      {"F\u0930\u0138\u0317\u0328\u00d3\u0e24\u0104\u0e4e", "F\u0930\u0138\u0328\u0317\u00d3\u0e24\u0104\u0e4e",
       "F\u0930\u0138\u0328\u0317O\u0301\u0e24A\u0328\u0e4e", "F\u0930\u0138\u0328\u0317\u00d3\u0e24\u0104\u0e4e",
       "F\u0930\u0138\u0328\u0317O\u0301\u0e24A\u0328\u0e4e"},
      {"\u032d\u0328\u0312\u1110\u0330\u0300\u0e46\u05b0\u00fb",
       "\u0328\u032d\u0312\u1110\u0330\u0300\u0e46\u05b0\u00fb",
       "\u0328\u032d\u0312\u1110\u0330\u0300\u0e46\u05b0u\u0302",
       "\u0328\u032d\u0312\u1110\u0330\u0300\u0e46\u05b0\u00fb",
       "\u0328\u032d\u0312\u1110\u0330\u0300\u0e46\u05b0u\u0302"},
      {"\u0173\u0156\u1105\u030b\u031a\u0329\u093c", "\u0173\u0156\u1105\u093c\u0329\u030b\u031a",
       "u\u0328R\u0327\u1105\u093c\u0329\u030b\u031a", "\u0173\u0156\u1105\u093c\u0329\u030b\u031a",
       "u\u0328R\u0327\u1105\u093c\u0329\u030b\u031a"},
      {"\u05b0\uac00\u0937\ufb01\u1110", "\u05b0\uac00\u0937\ufb01\u1110", "\u05b0\u1100\u1161\u0937\ufb01\u1110",
       "\u05b0\uac00\u0937fi\u1110", "\u05b0\u1100\u1161\u0937fi\u1110"},
      {"\u00f0\u0333\u00d4\u092a\u0311\u0316\u11ad", "\u00f0\u0333\u00d4\u092a\u0316\u0311\u11ad",
       "\u00f0\u0333O\u0302\u092a\u0316\u0311\u11ad", "\u00f0\u0333\u00d4\u092a\u0316\u0311\u11ad",
       "\u00f0\u0333O\u0302\u092a\u0316\u0311\u11ad"},
      {"\u11ad\u00ec\u0304\u032a\u031d\u0168\u032e\u0132\u0165",
       "\u11ad\u00ec\u032a\u031d\u0304\u0168\u032e\u0132\u0165",
       "\u11adi\u032a\u031d\u0300\u0304U\u032e\u0303\u0132t\u030c",
       "\u11ad\u00ec\u032a\u031d\u0304\u0168\u032eIJ\u0165", "\u11adi\u032a\u031d\u0300\u0304U\u032e\u0303IJt\u030c"},
      {"\u1e9b\u11ad\u00cb\u032b\u0153\u00d4\u0320\u0161", "\u1e9b\u11ad\u00cb\u032b\u0153\u00d4\u0320\u0161",
       "\u017f\u0307\u11adE\u032b\u0308\u0153O\u0320\u0302s\u030c", "\u1e61\u11ad\u00cb\u032b\u0153\u00d4\u0320\u0161",
       "s\u0307\u11adE\u032b\u0308\u0153O\u0320\u0302s\u030c"},
      {"\u0333\u064b\u031e\u093f\u00f5\u017d", "\u064b\u0333\u031e\u093f\u00f5\u017d",
       "\u064b\u0333\u031e\u093fo\u0303Z\u030c", "\u064b\u0333\u031e\u093f\u00f5\u017d",
       "\u064b\u0333\u031e\u093fo\u0303Z\u030c"},
      {"\u11ab\u116a\u013f\u015d\u0315\u11b5\u091d\u0124\u0114",
       "\u11ab\u116a\u013f\u015d\u0315\u11b5\u091d\u0124\u0114",
       "\u11ab\u116a\u013fs\u0302\u0315\u11b5\u091dH\u0302E\u0306",
       "\u11ab\u116aL\u00b7\u015d\u0315\u11b5\u091d\u0124\u0114",
       "\u11ab\u116aL\u00b7s\u0302\u0315\u11b5\u091dH\u0302E\u0306"},
      {"\u0165\u0920\u0939\u031f\u015a\u0323\u00ec\u0113\u015f",
       "\u0165\u0920\u0939\u031f\u1e62\u0301\u00ec\u0113\u015f",
       "t\u030c\u0920\u0939\u031fS\u0323\u0301i\u0300e\u0304s\u0327",
       "\u0165\u0920\u0939\u031f\u1e62\u0301\u00ec\u0113\u015f",
       "t\u030c\u0920\u0939\u031fS\u0323\u0301i\u0300e\u0304s\u0327"},
      {"\u0e35\u110b\u032b\u0309\u010c\u0336\u033b\u0322", "\u0e35\u110b\u032b\u0309\u010c\u0336\u0322\u033b",
       "\u0e35\u110b\u032b\u0309C\u0336\u0322\u033b\u030c", "\u0e35\u110b\u032b\u0309\u010c\u0336\u0322\u033b",
       "\u0e35\u110b\u032b\u0309C\u0336\u0322\u033b\u030c"},
      {"\u0e33\u00ec\u0303\u0e06\u0118\u0141\u033a", "\u0e33\u00ec\u0303\u0e06\u0118\u0141\u033a",
       "\u0e33i\u0300\u0303\u0e06E\u0328\u0141\u033a", "\u0e4d\u0e32\u00ec\u0303\u0e06\u0118\u0141\u033a",
       "\u0e4d\u0e32i\u0300\u0303\u0e06E\u0328\u0141\u033a"},
      {"\u0344\u11a8\u032a\u0129\u1109\u1167\u013b\u0331", "\u0308\u0301\u11a8\u032a\u0129\uc154\u013b\u0331",
       "\u0308\u0301\u11a8\u032ai\u0303\u1109\u1167L\u0327\u0331", "\u0308\u0301\u11a8\u032a\u0129\uc154\u013b\u0331",
       "\u0308\u0301\u11a8\u032ai\u0303\u1109\u1167L\u0327\u0331"},
      {"\u116dC\u0114\u11bb\u0315\u093c\u0157\u0e21\u1164", "\u116dC\u0114\u11bb\u093c\u0315\u0157\u0e21\u1164",
       "\u116dCE\u0306\u11bb\u093c\u0315r\u0327\u0e21\u1164", "\u116dC\u0114\u11bb\u093c\u0315\u0157\u0e21\u1164",
       "\u116dCE\u0306\u11bb\u093c\u0315r\u0327\u0e21\u1164"},
      {"\u0340\u11c1\u11c0\u012f\u00f8\u1112", "\u0300\u11c1\u11c0\u012f\u00f8\u1112",
       "\u0300\u11c1\u11c0i\u0328\u00f8\u1112", "\u0300\u11c1\u11c0\u012f\u00f8\u1112",
       "\u0300\u11c1\u11c0i\u0328\u00f8\u1112"},
      {"\u0652\u093c\u0163\u00e3W", "\u093c\u0652\u0163\u00e3W", "\u093c\u0652t\u0327a\u0303W",
       "\u093c\u0652\u0163\u00e3W", "\u093c\u0652t\u0327a\u0303W"},
      {"\u0916\u0325\u033b\u00c7\u2126\U0001d15e\u00da", "\u0916\u0325\u033b\u00c7\u03a9\U0001d157\U0001d165\u00da",
       "\u0916\u0325\u033bC\u0327\u03a9\U0001d157\U0001d165U\u0301",
       "\u0916\u0325\u033b\u00c7\u03a9\U0001d157\U0001d165\u00da",
       "\u0916\u0325\u033bC\u0327\u03a9\U0001d157\U0001d165U\u0301"},
      {"\u0336\u00ce\u0330\u0e02\u00c1", "\u0336\u1e2c\u0302\u0e02\u00c1", "\u0336I\u0330\u0302\u0e02A\u0301",
       "\u0336\u1e2c\u0302\u0e02\u00c1", "\u0336I\u0330\u0302\u0e02A\u0301"},
      {"\u00db\u0309\u033f\u0928\u0313\u093c\u0325\u0e4b", "\u00db\u0309\u033f\u0929\u0e4b\u0325\u0313",
       "U\u0302\u0309\u033f\u0928\u093c\u0e4b\u0325\u0313", "\u00db\u0309\u033f\u0929\u0e4b\u0325\u0313",
       "U\u0302\u0309\u033f\u0928\u093c\u0e4b\u0325\u0313"},
      {"\u00c4\u0339\u1168\u0341\u0324\u0105", "\u00c4\u0339\u1168\u0324\u0301\u0105",
       "A\u0339\u0308\u1168\u0324\u0301a\u0328", "\u00c4\u0339\u1168\u0324\u0301\u0105",
       "A\u0339\u0308\u1168\u0324\u0301a\u0328"},
      {"\u011b\u0e10\u0329\u0e39\u0336\u0e2e\u11b2", "\u011b\u0e10\u0336\u0e39\u0329\u0e2e\u11b2",
       "e\u030c\u0e10\u0336\u0e39\u0329\u0e2e\u11b2", "\u011b\u0e10\u0336\u0e39\u0329\u0e2e\u11b2",
       "e\u030c\u0e10\u0336\u0e39\u0329\u0e2e\u11b2"},
      {"\u0310\u0654\u212b\u0938\u0341\u0339\u0153", "\u0310\u0654\u00c5\u0938\u0339\u0301\u0153",
       "\u0310\u0654A\u030a\u0938\u0339\u0301\u0153", "\u0310\u0654\u00c5\u0938\u0339\u0301\u0153",
       "\u0310\u0654A\u030a\u0938\u0339\u0301\u0153"},
      {"\u1165\u4e00\u11c3\u0326\u093c\u00d1\u0143\u0155", "\u1165\u4e00\u11c3\u093c\u0326\u00d1\u0143\u0155",
       "\u1165\u4e00\u11c3\u093c\u0326N\u0303N\u0301r\u0301", "\u1165\u4e00\u11c3\u093c\u0326\u00d1\u0143\u0155",
       "\u1165\u4e00\u11c3\u093c\u0326N\u0303N\u0301r\u0301"},
  };
  for (const auto& row : rows) {
    for (std::size_t form = 0; form < 4; ++form) {
      CAPTURE(row[0]);
      CAPTURE(form);
      CHECK(normalise(row[0], kForms[form]) == row[form + 1]);
      CHECK(joined(normalise_aligned(row[0], kForms[form])) == row[form + 1]);
      CHECK(normalise(row[form + 1], kForms[form]) == row[form + 1]);
      if (is_normalised(row[0], kForms[form])) CHECK(row[0] == std::string(row[form + 1]));
    }
  }
}

TEST_CASE("the forms of every code point agree with each other") {
  for (char32_t c = 1; c < 0x2FA20; ++c) {
    // Left out: ideographs, syllables (tested on their own), private use, and scripts without marks that compose.
    if ((c >= 0x3400 && c < 0xA000) || (c >= 0xAC00 && c < 0xF900) || (c >= 0x12000 && c < 0x1D000) ||
        (c >= 0x20000 && c < 0x2F800))
      continue;
    CAPTURE(c);
    const std::string text = text_of(c);
    const std::string compatible = joined(normalise_aligned(text, Form::kNfkd));
    const std::string composed = joined(normalise_aligned(text, Form::kNfc));
    if (compatible == text && composed == text && is_normalised(text, Form::kNfkd)) continue;
    const std::string decomposed = normalise(text, Form::kNfd);
    const bool agree = normalise(decomposed, Form::kNfc) == composed && normalise(composed, Form::kNfd) == decomposed &&
                       normalise(decomposed, Form::kNfkd) == compatible &&
                       normalise(compatible, Form::kNfd) == compatible &&
                       normalise(compatible, Form::kNfkc) == normalise(text, Form::kNfkc);
    if (!agree) FAIL_CHECK("its forms differ");
    for (const Form form : kForms) {
      if (is_normalised(text, form) && joined(normalise_aligned(text, form)) != text)
        FAIL_CHECK("it is not normalised");
    }
  }
}

TEST_CASE("a syllable is its jamo, and only those") {
  for (char32_t syllable = 0xAC00; syllable <= 0xD7A3; ++syllable) {
    const char32_t index = syllable - 0xAC00;
    std::string jamo = text_of(0x1100 + index / 588) + text_of(0x1161 + index % 588 / 28);
    if (index % 28 != 0) jamo += text_of(0x11A7 + index % 28);
    REQUIRE(normalise(text_of(syllable), Form::kNfd) == jamo);
    REQUIRE(normalise(jamo, Form::kNfc) == text_of(syllable));
  }
  // One before and one after the jamo that compose.
  for (const char* alone : {"\u10ff\u1161", "\u1113\u1161", "\u1100\u1160", "\u1100\u1176", "\uac00\u11a7",
                            "\uac00\u11c3", "\uac01\u11a8", "\ud7a4\u11a8", "\uabff"}) {
    for (const Form form : {Form::kNfc, Form::kNfkc}) {
      CHECK_MESSAGE(normalise(alone, form) == alone, alone);
      CHECK_MESSAGE(joined(normalise_aligned(alone, form)) == alone,
                    alone);  // without asking first whether it is normalised
    }
  }
  CHECK(is_normalised("\uac00", Form::kNfc));
  CHECK_FALSE(is_normalised("\uac00", Form::kNfd));
  CHECK_FALSE(is_normalised("\ud7a3", Form::kNfkd));
  CHECK(is_normalised("\uabff\ud7a4", Form::kNfd));
}

TEST_CASE("marks compose with their starter unless one of their class or a higher one stands between") {
  CHECK(normalise("e\u0316\u0301", Form::kNfc) == "\u00e9\u0316");
  CHECK(normalise("e\u0305\u0301", Form::kNfc) == "e\u0305\u0301");
  CHECK(normalise("e\u0301\u0301", Form::kNfc) == "\u00e9\u0301");
  CHECK(normalise("\u0301e", Form::kNfc) == "\u0301e");
  CHECK(normalise("ea\u0301", Form::kNfc) == "e\u00e1");
  CHECK(normalise("e\u0316a\u0301", Form::kNfc) == "e\u0316\u00e1");
  CHECK(normalise("\u0301\u0316", Form::kNfd) == "\u0316\u0301");
  CHECK(normalise("\u4e2d\u6587e\u0301\u6587\u0301", Form::kNfc) == "\u4e2d\u6587\u00e9\u6587\u0301");
  CHECK(normalise("\u0301\u4e2d\u0316", Form::kNfd) == "\u0301\u4e2d\u0316");  // each begins anew after a starter
  CHECK(normalise("\u0301x\u0316", Form::kNfd) == "\u0301x\u0316");
  CHECK_FALSE(is_normalised("\u0301\u0316", Form::kNfd));
  CHECK(is_normalised("\u0316\u0301\u4e2d\u0316x\u0316", Form::kNfd));
}

TEST_CASE("what is ill-formed becomes a replacement, and sources never go backwards") {
  CHECK(normalise("a\xff\u00e9", Form::kNfd) == "a\ufffde\u0301");
  CHECK_FALSE(is_normalised("\xe4\xb8", Form::kNfc));
  CHECK_FALSE(is_normalised("a\xff", Form::kNfc));
  const auto units = normalise_aligned("a\u0301\u0316\u0327b", Form::kNfd);
  REQUIRE(units.size() == 5);
  CHECK(units[1].code_point == 0x327);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(units[i].begin == 1);
    CHECK(units[i].end == 7);
  }
  CHECK(units[4].begin == 7);
  CHECK(units[4].end == 8);
  // In order already, so each keeps its own bytes.
  const auto ordered = normalise_aligned("\u0316\u0301", Form::kNfd);
  CHECK(ordered[0].end == 2);
  CHECK(ordered[1].begin == 2);
}

}  // namespace rondo::unicode
