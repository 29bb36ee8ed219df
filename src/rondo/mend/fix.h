// A template that only appends: the same template with the edits that make its prompts continue what the model has seen.
//
//   auto fixed = mend::fix(input, {});
//   if (fixed.value().refusal.empty()) std::cout << fixed.value().diff;
//
// Edits are tried, not trusted: each one is kept only if every scenario that held still holds with the same text, if no first
// prompt and no first turn is written otherwise than before, and if it brings some prompt closer to what the model has seen.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "audit/input.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::mend {

struct FixOptions {
  bool may_add_marks = false;  // {% generation %} marks are put around what is sampled also where there are none
  std::function<void(std::size_t edits_tried)> on_progress;  // may be empty
};

// A scenario under a setting, and whether its prompts go on from what the model has seen.
struct FixedCase {
  std::string scenario;
  std::string setting;
  bool held = false;   // by the template as it is
  bool holds = false;  // by the mended one
};

struct Fix {
  std::string source;                  // of the mended template; the original where nothing was changed
  std::string marks;                   // what was done about {% generation %} marks, a sentence; "" if nothing was
  std::string diff;                    // from the original, as a unified diff; "" if nothing was changed
  std::vector<std::string> edits;      // what was changed, a sentence each, in the order of changing
  std::vector<FixedCase> changed;      // cases that broke and hold now
  std::vector<FixedCase> lost;         // cases that held and do not any more: late system messages alone
  std::vector<FixedCase> broken;       // cases that still break, but for
  std::vector<FixedCase> other_forms;  // those about spellings of JSON and forms of messages, which break
  bool was_append_only = false;        // nothing broke but for forms
  bool is_append_only = false;         // nothing does any more
  std::string refusal;                 // why no edit was made although something breaks; ""
};

// Fails as check() does.
[[nodiscard]] Result<Fix> fix(const audit::Input& input, const FixOptions& options);

[[nodiscard]] json::Value to_json(const Fix& fix);

}  // namespace rondo::mend
