// Made-up conversations of a kind, by which an export is proven.  Internal to edge/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edge/kind.h"
#include "edge/renders.h"
#include "json/value.h"

namespace rondo::edge {

struct Sample {
  json::Array messages;
  Setting setting;
};

// Every order of roles that the kind has, up to a few messages, and one of `max_messages`; every text of its pools for every
// role; every place of an image.  The same each time.
[[nodiscard]] std::vector<Sample> samples_of(const Kind& kind, bool reads_time);

// A few conversations of the kind, in which `text` stands in the texts of that role: alone, at both ends and inside; as far
// as such texts are of that level.
[[nodiscard]] std::vector<Sample> samples_with(const Kind& kind, char role, std::string_view text, Texts level);

// All messages of that role say `text`, the others a word; nothing if conversations of the kind have no such role.
[[nodiscard]] std::optional<Sample> sample_saying(const Kind& kind, char role, std::string_view text);

}  // namespace rondo::edge
