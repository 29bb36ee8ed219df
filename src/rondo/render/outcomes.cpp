#include "render/outcomes.h"

#include <algorithm>
#include <string_view>

#include "jinja/reading/carried.h"

namespace rondo::render {
namespace {

constexpr std::uint64_t kSeed = 0xcbf29ce484222325U;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15U + (hash << 6U) + (hash >> 2U);
  return hash * 0xff51afd7ed558ccdU;
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return mixed(hash, text.size());
}

// A key for a field that is the same in every message: indices do not count, and neither do the insides of arguments,
// tools and documents.
std::uint64_t field_key(const text::PathTable& paths, text::PathId path) {
  constexpr std::size_t kMostSteps = 5;  // tool_calls[0].function.arguments
  std::uint64_t hash = mixed(kSeed, paths.root(path));
  if (paths.message(path) == text::kNoMessage) return hash;
  const std::size_t depth = std::min(paths.depth(path), kMostSteps + 2);
  for (std::size_t i = 3; i <= depth; ++i) {
    const text::PathId step = paths.prefix(path, i);
    hash = mixed(hash, paths.step_kind(step) == text::PathTable::StepKind::kIndex ? "[]" : paths.step_name(step));
    if (paths.step_name(step) == "arguments") break;
  }
  return hash;
}

}  // namespace

Outcomes::Outcomes(const jinja::Template& chat_template) {
  const std::vector<text::Literal> carrying = jinja::find_carried(chat_template.source()).conditions;
  for (const text::Literal& place : chat_template.conditions()) {
    const bool is_listed = std::ranges::any_of(
        carrying, [&](const text::Literal& other) { return other.line == place.line && other.column == place.column; });
    are_carrying_.push_back(is_listed || place.line == 0);  // line 0: statements before the template
  }
}

std::uint64_t Outcomes::key_of(const jinja::Rendered& rendered, const jinja::Decision& decision) const {
  const text::PathTable& paths = rendered.origins.paths;
  const auto reads = rendered.reads_of(decision);
  const std::int32_t owner = rendered.origins.contexts.at(decision.context).owner();
  const bool carries = decision.node >= are_carrying_.size() || are_carrying_[decision.node];
  const auto is_own = [&](text::PathId path) { return owner != text::kNoMessage && paths.message(path) == owner; };
  if (!carries && !reads.empty() && std::ranges::all_of(reads, is_own)) return 0;
  std::vector<std::uint64_t> fields;
  fields.reserve(reads.size());
  for (const text::PathId path : reads) fields.push_back(mixed(field_key(paths, path), is_own(path) ? 1 : 0));
  std::ranges::sort(fields);
  const auto repeated = std::ranges::unique(fields);
  fields.erase(repeated.begin(), repeated.end());
  std::uint64_t hash = mixed(mixed(kSeed, decision.node), decision.outcome ? 2 : 3);
  for (const std::uint64_t field : fields) hash = mixed(hash, field);
  return hash | 1U;
}

void Outcomes::note(const jinja::Rendered& rendered) {
  for (const jinja::Decision& decision : rendered.decisions) {
    if (const std::uint64_t key = key_of(rendered, decision); key != 0) noted_.insert(key);
  }
}

std::string Outcomes::unknown_in(const jinja::Rendered& rendered) const {
  for (const jinja::Decision& decision : rendered.decisions) {
    const std::uint64_t key = key_of(rendered, decision);
    if (key == 0 || noted_.contains(key)) continue;
    return "the condition on line " + std::to_string(decision.line) + " came out as it did in no trial";
  }
  return "";
}

}  // namespace rondo::render
