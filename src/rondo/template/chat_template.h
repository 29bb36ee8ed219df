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
  bool origins = true;       // see jinja::RenderOptions
  bool whole_dumps = false;  // see there
  limits::Render limits;
};

// The variables that a template sees for `conversation`: messages with their reasoning aliases, tools, documents (none
// if absent), add_generation_prompt, bos_token, eos_token, and the kwargs, which win.
[[nodiscard]] json::Object template_variables(const chat::Conversation& conversation);

// The same with other messages, and another add_generation_prompt, than the conversation's own.
[[nodiscard]] json::Object template_variables(const chat::Conversation& conversation, json::Array messages,
                                              bool add_generation_prompt);

// The field of a message that its reasoning comes from; "" if it has none.  See template_variables().
[[nodiscard]] std::string_view reasoning_field(const json::Value& message);

// The prompt.  With continue_final_message the text ends right behind that field's text; kTemplateError if the template
// does not write it.  Origins' paths refer to the variables of template_variables().
[[nodiscard]] Result<jinja::Rendered> apply(const jinja::Template& chat_template,
                                            const chat::Conversation& conversation, const ApplyOptions& options);
// The prompt of other messages than the conversation's own; nothing is continued.
[[nodiscard]] Result<jinja::Rendered> apply(const jinja::Template& chat_template,
                                            const chat::Conversation& conversation, const json::Array& messages,
                                            bool add_generation_prompt, const ApplyOptions& options);

// A conversation made ready for a template, with messages that come and go at its end: for many renders that begin with the
// same messages, which are not copied again for each.
class ReadyConversation {
 public:
  // `base` as a conversation, but for its messages.
  ReadyConversation(const chat::Conversation& base, std::span<const json::Value> messages);

  [[nodiscard]] std::size_t size() const { return size_; }  // of messages
  void push(const json::Value& message);
  // Drops messages at the end.  REQUIRES: size <= size().
  void shrink(std::size_t size);
  // As apply(); nothing is continued.
  [[nodiscard]] Result<jinja::Rendered> render(const jinja::Template& chat_template, bool add_generation_prompt,
                                               const ApplyOptions& options);

 private:
  json::Object variables_;
  std::size_t size_ = 0;
  bool is_replaced_ = false;      // kwargs have other messages
  bool is_prompt_fixed_ = false;  // kwargs say add_generation_prompt
};

}  // namespace rondo::tmpl
