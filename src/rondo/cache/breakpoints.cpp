#include "cache/breakpoints.h"

#include <algorithm>
#include <vector>

namespace rondo::cache {
namespace {

constexpr std::size_t kMostBreakpoints = 4;
constexpr std::size_t kLeastIds = 1024;
constexpr std::size_t kBlocksBack = 20;
constexpr std::size_t kMostEntries = std::size_t{1} << 20U;

std::uint64_t mixed(std::uint64_t hash, TokenId id) {
  hash ^= static_cast<std::uint32_t>(id);
  hash *= 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29U);
}

// A place whose prefix is looked up.
struct Candidate {
  std::size_t end = 0;
  std::uint64_t hash = 0;
};

// The breakpoints and the blocks before each that are looked up, ascending, each once.
std::vector<Candidate> candidates(std::span<const Breakpoint> breakpoints, std::span<const std::size_t> block_ends) {
  std::vector<Candidate> out;
  for (const Breakpoint& breakpoint : breakpoints) {
    const auto behind = std::ranges::upper_bound(block_ends, breakpoint.end);
    const auto count = std::min<std::ptrdiff_t>(kBlocksBack, behind - block_ends.begin());
    for (auto end = behind - count; end != behind; ++end) out.push_back({*end, 0});
    out.push_back({breakpoint.end, 0});
  }
  std::ranges::sort(out, {}, &Candidate::end);
  const auto repeated = std::ranges::unique(out, {}, &Candidate::end);
  out.erase(repeated.begin(), repeated.end());
  std::erase_if(out, [](const Candidate& candidate) { return candidate.end < kLeastIds; });
  return out;
}

}  // namespace

BreakpointHits Breakpoints::serve(std::span<const TokenId> prompt, std::span<const Breakpoint> breakpoints,
                                  std::span<const std::size_t> block_ends, std::optional<std::int64_t> now) {
  breakpoints = breakpoints.first(std::min(breakpoints.size(), kMostBreakpoints));
  BreakpointHits out;
  std::vector<Candidate> places = candidates(breakpoints, block_ends);
  std::uint64_t hash = 0;
  std::size_t at = 0;
  for (Candidate& place : places) {
    while (at < place.end) hash = mixed(hash, prompt[at++]);
    place.hash = hash;
    const auto known = entries_.find(hash);
    if (known == entries_.end()) continue;
    Entry& entry = known->second;
    if (now && entry.last_use && *now - *entry.last_use > entry.seconds) {
      out.expired = place.end;
      entries_.erase(known);
      continue;
    }
    entry.last_use = now;
    out.read = place.end;
  }
  out.expired -= std::min(out.expired, out.read);
  if (entries_.size() + kMostBreakpoints > kMostEntries) entries_.clear();
  for (const Breakpoint& breakpoint : breakpoints) {
    const auto place = std::ranges::find(places, breakpoint.end, &Candidate::end);
    if (place == places.end()) continue;
    Entry& entry = entries_[place->hash];
    entry = {std::max(entry.seconds, breakpoint.seconds), now};
    out.written = std::max(out.written, breakpoint.end);
  }
  out.written -= std::min(out.written, out.read);
  return out;
}

}  // namespace rondo::cache
