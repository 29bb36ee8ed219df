// `/rondo/v1/sessions` and what is below it.  Private to gateway/.
#pragma once

#include <string_view>

#include "gateway/state.h"

namespace rondo::gateway {

[[nodiscard]] bool is_session_path(std::string_view path);
[[nodiscard]] net::Reply sessions_reply(Service::State& state, const net::ServerRequest& http);

}  // namespace rondo::gateway
