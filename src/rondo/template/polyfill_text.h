// The statements of polyfill.jinja.  Internal to template/.
#pragma once

#include <string_view>

namespace rondo::tmpl {

[[nodiscard]] std::string_view polyfill_jinja();

}  // namespace rondo::tmpl
