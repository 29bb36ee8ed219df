// Runs the program as a shell does, for tests of what it prints and how it ends.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "tests/support/own_folder.h"

namespace rondo::testing {

// A conversation for `--messages -`.
inline constexpr const char* kHello = R"([{"role": "user", "content": "hello"}])";

struct Run {
  int status = -1;
  std::string out;
  std::string err;
};

// A folder for files, and `rondo ARGUMENTS` in the folder of the batch goldens.
class Shell : public OwnFolder {
 public:
  // `environment`: what `env` is to change, as `-u HOME NO_COLOR=1`.
  Run run(const std::string& arguments, const std::string& input = "", const std::string& environment = "") const {
    const std::string in = file("in", input);
    const std::string out = path("out");
    const std::string err = path("err");
    const std::string command = "cd '" RONDO_SOURCE_DIR "/tests/golden/batch' && env " + environment +
                                " '" RONDO_PROGRAM "' <'" + in + "' >'" + out + "' 2>'" + err + "' " +
                                arguments;  // whose own redirections win
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), files::read(out).value(), files::read(err).value()};
  }
};

}  // namespace rondo::testing
