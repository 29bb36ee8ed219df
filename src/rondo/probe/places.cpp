#include "probe/places.h"

#include <algorithm>

#include "chat/reasoning_fields.h"

namespace rondo::probe {

std::string_view slice(const jinja::Rendered& rendered, std::size_t begin, std::size_t end) {
  return std::string_view(rendered.text.bytes()).substr(begin, end - begin);
}

Spot spot_at(const jinja::Rendered& rendered, std::size_t at) {
  std::size_t begin = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (at < begin + run.size) return {&run, begin};
    begin += run.size;
  }
  return {nullptr, begin};
}

Spot input_from(const jinja::Rendered& rendered, std::size_t at, std::size_t reach) {
  std::size_t begin = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t end = begin + run.size;
    if (begin > at + reach) break;
    if (end > at && run.path() != text::PathId::kNone) return {&run, begin};
    begin = end;
  }
  return {};
}

std::string_view message_field(const text::PathTable& paths, text::PathId path) {
  constexpr std::size_t kFieldDepth = 3;  // messages, [i], field
  if (paths.message(path) == text::kNoMessage || paths.depth(path) < kFieldDepth) return {};
  return paths.step_name(paths.prefix(path, kFieldDepth));
}

bool shows_reasoning(const jinja::Rendered& rendered, std::int32_t index, std::string_view own_field) {
  const text::PathTable& paths = rendered.origins.paths;
  return std::ranges::any_of(rendered.text.runs(), [&](const text::Run& run) {
    if (paths.message(run.path()) != index) return false;
    const std::string_view field = message_field(paths, run.path());
    return chat::is_reasoning_field(field) || (!own_field.empty() && field == own_field);
  });
}

}  // namespace rondo::probe
