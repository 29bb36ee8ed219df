// The prompt of a conversation, including one whose last message the model continues.
//
// A template writes the last message as history: it may refuse it, trim it, or leave its reasoning out.  In these cases
// the prompt is built from the format instead: first what the template writes before an answer, then the message as
// given, between the format's markers.
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
  std::vector<std::string> notes;  // sentences: where the prompt differs from what the template writes
};

// Called at most once, and only if the template does not write the message as given.
using FormatSource = std::function<Memo<format::Format>::Made()>;

// Makes the prompt.  Fails as tmpl::apply() does.  The field of a continued message is "content", a name for its
// reasoning, or "tool_calls".  With "tool_calls", the model continues the arguments of the last call, a JSON text that
// may end anywhere.  If `options` are strict, only the template is used, as in the reference.
[[nodiscard]] Result<Prompt> make_prompt(const Prepared& prepared, const chat::Conversation& conversation,
                                         const tmpl::ApplyOptions& options, const FormatSource& format);

// The end of a prompt, after the data of the messages that the model answers.  It shows whether reasoning or content is
// already open.
struct PromptTail {
  std::string text;  // up to where the model begins to write
  // the part that a continued message began, if it is known separately; otherwise it is the end of `text`
  std::string begun;
};

// Returns the tail of the prompt that these ids end.  A vocabulary may spell the ids differently than the prompt was
// written (blanks beside control tokens).  If the ids end with a generation prompt of `format`, its text is used.
// `format` is nullptr if none is known.
[[nodiscard]] Result<PromptTail> decoded_tail(const tokenizer::Tokenizer& tokenizer,
                                              std::span<const tokenizer::TokenId> ids, const format::Format* format);

// Returns the tail of the prompt that `conversation` makes.  Without messages, one plain user message is used.  If the
// template refuses the conversation, the format's tail is used.  Fails only with kLimit, or for a continued message.
[[nodiscard]] Result<PromptTail> prompt_tail(const Prepared& prepared, chat::Conversation conversation,
                                             bool has_messages, const std::shared_ptr<const format::Format>& format);

// Returns the offset after the last byte that came from `messages[i]` with i < `below`, or from the tools or documents.
[[nodiscard]] std::size_t end_of_earlier_data(const jinja::Rendered& rendered, std::int32_t below);

}  // namespace rondo::core
