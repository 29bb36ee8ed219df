// Explains why the beginning of a prompt was not in the engine's cache.  Private to gateway/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/request.h"
#include "engine/serving.h"
#include "gateway/service.h"
#include "spans/spans.h"

namespace rondo::gateway {

// Returns the loss of ids that the engine had been given before and no longer had; nullopt if it had them or does not
// tell.  `replica` is the server that got the request; "" if there is only one.
[[nodiscard]] std::optional<spans::Loss> loss_in_engine(const spans::Plan& plan, const engine::Usage& usage,
                                                        const std::string& replica);

// Returns whether `cause` is the name of such a loss: the prompt is as it was, but the engine lacks its ids.
[[nodiscard]] bool is_of_engine(std::string_view cause);

// Returns what changes the prompt besides the messages of a request.  It is stored with the turn, and a later turn
// compares itself with it.
[[nodiscard]] json::Object prompt_facts(const apis::GenerateRequest& request);

// Compares the prompt with the prompt of the earlier reply that the request names, and returns what the APIs say about
// it; null if the request names no reply.
[[nodiscard]] json::Value diagnose(spans::Spans& spans, const std::vector<ServedModel>& models,
                                   const std::string& tenant, const spans::Scope& scope, const spans::Plan& plan,
                                   const apis::GenerateRequest& request);

}  // namespace rondo::gateway
