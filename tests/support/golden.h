// A text that is compared with a file of tests/golden.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "base/files.h"

namespace rondo::test {

// Whether `now` is what the file holds; `name` is its path below tests/golden.  RONDO_UPDATE=1 writes the file anew.
inline void check_golden(const std::string& name, const std::string& now) {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("RONDO_UPDATE") != nullptr) REQUIRE(files::write(path, now).ok());
  const auto golden = files::read(path);
  REQUIRE_MESSAGE(golden.ok(), path);
  CHECK_MESSAGE(golden.value() == now, name);
}

}  // namespace rondo::test
