// How GGUF files with a byte-pair vocabulary cut text: `tokenizer.ggml.pre` names a list of regular expressions.
//
// The names are values of that field of the file format.  The expressions are those of the tokenizer.json files for
// which the names were introduced.  Every expression splits all pieces so far at its matches.
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
  bool always_add_bos = false;  // whatever the file says: it was converted with a wrong flag
  bool byte_level = true;       // false: characters, with spaces written as U+2581 and bytes as <0xXX>
};

// Returns nullptr if there is no such name.  "" is the type of files that name none.
[[nodiscard]] const PreType* find_pre_type(std::string_view name);

// Which tokens take the white space beside them.  GGUF files leave this out.  The original tokenizers define it, and
// only the name of a file tells which tokenizer it is.
struct StripRule {
  std::string_view key;                       // a key of the metadata
  std::array<std::string_view, 3> parts;      // its value contains one of these, in lower case; unused ones are empty
  std::string_view token;                     // the token concerned; "": all tokens that are found in text
  std::array<std::string_view, 3> not_these;  // with "": except these
  bool left = false;
  bool right = false;
};
[[nodiscard]] std::span<const StripRule> strip_rules();

}  // namespace rondo::tokenizer
