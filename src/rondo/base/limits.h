// The limits that concern the whole library, each with its reason.  All are defaults.  Where a caller may choose
// another value, an options struct carries it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::limits {

// Files are read whole.  The largest tokenizer.json known is 33 MB; templates are far below a megabyte.
inline constexpr std::size_t kTextFileBytes = std::size_t{512} << 20U;

// JSON nesting.  Parsing and printing recurse; 512 levels fit a thread stack of 512 KiB and exceed every real schema.
inline constexpr int kJsonDepth = 512;

// Limits of one template render.  A template is untrusted: it must end soon whatever it does, and within milliseconds
// if it is hostile.  The largest known conversations (200 messages) need 100,000 instructions, 1 MB of text and 2 MB of
// memory, and nest 10 deep.  The caller may set each field.
struct Render {
  // Fuel.  An instruction costs one unit.  So does other work that takes as long as an instruction (some 25 ns):
  // sorting an element, searching or copying 32 bytes, looking at 4 characters, a step of long arithmetic.  2,000,000
  // units end a render after some 50 to 200 ms.
  std::uint64_t instructions = 2'000'000;
  // Extra fuel for each element of the lists among the variables (messages, tools).  This is twenty times what a
  // message needs.
  std::uint64_t instructions_per_element = 10'000;
  // Nesting of macro calls, recursive loops and values.  200 levels take less than 256 KiB of the thread's stack.
  int depth = 200;
  // The rendered text.  A context of a million tokens is some 4 MB.
  std::size_t output_bytes = std::size_t{64} << 20U;
  // All strings and lists that the render makes, together.  They are freed when the render ends.
  std::size_t memory_bytes = std::size_t{256} << 20U;
  // Loop iterations, including those of filters over generators.
  std::uint64_t iterations = 1'000'000;
};

}  // namespace rondo::limits
