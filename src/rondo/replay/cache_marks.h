// The places that a client marked for its provider's cache, as numbers of ids.  Internal to replay/.
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
  std::vector<std::size_t> block_ends;         // ends of messages, ascending
};

// Finds the marks of a request with `messages` messages in its prompt.  A place that the template does not write is
// left out.
[[nodiscard]] MarkedPrompt find_marks(const jinja::Rendered& rendered, const Prompt& prompt, std::size_t messages,
                                      const std::vector<chat::CacheMark>& marks);

// Returns seconds since 1970; the time is taken as UTC.
[[nodiscard]] std::int64_t seconds_of(const jinja::LocalTime& time);

}  // namespace rondo::replay
