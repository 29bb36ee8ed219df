// Contents and calls that a template leaves out of the prompt without a word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/roles.h"
#include "jinja/template.h"
#include "json/value.h"
#include "template/shape.h"

namespace rondo::core {

// Returns a sentence for each content that says something, and each call, of which the prompt has no byte.  A content
// whose text stands somewhere in the prompt counts as written.  `rendered` is the prompt of `messages`, with origins;
// `shaping` made these messages, and the sentences name the fields as they were sent.  Messages of roles that the APIs
// do not know, and those of the role `unwritten`, are skipped: they have a sentence of their own (core/roles.h).
[[nodiscard]] std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                                        const jinja::Rendered& rendered,
                                                        const std::optional<UnknownRole>& unwritten);

// Returns whether the text of each message's content, and the name of each call, stands in the prompt.  Then
// unwritten_fields() finds at most calls that repeat others, and no origins are needed to tell.
[[nodiscard]] bool shows_all(const json::Array& messages, std::string_view prompt);

}  // namespace rondo::core
