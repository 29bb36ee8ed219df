// The smallest template and message that still break a law.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/format_laws.h"

namespace rondo::test {

struct Failure {
  Law law = Law::kReads;
  std::uint64_t seed = 0;  // of the template
  TemplateShape shape;
  MessageParts message;
  std::string objection;
};

// Puts the simplest value in place of one part after the other, as long as the same law is broken in the same way.
[[nodiscard]] Failure shrunk(Failure failure);

// Law, seed, template, message, what the template wrote and what came of it.
[[nodiscard]] std::string to_string(const Failure& failure);

// Failures of one kind have one text: the law, how it is broken, and which parts of the template matter.
[[nodiscard]] std::string kind_of(const Failure& failure);

}  // namespace rondo::test
