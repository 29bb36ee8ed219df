// The programs of examples/cpp run on the test data.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

// What `program` prints about the fixtures' model; nothing without fixtures.
std::string output_of(const std::string& program) {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) return "";
  const std::string folder(fixtures);
  const std::string command =
      "'" + program + "' '" + folder + "/templates/Qwen-Qwen3-0.6B.jinja' '" + folder + "/qwen-tokenizer/qwen' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  std::array<char, 4096> part{};
  for (std::size_t size = 0; (size = std::fread(part.data(), 1, part.size(), pipe)) > 0;) out.append(part.data(), size);
  CHECK(pclose(pipe) == 0);
  return out;
}

TEST_CASE("examples/cpp/rollout.cpp") {
  const std::string out = output_of(RONDO_EXAMPLE_ROLLOUT);
  if (out.empty()) {
    MESSAGE("skipped: no test data");
    return;
  }
  CHECK(out.find("add called with {\"a\": 2, \"b\": 2}") != std::string::npos);
  CHECK(out.find("the old ids are unchanged") != std::string::npos);
  CHECK(out.find("from messages with raw turns: the same prompt") != std::string::npos);
}

TEST_CASE("examples/cpp/masks.cpp") {
  const std::string out = output_of(RONDO_EXAMPLE_MASKS);
  if (out.empty()) {
    MESSAGE("skipped: no test data");
    return;
  }
  CHECK(out.find("+Blue+.") != std::string::npos);
  CHECK(out.find("+Name") == std::string::npos);
}

}  // namespace
