// Contents and calls that a template leaves out of the prompt without a word.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "render/encode.h"
#include "template/shape.h"

namespace rondo::core {

// A sentence for each content that says something, and each call, of which nothing is in the prompt: no id is the field's, and
// the text of a content stands nowhere.  `encoded` is the prompt of `messages`, which were made by `shaping`; the sentences name
// the fields as they were sent.  Messages of roles that are none of the APIs' are passed over (core/roles.h).
[[nodiscard]] std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                                        const render::Encoded& encoded);

}  // namespace rondo::core
