// What a model wrote for its turn, and where the parts of a message are in such a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/format.h"
#include "jinja/template.h"
#include "probe/turns.h"

namespace rondo::causes {

// Where the parts of a message are in the text of its turn.
struct Regions {
  std::optional<probe::Extent> reasoning;
  std::optional<probe::Extent> content;
  std::vector<probe::Extent> calls;  // from the first to the last byte of a call's own data
};

// Returns the regions of message `index` in bytes [begin, end) of `rendered`; offsets count from `begin`.
[[nodiscard]] Regions find_regions(const jinja::Rendered& rendered, const format::Format& format, std::int32_t index,
                                   probe::Extent within);

struct Sampled {
  std::string text;  // including its stop
  Regions regions;
  std::size_t stop_begin = 0;  // text.size() if there is no stop
  bool is_cut = false;         // it was cut off
};

// Reads a sampled text with the format's parser, after a prompt that ends with `prompt_tail`.  The text ends with a
// stop of `stop_size` bytes, or with one that the format knows.
//
// REQUIRES: format is not null; stop_size <= size of the text.
[[nodiscard]] Sampled read_sampled(std::shared_ptr<const format::Format> format, const std::string& prompt_tail,
                                   std::string text, std::size_t stop_size);

}  // namespace rondo::causes
