// The law of origins: what a traced render says about its bytes, checked against the variables it was made from.
#pragma once

#include <string>

#include "jinja/template.h"
#include "json/value.h"

namespace rondo::test {

// "" if the law holds, else a sentence about the first run that breaks it:
//  * the invariants of the text (text::Text::verify);
//  * a data run's source, passed through its chain, gives its bytes;
//  * an escaped run's source, escaped as its chain says, holds its bytes (where the chain has a rule that can be redone);
//  * a scalar run is the number, bool or null at its path, printed.
[[nodiscard]] std::string broken_origin(const jinja::Rendered& rendered, const json::Object& variables);

// "" if a render whose dumps are whole gives, once they are taken apart, what one gives that writes their parts at once;
// else the first difference.  `rendered`: what the template made of the variables under `options`, in parts.
[[nodiscard]] std::string whole_difference(const jinja::Template& compiled, const json::Object& variables,
                                           const jinja::RenderOptions& options,
                                           const Result<jinja::Rendered>& rendered);

}  // namespace rondo::test
