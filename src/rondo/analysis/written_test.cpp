// Texts of a template, where they may be cut, and markers that belong together.
#include "analysis/written.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "format/units.h"

namespace rondo::analysis {
namespace {

using Places = std::vector<std::size_t>;

// A text of several constants, which `/` separates.
Written text_of(std::string_view marked) {
  Written out;
  for (std::size_t at = 0; at <= marked.size();) {
    const std::size_t end = std::min(marked.find('/', at), marked.size());
    out.begins.push_back(out.text.size());
    out.text += marked.substr(at, end - at);
    at = end + 1;
  }
  return out;
}

TEST_CASE("written: parts of a text keep the begins that they have") {
  const Written whole = text_of("ab/cde/f");
  CHECK(whole.begins == Places{0, 2, 5});
  CHECK(whole.from(2).text == "cdef");
  CHECK(whole.from(2).begins == Places{0, 3});
  CHECK(whole.before(2).text == "ab");
  CHECK(whole.before(2).begins == Places{0, 2});
  CHECK(whole.ending("def").begins == Places{2});
  CHECK(whole.ending("abc").text == "abc");
  CHECK(whole.ending("abc").begins.empty());
  Written both = text_of("x/y");
  both.append(whole);
  CHECK(both.text == "xyabcdef");
  CHECK(both.begins == Places{0, 1, 2, 4, 7});
}

TEST_CASE("written: a constant begins where it is at its first byte, and so do numbers and computed texts") {
  Written out;
  out.append("abcd", std::vector<Source>{{0, 7, 0}, {2, 8, 3}, {3, kNoLiteral, 5}});
  CHECK(out.begins == Places{0, 3});
  out.append("1", {});
  CHECK(out.begins == Places{0, 3, 4});
  CHECK(out.text == "abcd1");
}

TEST_CASE("written: literals and counters of a turn, without its slots") {
  Turn turn;
  turn.tokens = {{SlotKind::kLiteral, 0, "<a ", {{0, 1, 0}}},
                 {SlotKind::kIndex, 0, "1"},
                 {SlotKind::kName, 0, "f"},
                 {SlotKind::kIndex, 1, "12"},
                 {SlotKind::kLiteral, 0, ">", {{0, 2, 0}}}};
  CHECK(written(turn, 0, 9).text == "<a 112>");
  CHECK(written(turn, 1, 4).text == "112");
  // A number of two digits is none that the template counts.
  CHECK(counted(turn, 0, 9).text == std::string("<a ") + format::kCounter + "12>");
  CHECK(counted_text(turn.tokens[1]) == std::string(1, format::kCounter));
  CHECK(counted_text(turn.tokens[2]) == "f");
}

TEST_CASE("written: what two texts have in common ends where both begin another constant, or a unit") {
  const auto front = [](std::string_view a, std::string_view b) { return same_front(text_of(a), text_of(b), {}); };
  const auto back = [](std::string_view a, std::string_view b) { return same_back(text_of(a), text_of(b), {}); };
  CHECK(front("over: /x", "over: /y") == 6);
  CHECK(front("<a><b>", "<a><c>") == 3);
  CHECK(front("<a><b>", "<a><b>") == 6);
  CHECK(front("<ab>", "<ac>") == 0);
  CHECK(front("x", "y") == 0);
  CHECK(back("x/ begins:", "y/ begins:") == 8);
  CHECK(back("<b><a>", "<c><a>") == 3);
  CHECK(back("<ba>", "<ca>") == 0);
  // Inside brackets no constant ends a marker where both are inside.
  CHECK(front("<a /b>", "<a /c>") == 0);
  // What follows a number belongs to it.
  CHECK(front("<n=\x1A/a", "<n=\x1A/b") == 0);
  CHECK(front("over\x1A/ab", "over\x1A/cd") == 0);
  // A word between two tags ties them together.
  CHECK(front("<|open|>/call/<|then|>", "<|open|>/call/<|now|>") == 0);
}

TEST_CASE("written: where a marker may be cut") {
  const auto parts = [](std::string_view marked) {
    const Written whole = text_of(marked);
    const Places cuts = cuts_of(whole, {});
    std::string out;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) out += whole.text.substr(cuts[i], cuts[i + 1] - cuts[i]) + ";";
    return out;
  };
  // A word between two tags belongs to both.
  CHECK(parts("<a>/b/<c>") == "<a>b<c>;");
  CHECK(parts("say /it: /<c>") == "say; ;it:; ;<c>;");
  CHECK(parts("<a/b>") == "<ab>;");
}

TEST_CASE("written: tags and their pairs") {
  CHECK(opening_of("</x>") == "<x>");
  CHECK(opening_of("[/X]") == "[X]");
  CHECK(opening_of("<|/x|>") == "<|x|>");
  CHECK(opening_of("/x").empty());
  CHECK(opening_of("a and/or").empty());
  CHECK(opening_of("<x>").empty());
  CHECK(opening_of("{%% /end") == "");
  CHECK(opening_of("###/end") == "###end");
  CHECK(closing_of("<x>") == "</x>");
  CHECK(closing_of("[X]") == "[/X]");
  for (const char* none : {"", "<>", "<x", "x>", "<x]", "[x>", "<a b>", "</x>", "<x><y>"})
    CHECK(closing_of(none) == "");
}

TEST_CASE("written: a text that ends inside an object of JSON") {
  for (const char* inside : {"{\"a\": ", "say {\"a", "{ \"a\": 1, \"b\": \"", "{\n\"a\" :\n"})
    CHECK(is_inside_json(inside));
  for (const char* other : {"", "{", "{a: ", "{\"a\"", "\"a\": ", "{\"a\": 1, "}) CHECK_FALSE(is_inside_json(other));
}

TEST_CASE("written: markers that differ in one word of several are kin") {
  CHECK(are_kin("<|begin_of_x|>", "<|end_of_x|>"));
  CHECK(are_kin("<|x_start|>", "<|x_end|>"));
  CHECK(are_kin("[[a_b]]", "[[a_c]]"));
  CHECK_FALSE(are_kin("<|x_start|>", "<|x_start|>"));
  CHECK_FALSE(are_kin("<|x|>", "<|y|>"));
  CHECK_FALSE(are_kin("<|begin_of_x|>", "<|end_of_y|>"));
  CHECK_FALSE(are_kin("<|x_start|>", "<|x_|>"));
  // A sign of one byte in front, or a word at the end, makes no marker.
  CHECK_FALSE(are_kin("<x_start>", "<x_end>"));
  CHECK_FALSE(are_kin("<|x_start", "<|x_end"));
  CHECK_FALSE(are_kin("x|_start|>", "x|_end|>"));
}

}  // namespace
}  // namespace rondo::analysis
