// `/rondo/v1/sessions` and what is below it.  Private to gateway/.
#pragma once

#include <string_view>

#include "gateway/state.h"

namespace rondo::gateway {

[[nodiscard]] bool is_session_path(std::string_view path);
void answer_sessions(Service::State& state, net::Exchange exchange);

}  // namespace rondo::gateway
