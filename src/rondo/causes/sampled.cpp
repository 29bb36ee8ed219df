#include "causes/sampled.h"

#include <algorithm>
#include <utility>

#include "chat/reasoning_fields.h"
#include "parse/parser.h"
#include "probe/places.h"

namespace rondo::causes {
namespace {

using probe::Extent;

void widen(std::optional<Extent>& extent, std::size_t begin, std::size_t end) {
  if (!extent) extent = Extent{begin, end};
  extent->begin = std::min(extent->begin, begin);
  extent->end = std::max(extent->end, end);
}

}  // namespace

Regions find_regions(const jinja::Rendered& rendered, const format::Format& format, std::int32_t index, Extent within) {
  constexpr std::size_t kItemDepth = 4;  // messages[i].tool_calls[k]
  const text::PathTable& paths = rendered.origins.paths;
  Regions out;
  std::vector<std::optional<Extent>> calls;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t run_begin = at;
    at += run.size;
    if (at <= within.begin || run_begin >= within.end || !probe::is_message_data(run, rendered.origins)) continue;
    if (paths.message(run.path()) != index) continue;
    const std::size_t begin = std::max(run_begin, within.begin) - within.begin;
    const std::size_t end = std::min(at, within.end) - within.begin;
    const std::string_view field = probe::message_field(paths, run.path());
    const std::string_view part = format.input.reasoning_part;
    if (chat::is_reasoning_field(field) || field == format.input.reasoning_field ||
        (!part.empty() && paths.step_name(run.path()) == part)) {
      widen(out.reasoning, begin, end);
    } else if (field == "content") {
      widen(out.content, begin, end);
    } else if (field == "tool_calls" && paths.depth(run.path()) >= kItemDepth &&
               paths.step_kind(paths.prefix(run.path(), kItemDepth)) == text::PathTable::StepKind::kIndex) {
      const std::size_t call = paths.step_index(paths.prefix(run.path(), kItemDepth));
      if (calls.size() <= call) calls.resize(call + 1);
      widen(calls[call], begin, end);
    }
  }
  for (const std::optional<Extent>& call : calls) out.calls.push_back(call.value_or(Extent{}));
  return out;
}

Sampled read_sampled(std::shared_ptr<const format::Format> format, const std::string& prompt_tail, std::string text,
                     std::size_t stop_size) {
  Sampled out;
  for (const std::vector<std::string>& stops : {format->stops.content, format->stops.tool}) {
    for (const std::string& stop : stops) {
      if (text.ends_with(stop)) stop_size = std::max(stop_size, stop.size());
    }
  }
  out.stop_begin = text.size() - stop_size;
  parse::Options options;
  options.prompt_tail = prompt_tail;
  parse::Parser parser(std::move(format), std::move(options));
  const auto take = [&](std::span<const parse::Event> events) {
    for (const parse::Event& event : events) {
      switch (event.kind) {
        case parse::EventKind::kMarker: break;
        case parse::EventKind::kReasoning: widen(out.regions.reasoning, event.begin, event.end); break;
        case parse::EventKind::kContent: widen(out.regions.content, event.begin, event.end); break;
        default:
          if (out.regions.calls.size() <= event.call)
            out.regions.calls.resize(event.call + 1, {event.begin, event.end});
          out.regions.calls[event.call].end = event.end;
      }
    }
  };
  take(parser.feed(std::string_view(text).substr(0, out.stop_begin)));
  take(parser.close());
  out.text = std::move(text);
  out.is_cut = stop_size == 0;
  return out;
}

}  // namespace rondo::causes
