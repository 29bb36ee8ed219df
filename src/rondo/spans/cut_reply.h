// Cuts a known reply back to what its client shows of it.  Internal to spans/.
#pragma once

#include <memory>

#include "core/model.h"
#include "json/value.h"
#include "spans/span.h"

namespace rondo::spans {

// Returns the turn with only those ids of its completion whose text `shown` has, and with the message that they say.
// Null if no number of its ids says exactly that.
//
// REQUIRES: shows_beginning() is true for the turn's message and `shown`.
[[nodiscard]] std::shared_ptr<const Turn> cut_to_shown(const core::Model& model, const core::Call& call,
                                                       const Turn& turn, const json::Value& shown);

}  // namespace rondo::spans
