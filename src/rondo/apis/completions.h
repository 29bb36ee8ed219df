// `/v1/completions`: text or ids in, text and ids out, without chat or template.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apis/writer.h"

namespace rondo::apis {

// What ends a completion.
struct CompletionStops {
  std::vector<std::string> texts;
  std::vector<std::int32_t> ids;
  bool is_shown = false;  // the completion ends with the stop text instead of before it
};

struct CompletionRequest {
  std::string model;
  std::vector<std::variant<std::string, std::vector<std::int32_t>>> prompts;
  Sampling sampling;
  CompletionStops stops;
  AnswerFormat format;
  PromptCut cut;
  std::int64_t max_tokens = 16;  // 0 only if the reply repeats the prompt
  std::size_t choices = 1;       // for each prompt
  bool echo = false;             // begin the reply with the prompt
  bool logprobs = false;
  std::size_t top_logprobs = 0;
  std::optional<std::size_t> prompt_logprobs;  // for each id of the prompt, and for this many others
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;  // with each event
  bool tokens_as_ids = false;     // log probabilities name tokens by their ids
  bool return_token_ids = false;
  bool add_special_tokens = true;
  std::string cache_salt;             // as in GenerateRequest
  std::vector<std::string> warnings;  // sentences for the header `warning`: what was left out
};
// Returns the field that asks for log probabilities of the prompt; "" if none does.
[[nodiscard]] std::string_view asks_for_prompt(const CompletionRequest& request);
[[nodiscard]] Outcome<CompletionRequest> read_completion(const json::Value& body);

// What was sampled for one choice since the last piece, or the whole completion.
struct CompletionPiece {
  std::size_t index = 0;
  std::string text;  // whole characters; follows the prompt's text if that is part of it
  Tokens tokens;
  std::size_t text_offset = 0;           // how many bytes of the text come before it
  std::vector<std::int32_t> prompt_ids;  // for the first piece, if the request asks for ids
  bool is_last = false;
  std::vector<ScoredToken> prompt;  // for the first piece, if the request asks for them
  Finish finish = Finish::kStop;
  std::string stop_text;
  std::optional<std::int32_t> stop_id{};  // as in TurnEvent
  std::optional<Usage> usage{};           // so far, if the request asks for it with each event
};
[[nodiscard]] json::Value completion_body(const CompletionRequest& request, const ReplyMeta& meta,
                                          const std::vector<CompletionPiece>& pieces, const TurnEnd& end);
[[nodiscard]] StreamEvent completion_event(const CompletionRequest& request, const ReplyMeta& meta,
                                           const CompletionPiece& piece);
// Returns the events after the last piece.
[[nodiscard]] std::vector<StreamEvent> completion_end(const CompletionRequest& request, const ReplyMeta& meta,
                                                      const TurnEnd& end);

}  // namespace rondo::apis
