// Finds messages that a template would silently leave out because it does not know their role.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::core {

struct UnknownRole {
  std::size_t message = 0;
  std::string role;
  std::string_view why;  // the text before the role in a sentence: "unknown role"
};

// Returns the first message whose role neither the public APIs nor the template know.  Such a role is a mistake even if
// the template would print it.  `compared` is jinja::Template::compared_roles().  Both functions skip messages without
// a role.
[[nodiscard]] std::optional<UnknownRole> misspelled_role(const std::vector<std::string>& compared,
                                                         const json::Array& messages);

// Returns the first message with content whose role the template does not know, if the template wrote nothing of any
// message with that role.  `owners` are the messages that were written, in any order and possibly repeated; -1 is text
// of no message.
[[nodiscard]] std::optional<UnknownRole> unwritten_role(const std::vector<std::string>& compared,
                                                        const json::Array& messages,
                                                        std::span<const std::int32_t> owners);

// Returns a sentence: "messages[2].role: unknown role `robot`".
[[nodiscard]] std::string sentence(const UnknownRole& unknown);

// Fail with kInvalidArgument and that sentence if misspelled_role() (unwritten_role()) finds a message.  check_roles()
// also fails if a message does not have the shape that chat::check_messages() demands.
[[nodiscard]] Status check_roles(const jinja::Template& chat_template, const json::Array& messages);
[[nodiscard]] Status check_all_written(const jinja::Template& chat_template, const json::Array& messages,
                                       std::span<const std::int32_t> owners);

// What unwritten_role() finds, among the notes.
void note_unwritten_role(const jinja::Template& chat_template, const json::Array& messages,
                         std::span<const std::int32_t> owners, std::vector<std::string>& notes);

}  // namespace rondo::core
