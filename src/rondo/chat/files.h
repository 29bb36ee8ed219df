// Files that a request carries in its messages.  Those that hold text become text, which every template can show.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace rondo::chat {

// Decodes `data`, which is base64 of a file with the media type `type` ("text/plain", "application/json;
// charset=utf-8"), and returns the text of the file.  Returns nullopt if files of that type are not text, if `data` is
// not base64, or if its bytes are not UTF-8.
[[nodiscard]] std::optional<std::string> text_of_data(std::string_view type, std::string_view data);

// Returns the text of a content part that is a file (`file` of the Chat API, `input_file` of Responses) and brings its
// text: the file's name, if it has one, a line end, and the content.  Returns nullopt for everything else.
[[nodiscard]] std::optional<std::string> text_of_file(const json::Value& part);

}  // namespace rondo::chat
