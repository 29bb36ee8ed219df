// The format of a template that a test writes.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "analysis/analyse.h"

namespace rondo::test {

// Returns what is inferred from `source`, which must be a format that verify() finds no fault in.
inline std::shared_ptr<const format::Format> verified_format(const std::string& source) {
  const auto compiled = jinja::Template::compile(source, {}, "invented");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  auto format = analysis::analyse(*compiled.value(), {});
  REQUIRE_MESSAGE(format.ok(), format.error().to_string());
  CHECK_FALSE(format.value()->verify());
  return format.value();
}

}  // namespace rondo::test
