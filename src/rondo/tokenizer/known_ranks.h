// Rank files that are published without anything beside them that would say what splits text: recognised by their names,
// else by how many tokens they have, which differs from one to the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rondo::tokenizer {

// A special token, or several of them: PREFIX, a number from `first_number` on, SUFFIX.
struct KnownToken {
  std::string_view prefix;
  std::int32_t id = 0;
  std::int32_t count = 1;
  std::int32_t first_number = 0;  // written only where count > 1
  std::string_view suffix = {};
};

struct KnownRanks {
  std::string_view name;  // of the file, without extension
  std::size_t count = 0;  // of its tokens
  std::string_view pattern;
  bool nfc = false;
  std::span<const KnownToken> special;
  std::string_view bos = {};
  std::string_view eos = {};
};

// nullptr if the file is none of those.  `file_name`: without folders.
[[nodiscard]] const KnownRanks* find_known_ranks(std::string_view file_name, std::size_t count);

// What transformers splits by where nothing else is known.
[[nodiscard]] std::string_view default_rank_pattern();

// What transformers calls an id that the vocabulary reserves without naming a token.
[[nodiscard]] std::string reserved_token(std::int32_t id);

}  // namespace rondo::tokenizer
