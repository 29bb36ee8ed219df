// Why the next prompt does not begin with what the model has already seen: one search for check, bridge, session, diff
// and replay, so that all of them name the same cause, line and field.
//
//   prompt  = history, with generation prompt     what the model has seen is the prompt and its own turn:
//   sampled = the turn                            seen  = prompt + sampled
//   again   = history + kept + what follows       the next prompt; it should begin with `seen`
//
// The first byte that differs has an origin on both sides.  What wrote it there and here, what was cut off the fields of the
// turn, which conditions went another way, and which statements stand around all that, say the cause.
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

// One turn of the model, and the prompt that was to go on from it.  The references must outlive the search.
struct Event {
  const jinja::Template& chat_template;
  const format::Format& format;
  std::span<const json::Value> history;                  // the messages in front of the turn
  const jinja::Rendered& prompt;                         // of the history, with generation prompt
  std::function<Result<jinja::Rendered>()> render_bare;  // the same without one; asked only for breaks in the prompt
  const Sampled& sampled;
  const json::Value& kept;                     // the turn as the messages have it now
  const jinja::Rendered* alone = nullptr;      // of the history and `kept`, without generation prompt; nullptr: unknown
  const jinja::Rendered* again = nullptr;      // the next prompt; nullptr: refused
  const Error* refusal = nullptr;              // REQUIRES: not null where `again` is null
  std::optional<probe::Extent> parted_tokens;  // see parted_tokens()

  [[nodiscard]] std::string seen() const { return prompt.text.bytes() + sampled.text; }
};

struct Found {
  Cause cause;
  std::size_t at = 0;      // the first byte that differs, at the beginning of a character
  bool in_prompt = false;  // it lies before the turn
};

// Bytes of the next prompt over which the first differing tokens, `seen` and `again`, spell the same text if they are no
// consequence of a text that differs.  The choice of tokens may look a little ahead, but not past a control token.
[[nodiscard]] probe::Extent parted_tokens(const tokenizer::Tokenizer& tokenizer, tokenizer::TokenId seen,
                                          const tokenizer::Piece& again);

// REQUIRES: the next prompt was refused, does not begin with seen(), or has other tokens (`parted_tokens`).
[[nodiscard]] Found find_cause(const Event& event);

// What a client has of a turn: the messages of two prompts, and what was sampled between them.
struct Exchange {
  const jinja::Template& chat_template;
  const chat::Conversation& base;  // tools, kwargs, bos and eos; its messages are not used
  const tmpl::ApplyOptions& options;
  std::shared_ptr<const format::Format> format;  // never null
  std::span<const json::Value> before;           // the messages of the prompt
  std::string completion;                        // what was sampled behind it, with its stop
  std::size_t stop_size = 0;                     // bytes of its stop; 0 if it was cut off
  std::span<const json::Value> after;            // the messages of the next prompt: `before`, the turn, what follows
  const jinja::Rendered& again;                  // that prompt
  std::optional<probe::Extent> parted_tokens;    // see Event
};

// Makes the renders that the search needs.  Fails as the template does with the messages of the first prompt.
[[nodiscard]] Result<Found> find_cause(const Exchange& exchange);

}  // namespace rondo::causes
