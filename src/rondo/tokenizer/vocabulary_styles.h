// How the classes of transformers split text and frame it, where a folder has a vocabulary and nothing more.
#pragma once

#include <span>
#include <string_view>

namespace rondo::tokenizer {

// A token that the class names where the folder does not: {"eos_token", "</s>"}.
struct NamedDefault {
  std::string_view name;
  std::string_view content;
};

struct VocabularyStyle {
  bool is_words = false;       // vocab.txt, else vocab.json and merges.txt
  bool is_nfc = false;         // of vocab.json: text is composed first
  bool is_framed = false;      // `cls_token` before and `sep_token` behind, else by `add_bos_token` and `add_eos_token`
  bool forgets_flags = false;  // special tokens are added a second time, without flags such as `lstrip`
  std::string_view pattern = {};  // of vocab.json: what splits text; empty: the one that belongs to the byte alphabet
  std::span<const NamedDefault> defaults;
};

// By `tokenizer_class` of the configuration; nullptr if it is not known.
[[nodiscard]] const VocabularyStyle* find_vocabulary_style(std::string_view tokenizer_class);
// Where no class is named.
[[nodiscard]] const VocabularyStyle& default_vocabulary_style(bool is_words);

}  // namespace rondo::tokenizer
