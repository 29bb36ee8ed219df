// Cuts a known reply back to what its client shows of it.  Internal to spans/.
#pragma once

#include <memory>

#include "core/model.h"
#include "json/value.h"
#include "spans/span.h"

namespace rondo::spans {

// Returns the turn with only the first ids of its completion: those whose text is exactly what `shown` has.  Its
// message is what these ids say.  Returns null if the text of `shown` ends inside an id, or if the beginning of the
// reply was not sampled.
//
// REQUIRES: shows_beginning() is true for the turn's message and `shown`.
[[nodiscard]] std::shared_ptr<const Turn> cut_to_shown(const core::Model& model, const core::Call& call,
                                                       const Turn& turn, const json::Value& shown);

}  // namespace rondo::spans
