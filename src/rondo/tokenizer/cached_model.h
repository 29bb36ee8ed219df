// A loaded tokenizer.json in a form that loads again at once: tokens and merges as tables, the rest as JSON.
//
// A file holds one of them: a header (magic, version, byte order, the key of the tokenizer.json, sizes, checksum), then the
// parts one behind the other.  It is for the machine and the build that wrote it, and worth nothing without its source, so
// there is no care for older versions: what does not fit is made again.  Nothing in a file is believed: every size,
// offset and id is checked.
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
  std::string pool;      // of the vocabulary
  std::vector<Vocabulary::Entry> entries;
  std::vector<std::array<TokenId, 3>> merges;  // left, right, whole; by rank
  std::vector<double> scores;                  // by id
};

// Names the content of a file; equal for equal contents only, in all likelihood.
struct ContentKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  bool operator==(const ContentKey&) const = default;
};
[[nodiscard]] ContentKey content_key(std::string_view content);
// The name of the file with the model of that content.
[[nodiscard]] std::string cache_name(ContentKey key);

[[nodiscard]] std::string to_file(const CachedModel& model, ContentKey key);
// Nothing if `file` is damaged, of another version, or of other content.
[[nodiscard]] std::optional<CachedModel> from_file(std::string_view file, ContentKey key);
// Writes the right checksum into `file`.  For tests, which damage files in ways that a checksum would tell.
void seal(std::string& file);

}  // namespace rondo::tokenizer
