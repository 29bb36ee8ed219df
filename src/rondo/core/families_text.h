// The files of share/templates, which travel inside the library.  Internal to core/.
#pragma once

#include <string_view>

namespace rondo::core {

// "" where there is no such file.
[[nodiscard]] std::string_view families_text(std::string_view file);

}  // namespace rondo::core
