// The input of an audit.
#pragma once

#include <memory>
#include <string>

#include "chat/conversation.h"
#include "jinja/template.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::audit {

struct Input {
  std::shared_ptr<const jinja::Template> chat_template;   // REQUIRES: not null
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // may be null
  chat::Conversation base;                                // kwargs, bos and eos; the rest is not used
  tmpl::ApplyOptions options;                             // if `now` is absent, a fixed time is used
  std::string model;                                      // the caller's name for it
};

}  // namespace rondo::audit
