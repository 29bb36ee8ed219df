// How turns end in a traced render: what closes them, and which token stops them.
//
// Everything is derived from the origins of one render (probe/turns.h) and from the tokenizer's added tokens.  No
// marker is known in advance.
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
using probe::end_of_data;
using probe::Extent;
using probe::is_message_data;
using probe::owner;
using probe::tail_end;
using probe::turn_begin;

// An added token in a text.
struct Marker {
  std::size_t begin = 0;
  std::size_t end = 0;
  tokenizer::TokenId id = 0;
};

// Returns the added tokens of `text` in order.
[[nodiscard]] std::vector<Marker> markers(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// Returns the marker that most likely closes a turn: the last one that ends generation according to the tokenizer's
// files; otherwise the last special one; otherwise the last one.
[[nodiscard]] std::optional<Marker> closing_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// Returns the marker at the start of `text`, ignoring white space before it.
[[nodiscard]] std::optional<Marker> leading_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text);

// Returns the length of the longest beginning of `closing` that `text` ends with.  A cut-off beginning of a control
// token does not count: it is text.
[[nodiscard]] std::size_t overlap(const tokenizer::Tokenizer& tokenizer, std::string_view text,
                                  std::string_view closing);

// What all questions about the turns of one conversation share.  The references must outlive it.
struct TurnContext {
  const jinja::Template& chat_template;
  const tokenizer::Tokenizer& tokenizer;
  const chat::Conversation& base;  // tools, documents, kwargs, bos and eos; its messages are not used
  const tmpl::ApplyOptions& options;
};

// Renders `messages` with the tools, documents and kwargs of the context.
[[nodiscard]] Result<jinja::Rendered> render_messages(const TurnContext& context, const json::Array& messages,
                                                      bool add_generation_prompt);

// How plain assistant turns end, derived from two small probe renders.
struct PlainClose {
  std::optional<Marker> marker;  // the token that closes a plain turn in its own text (offsets into `text`)
  std::string text;              // what the template writes after the content of a plain turn that is last
  std::string followed;          // the same when a user message follows
};
[[nodiscard]] PlainClose probe_plain_close(const TurnContext& context);

// How an assistant turn ends in a render in which messages follow it.
struct TurnClose {
  std::string closers;  // what the template writes between the data and the stop
  std::string stop;     // the text of the stop token; or a literal ending, if no token marks the end
  std::optional<tokenizer::TokenId> stop_id;  // its id, if it is a token
  std::string history_close;                  // what replaces the stop once other messages follow
  std::size_t suffix_begin = 0;               // offset in the render of the text after the history close
  bool stop_opens_next = false;               // the stop token is the first token of the next turn
};

// The assistant message whose end is sought.
struct ClosedTurn {
  std::int32_t index = 0;
  bool has_calls = false;
  std::string_view alone;  // tail_alone() of the message
};

// Finds how that turn ends in `full`, a render of the turn and what follows it, with a generation prompt.  Returns
// nullopt if the template writes nothing of the message, or nothing that ends its turn.
[[nodiscard]] std::optional<TurnClose> find_turn_close(const TurnContext& context, const PlainClose& plain,
                                                       const jinja::Rendered& full, const ClosedTurn& turn);

[[nodiscard]] bool has_calls(const json::Value& message);

// Returns what the template writes after the data of `messages[index]` when it is the last message.
[[nodiscard]] std::string tail_alone(const TurnContext& context, const json::Array& messages, std::int32_t index);
// Returns the same for the last message of `conversation`.
[[nodiscard]] std::string tail_alone(const TurnContext& context, tmpl::ReadyConversation& conversation);

}  // namespace rondo::render
