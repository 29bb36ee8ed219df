#include "cli/paint.h"

#include <doctest/doctest.h>

namespace rondo::cli {

TEST_CASE("paint: colours only when they are on") {
  CHECK(Paint(true)("1;36", "a") == "\x1b[1;36ma\x1b[0m");
  CHECK(Paint(true)("", "a") == "a");
  CHECK(Paint(true)("1", "") == "");
  CHECK(Paint(false)("1", "a") == "a");
  CHECK(paint_for("always").is_on());
  CHECK_FALSE(paint_for("never").is_on());
}

}  // namespace rondo::cli
