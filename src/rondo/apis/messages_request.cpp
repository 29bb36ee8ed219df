// What only the Messages API has.
#include <algorithm>

#include "apis/request_parts.h"
#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kBillingHeader = "x-anthropic-billing-header:";

void read_thinking(Fields& fields, ReasoningWish& out) {
  Fields thinking = fields.inside("thinking");
  const auto type = thinking.word("type", {"enabled", "adaptive", "between_tools", "disabled"});
  const auto display = thinking.word("display", {"summarized", "omitted", "updates"});
  out.budget_tokens = thinking.integer("budget_tokens", 0);
  // `between_tools` turns reasoning off.  `updates` hides it: what a model tells between its calls is text here.
  const bool is_off = type == "disabled" || type == "between_tools";
  if (type) out.mode = is_off ? ReasoningWish::Mode::kOff : ReasoningWish::Mode::kOn;
  out.is_signed = out.mode == ReasoningWish::Mode::kOn;
  out.is_shown = out.is_signed && display.value_or("summarized") == "summarized";
  Fields output = fields.inside("output_config");
  out.effort = output.text("effort").value_or("");
}

void read_messages_format(Fields& fields, AnswerFormat& out) {
  Fields output = fields.inside("output_config");
  const bool is_older = output.any("format") == nullptr;  // the name that the beta of the API had
  if (is_older && fields.any("output_format") == nullptr) return;
  Fields format = is_older ? fields.inside("output_format") : output.inside("format");
  if (!format.word("type", {"json_schema"})) return format.refuse_missing("type");
  out.kind = AnswerFormat::Kind::kSchema;
  out.field = is_older ? "output_format" : "output_config.format";
  read_schema(format, out);
  out.is_strict = true;
}

// The blocks that only some messages have.  In others they would not become a part of the prompt.
bool may_have(std::string_view role, std::string_view type) {
  if (type == "tool_result") return role == "user";
  return role != "assistant" || (type != "image" && type != "document" && type != "search_result");
}

void check_block(Fields& block, std::string_view role) {
  const std::string type = block.text("type").value_or("");
  if (!may_have(role, type))
    return block.refuse("type",
                        "is `" + type + "`, which messages with the role `" + std::string(role) + "` cannot have");
  const auto needs = [&](std::string_view key, bool is_fine) {
    if (!is_fine) block.refuse(key, "is missing or of the wrong type", "missing_required_parameter");
  };
  const auto needs_name = [&](std::string_view key) {
    const json::Value* name = block.any(key);
    needs(key, name != nullptr && name->is_string());
    if (name != nullptr && name->is_string() && name->as_string().empty()) block.refuse(key, "must not be empty");
  };
  if (type == "tool_use") {
    needs_name("id");
    needs_name("name");
    needs("input", block.any("input") != nullptr && block.any("input")->is_object());
  } else if (type == "tool_result") {
    needs_name("tool_use_id");
    check_content(block, "content");
  } else if (type == "thinking") {
    needs("thinking", block.any("thinking") != nullptr && block.any("thinking")->is_string());
  }
}

void check_message(Fields& message) {
  const auto role = message.word("role", {"user", "assistant", "system"});
  if (!role) message.refuse_missing("role");
  const json::Value* content = message.any("content");
  if (content == nullptr) return message.refuse_missing("content");
  check_content(message, "content");
  if (message.failed() || !content->is_array()) return;
  // A reply may have been empty; what others say would vanish.
  if (content->as_array().empty() && role != "assistant") return message.refuse("content", "must not be empty");
  message.each("content", kMostMessages, [&](Fields& block, std::size_t) { check_block(block, *role); });
}

// Notes the first result that is marked as an error.
void note_errors(Fields& fields, std::vector<std::string>& warnings) {
  bool is_noted = false;
  const auto read_result = [&](Fields& block, std::size_t) {
    if (is_noted || block.text("type") != "tool_result" || !block.is_set("is_error")) return;
    is_noted = true;
    warnings.push_back("`" + block.path("is_error") + "` reaches the model only if the template shows it");
  };
  fields.each("messages", kMostMessages, [&](Fields& message, std::size_t) {
    const json::Value* content = message.any("content");
    if (content != nullptr && content->is_array()) message.each("content", kMostMessages, read_result);
  });
}

