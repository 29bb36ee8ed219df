// Commands and what they print: each file of golden/transcripts holds commands behind `$ `, and below each of them its output, errors
// included.  RONDO_UPDATE=1 rewrites the outputs.
//
// A transcript is of the kind that its name begins with; this program repeats those of one kind, RONDO_TRANSCRIPTS.
//
// They show whole results over templates made for it, so that a change anywhere on the way is seen; what is right is for the tests of
// the folders to say.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "tests/support/shell.h"
#include "tests/support/transcript.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kKinds = {"audit", "check", "explain", "grammar", "page", "test"};

std::string_view kind_of(const std::string& name) {
  const auto kind = std::ranges::find_if(kKinds, [&](std::string_view one) { return name.starts_with(one); });
  return kind == kKinds.end() ? std::string_view("other") : *kind;
}

const char* const kFolder = RONDO_SOURCE_DIR "/tests/golden/transcripts";

// The transcript with what its commands print now.
std::string repeated(const testing::Shell& shell, const std::string& transcript) {
  std::string out;
  for (std::size_t at = 0; at < transcript.size();) {
    const std::size_t end = std::min(transcript.find('\n', at), transcript.size());
    const std::string line = transcript.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("$ "))
      out += line + "\n" + testing::printed(RONDO_PROGRAM, shell.path(), kFolder, line.substr(2));
    if (line.starts_with("# ")) out += line + "\n";
  }
  return out;
}

TEST_CASE("commands print what their transcripts say") {
  const testing::Shell shell;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".txt" && kind_of(path.filename().string()) == RONDO_TRANSCRIPTS) paths.push_back(path);
  }
  std::sort(paths.begin(), paths.end());
  CHECK(!paths.empty());
  for (const fs::path& path : paths) {
    const std::string wanted = files::read(path.string()).value();
    const std::string found = repeated(shell, wanted);
    CHECK_MESSAGE(found == wanted, path.filename().string() << "\n" << testing::first_difference(wanted, found));
    if (std::getenv("RONDO_UPDATE") != nullptr) REQUIRE(files::write(path.string(), found).ok());
  }
}

}  // namespace
}  // namespace rondo
