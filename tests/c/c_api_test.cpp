// The test programs in C, linked with the library's own objects: for coverage and mutations.  As programs of their own they use the
// shared library.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

extern "C" {
int c_goldens_main(int argc, char** argv);
int c_misuse_main(int argc, char** argv);
int c_uses_main(int argc, char** argv);
}

namespace {

namespace fs = std::filesystem;

const std::string kGoldens = RONDO_SOURCE_DIR "/tests/golden/batch";

int run(int (*program)(int, char**), std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return program(static_cast<int>(arguments.size()), pointers.data());
}

TEST_CASE("the goldens of the line protocol through the C API") {
  std::vector<std::string> arguments = {"c_goldens", "155"};
  for (const auto& entry : fs::directory_iterator(kGoldens)) {
    if (entry.path().extension() == ".txt") arguments.push_back(entry.path().string());
  }
  std::sort(arguments.begin() + 2, arguments.end());
  fs::current_path(kGoldens);
  CHECK(run(c_goldens_main, arguments) == 0);
}

TEST_CASE("the C API used as it is meant") { CHECK(run(c_uses_main, {"c_uses", kGoldens + "/model"}) == 0); }

TEST_CASE("the C API used wrongly") { CHECK(run(c_misuse_main, {"c_misuse", kGoldens + "/model"}) == 0); }

}  // namespace
