// Places of a template: which of them wrote a byte of a render, and which conditions changed their outcome.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "causes/cause.h"
#include "jinja/reading/outline.h"
#include "jinja/template.h"
#include "rondo/result.h"

namespace rondo::causes {

// Returns the place in the template that wrote the run: a literal, or the output expression.  Line 0: unknown.
[[nodiscard]] text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      const text::Run& run);

// Returns the place in the template that wrote the byte: for a literal the character, for a value the output
// expression.  Line 0: unknown.
[[nodiscard]] text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                       std::size_t at);

[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal);

// Returns where an error happened, if it has a place.
[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const Error& error);
// Returns where byte `at` (or the last byte of a shorter text) was written: its literal, or the expression that printed
// it.
[[nodiscard]] TemplatePlace place_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                     std::size_t at);

// Returns the last condition that read that field of the message.
[[nodiscard]] TemplatePlace last_look(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      std::int32_t message, std::string_view field);

// Returns whether byte `at` of `text` belongs to `mark`, or only white space is between it and `mark`.
[[nodiscard]] bool is_at_mark(std::string_view text, std::size_t at, std::string_view mark);

// Returns "line 39 `{%- if loop.last %}`".
[[nodiscard]] std::string in_words(const TemplatePlace& place);

// Returns a decision that came out differently in `after` than in `before` and decides on one of `places`: the
// condition of an if statement around it, or of its own tag.  Returns the closest one; nullptr if there is none.
[[nodiscard]] const jinja::Decision* flip_around(const jinja::Outline& outline, const jinja::Rendered& before,
                                                 const jinja::Rendered& after, std::int32_t message,
                                                 const std::vector<text::Literal>& places);

// Returns where byte `at` came from: "template line 39" or "messages[1].content via strip".
[[nodiscard]] std::string describe_origin(const jinja::Rendered& rendered, std::size_t at);

// Returns the trimmed source line of a template, for messages; "" if there is no such line.
[[nodiscard]] std::string source_line(const jinja::Template& chat_template, std::int32_t line);

// Returns in order every condition that came out differently in `after` than in `before` for the same input element.
[[nodiscard]] std::vector<const jinja::Decision*> flips(const jinja::Rendered& before, const jinja::Rendered& after);

// Returns the first condition that came out differently in `after` than in `before` for the same input element.  One
// that was evaluated for `message` is preferred (kNoMessage: none is).  Returns nullptr if there is none.
[[nodiscard]] const jinja::Decision* first_flip(const jinja::Rendered& before, const jinja::Rendered& after,
                                                std::int32_t message);

}  // namespace rondo::causes
