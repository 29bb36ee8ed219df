// Puts {% generation %} marks around exactly what the model samples.
#pragma once

#include <optional>
#include <string>

#include "audit/play.h"
#include "audit/trials.h"

namespace rondo::audit {

// Returns a conversation with turns of all kinds that the template shows, as for training.
[[nodiscard]] json::Array training_messages(const Trials& trials, bool with_calls);

struct Marked {
  std::string source;
  std::string sentence;  // describes the change
};

// Returns `source` with one pair of marks that is wrong in fewer places than its own marks.  In most templates the pair
// is right everywhere: it covers what is sampled and nothing else.  `source` must write turns in the format of `stage`.
// The text of every training conversation stays the same.  Returns nullopt if nothing is wrong, if there are no marks
// and `may_add` is false, or if no better place was found.  Marks are added only if they are right everywhere.
[[nodiscard]] std::optional<Marked> mend_marks(const Stage& stage, const std::string& source, bool may_add);

}  // namespace rondo::audit
