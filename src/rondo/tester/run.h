// Runs the tests of a suite.
//
//   CaseResult result = run_case(model, suite.cases[0]);
//   for (const Failure& failure : result.failures) print(to_text(failure));
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "json/value.h"
#include "tester/difference.h"
#include "tester/suite.h"

namespace rondo::tester {

struct Failure {
  std::string check;             // the key of the expectation: "rendered", "parsed", ...
  std::string sentence;          // describes the failure
  std::vector<ShownLine> shown;  // the difference
  int line = 0;                  // in the suite; 0: unknown
};

struct CaseResult {
  std::string name;
  int line = 0;
  std::vector<std::string> checks;  // what was checked, in order, each once
  std::vector<Failure> failures;
  std::vector<std::string> notes;  // sentences: what could not be checked, and why
  [[nodiscard]] bool passed() const { return failures.empty(); }
};

// Never fails itself.  What cannot be checked is a failure; for a law that nobody asked for, it is a note.
[[nodiscard]] CaseResult run_case(const std::shared_ptr<const core::Model>& model, const Case& test);

struct RunOptions {
  std::optional<jinja::LocalTime> now;  // for cases that name no time
  std::string filter;                   // run only cases whose names contain this
};
[[nodiscard]] std::vector<CaseResult> run_suite(const std::shared_ptr<const core::Model>& model, const Suite& suite,
                                                const RunOptions& options);

// Returns the sentence and the difference; each line begins with a sign: `-` expected, `+` got.
[[nodiscard]] std::string to_text(const Failure& failure);
// All failures of a case; "" if there are none.
[[nodiscard]] std::string to_text(const CaseResult& result);

// Returns {"name", "line", "passed", "checks", "failures", "notes"}.  A failure is
// {"check", "message", "line", "shown": [{"kind", "text"}]}.
[[nodiscard]] json::Value to_json(const CaseResult& result);
// Returns {"source", "passed", "failed", "cases"}.
[[nodiscard]] json::Value to_json(const std::string& source, const std::vector<CaseResult>& results);

}  // namespace rondo::tester
