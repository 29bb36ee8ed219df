// The audit of a model's template, and the template with what the audit can mend.
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
  std::string model = {};                   // as the report calls it
  bool has_file = false;                    // the template's name is that of a file
  std::vector<std::string> scenarios = {};  // empty: all
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

// Of `call` the variables, the special tokens and the time count; of a model with several templates the one for tools is
// audited.  Fail as audit::check() and mend::fix(), and as Model::prepare().
[[nodiscard]] Result<report::Report> check(const Model& model, Call& call, CheckRequest request);
[[nodiscard]] Result<mend::Fix> fix(const Model& model, Call& call, std::string name, const mend::FixOptions& options);

}  // namespace rondo::core
