// Requests and replies in the engine's terms.  Private to gateway/.
#pragma once

#include "apis/completions.h"
#include "apis/errors.h"
#include "apis/request.h"
#include "apis/turn.h"
#include "engine/serving.h"
#include "gateway/service.h"
#include "gateway/token_texts.h"

namespace rondo::gateway {

// Returns the sampling settings.  Draws a random seed if the request names none.
[[nodiscard]] engine::Sampling sampling_of(const apis::Sampling& asked, const ServiceParts& parts);

// Returns how many tokens a reply to the prompt may have.  Returns a fault if there is room for none.
[[nodiscard]] apis::Outcome<std::size_t> room_behind(chat::Api api, const ServedModel& served,
                                                     std::size_t prompt_tokens, std::optional<std::int64_t> wanted);

// Returns the name under which the engine keeps the prompt apart from those of others.
[[nodiscard]] std::string tenant_of(const std::string& tenant, const std::string& salt);

// Returns the most ids that a client allows its prompt; nullopt if it does not say.
[[nodiscard]] std::optional<std::size_t> most_prompt_tokens(const apis::PromptCut& cut, const ServedModel& served,
                                                            std::optional<std::int64_t> reply_tokens);

// Returns how many tokens must come before an end, of `most` that may come.
[[nodiscard]] std::size_t least_tokens(const apis::Sampling& asked, std::size_t most);

[[nodiscard]] apis::Finish finish_of(engine::StopReason stop);
[[nodiscard]] apis::Fault fault_of_engine(chat::Api api, const Error& error, const ServedModel& served,
                                          std::size_t prompt_tokens);

// Makes the fault for a store that cannot be read, or that cannot keep a turn.
[[nodiscard]] apis::Fault fault_of_store(const Error& error);
// Makes the fault for a prompt that could not be planned.  If the store cannot be read, the client must try again
// later: without the kept turns a known conversation would be rendered anew.
[[nodiscard]] apis::Fault fault_of_plan(const Error& error);
// Returns the fault of ids that the request names and the model does not have.
[[nodiscard]] std::optional<apis::Fault> unknown_ids(const tokenizer::Tokenizer* tokenizer, const apis::Sampling& asked,
                                                     std::span<const std::int32_t> stop_ids);
// Sets which ids the request lets the engine sample.  Returns a fault for a word that the model's tokenizer cannot write.
[[nodiscard]] std::optional<apis::Fault> set_limits(const core::Model& model, const apis::Sampling& asked,
                                                    engine::Request& out);
// Makes the fault for a field that asks for log probabilities of the prompt, which the engine does not report.
[[nodiscard]] apis::Fault no_prompt_logprobs(std::string_view field);
// Makes the fault for a reply that exceeded its time.
[[nodiscard]] apis::Fault late();

// Describes a sampled id, with its probabilities if `logprobs`, and takes it into the text.
[[nodiscard]] apis::Tokens described(TokenTexts& texts, const engine::SampledToken& token, bool logprobs);

// Describes an id of a prompt, with its probabilities, and takes it into the text.
[[nodiscard]] apis::ScoredToken scored_token(TokenTexts& texts, const engine::SampledToken& token);

}  // namespace rondo::gateway
