// What stands where in a render.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "jinja/template.h"

namespace rondo::probe {

// Bytes [begin, end).  REQUIRES: begin is not behind the end of the text.
[[nodiscard]] std::string_view slice(const jinja::Rendered& rendered, std::size_t begin, std::size_t end);

// The run that holds byte `at`, and where it begins; nullptr behind the end.
struct Spot {
  const text::Run* run = nullptr;
  std::size_t begin = 0;
};
[[nodiscard]] Spot spot_at(const jinja::Rendered& rendered, std::size_t at);

// The first run from byte `at` on that came from the input, at most `reach` bytes behind it; nullptr if there is none.
[[nodiscard]] Spot input_from(const jinja::Rendered& rendered, std::size_t at, std::size_t reach);

// The field of a message that the path lies in: "content" for messages[2].content[0].text.  "" if it lies in none.
[[nodiscard]] std::string_view message_field(const text::PathTable& paths, text::PathId path);

// Whether anything of message `index`'s reasoning is written; `own_field` is the template's own name for it, if it has one.
[[nodiscard]] bool shows_reasoning(const jinja::Rendered& rendered, std::int32_t index,
                                   std::string_view own_field = {});

}  // namespace rondo::probe
