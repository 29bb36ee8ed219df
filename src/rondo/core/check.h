// Audits a model's template, and mends what the audit can mend.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "audit/check.h"
#include "core/model.h"
#include "mend/fix.h"
#include "rondo/result.h"

namespace rondo::core {

struct CheckRequest {
  std::string model = {};                   // the model's name in the report
  bool has_file = false;                    // whether the template's name is a file name
  std::vector<std::string> scenarios = {};  // empty: all of them
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

// Uses only the variables, the special tokens and the time of `call`.  If the model has several templates, the one for
// tools is audited.  check() fails as audit::check() and Model::prepare() do, fix() as mend::fix() and Model::prepare()
// do.
[[nodiscard]] Result<report::Report> check(const Model& model, Call& call, CheckRequest request);
[[nodiscard]] Result<mend::Fix> fix(const Model& model, Call& call, std::string name, const mend::FixOptions& options);

}  // namespace rondo::core
