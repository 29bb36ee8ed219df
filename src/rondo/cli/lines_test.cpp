#include "cli/lines.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace rondo::cli {
namespace {

// Answers `input`, whose lines have up to eight bytes, and returns what was written.
std::string answered(const std::string& input, int threads) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  REQUIRE(::pipe(in.data()) == 0);
  REQUIRE(::pipe(out.data()) == 0);
  REQUIRE(::write(in[1], input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  ::close(in[1]);
  LineEnds ends;
  ends.input = in[0];
  ends.output = out[1];
  ends.longest_line = 8;
  const auto answer = [](const Line& line) {
    return std::to_string(line.number) + (line.is_too_long ? " long" : " ") + line.text;
  };
  CHECK(answer_lines(ends, threads, answer).ok());
  ::close(in[0]);
  ::close(out[1]);
  std::string written(4096, '\0');
  const ssize_t size = ::read(out[0], written.data(), written.size());
  ::close(out[0]);
  written.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return written;
}

}  // namespace

TEST_CASE("bug: a line of gigabytes ran out of memory instead of being answered") {
  for (const int threads : {1, 3}) {
    CHECK(answered("12345678\n123456789\n\nend", threads) == "1 12345678\n2 long\n4 end\n");
    CHECK(answered("a\r\n" + std::string(20000, 'x'), threads) == "1 a\n2 long\n");
    CHECK(answered(std::string(20000, ' ') + "\n", threads) == "1 long\n");
    CHECK(answered("", threads).empty());
  }
}

}  // namespace rondo::cli
