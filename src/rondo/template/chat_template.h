// Applies a chat template to a conversation, as transformers' apply_chat_template does, with origins.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "rondo/result.h"

namespace rondo::tmpl {

struct ApplyOptions {
  bool strict = false;
  std::optional<jinja::LocalTime> now;
  bool origins = true;       // as in jinja::RenderOptions
  bool whole_dumps = false;  // as in jinja::RenderOptions
  limits::Render limits;
};

// Returns the variables that a template gets for `conversation`: messages with aliases for their reasoning, tools,
// documents (None if absent), add_generation_prompt, bos_token, eos_token, and the kwargs, which override the others.
[[nodiscard]] json::Object template_variables(const chat::Conversation& conversation);

// Returns the same with other messages and another add_generation_prompt than the conversation's own.
[[nodiscard]] json::Object template_variables(const chat::Conversation& conversation, json::Array messages,
                                              bool add_generation_prompt);

// Returns the field of a message that its reasoning comes from; "" if it has none.  See template_variables().
[[nodiscard]] std::string_view reasoning_field(const json::Value& message);

// Returns the prompt.  With continue_final_message the text ends directly after the text of that field; fails with
// kTemplateError if the template does not write it.  Paths in the origins refer to the variables of
// template_variables().
[[nodiscard]] Result<jinja::Rendered> apply(const jinja::Template& chat_template,
                                            const chat::Conversation& conversation, const ApplyOptions& options);
// Returns the prompt of other messages than the conversation's own.  Continues no message.
[[nodiscard]] Result<jinja::Rendered> apply(const jinja::Template& chat_template,
                                            const chat::Conversation& conversation, const json::Array& messages,
                                            bool add_generation_prompt, const ApplyOptions& options);

// A conversation prepared for many renders that begin with the same messages.  Messages are added and removed at its
// end; the others are not copied again for each render.
class ReadyConversation {
 public:
  // `base` gives everything but the messages.
  ReadyConversation(const chat::Conversation& base, std::span<const json::Value> messages);

  [[nodiscard]] std::size_t size() const { return size_; }  // how many messages
  void push(const json::Value& message);
  // Removes messages at the end.
  //
  // REQUIRES: size <= size().
  void shrink(std::size_t size);
  // Does apply().  Continues no message.
  [[nodiscard]] Result<jinja::Rendered> render(const jinja::Template& chat_template, bool add_generation_prompt,
                                               const ApplyOptions& options);

 private:
  json::Object variables_;
  std::size_t size_ = 0;
  bool is_replaced_ = false;      // kwargs replace the messages
  bool is_prompt_fixed_ = false;  // kwargs set add_generation_prompt
};

}  // namespace rondo::tmpl
