// Strings in JSON that is written by hand, where values would cost too much: events of streams.
#pragma once

#include <string>
#include <string_view>

namespace rondo::json {

// Appends `text` in its quotes, as to_compact() writes it.
void append_compact(std::string& out, std::string_view text);

}  // namespace rondo::json
