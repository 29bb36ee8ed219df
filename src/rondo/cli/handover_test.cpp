#include "cli/handover.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/own_folder.h"

using namespace rondo;

TEST_CASE("the full program is found by its version, and only if it can be run") {
  const testing::OwnFolder folder("handover");
  const std::filesystem::path prefix = folder.path();
  const std::filesystem::path own = prefix / "bin" / "rondo";
  const std::filesystem::path full = prefix / "lib" / "rondo-1.2.3" / "rondo";
  CHECK_FALSE(cli::full_program(own.string(), "1.2.3"));
  std::filesystem::create_directories(full.parent_path());
  std::ofstream(full) << "#!/bin/sh\n";
  CHECK_FALSE(cli::full_program(own.string(), "1.2.3"));
  std::filesystem::permissions(full, std::filesystem::perms::owner_all);
  CHECK(cli::full_program(own.string(), "1.2.3") == full.string());
  CHECK_FALSE(cli::full_program(own.string(), "1.2.4"));
}
