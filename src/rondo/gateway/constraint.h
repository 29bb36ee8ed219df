// What the reply is held to, in the engine's words.  Private to gateway/.
#pragma once

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

// Fails where the request asks for what no grammar of the engine can say.
[[nodiscard]] apis::Outcome<Constraint> make_constraint(const ServedModel& served, core::Call& call,
                                                        const apis::GenerateRequest& request);

}  // namespace rondo::gateway
