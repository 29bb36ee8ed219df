// Checks the items of Responses and Conversations.
#include "apis/request_parts.h"

namespace rondo::apis {
namespace {

void check_call(Fields& item, std::string_view text) {
  for (const std::string_view key : {"call_id", "name"}) {
    if (!item.text(key)) item.refuse_missing(key);
  }
  (void)item.text(text);
}

void check_item(Fields& item) {
  check_item_types(item);
  const std::string type = item.text("type").value_or("");
  const std::string id = item.text("id").value_or("");
  if (id.starts_with("resp_")) return item.refuse("id", "is the id of a response, not of an item");
  if (type.empty() && item.any("role") == nullptr) {
    if (!id.empty()) return;  // a reference
    return item.refuse_missing("type");
  }
  if (type == "message" || type.empty()) {
    const std::string role = item.text("role").value_or("");
    if (role.empty()) item.refuse_missing("role");
    if (role == "tool" || role == "function")
      item.refuse("role", "must not be `" + role + "`: a result is an item of the type `function_call_output`");
    // A reply may have nothing but calls, which are other items.
    if (role != "assistant" && item.any("content") == nullptr) item.refuse_missing("content");
    check_content(item, "content");
  } else if (type == "function_call") {
    check_call(item, "arguments");
  } else if (type == "custom_tool_call") {
    check_call(item, "input");
  } else if (type == "function_call_output" || type == "custom_tool_call_output") {
    if (!item.text("call_id")) item.refuse_missing("call_id");
    check_content(item, "output");
  }
}

}  // namespace

void check_items(Fields& fields, std::string_view key, std::span<const std::int32_t> places, std::string_view earlier) {
  const json::Value* list = fields.any(key);
  const json::Array* items = fields.array(key, kMostMessages);
  for (std::size_t i = 0; list != nullptr && items != nullptr && i < items->size() && !fields.failed(); ++i) {
    const std::int32_t index = i < places.size() ? places[i] : static_cast<std::int32_t>(i);
    const std::string place = std::string(key) + "[" + std::to_string(index) + "]";
    const json::Value& element = (*items)[i];
    if (!element.is_object()) return fields.refuse(place, "must be an object", "invalid_type");
    std::optional<Fault> fault;
    Fields item(&element, place + ".", fault);
    check_item(item);
    if (fault && index < 0)
      fault = invalid(std::string(earlier), "`" + std::string(earlier) + "` names an item that is not valid");
    if (fault) fields.take(*std::move(fault));
  }
}

}  // namespace rondo::apis
