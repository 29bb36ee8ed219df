// Runs the program as a shell does, for tests of what it prints and how it ends.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"

namespace rondo::testing {

// A conversation for `--messages -`.
inline constexpr const char* kHello = R"([{"role": "user", "content": "hello"}])";

struct Run {
  int status = -1;
  std::string out;
  std::string err;
};

// A folder for files, and `rondo ARGUMENTS` in the folder of the batch goldens.
class Shell {
 public:
  Shell() {
    folder_ = std::filesystem::temp_directory_path() / ("rondo_cli_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~Shell() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;

  // For what is left behind; it goes with this.
  const std::filesystem::path& folder() const { return folder_; }

  // A file with this content; its path.
  std::string file(const std::string& name, const std::string& content) const {
    const std::string path = (folder_ / name).string();
    REQUIRE(files::write(path, content).ok());
    return path;
  }

  // `environment`: what `env` is to change, as `-u HOME NO_COLOR=1`.
  Run run(const std::string& arguments, const std::string& input = "", const std::string& environment = "") const {
    const std::string in = file("in", input);
    const std::string out = (folder_ / "out").string();
    const std::string err = (folder_ / "err").string();
    const std::string command = "cd '" RONDO_SOURCE_DIR "/tests/golden/batch' && env " + environment +
                                " '" RONDO_PROGRAM "' <'" + in + "' >'" + out + "' 2>'" + err + "' " +
                                arguments;  // whose own redirections win
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), files::read(out).value(), files::read(err).value()};
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace rondo::testing
