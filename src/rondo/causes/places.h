// Places of a template, which of them wrote a byte of a render, and which conditions went another way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "causes/cause.h"
#include "jinja/reading/outline.h"
#include "jinja/template.h"
#include "rondo/result.h"

namespace rondo::causes {

// Where the template has what wrote the run: a literal, or the output expression; line 0 if unknown.
[[nodiscard]] text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      const text::Run& run);

// Where the template wrote the byte: of a literal that character, of a value the output expression; line 0 if unknown.
[[nodiscard]] text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                       std::size_t at);

[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal);

// Where an error happened, if it has a place.
[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const Error& error);
// Where byte `at` was written, or the last byte of a shorter text: its literal, or the expression that printed it.
[[nodiscard]] TemplatePlace place_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                     std::size_t at);

// The last condition that looked at that field of the message.
[[nodiscard]] TemplatePlace last_look(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      std::int32_t message, std::string_view field);

// Whether byte `at` of `text` is one of `mark`'s, or white space stands between it and `mark`.
[[nodiscard]] bool is_at_mark(std::string_view text, std::size_t at, std::string_view mark);

// "line 39 `{%- if loop.last %}`"
[[nodiscard]] std::string in_words(const TemplatePlace& place);

// Whether `after` came to another decision than `before` about what stands at a place: the condition of an if statement
// around one of `places`, or of their own tag.  The closest one; nullptr if there is none.
[[nodiscard]] const jinja::Decision* flip_around(const jinja::Outline& outline, const jinja::Rendered& before,
                                                 const jinja::Rendered& after, std::int32_t message,
                                                 const std::vector<text::Literal>& places);

// Where byte `at` came from: "template line 39" or "messages[1].content via strip".
[[nodiscard]] std::string describe_origin(const jinja::Rendered& rendered, std::size_t at);

// The source line of a template, trimmed, for messages; "" if there is no such line.
[[nodiscard]] std::string source_line(const jinja::Template& chat_template, std::int32_t line);

// Every condition that went another way in `after` than in `before`, under the same input element; in order.
[[nodiscard]] std::vector<const jinja::Decision*> flips(const jinja::Rendered& before, const jinja::Rendered& after);

// The first condition that went another way in `after` than in `before`, under the same input element.  One that was
// evaluated under `message` is preferred (kNoMessage: none is).  nullptr if all went the same way.
[[nodiscard]] const jinja::Decision* first_flip(const jinja::Rendered& before, const jinja::Rendered& after,
                                                std::int32_t message);

}  // namespace rondo::causes
