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

// Returns a sentence for each call, and each content with text, that has no byte in the prompt.  If the text of a
// content is anywhere in the prompt, the content counts as written.  `rendered` is the prompt of `messages`, with
// origins.  `shaping` made these messages; the sentences name the fields as they were sent.  Messages of roles that the
// APIs do not know, and of the role `unwritten`, are skipped: they have a sentence of their own (core/roles.h).
[[nodiscard]] std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                                        const jinja::Rendered& rendered,
                                                        const std::optional<UnknownRole>& unwritten);

// Returns whether the prompt contains the text of each message's content and the name of each call.  If so,
// unwritten_fields() finds at most calls that repeat others, and no origins are needed to tell.
[[nodiscard]] bool shows_all(const json::Array& messages, std::string_view prompt);

}  // namespace rondo::core
