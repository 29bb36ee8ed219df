// How the classes of transformers split and frame text, for a folder that has only a vocabulary.
#pragma once

#include <span>
#include <string_view>

namespace rondo::tokenizer {

// A token that the class names if the folder does not: {"eos_token", "</s>"}.
struct NamedDefault {
  std::string_view name;
  std::string_view content;
};

struct VocabularyStyle {
  bool is_words = false;   // vocab.txt; otherwise vocab.json and merges.txt
  bool is_nfc = false;     // for vocab.json: text is composed (NFC) first
  bool is_framed = false;  // `cls_token` before and `sep_token` after; otherwise by `add_bos_token` and `add_eos_token`
  bool forgets_flags = false;  // special tokens are added a second time, without flags such as `lstrip`
  // For vocab.json: the pattern that splits text; empty: the one of the byte-level alphabet.
  std::string_view pattern = {};
  std::span<const NamedDefault> defaults;
};

// Returns the style of the configuration's `tokenizer_class`; nullptr if it is unknown.
[[nodiscard]] const VocabularyStyle* find_vocabulary_style(std::string_view tokenizer_class);
// Returns the style used if no class is named.
[[nodiscard]] const VocabularyStyle& default_vocabulary_style(bool is_words);

}  // namespace rondo::tokenizer
