// What one render did, as data for people who debug a template.  docs/render.md describes the fields.
#pragma once

#include "jinja/template.h"
#include "json/value.h"
#include "template/shape.h"

namespace rondo::protocol {

// Returns {"template", "messages", "origins", "parts", "conditions", "cuts", "idle"}.  `chat_template` made `rendered`
// from `variables`; `messages` and `shaping` are as in core::OriginNamer.
[[nodiscard]] json::Object trace_to_json(const jinja::Rendered& rendered, const jinja::Template& chat_template,
                                         const json::Object& variables, const json::Array& messages,
                                         const tmpl::Shaping& shaping);

}  // namespace rondo::protocol
