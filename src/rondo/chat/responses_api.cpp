// The OpenAI Responses API.
#include <set>
#include <string>
#include <utility>

#include "chat/api_parts.h"
#include "chat/conversation.h"
#include "chat/files.h"
#include "json/print.h"

namespace rondo::chat {
namespace {

std::string item_place(std::size_t item) { return "input[" + std::to_string(item) + "]"; }

json::Value content_from(const json::Value* content) {
  if (content == nullptr || content->is_null()) return "";
  if (!content->is_array()) return *content;
  json::Array parts;
  for (const json::Value& part : content->as_array()) {
    const std::string_view type = part.find_string("type").value_or("");
    if (type == "input_text" || type == "output_text" || type == "text") {
      parts.push_back(text_part(part.find_string("text").value_or("")));
    } else if (type == "refusal") {
      parts.push_back(text_part(part.find_string("refusal").value_or("")));
    } else if (type == "input_image") {
      parts.push_back(image_part(first_text(part, {"image_url", "file_id"})));
    } else if (const auto text = text_of_file(part)) {
      parts.push_back(text_part(*text));
    } else {
      parts.push_back(part);
    }
  }
  return content_of(std::move(parts));
}

// The model's reasoning: its own text, else its summary; "" if both are only there in encrypted form.
std::string reasoning_of(const json::Value& item) {
  for (const std::string_view key : {"content", "summary"}) {
    const json::Value* parts = item.find(key);
    if (parts == nullptr || !parts->is_array() || parts->as_array().empty()) continue;
    std::string text;
    for (const json::Value& part : parts->as_array()) {
      if (!text.empty()) text += '\n';
      text += part.find_string("text").value_or("");
    }
    return text;
  }
  return "";
}

class ResponsesTranslation {
 public:
  void system(std::string_view instructions) {
    if (!instructions.empty()) out_.messages.push_back(json::Object{{"role", "system"}, {"content", instructions}});
    out_.has_instructions = !instructions.empty();
    if (!instructions.empty()) out_.places.push_back({.index = instructions.size()});
    out_.sources.resize(out_.messages.size(), -1);
  }

  // Ends what item() made from an item.
  void end_item(std::size_t index) {
    last_item_ = static_cast<std::int32_t>(index);
    out_.sources.resize(out_.messages.size(), last_item_);
  }

  void user(const json::Value& text) { out_.messages.push_back(json::Object{{"role", "user"}, {"content", text}}); }

  Status item(const json::Value& item, std::size_t index) {
    if (!item.is_object()) return Error(ErrorCode::kInvalidArgument, item_place(index) + " must be an object");
    const std::string type = first_text(item, {"type"});
    if (type == "message" || (type.empty() && item.find("role") != nullptr)) return message(item, index);
    if (type == "reasoning") {
      reason(item, index);
    } else if (type == "function_call") {
      place_call(index, "arguments");
      calls_.insert(first_text(item, {"call_id", "id"}));
      assistant_.call(function_call(first_text(item, {"call_id", "id"}), name_of(item),
                                    std::string(item.find_string("arguments").value_or(""))));
      assistant_.echo(EchoedKey::Kind::kItem, first_text(item, {"id"}));
    } else if (type == "custom_tool_call") {
      place_call(index, "input");
      calls_.insert(first_text(item, {"call_id", "id"}));
      assistant_.call(custom_call(first_text(item, {"call_id", "id"}), name_of(item), first_text(item, {"input"})));
      assistant_.echo(EchoedKey::Kind::kItem, first_text(item, {"id"}));
    } else if (type == "local_shell_call") {
      const json::Value* action = item.find("action");
      place_call(index, "action");
      calls_.insert(first_text(item, {"call_id"}));
      calls_.insert(first_text(item, {"id"}));  // results name either
      assistant_.call(function_call(first_text(item, {"call_id", "id"}), "local_shell",
                                    action == nullptr ? "{}" : json::to_python(*action, {})));
    } else if (answers_a_call(item, type)) {
      flush();
      place_texts(item.find("output"), index, "output");
      out_.messages.push_back(json::Object{{"role", "tool"},
                                           {"tool_call_id", first_text(item, {"call_id", "id"})},
                                           {"content", content_from(item.find("output"))}});
    } else {
      if (std::string call = first_text(item, {"call_id"}); !call.empty()) left_out_.insert(std::move(call));
      out_.notes.push_back("an item `" + type + "` at " + item_place(index) + " was left out");
    }
    return Done{};
  }

  void flush() {
    if (assistant_.is_empty()) {
      assistant_ = AssistantParts();  // it had nothing but echoed fields
    } else {
      assistant_.take(out_);
      out_.sources.resize(out_.messages.size(), last_item_);
    }
  }

  ApiRequest& out() { return out_; }

