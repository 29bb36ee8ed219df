// Finds what is at a place of a render.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "jinja/template.h"

namespace rondo::probe {

// Returns bytes [begin, end).
//
// REQUIRES: begin <= size of the text.
[[nodiscard]] std::string_view slice(const jinja::Rendered& rendered, std::size_t begin, std::size_t end);

// The run that contains byte `at`, and where it begins; nullptr past the end.
struct Spot {
  const text::Run* run = nullptr;
  std::size_t begin = 0;
};
[[nodiscard]] Spot spot_at(const jinja::Rendered& rendered, std::size_t at);

// Returns the first run from byte `at` on that came from the input and begins at most `reach` bytes later; nullptr if
// there is none.
[[nodiscard]] Spot input_from(const jinja::Rendered& rendered, std::size_t at, std::size_t reach);

// Returns the field of a message that the path is in: "content" for messages[2].content[0].text.  Returns "" if it is
// in none.
[[nodiscard]] std::string_view message_field(const text::PathTable& paths, text::PathId path);

// Returns whether any of message `index`'s reasoning is written.  `own_field` is the template's own name for reasoning,
// if it has one.
[[nodiscard]] bool shows_reasoning(const jinja::Rendered& rendered, std::int32_t index,
                                   std::string_view own_field = {});

}  // namespace rondo::probe
