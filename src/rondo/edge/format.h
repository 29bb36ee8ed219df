// Formats messages with an Edge template, as the runtime of TensorRT Edge-LLM does.
//
//   edge::format(edge_template, messages, {}).value().complete
//
// A first message of role `system` is the system prompt; otherwise the template's default is.  Every other message goes
// between the prefix and suffix of its role.  Later system messages stay where they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "edge/edge_template.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::edge {

struct FormatOptions {
  bool apply_chat_template = true;  // false: only texts and placeholders
  bool add_generation_prompt = true;
  bool enable_thinking = false;  // use the generation prompt for thinking, if the template has one
  // Replaces the template's default for requests without a system message; an old field of request files.
  std::optional<std::string> default_system_prompt = {};
};

struct Formatted {
  std::string system;                 // the formatted system prompt, with which `complete` begins; "" if there is none
  std::string complete;               // the whole prompt
  std::vector<std::string> warnings;  // sentences: what was left out, with its path
};

// `place` names `messages` in sentences.  Fails with kInvalidArgument if there is no message, or one without a role or
// content of the right type.
[[nodiscard]] Result<Formatted> format(const EdgeTemplate& edge_template, const json::Value& messages,
                                       const FormatOptions& options, const std::string& place = "messages");

// {"system", "complete", "warnings"?}
[[nodiscard]] json::Value to_json(const Formatted& formatted);

// Returns the name of the content type for parts of that type.
[[nodiscard]] std::string_view content_type_of(std::string_view part_type);

}  // namespace rondo::edge