// Notes the first document or search result that is to be cited.
void note_citations(Fields& fields, std::vector<std::string>& warnings) {
  bool is_noted = false;
  const auto read_block = [&](Fields& block, std::size_t) {
    const std::string type = block.text("type").value_or("");
    if (is_noted || (type != "document" && type != "search_result")) return;
    Fields citations = block.inside("citations");
    if (!citations.is_set("enabled")) return;
    is_noted = true;
    warnings.push_back("`" + block.path("citations") + "` was left out: replies have no citations");
  };
  fields.each("messages", kMostMessages, [&](Fields& message, std::size_t) {
    const json::Value* content = message.any("content");
    const bool is_users = message.text("role") == "user";
    if (is_users && content != nullptr && content->is_array()) message.each("content", kMostMessages, read_block);
  });
}

// A conversation has something that a user says.  Only then can the reply be begun by the client.
void check_beginning(Fields& fields) {
  const json::Array* messages = fields.array("messages", kMostMessages);
  if (messages == nullptr) return;
  if (messages->empty()) return fields.refuse("messages", "must not be empty: at least one message is required");
  const auto is_user = [](const json::Value& message) { return message.find_string("role") == "user"; };
  if (std::ranges::none_of(*messages, is_user))
    fields.refuse("messages[0].role", "must be `user`: first message must use the \"user\" role");
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

// A thread that the store holds.  What it continues is filled in before the request is read.
void check_thread(Fields& fields) {
  Fields thread = fields.inside("thread");
  const auto type = thread.word("type", {"create", "continue"});
  if (fields.any("thread") == nullptr || thread.failed()) return;
  if (!type) return thread.refuse_missing("type");
  if (*type == "continue" && !thread.text("previous_message_id")) thread.refuse_missing("previous_message_id");
}

// An edit of the context that leaves all thinking asks for nothing.
bool keeps_thinking(const json::Value& edit) {
  const json::Value* keep = edit.find("keep");
  if (keep == nullptr || !edit.find_string("type").value_or("").starts_with("clear_thinking")) return false;
  return keep->is_string() ? keep->as_string() == "all" : keep->find_string("type") == "all";
}

void note_context_edits(Fields& fields, std::vector<std::string>& warnings) {
  const json::Value* managed = fields.any("context_management");
  const json::Value* edits = managed == nullptr ? nullptr : managed->find("edits");
  const bool is_nothing =
      edits != nullptr && edits->is_array() && std::ranges::all_of(edits->as_array(), keeps_thinking);
  if (!is_nothing) note_left_out(fields, {"context_management"}, warnings);
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
  // The other blocks keep their places.
  bool found = false;
  for (json::Value& block : system->as_array()) {
    if (!is_billing(block)) continue;
    block = json::Object{{"type", "text"}, {"text", ""}};
    found = true;
  }
  return found;
}

void check_messages_body(Fields& fields) {
  check_content(fields, "system");
  check_system(fields);
  (void)fields.object("tool_choice");
  check_thread(fields);
  if (fields.any("messages") == nullptr) return fields.refuse_missing("messages");
  fields.each("messages", kMostMessages, [](Fields& message, std::size_t) { check_message(message); });
  check_beginning(fields);
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
  note_left_out(fields, {"mcp_servers", "container", "compaction"}, out.warnings);
  note_context_edits(fields, out.warnings);
  note_errors(fields, out.warnings);
  note_citations(fields, out.warnings);
  // The API has no field for it: a final assistant message is continued.
  const json::Array* messages = fields.array("messages", kMostMessages);
  out.continue_final = messages != nullptr && !messages->empty() && messages->back().find_string("role") == "assistant";
}

}  // namespace rondo::apis
