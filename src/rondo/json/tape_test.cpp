#include "json/tape.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "json/print.h"

namespace rondo::json {
namespace {

std::string tape(const std::vector<std::int32_t>& items, std::string_view text, char width = 1) {
  std::string out{'\xFF', width, '\0', '\0'};
  const auto count = static_cast<std::uint32_t>(items.size());
  out.append(reinterpret_cast<const char*>(&count), sizeof count);
  out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
  return out.append(text);
}

std::string read(const std::vector<std::int32_t>& items, std::string_view text, char width = 1) {
  const auto found = parse_tape(tape(items, text, width));
  return found.ok() ? to_compact(found.value()) : found.error().message;
}

TEST_CASE("a tape is told from JSON text") {
  CHECK(is_tape(tape({-1}, "")));
  CHECK_FALSE(is_tape("{}"));
  CHECK_FALSE(is_tape(""));
}

TEST_CASE("tapes of every kind of value") {
  CHECK(read({-1}, "") == "null");
  CHECK(read({-5, 2, -2, -3}, "") == "[false,true]");
  CHECK(read({4}, "text") == R"("text")");
  CHECK(read({0}, "") == R"("")");
  CHECK(read({-5, 3, -4, 2, -4, 3, -4, 5}, "120.51e-07") == "[12,0.5,1e-07]");
  CHECK(read({-5, 0}, "") == "[]");
  CHECK(read({-6, 0}, "") == "{}");
  CHECK(read(
            {
                -6,
                2,
                -7,
                1,
                2,
                -7,
                1,
                -5,
                1,
                -6,
                1,
                1,
                0,
            },
            "axxb") == R"({"a":"xx","b":[{"b":""}]})");
  CHECK(read({-6, 2, -7, 1, 1, 0, 1}, "axy") == R"({"a":"y"})");  // of equal keys the last value counts
}

TEST_CASE("text of a tape in units of one byte and of two") {
  CHECK(read({5}, "na\xEFve") == R"("naïve")");
  CHECK(read({-6, 1, -7, 1, 2}, std::string_view("\xE5\x65\x3D\xD8\x00\xDE", 6), 2) == R"({"日":"😀"})"
                                                                                       "");
}

TEST_CASE("text of a tape before, between and behind characters that are not ASCII") {
  CHECK(read({-5, 7, 2, 0, 1, 1, 2, 3, 1}, "ab\xE9x\xFFy\x80zzc") ==
        "[\"ab\",\"\",\"é\",\"x\",\"ÿy\",\"\u0080zz\",\"c\"]");
  CHECK(read({-5, 2, -6, 1, -7, 1, 0, -6, 1, 0, 1}, "\xE9z") == R"([{"é":""},{"é":"z"}])");
  for (std::size_t at = 0; at < 100; ++at) {  // wherever it stands in the words that are looked at together
    std::string text(100, 'a');
    text[at] = '\xE9';
    const std::string tens = read({-5, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, text);
    std::string wanted = "[";
    for (std::size_t i = 0; i < 100; i += 10) {
      std::string ten(10, 'a');
      if (i / 10 == at / 10) ten.replace(at - i, 1, "é");
      wanted += (i == 0 ? "\"" : ",\"") + ten + "\"";
    }
    CHECK(tens == wanted + "]");
  }
}

TEST_CASE("damaged tapes") {
  const std::string cut = "a damaged tape: it ends too early";
  CHECK(parse_tape("\xFF").error().message == cut);
  CHECK(parse_tape("\xFF\x01").error().message == cut);
  CHECK(read({}, "") == cut);
  CHECK(read({1}, "x", 3) == cut);
  CHECK(read({-4}, "1") == cut);
  CHECK(read({-5}, "") == cut);
  CHECK(read({-5, 1}, "") == cut);
  CHECK(read({-5, -1}, "") == cut);
  CHECK(read({-5, 1000000000}, "") == cut);
  CHECK(read({-6, 2, -7, 1, -1}, "a") == cut);
  CHECK(read({-6, 1, -7}, "a") == cut);
  CHECK(read({2}, "x") == "a damaged tape: its text ends too early");
  CHECK(read({1}, "x", 2) == "a damaged tape: its text ends too early");
  CHECK(read({-4, -1}, "1") == "a damaged tape: its text ends too early");
  CHECK(read({-8}, "") == "a damaged tape: its text ends too early");
  CHECK(read({1}, "xy") == "a damaged tape: it goes on behind its value");
  CHECK(read({-1, -1}, "") == "a damaged tape: it goes on behind its value");
  CHECK(read({-4, 1}, "x") == "a damaged tape: `x` is no number");
  CHECK(read({-4, 4}, "true") == "a damaged tape: `true` is no number");
  CHECK(read({-6, 1, 0, -1}, "") == "a damaged tape: it names a key that it has not");
  CHECK(read({-6, 1, -5, -1}, "") == "a damaged tape: it names a key that it has not");
  std::string counts = tape({-1}, "");
  counts[7] = '\x7F';  // more items than there is room for
  CHECK(parse_tape(counts).error().message == cut);
}

TEST_CASE("a tape nests as deep as JSON may") {
  const auto nested = [](int depth) {
    std::vector<std::int32_t> items;
    for (int i = 1; i < depth; ++i) items.insert(items.end(), {-5, 1});
    items.insert(items.end(), {-5, 0});
    return parse_tape(tape(items, ""));
  };
  CHECK(nested(limits::kJsonDepth).ok());
  const auto deeper = nested(limits::kJsonDepth + 1);
  REQUIRE_FALSE(deeper.ok());
  CHECK(deeper.error().code == ErrorCode::kLimit);
  CHECK(deeper.error().message == "nested deeper than " + std::to_string(limits::kJsonDepth) + " levels");
}

}  // namespace
}  // namespace rondo::json
