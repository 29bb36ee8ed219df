// A model's template and tokenizer, chosen for one conversation, and what is derived from them.  Internal to core/, but for
// faces that render in ways of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/capabilities.h"
#include "analysis/explain.h"
#include "analysis/reasoning_switch.h"
#include "chat/conversation.h"
#include "core/memo.h"
#include "format/format.h"
#include "jinja/template.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "template/shape.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

struct Prepared {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // null if the model has none
  tmpl::ApplyOptions options;
  bool is_tool_template = false;  // the model's own template for conversations with tools
};

// The conversation's tools, documents, template variables and special tokens alone.
[[nodiscard]] chat::Conversation without_messages(const chat::Conversation& conversation);

// Names what may be derived from `prepared` and all of `conversation` but its messages, for a Memo of one model.
[[nodiscard]] std::string derived_key(const Prepared& prepared, const chat::Conversation& conversation);

// The same of the time: a template that prints it is another one with each second.
[[nodiscard]] std::string time_key(const Prepared& prepared);

// Fails with kLimit when the template runs out of its limits, and as format::from_json() when the corrections do not fit:
// parts of a format's JSON (docs/format.md) that count instead of what was inferred.
[[nodiscard]] Memo<format::Format>::Made inferred_format(Memo<format::Format>& formats, const Prepared& prepared,
                                                         const chat::Conversation& conversation,
                                                         const std::optional<json::Object>& corrections);

// What the template needs of its messages.  `format`: its own.
[[nodiscard]] Memo<tmpl::MessageRules>::Made message_rules(Memo<tmpl::MessageRules>& rules, const Prepared& prepared,
                                                           const chat::Conversation& conversation,
                                                           const format::Format& format);

// A template for conversations of one kind, with what is known of it.
struct Known {
  Prepared prepared;
  chat::Conversation conversation;
  std::shared_ptr<const format::Format> format;
  std::shared_ptr<const tmpl::MessageRules> rules;
};
[[nodiscard]] analysis::Capabilities capabilities_of(const Known& plain, const Known& with_tools);
// What of the template's variables turns reasoning on and off.  `format`: its own.
[[nodiscard]] Memo<analysis::ReasoningSwitch>::Made reasoning_switch(Memo<analysis::ReasoningSwitch>& switches,
                                                                     const Prepared& prepared,
                                                                     const chat::Conversation& conversation,
                                                                     const format::Format& format);

// An inferred_format() with its grounds, made anew each time.
[[nodiscard]] Result<analysis::Explanation> explained_format(const Prepared& prepared,
                                                             const chat::Conversation& conversation,
                                                             const std::optional<json::Object>& corrections);

}  // namespace rondo::core
