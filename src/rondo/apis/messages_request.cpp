// What only the Messages API has.
#include <algorithm>

#include "apis/request_parts.h"
#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kBillingHeader = "x-anthropic-billing-header:";

void read_thinking(Fields& fields, ReasoningWish& out) {
  out.is_shown = false;
  Fields thinking = fields.inside("thinking");
  const auto type = thinking.word("type", {"enabled", "adaptive", "between_tools", "disabled"});
  const auto display = thinking.word("display", {"summarized", "omitted"});
  out.budget_tokens = thinking.integer("budget_tokens", 0);
  if (type) out.mode = *type == "disabled" ? ReasoningWish::Mode::kOff : ReasoningWish::Mode::kOn;
  out.is_signed = out.mode == ReasoningWish::Mode::kOn;
  out.is_shown = out.is_signed && display != "omitted";
  Fields output = fields.inside("output_config");
  out.effort = output.text("effort").value_or("");
}

void read_messages_format(Fields& fields, AnswerFormat& out) {
  Fields output = fields.inside("output_config");
  if (output.any("format") == nullptr) return;
  Fields format = output.inside("format");
  if (!format.word("type", {"json_schema"})) return format.refuse("type", "is missing", "missing_required_parameter");
  out.kind = AnswerFormat::Kind::kSchema;
  out.is_strict = true;
  read_schema(format, out);
  out.is_strict = true;
}

void check_block(Fields& message, const json::Value& block, const std::string& place) {
  const std::string type = chat::first_text(block, {"type"});
  const auto needs = [&](std::string_view key, bool is_fine) {
    if (!is_fine)
      message.refuse(place + "." + std::string(key), "is missing or of the wrong type", "missing_required_parameter");
  };
  if (type == "tool_use") {
    needs("id", block.find_string("id").has_value());
    needs("name", block.find_string("name").has_value());
    needs("input", block.find("input") != nullptr && block.find("input")->is_object());
  } else if (type == "tool_result") {
    needs("tool_use_id", block.find_string("tool_use_id").has_value());
    std::optional<Fault> fault;
    Fields result(&block, message.path(place) + ".", fault);
    check_content(result, "content");
    if (fault) message.take(*std::move(fault));
  } else if (type == "thinking") {
    needs("thinking", block.find_string("thinking").has_value());
  }
}

// The system text has blocks of text alone.
void check_system(Fields& fields) {
  const json::Value* system = fields.any("system");
  if (system == nullptr || !system->is_array()) return;
  for (std::size_t i = 0; i < system->as_array().size(); ++i) {
    const std::string type = chat::first_text(system->as_array()[i], {"type"});
    if (type != "text") fields.refuse("system[" + std::to_string(i) + "].type", "must be `text`, found `" + type + "`");
  }
}

}  // namespace

bool drop_billing_header(json::Value& body) {
  json::Value* system = body.as_object().find("system");
  if (system == nullptr) return false;
  if (system->is_string()) {
    if (!system->as_string().starts_with(kBillingHeader)) return false;
    const std::size_t end = system->as_string().find('\n');
    *system = end == std::string::npos ? json::Value("") : json::Value(system->as_string().substr(end + 1));
    return true;
  }
  if (!system->is_array()) return false;
  const auto is_billing = [](const json::Value& block) {
    return block.find_string("text").value_or("").starts_with(kBillingHeader);
  };
  return std::erase_if(system->as_array(), is_billing) > 0;
}

void check_messages_body(Fields& fields) {
  check_content(fields, "system");
  check_system(fields);
  (void)fields.object("tool_choice");
  const json::Array* messages = fields.array("messages", kMostMessages);
  if (messages == nullptr) return fields.refuse("messages", "is missing", "missing_required_parameter");
  for (std::size_t i = 0; i < messages->size() && !fields.failed(); ++i) {
    const std::string place = "messages[" + std::to_string(i) + "]";
    const json::Value& message = (*messages)[i];
    if (!message.is_object()) return fields.refuse(place, "must be an object", "invalid_type");
    std::optional<Fault> fault;
    Fields inside(&message, place + ".", fault);
    if (!inside.word("role", {"user", "assistant", "system"}))
      inside.refuse("role", "is missing", "missing_required_parameter");
    if (inside.any("content") == nullptr) inside.refuse("content", "is missing", "missing_required_parameter");
    check_content(inside, "content");
    if (const json::Value* content = message.find("content"); !fault && content != nullptr && content->is_array()) {
      for (std::size_t j = 0; j < content->as_array().size(); ++j)
        check_block(inside, content->as_array()[j], "content[" + std::to_string(j) + "]");
    }
    if (fault) fields.take(*std::move(fault));
  }
}

void read_messages_fields(Fields& fields, GenerateRequest& out) {
  (void)fields.array("stop_sequences", kMostStops);
  read_stops(fields, "stop_sequences", out);
  read_thinking(fields, out.reasoning);
  read_messages_format(fields, out.format);
  read_metadata(fields, out);
  Fields metadata = fields.inside("metadata");
  out.user = metadata.text("user_id").value_or("");
  out.max_tokens = fields.integer("max_tokens", 0);
  if (fields.any("diagnostics") != nullptr) {
    Fields diagnostics = fields.inside("diagnostics");
    out.previous_message_id = diagnostics.text("previous_message_id").value_or("");
  }
  // The API has no field for it: a final assistant message is continued.
  const json::Array* messages = fields.array("messages", kMostMessages);
  out.continue_final = messages != nullptr && !messages->empty() && messages->back().find_string("role") == "assistant";
}

}  // namespace rondo::apis
