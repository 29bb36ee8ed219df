// The constraint on a reply, in the engine's terms.  Private to gateway/.
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
  engine::Grammar grammar;         // without a dialect: the reply is unconstrained
  std::vector<std::string> notes;  // sentences: what the request asks for and no constraint enforces
};

// Makes the constraint.  The end of `prompt` shows what has already been begun.  Its last `prefill` ids are the
// beginning of the reply; an answer by a schema continues it.  Fails if the request contains an invalid grammar or one
// that is too large.
[[nodiscard]] apis::Outcome<Constraint> make_constraint(const ServedModel& served, const core::Call& call,
                                                        const apis::GenerateRequest& request,
                                                        std::span<const core::TokenId> prompt, std::size_t prefill);

// Makes the constraint for `/v1/completions`, where no template is used and the whole output is the answer.
[[nodiscard]] apis::Outcome<Constraint> make_answer_constraint(const ServedModel& served,
                                                               const apis::AnswerFormat& format);

}  // namespace rondo::gateway
