// What all questions of an audit have in common: the template, its format, and how it is rendered.
#pragma once

#include <memory>

#include "chat/conversation.h"
#include "format/format.h"
#include "jinja/template.h"
#include "render/stop.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::audit {

// The references must outlive it.
struct AuditContext {
  const jinja::Template& chat_template;
  // The model's own; where `has_tokenizer` is false, a byte tokenizer: a token for each byte, and the format's stops and markers
  // as added tokens.  Its ids mean nothing, and numbers of its tokens are not to be told.
  const tokenizer::Tokenizer& tokenizer;
  bool has_tokenizer = true;
  std::shared_ptr<const format::Format> format;  // never null
  const render::TurnProfile& profile;            // of `base`
  // Tools of the scenarios (scenarios.h), kwargs of the request, bos and eos; no messages.
  const chat::Conversation& base;
  const tmpl::ApplyOptions& options;

  [[nodiscard]] render::TurnContext turn() const { return {chat_template, tokenizer, base, options}; }
};

}  // namespace rondo::audit
