// Places that a client marked for its provider's cache, as numbers of ids.  Internal to the replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cache/breakpoints.h"
#include "chat/cache_marks.h"
#include "jinja/template.h"
#include "replay/prompt_maker.h"

namespace rondo::replay {

struct MarkedPrompt {
  std::vector<cache::Breakpoint> breakpoints;  // ascending
  std::vector<std::size_t> block_ends;         // of the messages; ascending
};

// Where the marks of a request of `messages` messages stand in its prompt.  A place that the template does not write is left out.
[[nodiscard]] MarkedPrompt find_marks(const jinja::Rendered& rendered, const Prompt& prompt, std::size_t messages,
                                      const std::vector<chat::CacheMark>& marks);

// Seconds since 1970, taken as UTC.
[[nodiscard]] std::int64_t seconds_of(const jinja::LocalTime& time);

}  // namespace rondo::replay
