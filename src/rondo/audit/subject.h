// Makes the subject of an audit from the caller's input.
#pragma once

#include "audit/input.h"
#include "audit/play.h"
#include "audit/settings.h"
#include "rondo/result.h"

namespace rondo::audit {

// Adds the limits of an audit, a fixed time if the caller gives none, and a byte tokenizer if the model has no
// tokenizer.  Fails with kLimit if the template exceeds its limits.
[[nodiscard]] Result<Subject> make_subject(const Input& input);

// Returns the settings under which `subject` is played; `first` is its default.
[[nodiscard]] Settings settings_of(const Subject& subject, const Stage& first);

}  // namespace rondo::audit
