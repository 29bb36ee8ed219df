#include "spans/spans.h"

#include <doctest/doctest.h>

#include "spans/memory_store.h"
#include "tests/support/core_models.h"

namespace rondo::spans {
namespace {
TEST_CASE("x") {}
}  // namespace
}  // namespace rondo::spans
