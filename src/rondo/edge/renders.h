// Renders a Jinja template under the settings that an Edge template has.  Internal to edge/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "template/shape.h"

namespace rondo::edge {

// A template as its model provides it.
struct JinjaSource {
  const jinja::Template& chat_template;  // borrowed
  chat::Conversation base;               // special tokens and variables; no messages
  tmpl::MessageRules rules;              // what it needs of its messages; none for strict renders
  tmpl::ApplyOptions options;
};

struct Setting {
  bool generation_prompt = true;
  bool thinking = false;
  bool later = false;  // at a later time
};

class Renders {
 public:
  explicit Renders(const JinjaSource& source);

  // Sets the boolean variable that tells the template whether to think; "" for none.
  void set_thinking_variable(std::string name) { thinking_variable_ = std::move(name); }
  [[nodiscard]] const std::string& thinking_variable() const { return thinking_variable_; }

  [[nodiscard]] Result<jinja::Rendered> traced(json::Array messages, const Setting& setting) const;
  [[nodiscard]] Result<std::string> text(json::Array messages, const Setting& setting) const;

  // Renders with one additional variable.
  [[nodiscard]] Result<std::string> text_with(const json::Member& variable, json::Array messages) const;
  // Renders without the thinking variable.
  [[nodiscard]] Result<std::string> text_by_default(json::Array messages) const;

  // Returns whether a render may depend on the time.
  [[nodiscard]] bool reads_time() const { return reads_time_; }
  [[nodiscard]] const JinjaSource& source() const { return source_; }

 private:
  [[nodiscard]] Result<jinja::Rendered> render(json::Array messages, const Setting& setting, bool origins) const;
  [[nodiscard]] Result<jinja::Rendered> apply(const chat::Conversation& conversation, const Setting& setting,
                                              bool origins) const;

  const JinjaSource& source_;
  std::string thinking_variable_;
  bool reads_time_ = false;
};

}  // namespace rondo::edge
