#include "engine/processor.h"

#include <doctest/doctest.h>

#include <vector>

using namespace rondo;
using namespace rondo::engine;

TEST_CASE("a processor without what the library uses is refused by name") {
  CHECK(check_instructions({}).ok());
  const std::vector<Instructions> all = {{"AVX2", true}, {"FMA", true}};
  CHECK(check_instructions(all).ok());
  const std::vector<Instructions> some = {{"AVX2", false}, {"FMA", true}, {"BMI2", false}};
  const Status refused = check_instructions(some);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kUnsupported);
  CHECK(refused.error().message ==
        "the embedded engine was compiled for processors that have AVX2, BMI2, which this one lacks; build rondo from "
        "its "
        "source on this machine");
}
