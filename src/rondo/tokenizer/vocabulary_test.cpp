#include "tokenizer/vocabulary.h"

#include <doctest/doctest.h>

namespace rondo::tokenizer {
namespace {

std::string word(TokenId id) { return "word " + std::to_string(id); }

// Every token below `count` is found by its text, alone and together with others; a text that was not added is not.
void check_found(const Vocabulary& vocabulary, TokenId count) {
  std::vector<std::string> words;
  for (TokenId id = 0; id < count; ++id) words.push_back(word(id));
  words.emplace_back("none");
  const std::vector<std::string_view> wanted(words.begin(), words.end());
  std::vector<TokenId> ids(wanted.size(), 7);
  vocabulary.find_many(wanted, ids);
  for (TokenId id = 0; id < count; ++id) {
    REQUIRE(vocabulary.find(word(id)) == id);
    REQUIRE(ids[static_cast<std::size_t>(id)] == id);
    REQUIRE(vocabulary.bytes(id) == word(id));
  }
  CHECK_FALSE(vocabulary.find("none"));
  CHECK(ids.back() == -1);
}

TEST_CASE("vocabulary: every token is found while it grows") {
  Vocabulary vocabulary(false);
  CHECK_FALSE(vocabulary.find("word 0"));
  for (TokenId id = 0; id < 5000; ++id) {
    vocabulary.add(word(id), id);
    if (id % 611 == 0) check_found(vocabulary, id + 1);
  }
  check_found(vocabulary, 5000);
  CHECK(vocabulary.count() == 5000);
  CHECK(vocabulary.size() == 5000);
}

TEST_CASE("vocabulary: tokens added in bulk, more than was said, are found at its end") {
  Vocabulary vocabulary(false);
  vocabulary.begin_bulk(10, 100);
  for (TokenId id = 0; id < 3001; ++id) vocabulary.add(word(id), id);
  vocabulary.end_bulk();
  check_found(vocabulary, 3001);
}

TEST_CASE("vocabulary: of equal tokens the first is found, or the last; holes are none") {
  for (const bool last_counts : {false, true}) {
    Vocabulary vocabulary(false);
    if (last_counts) vocabulary.let_last_count();
    vocabulary.add("a", 1);
    vocabulary.add("a", 3);
    vocabulary.add("hidden", 4, false);
    vocabulary.add("hidden", 5, false);
    CHECK(vocabulary.find("a") == (last_counts ? 3 : 1));
    CHECK(vocabulary.find_text("a") == (last_counts ? 3 : 1));
    CHECK_FALSE(vocabulary.find("hidden"));
    CHECK(vocabulary.find_text("hidden") == (last_counts ? 5 : 4));
    CHECK(vocabulary.count() == 4);
    CHECK(vocabulary.size() == 6);
    CHECK_FALSE(vocabulary.contains(0));
    CHECK(vocabulary.contains(1));
    CHECK_FALSE(vocabulary.contains(2));
    CHECK_FALSE(vocabulary.contains(-1));
    CHECK_FALSE(vocabulary.contains(6));
    CHECK_FALSE(vocabulary.can_be_restored());
  }
}

TEST_CASE("vocabulary: tokens of bytes, and the texts that spell them") {
  Vocabulary vocabulary(true);
  vocabulary.add("\u0120a", 0);  // the spelling of " a"
  vocabulary.add("\u20ac", 1);   // not a letter of that alphabet, so it is kept
  vocabulary.add_bytes("\xff", 2);
  CHECK(vocabulary.find(" a") == 0);
  CHECK(vocabulary.bytes(0) == " a");
  CHECK(vocabulary.text(0) == "\u0120a");
  CHECK(vocabulary.find_text("\u0120a") == 0);
  CHECK_FALSE(vocabulary.find("\u20ac"));
  CHECK(vocabulary.find_text("\u20ac") == 1);
  CHECK(vocabulary.text(1) == "\u20ac");
  CHECK(vocabulary.find("\xff") == 2);
  CHECK(vocabulary.can_be_restored());
  Vocabulary again(true);
  again.restore(vocabulary.pool(), vocabulary.entries());
  CHECK(again.count() == 3);
  CHECK(again.find(" a") == 0);
  CHECK_FALSE(again.find("\u20ac"));
  CHECK(again.find_text("\u20ac") == 1);
  CHECK(again.find("\xff") == 2);
}

}  // namespace
}  // namespace rondo::tokenizer
