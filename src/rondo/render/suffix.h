// The render that a bridge cuts its appended text out of: history, a stand-in for the completion, the new messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/ending.h"

namespace rondo::render {

// The conversation before a sampled turn.  Lent; it outlives the call.
struct History {
  std::optional<std::span<const json::Value>> messages;  // nullopt: one plain user message stands for them
  // `messages`, ready for the template of the context; given back as it was.  nullptr: they are made ready anew.
  tmpl::ReadyConversation* ready = nullptr;
  // What the template writes behind the turn when that is last (tail_alone()), where it is known; nullptr: it is rendered.
  const std::string* tail_alone = nullptr;
};

// What comes behind a sampled turn.  Lent; it outlives the call.
struct Following {
  // `answers` are found here, once.
  Following(std::span<const json::Value> new_messages, bool opens_next);

  std::span<const json::Value> messages;
  std::span<const json::Value> answers;  // those that may answer the turn: up to the next turn of an assistant
  bool add_generation_prompt;            // the opening of the next turn stands at the end
};

// The render that the appended text is cut out of.
struct SuffixRender {
  jinja::Rendered full;
  TurnClose close;                  // `close.suffix_begin` is where the appended text begins
  std::int32_t index = 0;           // of the assistant message
  bool closes_itself = false;       // the suffix begins inside the turn, with its close
  bool is_behind_stand_in = false;  // one plain user message stands for the history
  std::vector<std::string> notes;   // what is replaced by a stand-in, and why
};

// The new messages behind a stand-in for what was said.  Fails as the template does with them.
[[nodiscard]] Result<SuffixRender> render_suffix(const TurnContext& context, const PlainClose& plain,
                                                 const History& history, const ParsedCompletion& said,
                                                 const Following& following);

// Of a turn that says nothing: what the template writes for such a turn behind `history`, from there on.  nullopt if the
// template's own empty turn does not begin with the prompt and what was sampled.
[[nodiscard]] std::optional<SuffixRender> render_empty_turn(const TurnContext& context,
                                                            std::span<const json::Value> history,
                                                            const SampledTurn& turn, const Following& following);

// How many of the last `pieces`, whose offsets count from byte `begin` of `full`, hold no data of a message.
[[nodiscard]] std::size_t prompt_tail(const jinja::Rendered& full, std::size_t begin,
                                      const std::vector<tokenizer::Piece>& pieces);

}  // namespace rondo::render
