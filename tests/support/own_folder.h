// A folder of a test's own, for what it writes.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"

namespace rondo::testing {

// Removed with all that is in it when this ends.  `name` tells those of one program apart.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string& name = "test")
      : path_(std::filesystem::temp_directory_path() / ("rondo-" + name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return (name.empty() ? path_ : path_ / name).string();
  }

  // Writes a file, with the folders that it is in; its path.  Fails the test if it can't be written.
  std::string file(const std::string& name, std::string_view content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    REQUIRE(files::write(path(name), content).ok());
    return path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rondo::testing
