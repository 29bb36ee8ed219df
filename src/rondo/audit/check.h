// The audit of one template: plays every scenario under every setting, and reports what breaks, why, and what else is
// wrong.
//
//   audit::Input input;
//   input.chat_template = ...; input.tokenizer = ...;       // without a tokenizer, only texts are compared
//   auto report = audit::check(input, {});
//   for (const report::Finding& finding : report.value().findings) ...
//
// Reads no clock and prints nothing; equal input gives an equal report.  A template is untrusted: each render has the
// limits below.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "audit/input.h"
#include "report/report.h"
#include "rondo/result.h"

namespace rondo::audit {

struct Options {
  std::function<void(std::size_t done, std::size_t total)> on_progress;  // called after each case; may be empty
  // If not empty, the audit plays only these scenarios, and leaves out the properties of properties.h.
  std::vector<std::string> scenarios;  // only these; empty: all
};

// Fails with kInvalidArgument for an unknown scenario, or with kLimit if the template exceeds its limits in every
// conversation.  If a template refuses everything, that is reported and is not a failure.
[[nodiscard]] Result<report::Report> check(const Input& input, const Options& options);

}  // namespace rondo::audit
