// `/v1/completions`: a text or ids in, text and ids out; no chat, no template.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apis/writer.h"

namespace rondo::apis {

struct CompletionRequest {
  std::string model;
  std::vector<std::variant<std::string, std::vector<std::int32_t>>> prompts;
  Sampling sampling;
  std::vector<std::string> stops;
  std::int64_t max_tokens = 16;  // 0 only where the prompt comes back
  std::size_t choices = 1;       // for each prompt
  bool echo = false;             // the reply begins with the prompt
  bool logprobs = false;
  std::size_t top_logprobs = 0;
  std::optional<std::size_t> prompt_logprobs;  // of each id of the prompt, and of that many others
  bool stream = false;
  bool include_usage = false;
  bool return_token_ids = false;
  bool add_special_tokens = true;
  std::string user;
  std::vector<std::string> warnings;  // what was left out, for the header `warning`
};
// The field that asks for log probabilities of the prompt; "" where none does.
[[nodiscard]] std::string_view asks_for_prompt(const CompletionRequest& request);
[[nodiscard]] Outcome<CompletionRequest> read_completion(const json::Value& body);

// An id of the prompt, and the likeliest in its place.
struct ScoredToken {
  struct Other {
    std::int32_t id = 0;
    TopLogprob told;
  };
  std::int32_t id = 0;
  std::string text;
  std::optional<double> logprob;  // the first id has none
  std::vector<Other> others{};    // the likeliest first
};

// What was sampled for one choice since the last piece, or all of it.
struct CompletionPiece {
  std::size_t index = 0;
  std::string text;  // of whole characters; behind the prompt's, where that is part of it
  Tokens tokens;
  std::size_t text_offset = 0;           // bytes of the text in front of it
  std::vector<std::int32_t> prompt_ids;  // of the first piece, where ids are asked for
  bool is_last = false;
  std::vector<ScoredToken> prompt;  // of the first piece, where they are asked for
  Finish finish = Finish::kStop;
  std::string stop_text;
};
[[nodiscard]] json::Value completion_body(const CompletionRequest& request, const ReplyMeta& meta,
                                          const std::vector<CompletionPiece>& pieces, const TurnEnd& end);
[[nodiscard]] StreamEvent completion_event(const CompletionRequest& request, const ReplyMeta& meta,
                                           const CompletionPiece& piece);
// The events behind the last piece.
[[nodiscard]] std::vector<StreamEvent> completion_end(const CompletionRequest& request, const ReplyMeta& meta,
                                                      const TurnEnd& end);

}  // namespace rondo::apis
