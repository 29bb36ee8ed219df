// The render from which a bridge cuts its appended text: history, a stand-in for the completion, the new messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/ending.h"

namespace rondo::render {

// The conversation before a sampled turn.  Everything is borrowed and must outlive the call.
struct History {
  std::optional<std::span<const json::Value>> messages;  // nullopt: one plain user message is used
  // `messages`, ready for the template of the context.  The call returns it unchanged.  nullptr: the call makes it.
  tmpl::ReadyConversation* ready = nullptr;
  // What the template writes after the turn when it is the last one (tail_alone()), if known.  nullptr: the call
  // renders it.
  const std::string* tail_alone = nullptr;
};

// The messages after a sampled turn.  Everything is borrowed and must outlive the call.
struct Following {
  // Finds `answers`.
  Following(std::span<const json::Value> new_messages, bool opens_next);

  std::span<const json::Value> messages;
  std::span<const json::Value> answers;  // those that may answer the turn: up to the next assistant message
  bool add_generation_prompt;            // whether the opening of the next turn is at the end
};

// The render from which the appended text is cut.
struct SuffixRender {
  jinja::Rendered full;
  TurnClose close;                  // the appended text begins at `close.suffix_begin`
  std::int32_t index = 0;           // index of the assistant message
  bool closes_itself = false;       // the suffix begins inside the turn, with its close
  bool is_behind_stand_in = false;  // one plain user message stands for the history
  std::vector<std::string> notes;   // sentences: what is replaced by a stand-in, and why
};

// Renders the new messages after a stand-in for the completion.  Fails as the template does with them.
[[nodiscard]] Result<SuffixRender> render_suffix(const TurnContext& context, const PlainClose& plain,
                                                 const History& history, const ParsedCompletion& said,
                                                 const Following& following);

// For a turn that says nothing: renders such a turn after `history`, and what follows.  Returns nullopt if the
// template's empty turn does not begin with the prompt and what was sampled.
[[nodiscard]] std::optional<SuffixRender> render_empty_turn(const TurnContext& context,
                                                            std::span<const json::Value> history,
                                                            const SampledTurn& turn, const Following& following);

// Returns how many of the last `pieces` hold no data of a message.  Their offsets count from byte `begin` of `full`.
[[nodiscard]] std::size_t prompt_tail(const jinja::Rendered& full, std::size_t begin,
                                      const std::vector<tokenizer::Piece>& pieces);

}  // namespace rondo::render