 private:
  // A result of a tool that only a vendor's server can run answers no call here, unless its call is one of those that
  // templates can express.
  [[nodiscard]] bool answers_a_call(const json::Value& item, std::string_view type) const {
    if (type == "function_call_output" || type == "custom_tool_call_output")
      return !left_out_.contains(first_text(item, {"call_id"}));
    const std::string call = first_text(item, {"call_id", "id"});
    return type.ends_with("_output") && !call.empty() && calls_.contains(call);
  }

  static std::string name_of(const json::Value& call) {
    return flat_name(first_text(call, {"namespace"}), first_text(call, {"name"}));
  }

  // Note where parts of the next message were sent.
  void place(PartPlace at, std::size_t item) {
    at.message = out_.messages.size();
    at.entry = static_cast<std::int32_t>(item);
    out_.places.push_back(at);
  }
  void place_call(std::size_t item, std::string_view member) {
    place({.field = PartPlace::Field::kCall, .index = assistant_.calls(), .member = member}, item);
  }
  void place_texts(const json::Value* content, std::size_t item, std::string_view list, std::size_t before = 0) {
    if (content == nullptr || !content->is_array())
      return place({.index = before + (content != nullptr && content->is_string() ? content->as_string().size() : 0),
                    .member = list},
                   item);
    for (const json::Value& part : content->as_array()) {
      const std::string_view member = part.find_string("type") == "refusal" ? "refusal" : "text";
      before += part.find_string(member).value_or("").size();
      const auto at = static_cast<std::int32_t>(&part - content->as_array().data());
      place({.index = before, .list = list, .part = at, .member = member}, item);
    }
  }

  Status message(const json::Value& item, std::size_t index) {
    const auto role = item.find_string("role");
    if (!role) return Error(ErrorCode::kInvalidArgument, item_place(index) + " has no `role`");
    json::Value content = content_from(item.find("content"));
    if (role == "assistant" && content.is_string()) {
      place_texts(item.find("content"), index, "content", assistant_.said_bytes());
      assistant_.say(content.as_string());
      assistant_.echo(EchoedKey::Kind::kItem, first_text(item, {"id"}));
      return Done{};
    }
    flush();
    place_texts(item.find("content"), index, "content");
    out_.messages.push_back(json::Object{{"role", *role}, {"content", std::move(content)}});
    return Done{};
  }

  void reason(const json::Value& item, std::size_t index) {
    const std::string text = reasoning_of(item);
    assistant_.echo(EchoedKey::Kind::kItem, first_text(item, {"id"}));
    assistant_.echo(EchoedKey::Kind::kEncrypted, first_text(item, {"encrypted_content"}));
    if (text.empty()) {
      assistant_.hide_reasoning(out_.notes.size());
      out_.notes.push_back("the encrypted reasoning at " + item_place(index) + " was left out");
    } else {
      const bool is_content = chat::is_filled(item.find("content"));
      place({.field = PartPlace::Field::kReasoning,
             .list = is_content ? "content" : "summary",
             .part = 0,
             .member = "text"},
            index);
      assistant_.reason(text);
    }
  }

  ApiRequest out_;
  AssistantParts assistant_;
  std::int32_t last_item_ = -1;     // that was read completely
  std::set<std::string> calls_;     // that became calls of messages
  std::set<std::string> left_out_;  // calls that templates cannot express; their results are left out too
};

}  // namespace

Result<ApiRequest> read_responses_request(const json::Value& body) {
  ResponsesTranslation translation;
  const std::string_view instructions = body.find_string("instructions").value_or("");
  translation.system(instructions);
  const json::Value& input = *body.find("input");
  if (input.is_string()) {
    translation.user(input);
  } else if (input.is_array()) {
    for (std::size_t i = 0; i < input.as_array().size(); ++i) {
      if (Status status = translation.item(input.as_array()[i], i); !status.ok()) return status.error();
      translation.end_item(i);
    }
  } else {
    return Error(ErrorCode::kInvalidArgument,
                 "`input` must be a string or an array, found " + std::string(describe(input.kind())));
  }
  translation.flush();
  ApiRequest out = std::move(translation.out());
  out.api = Api::kResponses;
  set_tools(body, out);
  return out;
}

std::optional<ApiReply> read_responses_reply(const json::Value& body) {
  const json::Value& output = *body.find("output");
  if (!output.is_array()) return std::nullopt;
  ResponsesTranslation translation;
  for (std::size_t i = 0; i < output.as_array().size(); ++i) {
    if (!translation.item(output.as_array()[i], i).ok()) return std::nullopt;
  }
  translation.flush();
  if (translation.out().messages.empty()) return std::nullopt;
  const json::Value* usage = body.find("usage");
  const json::Value* details = usage == nullptr ? nullptr : usage->find("input_tokens_details");
  return ApiReply{first_text(body, {"id"}), std::move(translation.out().messages), whole(usage, "input_tokens"),
                  whole(details, "cached_tokens")};
}

}  // namespace rondo::chat
