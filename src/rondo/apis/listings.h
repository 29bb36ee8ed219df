// Replies that do not come from a model: models, token counts, ids of a text, rendered prompts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apis/request.h"
#include "json/value.h"

namespace rondo::apis {

struct ModelEntry {
  std::string name;
  std::int64_t created_s = 0;
  std::int64_t context_tokens = 0;
};
// One body for the clients of all APIs: OpenAI's fields, Anthropic's, and the `max_model_len` of engines.
[[nodiscard]] json::Value model_body(const ModelEntry& model);
[[nodiscard]] json::Value models_body(std::span<const ModelEntry> models);

// The reply of `/v1/messages/count_tokens` and `/v1/responses/input_tokens`.
[[nodiscard]] json::Value count_body(chat::Api api, std::int64_t tokens);

// `/tokenize` takes a text, or a chat request that read() reads.
struct TokenizeRequest {
  std::optional<std::string> prompt;  // nullopt: it is a chat request
  bool add_special_tokens = true;
  bool return_token_strs = false;
};
[[nodiscard]] Outcome<TokenizeRequest> read_tokenize(const json::Value& body);
// `texts` has the bytes of each id, or is empty.
[[nodiscard]] json::Value tokenize_body(std::span<const std::int32_t> ids, std::int64_t context_tokens,
                                        std::span<const std::string> texts = {});
[[nodiscard]] Outcome<std::vector<std::int32_t>> read_detokenize(const json::Value& body);
[[nodiscard]] json::Value detokenize_body(std::string_view text);

// Returns the request with which the prompt would be sent: ids and sampling settings.
[[nodiscard]] json::Value render_body(const GenerateRequest& request, std::string_view request_id,
                                      std::string_view model, std::span<const std::int32_t> ids,
                                      std::span<const std::int32_t> stop_ids);

// Reads ids from a request.  Returns a fault if one is not valid.
[[nodiscard]] Outcome<std::vector<std::int32_t>> read_ids(const json::Value& value, const std::string& place);

}  // namespace rondo::apis
