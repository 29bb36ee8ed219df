// Places of a template, and which of them wrote a byte of a render.  Internal to audit/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "audit/context.h"
#include "audit/report.h"
#include "jinja/outline.h"
#include "jinja/template.h"

namespace rondo::audit {

// Where the template has what wrote the run: a literal, or the output expression; line 0 if unknown.
[[nodiscard]] text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      const text::Run& run);

// Where the template wrote the byte: of a literal that character, of a value the output expression; line 0 if unknown.
[[nodiscard]] text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                       std::size_t at);

[[nodiscard]] TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal);

// Where an error happened, if it has a place.
[[nodiscard]] TemplatePlace place_of(const AuditContext& context, const Error& error);
// Where byte `at` was written, or the last byte of a shorter text: its literal, or the expression that printed it.
[[nodiscard]] TemplatePlace place_at(const AuditContext& context, const jinja::Rendered& rendered, std::size_t at);

// The last condition that looked at that field of the message.
[[nodiscard]] TemplatePlace last_look(const AuditContext& context, const jinja::Rendered& rendered,
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

}  // namespace rondo::audit
