// The audit of one template: every scenario under every setting, what breaks and why, and what else is the matter.
//
//   audit::Input input;
//   input.chat_template = ...; input.tokenizer = ...;       // without a tokenizer: texts alone
//   auto report = audit::check(input, {});
//   for (const audit::Finding& finding : report.value().findings) ...
//
// Reads no clock and prints nothing; equal input gives an equal report.  A template is untrusted: each render has the
// limits below.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "audit/report.h"
#include "chat/conversation.h"
#include "jinja/template.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::audit {

struct Input {
  std::shared_ptr<const jinja::Template> chat_template;   // REQUIRES: not null
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // may be null
  chat::Conversation base;                                // kwargs, bos and eos; the rest is not used
  tmpl::ApplyOptions options;                             // `now` absent: a fixed time
  std::string model;                                      // as the caller calls it
};

struct Options {
  std::function<void(std::size_t done, std::size_t total)> on_progress;  // after each case; may be empty
  // Only these, and no properties that no case shows (properties.h); empty: all.
  std::vector<std::string> scenarios;  // only these; empty: all
};

// Fails with kInvalidArgument on an unknown scenario, and with kLimit where the template runs out of its limits on every
// conversation.  A template that refuses everything is reported, not failed.
[[nodiscard]] Result<Report> check(const Input& input, const Options& options);

}  // namespace rondo::audit
