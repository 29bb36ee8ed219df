// Contents and calls that a template leaves out of the prompt without a word.
#pragma once

#include <string>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"
#include "template/shape.h"

namespace rondo::core {

// Returns a sentence for each content that says something, and each call, of which the prompt has no byte.  A content
// whose text stands somewhere in the prompt counts as written.  `rendered` is the prompt of `messages`, with origins;
// `shaping` made these messages, and the sentences name the fields as they were sent.  Messages of roles that the APIs
// do not know are skipped (core/roles.h).
[[nodiscard]] std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                                        const jinja::Rendered& rendered);

}  // namespace rondo::core
