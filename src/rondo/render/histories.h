// Histories that a template is tried behind, to find whether what it writes for new messages depends on the older ones.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "jinja/template.h"
#include "render/completion.h"
#include "template/chat_template.h"

namespace rondo::render {

// A completion with `calls` calls, or plain text.
[[nodiscard]] ParsedCompletion trial_completion(const format::InputShape& input, std::size_t calls, bool reasons);
// The results of that many of its calls.
[[nodiscard]] json::Array trial_results(std::size_t count);

// Histories up to the message that the model answers: exchanges of all kinds alone, in pairs and in a long row; for tools
// also inside a cycle.  Every other one has a system message.  `constants` stand in some of the texts.
[[nodiscard]] std::vector<json::Array> trial_histories(const format::InputShape& input,
                                                       const std::vector<std::string>& constants);

// What the template searches in input text; up to `most`.
[[nodiscard]] std::vector<std::string> searched_constants(const jinja::Template& chat_template,
                                                          const chat::Conversation& base,
                                                          const tmpl::ApplyOptions& options, std::size_t most);

// The new turns of a render.
struct NewTurns {
  std::size_t begin = 0;                       // their first byte
  std::int32_t message = 0;                    // their first message
  std::function<bool(text::PathId)> is_older;  // whether a place belongs to a message that must not matter
};
// The first reason to think that they depend on older messages: a byte of theirs, or a condition that decides on them; "" if
// there is none.
[[nodiscard]] std::string dependence(const jinja::Rendered& full, const NewTurns& turns);

}  // namespace rondo::render
