// The files that a check can write besides its table: a page, SARIF, JUnit.
#pragma once

#include <string>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::pages {

struct Checks {
  json::Array reports;   // replies of the operation `check`
  json::Array failures;  // {"model", "message"} for each model that could not be checked

  // Returns {"reports", "failures"?}, as `rondo check --json` prints for several models (docs/check.schema.json).
  [[nodiscard]] json::Value to_json() const;
};

// These fail with kInvalidArgument if an element is not a valid report or failure.
[[nodiscard]] Result<std::string> check_html(const Checks& checks);
// `version` is the program's version.
[[nodiscard]] Result<std::string> check_sarif(const Checks& checks, const std::string& version);
// `fail_on` is the level from which on a case fails: "note", "warning" or "error"; with "never", none does.
[[nodiscard]] Result<std::string> check_junit(const Checks& checks, const std::string& fail_on);

}  // namespace rondo::pages
