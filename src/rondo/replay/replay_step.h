// One request on its way through a replay, and the questions that are asked about it.  Internal to the replay.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/conversation_store.h"
#include "replay/prompt_maker.h"
#include "replay/request_changes.h"
#include "replay/rewrites.h"

namespace rondo::replay {

struct ReplayStep {
  Incoming request;
  ConversationState* parent = nullptr;                    // the conversation that it goes on with
  Comparison comparison;                                  // with the parent's last request
  std::array<std::optional<Sheet>, kRewriteSets> sheets;  // nullopt: as the first
  ConversationState next;                 // what becomes of the conversation; its prompts are those of the request
  std::optional<jinja::Rendered> traced;  // of the request as sent, once somebody asked

  [[nodiscard]] const Prompt& sent() const { return *next.prompts[0]; }
};

// Ids up to which `full`, a prompt and its completion, is the beginning of `ids`.
[[nodiscard]] std::size_t common_ids(const std::vector<tokenizer::TokenId>& prompt,
                                     const std::vector<tokenizer::TokenId>& completion,
                                     const std::vector<tokenizer::TokenId>& ids);

// The ids that the bridge would send, or nullopt where that is the prompt of the rewritten request itself: nothing broke, or the
// client changed what the bridge cannot keep.  `bridge`: index in ConversationState::bridged.
[[nodiscard]] std::optional<std::vector<tokenizer::TokenId>> bridged_ids(const PromptMaker& maker, ReplayStep& step,
                                                                         RewriteSet set, std::size_t bridge);

// The cause of a break.
struct FoundCause {
  std::string name;
  std::string path;
  std::string sentence;
  std::string before;
  std::string after;
  std::int32_t line = 0;  // of the template
};

// Finds causes, and remembers those of the template, which take several renders to find.
class CauseFinder {
 public:
  explicit CauseFinder(const PromptMaker& maker) : maker_(maker) {}

  // Why the prompt as sent leaves the parent's prompt and completion behind `kept` ids.  REQUIRES: step.parent.
  [[nodiscard]] FoundCause find(ReplayStep& step, std::size_t kept);

 private:
  struct Known {
    FoundCause cause;
    int found = 0;
  };

  [[nodiscard]] bool is_retokenized(const ReplayStep& step, std::size_t kept) const;
  [[nodiscard]] FoundCause in_template(ReplayStep& step, std::size_t kept, const text::Run* run);
  [[nodiscard]] FoundCause search(ReplayStep& step, std::size_t kept) const;

  const PromptMaker& maker_;
  std::vector<std::pair<std::string, Known>> known_;
};

// The render of the request as sent, with origins; nullptr if it fails.
[[nodiscard]] const jinja::Rendered* traced(const PromptMaker& maker, ReplayStep& step);

}  // namespace rondo::replay
