// Finds where the prompts of two requests differ, why, and what that costs.
//
//   auto diff = diff_requests(maker, before, after);
//   diff.value().common_tokens;      // how much of the second prompt the first one (and its answer) begins with
//   diff.value().cause.sentence;
//
// If the second request continues the conversation of the first, what the model sampled in between counts as part of
// the first: the message that follows in the second request is taken as its answer.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chat/api_request.h"
#include "json/value.h"
#include "replay/prompt_maker.h"
#include "replay/replay_step.h"
#include "replay/request_changes.h"
#include "rondo/result.h"

namespace rondo::replay {

struct RequestDiff {
  std::size_t before_tokens = 0;      // size of the first prompt
  std::size_t answer_tokens = 0;      // size of the answer to it; 0 if the second request contains none
  std::size_t after_tokens = 0;       // size of the second prompt
  std::size_t common_tokens = 0;      // how many of these the first prompt and its answer begin with
  std::size_t recomputed_tokens = 0;  // after_tokens - common_tokens
  bool breaks = false;                // the second prompt does not begin with the first and its answer
  std::string shared_end;             // text before the first difference
  std::string before_text;            // text after it in the first prompt
  std::string after_text;             // text after it in the second prompt
  std::int32_t message = -1;          // the message in the second request whose turn differs; -1: none
  std::string place;                  // origin of the text that differs: "messages[1].content", "template line 12"
  FoundCause cause;                   // only if it breaks
  std::vector<Change> changes;        // what the client changed, visible in the prompt or not
};

// Fails as the template does.
[[nodiscard]] Result<RequestDiff> diff_requests(const PromptMaker& maker, chat::ApiRequest before,
                                                chat::ApiRequest after);

[[nodiscard]] json::Value to_json(const RequestDiff& diff);

}  // namespace rondo::replay
