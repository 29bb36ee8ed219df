// Finds why the next prompt does not begin with what the model has already seen.  check, bridge, session, diff and
// replay all use this search, so they name the same cause, line and field.
//
//   prompt  = history, with generation prompt     what the model has seen is the prompt and its own turn:
//   sampled = the turn                            seen  = prompt + sampled
//   again   = history + kept + what follows       the next prompt; it should begin with `seen`
//
// The first byte that differs has an origin on both sides.  The cause follows from what wrote it on each side, what was
// cut off the fields of the turn, which conditions changed their outcome, and which statements are around them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "causes/cause.h"
#include "causes/sampled.h"
#include "format/format.h"
#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::causes {

// One turn of the model, and the prompt that should continue it.  The references must outlive the search.
struct Event {
  const jinja::Template& chat_template;
  const format::Format& format;
  std::span<const json::Value> history;                  // the messages before the turn
  const jinja::Rendered& prompt;                         // made from the history, with a generation prompt
  std::function<Result<jinja::Rendered>()> render_bare;  // the same without one; called only for breaks in the prompt
  const Sampled& sampled;
  const json::Value& kept;  // the turn as the messages now have it
  // Made from the history and `kept`, without a generation prompt; nullptr: unknown.
  const jinja::Rendered* alone = nullptr;
  const jinja::Rendered* again = nullptr;      // the next prompt; nullptr: the template refused it
  const Error* refusal = nullptr;              // REQUIRES: not null if `again` is null
  std::optional<probe::Extent> parted_tokens;  // see parted_tokens()

  [[nodiscard]] std::string seen() const { return prompt.text.bytes() + sampled.text; }
};

struct Found {
  Cause cause;
  std::size_t at = 0;      // the first byte that differs, moved to the beginning of its character
  bool in_prompt = false;  // it is before the turn
};

// Returns the bytes of the next prompt over which the first differing tokens, `seen` and `again`, may spell the same
// text.  The choice of tokens may depend on a few later characters, but not on anything past a control token.
[[nodiscard]] probe::Extent parted_tokens(const tokenizer::Tokenizer& tokenizer, tokenizer::TokenId seen,
                                          const tokenizer::Piece& again);

// REQUIRES: the next prompt was refused, does not begin with seen(), or has other tokens (`parted_tokens`).
[[nodiscard]] Found find_cause(const Event& event);

// A turn as a client sees it: the messages of the prompts before and after it, and what was sampled between them.
struct Exchange {
  const jinja::Template& chat_template;
  const chat::Conversation& base;  // tools, kwargs, bos and eos; its messages are not used
  const tmpl::ApplyOptions& options;
  std::shared_ptr<const format::Format> format;  // never null
  std::span<const json::Value> before;           // the messages of the prompt
  std::string completion;                        // what was sampled after that prompt, with its stop
  std::size_t stop_size = 0;                     // size of its stop in bytes; 0 if it was cut off
  std::span<const json::Value> after;            // the messages of the next prompt: `before`, the turn, what follows
  const jinja::Rendered& again;                  // the next prompt
  std::optional<probe::Extent> parted_tokens;    // as in Event
};

// Makes the renders that the search needs.  Fails as the template does with the messages of the first prompt.
[[nodiscard]] Result<Found> find_cause(const Exchange& exchange);

}  // namespace rondo::causes
