// What is written about checks beside the table: a page, SARIF, JUnit.
#pragma once

#include <string>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::api {

// Of replies of the op `check`, in their order.  Fail with kInvalidArgument where an element is no such reply.
[[nodiscard]] Result<std::string> check_html(const json::Array& reports);
// `version` is the program's.
[[nodiscard]] Result<std::string> check_sarif(const json::Array& reports, const std::string& version);
// `fail_on`: the level from which on a case fails: "note", "warning", "error"; "never": none does.
[[nodiscard]] Result<std::string> check_junit(const json::Array& reports, const std::string& fail_on);

}  // namespace rondo::api
