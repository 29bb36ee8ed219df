// Messages that a template would leave out of the prompt without a word, because it does not know their role.
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

namespace rondo::core {

struct UnknownRole {
  std::size_t message = 0;
  std::string role;
  std::string_view why;  // "unknown role": what stands in front of the role in a sentence
};

// The first message whose role neither the public APIs nor the template know: a mistake, even where the template would print
// any role.  `compared`: jinja::Template::compared_roles().  Messages without a role are passed over, here and below.
[[nodiscard]] std::optional<UnknownRole> misspelled_role(const std::vector<std::string>& compared,
                                                         const json::Array& messages);

// The first message with content and a role that the template does not know, where it wrote nothing of any message of that
// role.  `owners`: the messages that something was written of, in any order, any number of times; -1 for nobody's text.
[[nodiscard]] std::optional<UnknownRole> unwritten_role(const std::vector<std::string>& compared,
                                                        const json::Array& messages,
                                                        std::span<const std::int32_t> owners);

// "messages[2].role: unknown role `robot`"
[[nodiscard]] std::string sentence(const UnknownRole& unknown);

// What unwritten_role() finds, among the notes.
void note_unwritten_role(const jinja::Template& chat_template, const json::Array& messages,
                         std::span<const std::int32_t> owners, std::vector<std::string>& notes);

}  // namespace rondo::core
