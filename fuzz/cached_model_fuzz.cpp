// Cached tokenizers: any file with a right checksum is refused or makes a vocabulary in which everything can be looked at.
#include "tokenizer/cached_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

using rondo::tokenizer::CachedModel;
using rondo::tokenizer::TokenId;
using rondo::tokenizer::Vocabulary;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto key = rondo::tokenizer::content_key("fuzz");
  // What must be right for the rest to be looked at: magic, version, byte order and key.
  constexpr std::size_t kFixedBytes = 32;
  std::string file = rondo::tokenizer::to_file({}, key).substr(0, kFixedBytes);
  file.append(reinterpret_cast<const char*>(data), size);
  rondo::tokenizer::seal(file);
  std::optional<CachedModel> model = rondo::tokenizer::from_file(file, key);
  if (!model) return 0;
  Vocabulary vocabulary(model->is_byte_level);
  vocabulary.restore(std::move(model->pool), std::move(model->entries));
  if (!vocabulary.can_be_restored()) return 0;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    if (!vocabulary.contains(id)) continue;
    const auto found = vocabulary.find_text(vocabulary.text(id));
    if (!found || !vocabulary.contains(*found)) std::abort();
  }
  for (const auto& merge : model->merges) {
    if (!std::all_of(merge.begin(), merge.end(), [&](TokenId id) { return vocabulary.contains(id); })) std::abort();
  }
  return 0;
}
