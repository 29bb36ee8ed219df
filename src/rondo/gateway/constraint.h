// What the reply is held to, in the engine's words.  Private to gateway/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "apis/request.h"
#include "core/model.h"
#include "engine/serving.h"
#include "gateway/service.h"

namespace rondo::gateway {

struct Constraint {
  engine::Grammar grammar;         // of no dialect: the reply is free
  std::vector<std::string> notes;  // what of the request is not enforced
};

// `prompt`: its end says what has been begun.  Fails where the request asks for what is no grammar, or too large for one.
[[nodiscard]] apis::Outcome<Constraint> make_constraint(const ServedModel& served, const core::Call& call,
                                                        const apis::GenerateRequest& request,
                                                        std::span<const core::TokenId> prompt);

}  // namespace rondo::gateway
