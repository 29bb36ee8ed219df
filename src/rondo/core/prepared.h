// A model's template and tokenizer, chosen for one conversation, and what is derived from them.  Internal to core/ and
// to interfaces that render in their own way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
  bool is_tool_template = false;  // whether it is the model's own template for conversations with tools
};

// Returns the conversation without its messages: tools, documents, template variables and special tokens.
[[nodiscard]] chat::Conversation without_messages(const chat::Conversation& conversation);

// Returns a memo key for what may be derived from `prepared` and from all of `conversation` but its messages.
[[nodiscard]] std::string derived_key(const Prepared& prepared, const chat::Conversation& conversation);

// What a template may show of the clock.
enum class ClockUse : std::uint8_t { kNone, kDate, kTime };
[[nodiscard]] ClockUse clock_use(std::string_view source);

// Returns a memo key for the time: a template that shows the time may write something else each second, one that shows
// the date each day.
[[nodiscard]] std::string time_key(const Prepared& prepared);

// Infers the format of the template.  `corrections` are parts of a format's JSON (docs/format.md) that override the
// inferred ones.  Fails with kLimit if the template exceeds its limits, or as format::from_json() does if the
// corrections do not fit.
[[nodiscard]] Memo<format::Format>::Made inferred_format(Memo<format::Format>& formats, const Prepared& prepared,
                                                         const chat::Conversation& conversation,
                                                         const std::optional<json::Object>& corrections);

// Finds what the template needs of its messages.  `format` is the template's format.
[[nodiscard]] Memo<tmpl::MessageRules>::Made message_rules(Memo<tmpl::MessageRules>& rules, const Prepared& prepared,
                                                           const chat::Conversation& conversation,
                                                           const format::Format& format);

// A template for conversations of one kind, with what is known about it.
struct Known {
  Prepared prepared;
  chat::Conversation conversation;
  std::shared_ptr<const format::Format> format;
  std::shared_ptr<const tmpl::MessageRules> rules;
};
[[nodiscard]] analysis::Capabilities capabilities_of(const Known& plain, const Known& with_tools);
// Finds the template variables that turn reasoning on and off.  `format` is the template's format.
[[nodiscard]] Memo<analysis::ReasoningSwitch>::Made reasoning_switch(Memo<analysis::ReasoningSwitch>& switches,
                                                                     const Prepared& prepared,
                                                                     const chat::Conversation& conversation,
                                                                     const format::Format& format);

// Infers the format and explains it.  Made anew each time.
[[nodiscard]] Result<analysis::Explanation> explained_format(const Prepared& prepared,
                                                             const chat::Conversation& conversation,
                                                             const std::optional<json::Object>& corrections);

}  // namespace rondo::core
