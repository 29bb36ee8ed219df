// How GGUF files with a byte-pair vocabulary cut text: `tokenizer.ggml.pre` names a list of regular expressions.
//
// The names are values of that field of the file format; the expressions are those of the tokenizer.json files that the
// names were given for.  Every expression splits all pieces so far at its matches.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace rondo::tokenizer {

struct PreType {
  std::string_view name;
  std::array<std::string_view, 6> patterns;  // unused ones are empty
  bool ignore_merges = false;
  bool add_bos = false;         // unless the file says otherwise
  bool always_add_bos = false;  // whatever the file says: converted with a wrong flag
  bool byte_level = true;       // else: characters, spaces written as U+2581, bytes as <0xXX>
};

// nullptr if there is no such name.  "" is the type of files that do not name one.
[[nodiscard]] const PreType* find_pre_type(std::string_view name);

// What GGUF files leave out of their tokens: which of them take the white space beside them.  The original tokenizers say
// so; of the files only their names tell.
struct StripRule {
  std::string_view key;                       // of the metadata
  std::array<std::string_view, 3> parts;      // one of which its value contains, in lower case; unused ones are empty
  std::string_view token;                     // whom it concerns; "" for all tokens that are found in text
  std::array<std::string_view, 3> not_these;  // with "": except these
  bool left = false;
  bool right = false;
};
[[nodiscard]] std::span<const StripRule> strip_rules();

}  // namespace rondo::tokenizer
