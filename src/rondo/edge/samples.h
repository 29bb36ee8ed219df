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

// What samples are of: every order of roles that the kind has, up to a few messages, and one of `max_messages`, under every
// setting; every text of its pools for every role; texts as parts; every place of an image, and every text beside one.
struct SampleParts {
  bool orders = true;
  bool texts = true;
  bool text_parts = true;
  bool media = true;
};
// The same each time.
[[nodiscard]] std::vector<Sample> samples_of(const Kind& kind, bool reads_time, const SampleParts& parts = {});

// A few conversations of the kind, in which `text` stands in the texts of that role: alone, at both ends and inside; as far
// as such texts are of that level.
[[nodiscard]] std::vector<Sample> samples_with(const Kind& kind, char role, std::string_view text, Texts level);

// All messages of that role say `text`, the others a word; nothing if conversations of the kind have no such role.
[[nodiscard]] std::optional<Sample> sample_saying(const Kind& kind, char role, std::string_view text);

}  // namespace rondo::edge
