// What is written about checks beside the table: a page, SARIF, JUnit.
#pragma once

#include <string>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::pages {

struct Checks {
  json::Array reports;   // replies of the op `check`
  json::Array failures;  // {"model", "message"} of each model that could not be checked

  // {"reports", "failures"?}, as `rondo check --json` prints several models (docs/check.schema.json).
  [[nodiscard]] json::Value to_json() const;
};

// These fail with kInvalidArgument where an element is not what it should be.
[[nodiscard]] Result<std::string> check_html(const Checks& checks);
// `version` is the program's.
[[nodiscard]] Result<std::string> check_sarif(const Checks& checks, const std::string& version);
// `fail_on`: the level from which on a case fails: "note", "warning", "error"; "never": none does.
[[nodiscard]] Result<std::string> check_junit(const Checks& checks, const std::string& fail_on);

}  // namespace rondo::pages
