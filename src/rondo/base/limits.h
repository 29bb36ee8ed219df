// Every limit of the library in one place, with its reason.  All are defaults; options structs carry them where a
// caller may choose another value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::limits {

// Files are read whole.  The largest tokenizer.json known is 33 MB; templates are far below a megabyte.
inline constexpr std::size_t kTextFileBytes = std::size_t{512} << 20U;

// JSON nesting.  Parsing and printing recurse; 512 levels fit a thread stack of 512 KiB and exceed every real schema.
inline constexpr int kJsonDepth = 512;

// Limits of one template render.  A real chat template over 200 messages takes some 100,000 instructions, nests 10 deep
// and writes under 1 MB; these leave two orders of magnitude and still stop a hostile template within a second.
struct Render {
  std::uint64_t instructions = 50'000'000;             // fuel
  int depth = 200;                                     // nested macro calls, recursive loops and nested values
  std::size_t output_bytes = std::size_t{64} << 20U;   // the rendered text
  std::size_t memory_bytes = std::size_t{512} << 20U;  // all strings and lists the render makes, together
  std::uint64_t iterations = 5'000'000;                // loop iterations, range() included
};

}  // namespace rondo::limits
