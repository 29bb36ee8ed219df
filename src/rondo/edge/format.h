// Messages in the words of an Edge template: what the runtime of TensorRT Edge-LLM puts together.
//
//   edge::format(edge_template, messages, {}).value().complete
//
// A first message of the role `system` is the system prompt, else the template's default is; every other message stands
// between its role's prefix and suffix.  Later system messages stay where they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "edge/edge_template.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::edge {

struct FormatOptions {
  bool apply_chat_template = true;  // false: texts and placeholders alone
  bool add_generation_prompt = true;
  bool enable_thinking = false;  // the prompt for thinking, where the template has one
  // In place of the template's own, for requests without a system message; the request files' old field.
  std::optional<std::string> default_system_prompt = {};
};

struct Formatted {
  std::string system;                 // the formatted system prompt, which begins `complete`; "" if there is none
  std::string complete;               // the whole prompt
  std::vector<std::string> warnings;  // what was left out, with its path
};

// `place` is what `messages` are called in sentences.  Fails with kInvalidArgument where there is no message, or one without
// a role or content of the right type.
[[nodiscard]] Result<Formatted> format(const EdgeTemplate& edge_template, const json::Value& messages,
                                       const FormatOptions& options, const std::string& place = "messages");

// {"system", "complete", "warnings"?}
[[nodiscard]] json::Value to_json(const Formatted& formatted);

// The name of the content type that stands for parts of that type.
[[nodiscard]] std::string_view content_type_of(std::string_view part_type);

}  // namespace rondo::edge
