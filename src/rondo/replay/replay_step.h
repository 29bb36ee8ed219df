// One request during a replay, and the questions asked about it.  Internal to replay/.
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
  ConversationState* parent = nullptr;                    // the conversation that it continues
  Comparison comparison;                                  // with the parent's last request
  std::array<std::optional<Sheet>, kRewriteSets> sheets;  // nullopt: same as the first
  ConversationState next;                 // the next state of the conversation; its prompts are those of the request
  std::optional<jinja::Rendered> traced;  // of the request as sent; made on demand

  [[nodiscard]] const Prompt& sent() const { return *next.prompts[0]; }
};

// Returns how many leading ids of `ids` are a beginning of the prompt and its completion.
[[nodiscard]] std::size_t common_ids(const std::vector<tokenizer::TokenId>& prompt,
                                     const std::vector<tokenizer::TokenId>& completion,
                                     const std::vector<tokenizer::TokenId>& ids);

// Returns the ids that the bridge would send; nullopt if these are the prompt of the rewritten request itself, because
// nothing broke or because the client changed what the bridge cannot keep.  `bridge` is an index in
// ConversationState::bridged.
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

// Finds causes.  Caches those of the template, which take several renders to find.
class CauseFinder {
 public:
  explicit CauseFinder(const PromptMaker& maker) : maker_(maker) {}

  // Returns why the prompt as sent differs from the parent's prompt and completion after `kept` ids.
  //
  // REQUIRES: step.parent is set.
  [[nodiscard]] FoundCause find(ReplayStep& step, std::size_t kept);

 private:
  struct Known {
    FoundCause cause;
    int found = 0;
  };

  [[nodiscard]] bool undoing_helps(const ReplayStep& step, const Change& change, std::size_t kept) const;
  [[nodiscard]] bool is_for_certain(const ReplayStep& step, const Change& change, std::size_t kept) const;
  [[nodiscard]] bool is_retokenized(const ReplayStep& step, std::size_t kept) const;
  [[nodiscard]] FoundCause in_template(ReplayStep& step, std::size_t kept, const text::Run* run);
  [[nodiscard]] FoundCause search(ReplayStep& step, std::size_t kept) const;

  const PromptMaker& maker_;
  std::vector<std::pair<std::string, Known>> known_;
};

// Returns the render of the request as sent, with origins; nullptr if it fails.
[[nodiscard]] const jinja::Rendered* traced(const PromptMaker& maker, ReplayStep& step);

}  // namespace rondo::replay
