// Rank files that are published without any file that says what splits text.  They are recognised by name, or otherwise
// by how many tokens they have, which differs between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rondo::tokenizer {

// One special token, or several: PREFIX, a number from `first_number` on, SUFFIX.
struct KnownToken {
  std::string_view prefix;
  std::int32_t id = 0;
  std::int32_t count = 1;
  std::int32_t first_number = 0;  // written only if count > 1
  std::string_view suffix = {};
};

struct KnownRanks {
  std::string_view name;  // name of the file, without extension
  std::size_t count = 0;  // how many tokens it has
  std::string_view pattern;
  bool nfc = false;
  std::span<const KnownToken> special;
  std::string_view bos = {};
  std::string_view eos = {};
};

// Returns nullptr if the file is not a known one.  `file_name` has no folders.
[[nodiscard]] const KnownRanks* find_known_ranks(std::string_view file_name, std::size_t count);

// Returns the pattern that transformers uses if nothing else is known.
[[nodiscard]] std::string_view default_rank_pattern();

// Returns the name that transformers gives to an id which the vocabulary reserves without naming a token.
[[nodiscard]] std::string reserved_token(std::int32_t id);

}  // namespace rondo::tokenizer
