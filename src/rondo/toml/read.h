// Reads TOML, the language of settings files, as a JSON value.
//
//   auto value = toml::read("port = 8080\n[[model]]\npath = \"a.gguf\"\n", "serve.toml");
//   json::to_compact(value.value())      // {"port":8080,"model":[{"path":"a.gguf"}]}
//
// Dates and times become texts.  Infinities and NaN are errors, because JSON has neither.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::toml {

// Reads TOML.  Each value's source range begins where its key does (for an element of a list: where the element does)
// and ends where the value begins, in bytes.  Fails with kInvalidArgument, `source`, line, column and the line as a
// code frame.
[[nodiscard]] Result<json::Value> read(std::string_view text, const std::string& source);

// Returns `error` with the place that a source range names.
[[nodiscard]] Error at_place(Error error, std::string_view text, std::size_t offset);

}  // namespace rondo::toml
