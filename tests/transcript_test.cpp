// Commands and what they print: each file of golden/transcripts holds commands behind `$ `, and below each of them its output, errors
// included.  RONDO_UPDATE=1 rewrites the outputs.
//
// A transcript is of the kind that its name begins with; this program repeats those of one kind, RONDO_TRANSCRIPTS.
//
// They show whole results over templates made for it, so that a change anywhere on the way is seen; what is right is for the tests of
// the folders to say.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "tests/support/shell.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kKinds = {"audit", "check", "explain", "grammar", "page", "test"};

std::string_view kind_of(const std::string& name) {
  const auto kind = std::ranges::find_if(kKinds, [&](std::string_view one) { return name.starts_with(one); });
  return kind == kKinds.end() ? std::string_view("other") : *kind;
}

const char* const kFolder = RONDO_SOURCE_DIR "/tests/golden/transcripts";

// What `command` prints, in which `rondo` is the program; a last line tells of an exit status other than 0.
std::string printed(const testing::Shell& shell, const std::string& command) {
  const std::string folder = shell.path();
  const std::string script = "cd '" + std::string(kFolder) + "' && RONDO_CACHE='" + folder +
                             "/cache' && export RONDO_CACHE && rondo() { '" RONDO_PROGRAM "' \"$@\"; } && { " +
                             command + "\n} >'" + folder + "/out' 2>&1 </dev/null";
  const int status = WEXITSTATUS(std::system(script.c_str()));
  std::string text = files::read(folder + "/out").value();
  if (!text.empty() && !text.ends_with('\n')) text += "[no line end]\n";
  return status == 0 ? text : text + "[exit status " + std::to_string(status) + "]\n";
}

// The transcript with what its commands print now.
std::string repeated(const testing::Shell& shell, const std::string& transcript) {
  std::string out;
  for (std::size_t at = 0; at < transcript.size();) {
    const std::size_t end = std::min(transcript.find('\n', at), transcript.size());
    const std::string line = transcript.substr(at, end - at);
    at = end + 1;
    if (line.starts_with("$ ")) out += line + "\n" + printed(shell, line.substr(2));
    if (line.starts_with("# ")) out += line + "\n";
  }
  return out;
}

// Where two texts differ first, with the command above it.
std::string first_difference(const std::string& wanted, const std::string& found) {
  const auto [a, b] = std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end());
  const auto at = static_cast<std::size_t>(a - wanted.begin());
  const std::size_t command = wanted.substr(0, at).rfind("$ ");
  const auto line_at = [at](const std::string& text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return text.substr(begin, std::min(text.find('\n', at), text.size()) - begin);
  };
  const std::size_t command_end = command == std::string::npos ? 0 : wanted.find('\n', command);
  return (command == std::string::npos ? "" : wanted.substr(command, command_end - command) + "\n") +
         "expected: " + line_at(wanted) + "\nfound:    " + line_at(found);
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
    CHECK_MESSAGE(found == wanted, path.filename().string() << "\n" << first_difference(wanted, found));
    if (std::getenv("RONDO_UPDATE") != nullptr) REQUIRE(files::write(path.string(), found).ok());
  }
}

}  // namespace
}  // namespace rondo
