// Export: the Edge template that writes what a Jinja template writes, as far as there is one, and how far that is.
//
// Prefixes, suffixes and formats are read off the origins of probe renders; then both write made-up conversations, and what
// is promised is what was equal in all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "edge/edge_template.h"
#include "edge/kind.h"
#include "edge/renders.h"
#include "rondo/result.h"

namespace rondo::edge {

struct Exported {
  EdgeTemplate edge_template;
  bool lossless = false;           // every plain conversation is of the kind; see is_lossless()
  std::optional<Kind> kind;        // the conversations for which both write the same; nullopt: none are known
  std::vector<std::string> loses;  // sentences: what is written in another way, or not at all
  std::string thinking_variable;   // what `enable_thinking` is called in the template; "" if it has no such switch
  std::size_t compared = 0;        // pairs of prompts
};

// `model_path` goes into the file, unless the template was imported from one.  Fails with kUnsupported where the template
// writes no user message as it is.
[[nodiscard]] Result<Exported> export_template(const JinjaSource& source, const std::string& model_path);

// The same for an Edge template that is given: what of it holds for the Jinja template.
[[nodiscard]] Exported compare(const JinjaSource& source, EdgeTemplate edge_template);

// {"lossless", "loses", "template", "lossless_for"?, "sentence"?, "thinking_variable"?, "compared"}
[[nodiscard]] json::Value to_json(const Exported& exported);

}  // namespace rondo::edge
