#include "capi/requests.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "chat/conversation.h"
#include "json/parse.h"
#include "json/tape.h"

namespace rondo::capi {
namespace {

// What js/library.mjs calls takes JSON as tapes too.
#ifdef __wasi__
constexpr bool kTakesTapes = true;
#else
constexpr bool kTakesTapes = false;
#endif

std::string quoted(const char* name) { return "`" + std::string(name) + "`"; }

template <typename Element>
Outcome<Done> check_data(const Element* data, std::size_t size, const char* name) {
  if (data == nullptr && size != 0) return null_failure("the data of " + quoted(name));
  if (size > PTRDIFF_MAX / sizeof(Element)) return invalid("the size of " + quoted(name) + " is no size");
  return Done{};
}

}  // namespace

Outcome<std::string_view> view_of(rondo_text text, const char* name) {
  auto checked = check_data(text.data, text.size, name);
  if (!checked.ok()) return checked.failure();
  return text.size == 0 ? std::string_view() : std::string_view(text.data, text.size);
}

Outcome<std::span<const core::TokenId>> span_of(rondo_ids ids, const char* name) {
  auto checked = check_data(ids.data, ids.size, name);
  if (!checked.ok()) return checked.failure();
  return std::span<const core::TokenId>(ids.data, ids.size);
}

Outcome<std::optional<jinja::LocalTime>> time_of(rondo_text text, const char* name) {
  auto view = view_of(text, name);
  if (!view.ok()) return view.failure();
  if (view.value().empty()) return std::optional<jinja::LocalTime>();
  const auto time = core::parse_time(view.value());
  if (!time)
    return invalid(quoted(name) + " must be a time like \"2026-03-14T15:09:26\", found \"" + std::string(view.value()) +
                   "\"");
  return time;
}

Outcome<std::optional<json::Value>> json_of(rondo_text text, const char* name) {
  auto view = view_of(text, name);
  if (!view.ok()) return view.failure();
  if (view.value().empty()) return std::optional<json::Value>();
  auto value = kTakesTapes && json::is_tape(view.value()) ? json::parse_tape(view.value()) : json::parse(view.value());
  if (value.ok()) return std::optional(std::move(value).value());
  Error error = value.error();
  error.source = name;
  return error;
}

Outcome<json::Object> object_of_text(rondo_text text, const char* name) {
  auto value = json_of(text, name);
  if (!value.ok()) return value.failure();
  if (!value.value() || value.value()->is_null()) return json::Object();
  if (value.value()->is_object()) return std::move(value.value()->as_object());
  return invalid(quoted(name) + " must be an object, found " + std::string(json::describe(value.value()->kind())));
}

Outcome<json::Array> messages_of(rondo_text text, const char* name) {
  auto value = json_of(text, name);
  if (!value.ok()) return value.failure();
  if (!value.value() || value.value()->is_null()) return invalid("the field " + quoted(name) + " is missing");
  if (Status shape = chat::check_objects(*value.value(), name); !shape.ok()) return shape.error();
  return std::move(value.value()->as_array());
}

Outcome<Done> check_size(const void* given, std::size_t size, std::size_t known, const char* name) {
  if (size < known) return invalid("`struct_size` of " + quoted(name) + " is too small: begin with its RONDO_..._INIT");
  constexpr std::size_t kMost = 4096;  // no version has a struct this large
  if (size > kMost) return invalid("`struct_size` of " + quoted(name) + " is no size of it");
  const auto* bytes = static_cast<const unsigned char*>(given);
  if (std::all_of(bytes + known, bytes + size, [](unsigned char byte) { return byte == 0; })) return Done{};
  return Error(ErrorCode::kUnsupported, quoted(name) + " has fields that this version does not know");
}

Outcome<json::Object> request_of(const rondo_chat* chat) {
  auto given = struct_of(chat, RONDO_CHAT_INIT, "chat");
  if (!given.ok()) return given.failure();
  auto request = object_of_text(given.value().options, "options");
  if (!request.ok()) return request.failure();
  const std::pair<const char*, rondo_text> fields[] = {{"messages", given.value().messages},
                                                       {"tools", given.value().tools},
                                                       {"documents", given.value().documents},
                                                       {"kwargs", given.value().kwargs}};
  for (const auto& [name, text] : fields) {
    auto value = json_of(text, name);
    if (!value.ok()) return value.failure();
    if (request.value().find(name) != nullptr) return invalid(quoted(name) + " belongs into the chat, not its options");
    if (value.value()) request.value().set(name, std::move(*value.value()));
  }
  return std::move(request.value());
}

core::Call read_call(const Library& library, Fields& fields, bool messages_required) {
  protocol::ConversationFields input =
      protocol::read_conversation(fields, {.messages_required = messages_required, .add_generation_prompt = true});
  core::Call call;
  call.conversation = std::move(input.conversation);
  call.has_messages = input.has_messages;
  call.now = fields.time("now");
  if (!call.now) call.now = library.now;
  return call;
}

}  // namespace rondo::capi
