// Simulates a provider's cache with breakpoints.  The client marks places in its prompt.  A prefix that ends at such a
// place is kept for a time after its last use (Anthropic's `cache_control`).
//
//   Breakpoints cache;
//   BreakpointHits hits = cache.serve(prompt, {{1200, 300}, {4711, 300}}, block_ends, now);
//
// The rules are those of the provider's documentation: at most four breakpoints, and prefixes of at least 1,024 ids.
// Before each breakpoint, the ends of the last twenty blocks are looked up too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "cache/prefix_tree.h"

namespace rondo::cache {

struct Breakpoint {
  std::size_t end = 0;       // how many ids come before it
  std::int64_t seconds = 0;  // how long the prefix is kept after its last use
};

struct BreakpointHits {
  std::size_t read = 0;     // how many ids were found
  std::size_t written = 0;  // how many ids follow those, up to the last breakpoint
  std::size_t expired = 0;  // how many more ids would have been found in time
};

// Copying copies everything.  Not thread-safe.
class Breakpoints {
 public:
  // Looks up `prompt`, then keeps it up to each breakpoint.  `breakpoints` and `block_ends` are ascending and at most
  // the size of the prompt.  `now` is in seconds; nullopt: nothing expires.
  BreakpointHits serve(std::span<const TokenId> prompt, std::span<const Breakpoint> breakpoints,
                       std::span<const std::size_t> block_ends, std::optional<std::int64_t> now);

 private:
  struct Entry {
    std::int64_t seconds = 0;
    std::optional<std::int64_t> last_use;
  };
  std::unordered_map<std::uint64_t, Entry> entries_;  // by a hash of the prefix
};

}  // namespace rondo::cache
