// Made-up conversations of a kind, which prove an export.  Internal to edge/.
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

// Which samples to make: every order of roles of the kind, up to a few messages, and one with `max_messages`, under
// every setting; every text of its pools for every role; texts as parts; every place of an image, and every text beside
// one.
struct SampleParts {
  bool orders = true;
  bool texts = true;
  bool text_parts = true;
  bool media = true;
};
// Returns the same samples each time.
[[nodiscard]] std::vector<Sample> samples_of(const Kind& kind, bool reads_time, const SampleParts& parts = {});

// Returns a few conversations of the kind with `text` in the texts of that role: alone, at both ends and inside, if
// texts of this level allow that.
[[nodiscard]] std::vector<Sample> samples_with(const Kind& kind, char role, std::string_view text, Texts level);

// Returns a conversation in which all messages of that role are `text` and the others are a word; nullopt if the kind
// has no such role.
[[nodiscard]] std::optional<Sample> sample_saying(const Kind& kind, char role, std::string_view text);

}  // namespace rondo::edge
