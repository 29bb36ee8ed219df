// From what a caller gives to what is played.
#pragma once

#include "audit/input.h"
#include "audit/play.h"
#include "audit/settings.h"
#include "rondo/result.h"

namespace rondo::audit {

// With the limits of an audit, a fixed time where the caller gives none, and a byte tokenizer where the model has none.
// Fails with kLimit where the template runs out of its limits.
[[nodiscard]] Result<Subject> make_subject(const Input& input);

// What `subject` is played under; `first` is its default.
[[nodiscard]] Settings settings_of(const Subject& subject, const Stage& first);

}  // namespace rondo::audit
