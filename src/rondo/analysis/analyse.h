// Analysis: Template -> Format, from what a few small renders show.
//
//   auto format = analysis::analyse(*chat_template, {});      // once per template; keep it
//
// The template renders conversations whose texts are placeholders; the origins of the output (text/text.h) say which
// bytes are reasoning, content, names and arguments, and everything between them is a marker.  No marker is known in
// advance.  A pure function: equal input gives an equal Format.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "format/format.h"
#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::analysis {

struct Options {
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  json::Object kwargs;                              // template variables, as for the real renders
  std::optional<jinja::LocalTime> now;              // a fixed time stands for an absent one
  const tokenizer::Tokenizer* tokenizer = nullptr;  // if known: its end ids are stops too
  limits::Render limits;
};

// Never fails because the template refuses some, or all, of the probes: what could not be seen is left out of the
// Format and said in its notes.  Fails with kLimit when a probe runs out of its limits.
[[nodiscard]] Result<std::shared_ptr<const format::Format>> analyse(const jinja::Template& chat_template,
                                                                    const Options& options);

}  // namespace rondo::analysis
