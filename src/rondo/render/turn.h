// How turns end in a traced render: what closes them, which token stops them.
//
// Everything here is read off the origins of one render (probe/turns.h) and the tokenizer's added tokens; no marker is
// known in advance.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "probe/turns.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

using probe::data_extent;
using probe::Extent;
using probe::is_message_data;
using probe::owner;
using probe::tail_end;
using probe::turn_begin;

// An added token inside a text.
struct Marker {
  std::size_t begin = 0;
  std::size_t end = 0;
  tokenizer::TokenId id = 0;
};

// The added tokens of `text` in order.
[[nodiscard]] std::vector<Marker> markers(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// The marker that most likely closes a turn: the last one that ends generation by the tokenizer's files, else the last
// special one, else the last one.
[[nodiscard]] std::optional<Marker> closing_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// The marker at the very start of `text`, white space aside.
[[nodiscard]] std::optional<Marker> leading_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// The length of the longest beginning of `closing` that `text` ends with.  The beginning of a control token that was cut off
// is text, and does not count.
[[nodiscard]] std::size_t overlap(const tokenizer::Tokenizer& tokenizer, std::string_view text,
                                  std::string_view closing);

// What all questions about the turns of one conversation have in common.  The references must outlive it.
struct TurnContext {
  const jinja::Template& chat_template;
  const tokenizer::Tokenizer& tokenizer;
  const chat::Conversation& base;  // tools, documents, kwargs, bos and eos; its messages are not used
  const tmpl::ApplyOptions& options;
};

// The render of `messages` with the tools, documents and kwargs of the context.
[[nodiscard]] Result<jinja::Rendered> render_messages(const TurnContext& context, const json::Array& messages,
                                                      bool add_generation_prompt);

// How plain assistant turns end, read off two small probe renders.
struct PlainClose {
  std::optional<Marker> marker;  // the token that closes a plain turn in its own text (offsets are those of `text`)
  std::string text;              // what the template writes behind the content of a plain turn that is last
  std::string followed;          // the same when a user message follows
};
[[nodiscard]] PlainClose probe_plain_close(const TurnContext& context);

// How an assistant turn ends, in a render where messages follow it.
struct TurnClose {
  std::string closers;                        // what the template writes between the data and the stop
  std::string stop;                           // text of the stop token, or a literal ending where no token marks it
  std::optional<tokenizer::TokenId> stop_id;  // its id, if it is a token
  std::string history_close;                  // what stands in the stop's place once other messages follow
  std::size_t suffix_begin = 0;               // offset in the render of what follows the history close
  bool stop_opens_next = false;               // the stop token is the first token of the next turn
};

// An assistant message in a render, as far as its end is concerned.
struct ClosedTurn {
  std::int32_t index = 0;
  bool has_calls = false;
  std::string_view alone;  // tail_alone() of it
};

// How that turn ends in `full`, a render of it and what follows it, with generation prompt.  nullopt if the template writes
// nothing of that message, or nothing that ends its turn.
[[nodiscard]] std::optional<TurnClose> find_turn_close(const TurnContext& context, const PlainClose& plain,
                                                       const jinja::Rendered& full, const ClosedTurn& turn);

[[nodiscard]] bool has_calls(const json::Value& message);

// What the template writes behind the data of `messages[index]` when that is the last message.
[[nodiscard]] std::string tail_alone(const TurnContext& context, const json::Array& messages, std::int32_t index);
// The same of the last message of `conversation`.
[[nodiscard]] std::string tail_alone(const TurnContext& context, tmpl::ReadyConversation& conversation);

}  // namespace rondo::render
