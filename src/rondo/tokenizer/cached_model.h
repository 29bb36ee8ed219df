// A cache format for a loaded tokenizer.json, which loads much faster: tokens and merges as tables, the rest as JSON.
//
// A file has a header (magic, version, byte order, the key of the tokenizer.json, sizes, checksum) and then the parts
// in order.  It is valid only for the machine and build that wrote it, and useless without its source.  So older
// versions are not supported: a file that does not fit is made again.  No content is trusted: every size, offset and id
// is checked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

struct CachedModel {
  bool is_byte_level = false;
  std::string document;  // the tokenizer.json without `model.vocab` and `model.merges`
  std::string pool;      // the bytes of the vocabulary
  std::vector<Vocabulary::Entry> entries;
  std::vector<std::array<TokenId, 3>> merges;  // left, right, whole; by rank
  std::vector<double> scores;                  // by id
};

// A key for the content of a file.  Equal keys mean equal contents with near certainty.
struct ContentKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const ContentKey&) const = default;
};
[[nodiscard]] ContentKey content_key(std::string_view content);
// Returns the name of the cache file for that content.
[[nodiscard]] std::string cache_name(ContentKey key);

[[nodiscard]] std::string to_file(const CachedModel& model, ContentKey key);
// Returns nullopt if `file` is damaged, has another version, or belongs to other content.
[[nodiscard]] std::optional<CachedModel> from_file(std::string_view file, ContentKey key);
// Writes the correct checksum into `file`.  For tests, which make damage that the checksum would otherwise reveal.
void seal(std::string& file);

}  // namespace rondo::tokenizer
