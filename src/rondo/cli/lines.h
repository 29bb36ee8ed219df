// One line in, one line out, in the same order, on any number of threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "rondo/result.h"

namespace rondo::cli {

struct Line {
  std::size_t number = 0;  // from 1 on; empty lines count, but are not answered
  std::size_t end = 0;     // offset behind it in the input
  std::string text;
};

// Open files, and how they are called in errors.
struct LineEnds {
  int input = 0;
  std::string input_name = "standard input";
  int output = 1;
  std::string output_name = "standard output";
};

// The reply to a line, without a line end.  Called on many threads at once.
using LineAnswer = std::function<std::string(const Line&)>;
// Called once for each reply that was written, in order, with the end of its line in the input.
using LineWritten = std::function<void(std::size_t end)>;

// Answers all lines.  At most 1,024 of them wait for a slow one in front of them.  Replies are written out whenever no more
// are ready.  Fails with kIo.
[[nodiscard]] Status answer_lines(const LineEnds& ends, int threads, const LineAnswer& answer,
                                  const LineWritten& written = {});

}  // namespace rondo::cli
