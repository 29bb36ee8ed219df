// Trial histories.  They show whether what a template writes for new messages depends on older ones.
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

// Returns a completion with `calls` calls; for 0, plain text.
[[nodiscard]] ParsedCompletion trial_completion(const format::InputShape& input, std::size_t calls, bool reasons);
// Returns the results of the first `count` of its calls.
[[nodiscard]] json::Array trial_results(std::size_t count);

// Returns histories that end with the message that the model answers: exchanges of each kind, alone, in pairs and in a
// long row, and for tools also inside a cycle.  Every second history has a system message.  `constants` appear in some
// of the texts.
[[nodiscard]] std::vector<json::Array> trial_histories(const format::InputShape& input,
                                                       const std::vector<std::string>& constants);

// Returns at most `most` constants that the template searches for in input text.
[[nodiscard]] std::vector<std::string> searched_constants(const jinja::Template& chat_template,
                                                          const chat::Conversation& base,
                                                          const tmpl::ApplyOptions& options, std::size_t most);

// The new turns in a render.
struct NewTurns {
  std::size_t begin = 0;                       // their first byte
  std::int32_t message = 0;                    // the first of their messages
  std::function<bool(text::PathId)> is_older;  // whether a place belongs to a message that must not matter
};
// Returns the first sign that the new turns depend on older messages: a byte that came from one, or a condition on one
// that decides on a new turn.  Returns "" if there is none.
[[nodiscard]] std::string dependence(const jinja::Rendered& full, const NewTurns& turns);

}  // namespace rondo::render
