// The result of the global strftime_now.
#pragma once

#include <string>
#include <string_view>

#include "jinja/common/options.h"

namespace rondo::jinja {

// datetime.strftime(format).
[[nodiscard]] std::string format_time(const LocalTime& time, std::string_view format);

}  // namespace rondo::jinja
