// The files of share/templates, compiled into the library.  Internal to core/.
#pragma once

#include <string_view>

namespace rondo::core {

// Returns the text of a file; "" if there is no such file.
[[nodiscard]] std::string_view families_text(std::string_view file);

}  // namespace rondo::core
