// Analysis: infers the Format of a template from a few small renders.
//
//   auto format = analysis::analyse(*chat_template, {});      // once per template; keep it
//
// The template renders conversations whose texts are placeholders.  The origins of the output (text/text.h) tell which
// bytes are reasoning, content, names and arguments.  Everything between them is a marker.  No marker is known in
// advance.  This is a pure function: equal input gives an equal Format.
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
  json::Object kwargs;                              // template variables, as in the real renders
  std::optional<jinja::LocalTime> now;              // if absent, a fixed time is used
  const tokenizer::Tokenizer* tokenizer = nullptr;  // if known, its end ids are also stops
  limits::Render limits;
};

// Infers the format.  Does not fail if the template refuses some or all of the probes: a part that no probe shows is
// left out of the Format, and the Format's notes say so.  Fails with kLimit if a probe exceeds its limits.
[[nodiscard]] Result<std::shared_ptr<const format::Format>> analyse(const jinja::Template& chat_template,
                                                                    const Options& options);

}  // namespace rondo::analysis
