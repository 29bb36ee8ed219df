#include <doctest/doctest.h>

#include "causes/cause.h"

using namespace rondo::causes;

TEST_CASE("every cause has a name of its own") {
  for (const auto& [kind, name] : kCauseNames) CHECK(to_string(kind) == name);
}
