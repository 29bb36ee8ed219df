#include "replay/cache_marks.h"

#include <algorithm>
#include <chrono>

#include "probe/places.h"
#include "probe/turns.h"

namespace rondo::replay {
namespace {

// The offset after the last byte that came from the tools.
std::optional<std::size_t> tools_end(const jinja::Rendered& rendered) {
  std::optional<std::size_t> out;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    at += run.size;
    if (run.path() != text::PathId::kNone && rendered.origins.paths.root(run.path()) == "tools") out = at;
  }
  return out;
}

// The offset after the first `size` bytes of the message's content.
std::optional<std::size_t> content_end(const jinja::Rendered& rendered, std::int32_t message, std::size_t size) {
  const text::PathTable& paths = rendered.origins.paths;
  std::size_t at = 0;
  std::size_t seen = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const bool is_content = run.path() != text::PathId::kNone && paths.message(run.path()) == message &&
                            probe::message_field(paths, run.path()) == "content";
    if (is_content && seen + run.size >= size) return at + (size - seen);
    if (is_content) seen += run.size;
    at += run.size;
  }
  return std::nullopt;
}

std::optional<std::size_t> place_of(const jinja::Rendered& rendered, const chat::CacheMark& mark) {
  if (!mark.message) return tools_end(rendered);
  const auto message = static_cast<std::int32_t>(*mark.message);
  if (mark.text_end != chat::CacheMark::kAll) {
    if (const auto end = content_end(rendered, message, mark.text_end)) return end;
  }
  const auto data = probe::data_extent(rendered, message);
  return data ? std::optional(data->end) : std::nullopt;
}

}  // namespace

MarkedPrompt find_marks(const jinja::Rendered& rendered, const Prompt& prompt, std::size_t messages,
                        const std::vector<chat::CacheMark>& marks) {
  const auto ids_before = [&](std::size_t byte) {
    return static_cast<std::size_t>(std::ranges::upper_bound(prompt.ends, byte) - prompt.ends.begin());
  };
  MarkedPrompt out;
  for (const chat::CacheMark& mark : marks) {
    if (const auto byte = place_of(rendered, mark)) out.breakpoints.push_back({ids_before(*byte), mark.seconds});
  }
  std::ranges::sort(out.breakpoints, {}, &cache::Breakpoint::end);
  for (const probe::TurnExtent& turn : probe::turn_extents(rendered, messages)) {
    if (turn.data) out.block_ends.push_back(ids_before(turn.data->end));
  }
  std::ranges::sort(out.block_ends);
  return out;
}

std::int64_t seconds_of(const jinja::LocalTime& time) {
  const std::chrono::sys_days day(std::chrono::year(time.year) / time.month / time.day);
  const std::int64_t of_day = (std::int64_t{time.hour} * 60 + time.minute) * 60 + time.second;
  return std::int64_t{day.time_since_epoch().count()} * 86400 + of_day;
}

}  // namespace rondo::replay
