// Makes a template that only appends: the same template, with edits that make its prompts continue what the model has
// seen.
//
//   auto fixed = mend::fix(input, {});
//   if (fixed.value().refusal.empty()) std::cout << fixed.value().diff;
//
// Edits are tried, not trusted.  An edit is kept only if every scenario that held still holds with the same text, no
// first prompt and no first turn changes, and some prompt comes closer to what the model has seen.
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
  bool may_add_marks = false;  // put {% generation %} marks around what is sampled even if there are none
  std::function<void(std::size_t edits_tried)> on_progress;  // may be empty
};

// A scenario under a setting, and whether its prompts continue what the model has seen.
struct FixedCase {
  std::string scenario;
  std::string setting;
  bool held = false;   // with the original template
  bool holds = false;  // with the mended template
};

struct Fix {
  std::string source;                  // of the mended template; the original if nothing was changed
  std::string marks;                   // a sentence: what was done about {% generation %} marks; "" if nothing
  std::string diff;                    // a unified diff from the original; "" if nothing was changed
  std::vector<std::string> edits;      // sentences: what was changed, in order
  std::vector<FixedCase> changed;      // cases that broke and now hold
  std::vector<FixedCase> lost;         // cases that held and no longer do: only those with late system messages
  std::vector<FixedCase> broken;       // cases that still break, except for
  std::vector<FixedCase> other_forms;  // those about spellings of JSON and forms of messages
  bool was_append_only = false;        // whether nothing broke, apart from forms
  bool is_append_only = false;         // whether nothing breaks any more, apart from forms
  std::string refusal;                 // why no edit was made although something breaks; ""
};

// Fails as check() does.
[[nodiscard]] Result<Fix> fix(const audit::Input& input, const FixOptions& options);

[[nodiscard]] json::Value to_json(const Fix& fix);

}  // namespace rondo::mend
