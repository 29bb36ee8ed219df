// What all questions of an audit share: the template, its format, and how to render it.
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
  // The model's own tokenizer.  If `has_tokenizer` is false, a byte tokenizer: a token for each byte, and the format's
  // stops and markers as added tokens.  Its ids mean nothing, and its numbers of tokens must not be reported.
  const tokenizer::Tokenizer& tokenizer;
  bool has_tokenizer = true;
  std::shared_ptr<const format::Format> format;  // never null
  const render::TurnProfile& profile;            // for `base`
  // The tools of the scenarios (scenarios.h), the kwargs of the request, bos and eos; no messages.
  const chat::Conversation& base;
  const tmpl::ApplyOptions& options;

  [[nodiscard]] render::TurnContext turn() const { return {chat_template, tokenizer, base, options}; }
};

}  // namespace rondo::audit
