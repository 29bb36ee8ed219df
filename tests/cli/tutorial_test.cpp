// docs/tutorial.md: its commands print what the page says.  They run one behind the other in a folder that has what the page
// asks for, a copy of examples/model.  RONDO_UPDATE=1 rewrites the outputs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "tests/support/own_folder.h"
#include "tests/support/transcript.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;

const std::string kPage = RONDO_SOURCE_DIR "/docs/tutorial.md";

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return line;
}

// The page with what the commands of its blocks `console` print now: behind `$ `, going on behind `>`.
std::string repeated(const testing::OwnFolder& scratch, std::string_view page, int& commands) {
  const std::string folder = scratch.path("tutorial");
  std::string out;
  bool is_console = false;
  while (!page.empty()) {
    const std::string_view line = next_line(page);
    if (line.starts_with("```")) is_console = !is_console && line == "```console";
    if (!is_console || line == "```console") {
      out += std::string(line) + "\n";
    } else if (line.starts_with("$ ")) {
      std::string command(line.substr(2));
      out += std::string(line) + "\n";
      while (page.starts_with('>')) {
        const std::string_view more = next_line(page);
        command += "\n" + std::string(more.substr(std::min<std::size_t>(2, more.size())));
        out += std::string(more) + "\n";
      }
      out += testing::printed(RONDO_PROGRAM, scratch.path(), folder, command);
      ++commands;
    }
  }
  return out;
}

TEST_CASE("the tutorial's commands print what its page says") {
  const testing::OwnFolder scratch;
  fs::create_directories(scratch.path("tutorial"));
  fs::copy(RONDO_SOURCE_DIR "/examples/model", scratch.path("tutorial/model"), fs::copy_options::recursive);
  const std::string wanted = files::read(kPage).value();
  int commands = 0;
  const std::string found = repeated(scratch, wanted, commands);
  CHECK(commands > 10);
  CHECK_MESSAGE(found == wanted, testing::first_difference(wanted, found));
  if (std::getenv("RONDO_UPDATE") != nullptr) REQUIRE(files::write(kPage, found).ok());
}

}  // namespace
}  // namespace rondo
