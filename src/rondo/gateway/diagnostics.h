// Why a prompt's beginning was not in the engine's cache.  Private to gateway/.
#pragma once

#include <optional>
#include <string>

#include "apis/request.h"
#include "engine/serving.h"
#include "gateway/service.h"
#include "spans/spans.h"

namespace rondo::gateway {

// Ids that the engine was given before and did not have any more; nullopt where it had them, or tells nothing.  `replica`: the
// server that was asked, "" where there is only one.
[[nodiscard]] std::optional<spans::Loss> loss_in_engine(const spans::Plan& plan, const engine::Usage& usage,
                                                        const std::string& replica);

// What of a request besides its messages changes the prompt, to be kept with its turn and compared by a later one.
[[nodiscard]] json::Object prompt_facts(const apis::GenerateRequest& request);

// What the APIs say of a prompt beside that of an earlier reply which the request names; null where none is asked for.
[[nodiscard]] json::Value diagnose(spans::Spans& spans, const std::vector<ServedModel>& models,
                                   const std::string& tenant, const spans::Scope& scope, const spans::Plan& plan,
                                   const apis::GenerateRequest& request);

}  // namespace rondo::gateway
