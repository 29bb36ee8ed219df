// Places of a template, and what stands at a byte of a render.  Internal to audit/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/report.h"
#include "jinja/outline.h"
#include "jinja/template.h"

namespace rondo::audit {

// The run that holds byte `at`, and where it begins; nullptr behind the end.
struct Spot {
  const text::Run* run = nullptr;
  std::size_t begin = 0;
};
[[nodiscard]] Spot spot_at(const jinja::Rendered& rendered, std::size_t at);

// The first run from byte `at` on that came from the input, at most `reach` bytes behind it.
[[nodiscard]] Spot input_from(const jinja::Rendered& rendered, std::size_t at, std::size_t reach);

// Where the template has what wrote the run: a literal, or the output expression; line 0 if unknown.
[[nodiscard]] text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      const text::Run& run);

// Where the template wrote the byte: of a literal that character, of a value the output expression; line 0 if unknown.
[[nodiscard]] text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                       std::size_t at);

[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal);

// Whether byte `at` of `text` is one of `mark`'s, or white space stands between it and `mark`.
[[nodiscard]] bool is_at_mark(std::string_view text, std::size_t at, std::string_view mark);

// "line 39 `{%- if loop.last %}`"
[[nodiscard]] std::string in_words(const TemplatePlace& place);

// Whether `after` came to another decision than `before` about what stands at a place: the condition of an if statement
// around one of `places`, or of their own tag.  The closest one; nullptr if there is none.
[[nodiscard]] const jinja::Decision* flip_around(const jinja::Outline& outline, const jinja::Rendered& before,
                                                 const jinja::Rendered& after, std::int32_t message,
                                                 const std::vector<text::Literal>& places);

}  // namespace rondo::audit
