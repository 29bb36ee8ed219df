// Reads and checks what a caller of the C API gives.  Internal to capi/.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "capi/library.h"
#include "core/fields.h"
#include "core/model.h"
#include "json/value.h"
#include "protocol/requests.h"

namespace rondo::capi {

using core::Fields;

// Fail with RONDO_NULL if there is a size but no data; `name` is the argument.
[[nodiscard]] Outcome<std::string_view> view_of(rondo_text text, const char* name);
[[nodiscard]] Outcome<std::span<const core::TokenId>> span_of(rondo_ids ids, const char* name);
// Return nullopt for an empty text.
[[nodiscard]] Outcome<std::optional<jinja::LocalTime>> time_of(rondo_text text, const char* name);
[[nodiscard]] Outcome<std::optional<json::Value>> json_of(rondo_text text, const char* name);
// An empty text and null give an empty object.
[[nodiscard]] Outcome<json::Object> object_of_text(rondo_text text, const char* name);
// Parses a JSON array of messages.
[[nodiscard]] Outcome<json::Array> messages_of(rondo_text text, const char* name);

// Fails if the caller's struct has a size that no version of it has.
[[nodiscard]] Outcome<Done> check_size(const void* given, std::size_t size, std::size_t known, const char* name);
// Returns the caller's struct, or `otherwise` if there is none.  Fields that only a newer header has must be 0.
template <typename Struct>
[[nodiscard]] Outcome<Struct> struct_of(const Struct* given, const Struct& otherwise, const char* name) {
  if (given == nullptr) return otherwise;
  auto checked = check_size(given, given->struct_size, sizeof(Struct), name);
  if (!checked.ok()) return checked.failure();
  return *given;
}

// Returns the conversation of a call with its options, as an object for Fields.  `chat` may be null.
[[nodiscard]] Outcome<json::Object> request_of(const rondo_chat* chat);
// Reads what all calls take.  Faults are in `fields`.
[[nodiscard]] core::Call read_call(const Library& library, Fields& fields, bool messages_required);

}  // namespace rondo::capi
