// How GGUF files with a byte-pair vocabulary cut text: `tokenizer.ggml.pre` names a list of regular expressions.
//
// The names are values of that field of the file format; the expressions are those of the tokenizer.json files that the
// names were given for.  Every expression splits all pieces so far at its matches.
#pragma once

#include <array>
#include <string_view>

namespace rondo::tokenizer {

struct PreType {
  std::string_view name;
  std::array<std::string_view, 6> patterns;  // unused ones are empty
  bool ignore_merges = false;
  bool add_bos = false;    // unless the file says otherwise
  bool byte_level = true;  // else: characters, spaces written as U+2581, bytes as <0xXX>
};

// nullptr if there is no such name.  "" is the type of files that do not name one.
[[nodiscard]] const PreType* find_pre_type(std::string_view name);

}  // namespace rondo::tokenizer
