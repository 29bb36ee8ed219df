// {% generation %} marks around what the model samples, put where they belong.
#pragma once

#include <optional>
#include <string>

#include "audit/play.h"
#include "audit/trials.h"

namespace rondo::audit {

// A conversation with turns of all kinds that the template shows, as one would train on it.
[[nodiscard]] json::Array training_messages(const Trials& trials, bool with_calls);

struct Marked {
  std::string source;
  std::string sentence;  // what was changed
};

// `source`, a template that writes turns in the format of `stage`'s, with one pair of marks that goes wrong in fewer places, as a
// rule in none: it covers what is sampled and nothing else.  Every training conversation has the same text.  nullopt if nothing
// is wrong, if there are no marks and `may_add` is false, or if no better place was found; added marks go wrong nowhere.
[[nodiscard]] std::optional<Marked> mend_marks(const Stage& stage, const std::string& source, bool may_add);

}  // namespace rondo::audit
