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

// Limits of one template render.  A template is untrusted: whatever it does must end soon, in milliseconds where it means
// harm.  The largest known conversations (200 messages) need 100,000 instructions, 1 MB of text, 2 MB of memory and nest
// 10 deep.  Each field may be set by the caller.
struct Render {
  // Fuel: one unit for each instruction, and for work that takes as long as one (some 25 ns): an element sorted,
  // 32 bytes searched or copied, a step of long arithmetic.  2,000,000 end a render after some 50 to 200 ms.
  std::uint64_t instructions = 2'000'000;
  // More fuel for each element of the lists among the variables (messages, tools): twenty times what a message takes.
  std::uint64_t instructions_per_element = 10'000;
  // Nested macro calls, recursive loops and nested values; 200 levels take less than 256 KiB of the thread's stack.
  int depth = 200;
  // The rendered text.  A context of a million tokens is some 4 MB.
  std::size_t output_bytes = std::size_t{64} << 20U;
  // All strings and lists the render makes, together; they are freed when it ends.
  std::size_t memory_bytes = std::size_t{256} << 20U;
  // Loop iterations, those of filters over generators included.
  std::uint64_t iterations = 1'000'000;
};

}  // namespace rondo::limits
