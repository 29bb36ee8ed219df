// The prompt of a conversation, also of one whose last message the model goes on writing.
//
// A template writes such a message for history: it may refuse it, trim it, or leave its reasoning out.  Where it does, the
// prompt is built from the format instead: what the template writes before an answer, and behind it the message as given,
// between the format's own markers.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "core/memo.h"
#include "core/prepared.h"
#include "format/format.h"
#include "jinja/template.h"
#include "rondo/result.h"

namespace rondo::core {

struct Prompt {
  jinja::Rendered rendered;
  std::vector<std::string> notes;  // sentences: what does not stand there as the template writes it
};

// Asked at most once, and only where the template does not write the message as given.
using FormatSource = std::function<Memo<format::Format>::Made()>;

// As tmpl::apply().  The field of a continued message is "content", a name of its reasoning, or "tool_calls": then its last
// call goes on behind its arguments, a JSON text that may end anywhere.  Where `options` are strict the template alone
// counts, as in the reference.
[[nodiscard]] Result<Prompt> make_prompt(const Prepared& prepared, const chat::Conversation& conversation,
                                         const tmpl::ApplyOptions& options, const FormatSource& format);

// The end of a prompt, from behind the data of the messages that the model answers: it says whether reasoning or content is
// already open.
struct PromptTail {
  std::string text;   // up to where the model begins to write
  std::string begun;  // of a continued message, where that is known apart; else `text` ends with it
};

// Of the prompt that these ids end.  Where the vocabulary spells them in another way than the prompt was written (blanks beside
// control tokens), and they end with a generation prompt of `format`, its text.  nullptr: no format is known.
[[nodiscard]] Result<PromptTail> decoded_tail(const tokenizer::Tokenizer& tokenizer,
                                              std::span<const tokenizer::TokenId> ids, const format::Format* format);

// Of the prompt that `conversation` makes.  Without messages one plain user message is meant.  Where the template refuses the
// conversation, what the format says of the prompt counts; fails only with kLimit, and for a continued message.
[[nodiscard]] Result<PromptTail> prompt_tail(const Prepared& prepared, chat::Conversation conversation,
                                             bool has_messages, const std::shared_ptr<const format::Format>& format);

// Offset behind the last byte that came from `messages[i]` with i < `below`, or from the tools or documents.
[[nodiscard]] std::size_t end_of_earlier_data(const jinja::Rendered& rendered, std::int32_t below);

}  // namespace rondo::core
