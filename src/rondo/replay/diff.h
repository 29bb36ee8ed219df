// Where the prompt of one request leaves that of another, why, and what that costs.
//
//   auto diff = diff_requests(maker, before, after);
//   diff.value().common_tokens;      // of the second prompt, that the first (and its answer) begins with as well
//   diff.value().cause.sentence;
//
// Where the second request goes on with the conversation of the first, what the model must have sampled in between counts as part
// of the first: the message that follows in the second request is taken for its answer.
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
  std::size_t before_tokens = 0;      // of the first prompt
  std::size_t answer_tokens = 0;      // of the answer to it; 0 if the second request has none
  std::size_t after_tokens = 0;       // of the second prompt
  std::size_t common_tokens = 0;      // how many of these the first and its answer begin with
  std::size_t recomputed_tokens = 0;  // after_tokens - common_tokens
  bool breaks = false;                // the second prompt does not begin with all of the first and its answer
  std::string shared_end;             // text in front of the first difference
  std::string before_text;            // what follows in the first
  std::string after_text;             // what follows in the second
  std::int32_t message = -1;          // whose turn differs, in the second request; -1: nobody's
  std::string place;                  // origin of the differing text: "messages[1].content", "template line 12"
  FoundCause cause;                   // if it breaks
  std::vector<Change> changes;        // what the client changed, whether it shows in the prompt or not
};

// Fails as the template does.
[[nodiscard]] Result<RequestDiff> diff_requests(const PromptMaker& maker, chat::ApiRequest before,
                                                chat::ApiRequest after);

[[nodiscard]] json::Value to_json(const RequestDiff& diff);

}  // namespace rondo::replay
