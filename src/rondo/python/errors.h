// Turns errors of the library into Python exceptions (rondo/errors.py has the classes).  Internal to python/.
#pragma once

#include <string>
#include <utility>

#include "rondo/result.h"

namespace rondo::python {

// Sets the Python exception for `error` and throws nanobind's python_error.  The caller holds the GIL.
[[noreturn]] void raise(const Error& error);
// Raises an error about something that the caller gave: `place` names it ("messages[0].content").
[[noreturn]] void raise_invalid(const std::string& message, const std::string& place = "");

// Returns the value, or raises the error.  The caller holds the GIL.
template <typename T>
T value_or_raise(Result<T> result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}

}  // namespace rondo::python
