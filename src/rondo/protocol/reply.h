// Makes replies of the line protocol from the library's values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"
#include "template/shape.h"

namespace rondo::protocol {

// Returns the message, preceded by the file or field concerned unless the message names it.
[[nodiscard]] std::string sentence(const Error& error);

// Returns {"code", "message", "at"?} as docs/batch.md describes it.
[[nodiscard]] json::Value error_to_json(const Error& error);

// Returns the parts of a rendered text: [{"start", "end", "from", "path"?, "line"?}], without gap or overlap.
// `chat_template` made the text; `messages` and `shaping` are as in core::OriginNamer.
[[nodiscard]] json::Array spans_to_json(const jinja::Rendered& rendered, const jinja::Template& chat_template,
                                        const json::Array& messages, const tmpl::Shaping& shaping);

// An array of numbers.
template <typename Numbers>
[[nodiscard]] json::Array numbers_to_json(const Numbers& numbers) {
  json::Array out;
  out.reserve(numbers.size());
  for (const auto number : numbers) out.emplace_back(static_cast<std::int64_t>(number));
  return out;
}

[[nodiscard]] json::Array texts_to_json(const std::vector<std::string>& texts);

}  // namespace rondo::protocol
