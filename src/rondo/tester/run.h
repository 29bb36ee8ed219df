// Running the tests of a suite, and what became of them.
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
  std::string sentence;          // what is the matter
  std::vector<ShownLine> shown;  // the difference
  int line = 0;                  // of the suite; 0: unknown
};

struct CaseResult {
  std::string name;
  int line = 0;
  std::vector<std::string> checks;  // what was looked at, in order, each once
  std::vector<Failure> failures;
  std::vector<std::string> notes;  // what could not be looked at, and why
  [[nodiscard]] bool passed() const { return failures.empty(); }
};

// Never fails itself: what cannot be checked is a failure, or of a law that nobody asked for a note.
[[nodiscard]] CaseResult run_case(const std::shared_ptr<const core::Model>& model, const Case& test);

struct RunOptions {
  std::optional<jinja::LocalTime> now;  // of cases that name no time
  std::string filter;                   // only cases whose names hold this
};
[[nodiscard]] std::vector<CaseResult> run_suite(const std::shared_ptr<const core::Model>& model, const Suite& suite,
                                                const RunOptions& options);

// Sentence and difference, each line behind a mark: `-` expected, `+` got.
[[nodiscard]] std::string to_text(const Failure& failure);
// All failures of a case; "" if there are none.
[[nodiscard]] std::string to_text(const CaseResult& result);

// {"name", "line", "passed", "checks", "failures": [{"check", "message", "line", "shown": [{"kind", "text"}]}], "notes"}
[[nodiscard]] json::Value to_json(const CaseResult& result);
// {"source", "passed", "failed", "cases"}
[[nodiscard]] json::Value to_json(const std::string& source, const std::vector<CaseResult>& results);

}  // namespace rondo::tester
