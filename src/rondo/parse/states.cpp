#include <algorithm>

#include "parse/syntax.h"

namespace rondo::parse {

std::vector<StateView> Syntax::states() const {
  const auto next_of = [](int id) {
    switch (id) {
      case kReasoningOpen: return "reasoning";
      case kContentOpen: return "content";
      case kHeader:
      case kReasoningClose:
      case kContentClose: return "start";
      case kSectionOpen: return "calls";
      case kSectionClose: return "start";
      case kCallOpen:
      case kHalfOpen:
      case kBareOpen: return "call";
      case kCallClose: return "behind a call";
      case kSeparator: return "call";
      case kParameterOpen:
      case kParameterSeparator: return "parameter";
      case kHistoryClose: return "start";
      default: return "end";
    }
  };
  std::vector<StateView> out;
  const auto add = [&](const char* name, const MarkerSet& set) {
    StateView state{name, {}};
    set.for_each([&](int id, const Marker& marker) {
      // If one text has two meanings, the first one counts.
      if (std::ranges::find(state.exits, marker.core(), &StateExit::marker) == state.exits.end())
        state.exits.push_back({marker.core(), next_of(id)});
    });
    if (!state.exits.empty()) out.push_back(std::move(state));
  };
  add("start", sets.blank);
  add("reasoning", sets.reasoning);
  add("content", sets.text);
  if (!format->calls.present || !options.calls) return out;
  add("calls", sets.section);
  if (format->calls.arguments == format::ArgumentStyle::kParameters) add("parameter", sets.parameter);
  add("behind a call", sets.after);
  add("between calls", sets.between);
  add("broken call", sets.recover);
  return out;
}

std::vector<StateView> states(std::shared_ptr<const format::Format> format, Options options) {
  return compile(std::move(format), std::move(options))->states();
}

}  // namespace rondo::parse
