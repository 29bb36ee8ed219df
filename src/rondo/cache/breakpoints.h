// What a provider's cache with breakpoints would have held: the client marks places of its prompt, and a prefix that ends at such
// a place is kept for a time after its last use (Anthropic's `cache_control`).
//
//   Breakpoints cache;
//   BreakpointHits hits = cache.serve(prompt, {{1200, 300}, {4711, 300}}, block_ends, now);
//
// The rules are those of the provider's documentation: four breakpoints at most, prefixes of 1,024 ids at least, and before each
// breakpoint the ends of the last twenty blocks are looked up too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "cache/prefix_tree.h"

namespace rondo::cache {

struct Breakpoint {
  std::size_t end = 0;       // ids in front of it
  std::int64_t seconds = 0;  // how long it is kept after its last use
};

struct BreakpointHits {
  std::size_t read = 0;     // ids that were there
  std::size_t written = 0;  // ids behind those, up to the last breakpoint
  std::size_t expired = 0;  // ids that would have been there in time
};

// Copying copies everything.  Not thread-safe.
class Breakpoints {
 public:
  // What of `prompt` is there; afterwards it is, up to each breakpoint.  `breakpoints` and `block_ends`: ascending, at most the
  // size of the prompt.  `now`: seconds; nullopt: nothing expires.
  BreakpointHits serve(std::span<const TokenId> prompt, std::span<const Breakpoint> breakpoints,
                       std::span<const std::size_t> block_ends, std::optional<std::int64_t> now);

 private:
  struct Entry {
    std::int64_t seconds = 0;
    std::optional<std::int64_t> last_use;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;  // by a hash over the prefix
};

}  // namespace rondo::cache
