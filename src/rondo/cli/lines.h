// Answers a line for each line, in the same order, on any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "rondo/result.h"

namespace rondo::cli {

inline constexpr std::size_t kLongestLine = std::size_t{512} << 20U;  // bytes

struct Line {
  std::size_t number = 0;  // from 1; empty and blank lines are counted but not answered
  std::size_t end = 0;     // offset after it in the input
  std::string text;
  bool is_too_long = false;  // it has more than LineEnds::longest_line bytes, and they were not kept
};
// What is said of a line that is too long.
[[nodiscard]] Error too_long();

// Open files, and their names in errors.
struct LineEnds {
  int input = 0;
  std::string input_name = "standard input";
  int output = 1;
  std::string output_name = "standard output";
  std::size_t longest_line = kLongestLine;
};

// Returns the reply to a line, without a line end.  Called on many threads at once.
using LineAnswer = std::function<std::string(const Line&)>;
// Called once for each written reply, in order, with the end of its line in the input.
using LineWritten = std::function<void(std::size_t end)>;

// Answers all lines.  At most 1,024 of them wait for a slow one before them.  Replies are flushed whenever no more are
// ready.  Fails with kIo.
[[nodiscard]] Status answer_lines(const LineEnds& ends, int threads, const LineAnswer& answer,
                                  const LineWritten& written = {});

}  // namespace rondo::cli
