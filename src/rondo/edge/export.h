// Export: finds the Edge template that writes what a Jinja template writes, and how far the two agree.
//
// Prefixes, suffixes and formats come from the origins of probe renders.  Then both templates write made-up
// conversations.  The export promises only what was equal in all of them.
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
  bool lossless = false;           // both agree on every plain conversation; see is_lossless()
  std::optional<Kind> kind;        // the conversations on which both agree; nullopt: none are known
  std::vector<std::string> loses;  // sentences: what is written differently or not at all
  std::string thinking_variable;   // the template's name for `enable_thinking`; "" if it has no such switch
  std::size_t compared = 0;        // how many pairs of prompts
};

// Exports a template.  The file gets `model_path`, unless the template was imported from a file.  Fails with
// kUnsupported if the template writes no user message unchanged.
[[nodiscard]] Result<Exported> export_template(const JinjaSource& source, const std::string& model_path);

// Compares a given Edge template with the Jinja template: for which conversations it is right.
[[nodiscard]] Exported compare(const JinjaSource& source, EdgeTemplate edge_template);

// {"lossless", "loses", "template", "lossless_for"?, "sentence"?, "thinking_variable"?, "compared"}
[[nodiscard]] json::Value to_json(const Exported& exported);

}  // namespace rondo::edge
