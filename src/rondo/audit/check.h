// The audit of one template: every scenario under every setting, what breaks and why, and what else is the matter.
//
//   audit::Input input;
//   input.chat_template = ...; input.tokenizer = ...;       // without a tokenizer: texts alone
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
  std::function<void(std::size_t done, std::size_t total)> on_progress;  // after each case; may be empty
  // Only these, and no properties that no case shows (properties.h); empty: all.
  std::vector<std::string> scenarios;  // only these; empty: all
};

// Fails with kInvalidArgument on an unknown scenario, and with kLimit where the template runs out of its limits on every
// conversation.  A template that refuses everything is reported, not failed.
[[nodiscard]] Result<report::Report> check(const Input& input, const Options& options);

}  // namespace rondo::audit
