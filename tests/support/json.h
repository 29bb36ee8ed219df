// JSON that tests write down.
#pragma once

#include <doctest/doctest.h>

#include <string_view>
#include <utility>

#include "json/parse.h"

namespace rondo::testing {

// The value that a text spells; the test fails where it is no JSON.
inline json::Value parsed(std::string_view text) {
  auto value = json::parse(text);
  REQUIRE_MESSAGE(value.ok(), text);
  return std::move(value).value();
}

}  // namespace rondo::testing
