// What requests and replies are in the engine's terms.  Private to gateway/.
#pragma once

#include "apis/completions.h"
#include "apis/errors.h"
#include "apis/request.h"
#include "apis/turn.h"
#include "core/model.h"
#include "engine/serving.h"
#include "gateway/service.h"

namespace rondo::gateway {

// A seed that the request does not name is drawn.
[[nodiscard]] engine::Sampling sampling_of(const apis::Sampling& asked, const ServiceParts& parts);

// How many tokens a reply to that prompt may have; the fault where there is room for none.
[[nodiscard]] apis::Outcome<std::size_t> room_behind(chat::Api api, const ServedModel& served,
                                                     std::size_t prompt_tokens, std::optional<std::int64_t> wanted);

[[nodiscard]] apis::Finish finish_of(engine::StopReason stop);
[[nodiscard]] apis::Fault fault_of_engine(chat::Api api, const Error& error, const ServedModel& served,
                                          std::size_t prompt_tokens);

// What is kept can't be read, or a turn can't be kept.
[[nodiscard]] apis::Fault fault_of_store(const Error& error);
// The reply took longer than it may.
[[nodiscard]] apis::Fault late();

// The id, with its probabilities where `logprobs` are asked for.
[[nodiscard]] apis::Tokens described(const core::Model& model, const engine::SampledToken& token, bool logprobs);

// An id of a prompt, likewise.
[[nodiscard]] apis::ScoredToken scored_token(const core::Model& model, const engine::SampledToken& token);

}  // namespace rondo::gateway
