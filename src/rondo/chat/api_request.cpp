#include "chat/api_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chat/api_parts.h"
#include "chat/conversation.h"
#include "chat/files.h"
#include "chat/reasoning_fields.h"
#include "json/print.h"

namespace rondo::chat {
namespace {

// Block types of the Messages API that the Chat API does not have.
constexpr std::array<std::string_view, 4> kMessagesBlocks = {"tool_use", "tool_result", "thinking",
                                                             "redacted_thinking"};

bool has_messages_block(const json::Value& message) {
  const json::Value* content = message.find("content");
  if (content == nullptr || !content->is_array()) return false;
  return std::ranges::any_of(content->as_array(), [](const json::Value& block) {
    return std::ranges::find(kMessagesBlocks, block.find_string("type").value_or("")) != kMessagesBlocks.end();
  });
}

bool is_messages_request(const json::Value& body) {
  if (body.find("system") != nullptr || body.find("anthropic_version") != nullptr) return true;
  const json::Value* tools = body.find("tools");
  const auto has_schema = [](const json::Value& tool) { return tool.find("input_schema") != nullptr; };
  if (tools != nullptr && tools->is_array() && std::ranges::any_of(tools->as_array(), has_schema)) return true;
  const json::Value* messages = body.find("messages");
  return messages->is_array() && std::ranges::any_of(messages->as_array(), has_messages_block);
}

// The values with which clients say that requests belong together, the most specific first.
std::string conversation_id(const json::Value& body) {
  const json::Value* conversation = body.find("conversation");
  if (conversation != nullptr && conversation->is_object()) {
    if (std::string id = first_text(*conversation, {"id"}); !id.empty()) return id;
  }
  std::string id = first_text(body, {"conversation", "conversation_id", "session_id", "thread_id"});
  if (const json::Value* metadata = body.find("metadata"); id.empty() && metadata != nullptr)
    id = first_text(*metadata, {"conversation_id", "session_id", "thread_id", "user_id"});
  return id.empty() ? first_text(body, {"prompt_cache_key"}) : id;
}

std::optional<json::Value> objects_of(const json::Value& body, std::string_view key) {
  const json::Value* found = body.find(key);
  if (found == nullptr || !found->is_array() || found->as_array().empty()) return std::nullopt;
  return *found;
}

// `cache_control` of tools, content parts and the request itself, in the order of the prompt.
void add_cache_marks(const json::Value& body, ApiRequest& out) {
  if (out.tools) {
    for (const json::Value& tool : out.tools->as_array()) {
      if (const auto seconds = cache_lifetime(tool)) out.cache_marks = {{std::nullopt, CacheMark::kAll, *seconds}};
    }
  }
  for (std::size_t i = 0; i < out.messages.size(); ++i) {
    const json::Value* content = out.messages[i].find("content");
    std::size_t size = 0;
    if (content != nullptr && content->is_array()) {
      for (const json::Value& part : content->as_array()) {
        size += part.find_string("text").value_or("").size();
        if (const auto seconds = cache_lifetime(part)) out.cache_marks.push_back({i, size, *seconds});
      }
    }
    if (const auto seconds = cache_lifetime(out.messages[i])) out.cache_marks.push_back({i, CacheMark::kAll, *seconds});
  }
  const auto seconds = cache_lifetime(body);
  if (seconds && !out.messages.empty()) out.cache_marks.push_back({out.messages.size() - 1, CacheMark::kAll, *seconds});
}

// Translates calls of custom tools in place.
void translate_custom_calls(json::Value& message) {
  json::Value* calls = message.as_object().find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return;
  for (json::Value& call : calls->as_array()) {
    const json::Value* custom = call.find_string("type") == "custom" ? call.find("custom") : nullptr;
    if (custom == nullptr) continue;
    call = custom_call(first_text(call, {"id"}), first_text(*custom, {"name"}), first_text(*custom, {"input"}));
  }
}

// Translates texts that other APIs give other types, and files that hold text.
void translate_parts(json::Value& message) {
  json::Value* content = message.as_object().find("content");
  if (content == nullptr || !content->is_array()) return;
  for (json::Value& part : content->as_array()) {
    const std::string_view type = part.find_string("type").value_or("");
    if (type == "input_text" || type == "output_text") {
      part.as_object().set("type", "text");
    } else if (type == "refusal") {
      part = text_part(part.find_string("refusal").value_or(""));
    } else if (std::optional<std::string> text = text_of_file(part)) {
      part = text_part(*text);
    }
  }
}

// A refusal is the assistant's text, because templates have no other place for it.  Behind content it is a part of it.
void translate_refusal(json::Value& message) {
  std::string refusal = first_text(message, {"refusal"});
  if (refusal.empty()) return;
  json::Value* content = message.as_object().find("content");
  if (!is_filled(content)) {
    message.as_object().set("content", std::move(refusal));
  } else if (content->is_array()) {
    content->as_array().push_back(text_part(refusal));
  } else if (content->is_string()) {
    *content = json::Array{text_part(content->as_string()), text_part(refusal)};
  }
}

// The reasoning of an assistant that sends it in parts of its content or in lists beside it.  The lists repeat the text
// field if there is one.
void translate_reasoning(json::Value& message) {
  json::Object& fields = message.as_object();
  const auto is_given = [&](std::string_view field) { return is_filled(message.find(field)); };
  if (std::ranges::any_of(kReasoningFields, is_given)) return;
  std::string reasoning;
  json::Value* content = fields.find("content");
  if (content != nullptr && content->is_array()) {
    reasoning = take_reasoning_parts(content->as_array());
    if (content->as_array().empty()) *content = "";
  }
  for (const std::string_view key : {"thinking_blocks", "reasoning_details"}) {
    const json::Value* blocks = message.find(key);
    if (!reasoning.empty() || blocks == nullptr || !blocks->is_array()) continue;
    for (const json::Value& block : blocks->as_array()) reasoning += reasoning_in(block).value_or("");
  }
  if (!reasoning.empty()) fields.set("reasoning_content", std::move(reasoning));
}

// Gives a request of the form before tools (`functions`) its tools.
void translate_functions(json::Value& body) {
  const auto is_filled = [&](std::string_view key) {
    const json::Value* list = body.find(key);
    return list != nullptr && list->is_array() && !list->as_array().empty();
  };
  if (!is_filled("functions") || is_filled("tools")) return;
  json::Array tools;
  for (const json::Value& function : body.find("functions")->as_array())
    tools.emplace_back(json::Object{{"type", "function"}, {"function", function}});
  body.as_object().set("tools", std::move(tools));
}

Result<ApiRequest> read_chat_request(json::Value body) {
  ApiRequest out;
  json::Value* messages = body.as_object().find("messages");
  if (Status status = check_messages(*messages, "messages"); !status.ok()) return status.error();
  out.messages = std::move(messages->as_array());
  for (json::Value& message : out.messages) {
    translate_custom_calls(message);
    translate_parts(message);
    if (message.find_string("role") != "assistant") continue;
    translate_refusal(message);
    translate_reasoning(message);
  }
  translate_functions(body);
  set_tools(body, out);
  out.documents = objects_of(body, "documents");
  add_cache_marks(body, out);
  return out;
}

bool has_messages(const json::Value& body) {
  const json::Value* messages = body.find("messages");
  return messages != nullptr && messages->is_array();
}

Result<ApiRequest> read_as(json::Value body, Api api) {
  const bool has_its_input = api == Api::kResponses ? body.find("input") != nullptr : has_messages(body);
  if (!has_its_input) return Error(ErrorCode::kInvalidArgument, "no chat request: neither `messages` nor `input`");
  switch (api) {
    case Api::kMessages: return read_messages_request(body);
    case Api::kResponses: return read_responses_request(body);
    case Api::kChat: break;
  }
  return read_chat_request(std::move(body));
}

}  // namespace

std::string_view to_string(Api api) {
  switch (api) {
    case Api::kChat: return "chat";
    case Api::kMessages: return "messages";
    case Api::kResponses: return "responses";
  }
  return "";
}

std::string first_text(const json::Value& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto text = object.find_string(key);
    if (text && !text->empty()) return std::string(*text);
  }
  return "";
}

std::optional<std::int64_t> whole(const json::Value* object, std::string_view key) {
  const json::Value* value = object == nullptr ? nullptr : object->find(key);
  return value == nullptr ? std::nullopt : value->to_int64();
}

void set_tools(const json::Value& body, ApiRequest& out) {
  const json::Value* tools = body.find("tools");
  if (tools == nullptr || !tools->is_array()) return;
  ToolTranslation translation;
  for (const json::Value& tool : tools->as_array()) translation.add(tool);
  if (!translation.functions.empty()) out.tools = json::Value(std::move(translation.functions));
  out.tool_table = std::move(translation.table);
  for (const std::string& name : translation.left_out)
    out.notes.push_back("the tool `" + name + "` of the server was left out");
  out.left_out_tools = std::move(translation.left_out);
}

json::Value content_of(json::Array parts) {
  if (parts.empty()) return "";
  if (parts.size() == 1 && parts[0].find_string("type") == "text") return *parts[0].find("text");
  return parts;
}

json::Value image_part(std::string_view url) {
  return json::Object{{"type", "image_url"}, {"image_url", json::Object{{"url", url}}}};
}

json::Value function_tool(const json::Value& tool, std::string_view schema_key) {
  json::Object function{{"name", first_text(tool, {"name"})}};
  if (const json::Value* description = tool.find("description")) function.set("description", *description);
  if (const json::Value* schema = tool.find(schema_key)) function.set("parameters", *schema);
  return json::Object{{"type", "function"}, {"function", std::move(function)}};
}

json::Value function_call(std::string_view id, std::string_view name, std::string arguments) {
  return json::Object{{"id", id},
                      {"type", "function"},
                      {"function", json::Object{{"name", name}, {"arguments", std::move(arguments)}}}};
}

void AssistantParts::reason(std::string_view text) {
  if (!reasoning_) reasoning_.emplace();
  *reasoning_ += text;
}

void AssistantParts::say(std::string_view text) {
  if (!content_) content_.emplace();
  *content_ += text;
}

void AssistantParts::echo(EchoedKey::Kind kind, std::string key) {
  if (!key.empty()) echoed_.push_back({kind, 0, std::move(key)});
}

void AssistantParts::take(ApiRequest& out) {
  json::Object message{{"role", "assistant"}, {"content", content_.value_or("")}};
  if (reasoning_) message.set("reasoning_content", *std::move(reasoning_));
  if (!calls_.empty()) message.set("tool_calls", std::move(calls_));
  for (EchoedKey& key : echoed_) {
    key.message = out.messages.size();
    out.echoed.push_back(std::move(key));
  }
  for (const std::size_t note : hidden_) out.hidden_reasoning.push_back({note, out.messages.size()});
  out.messages.emplace_back(std::move(message));
  *this = AssistantParts();
}

Result<ApiRequest> read_request(json::Value body) {
  Api api = Api::kResponses;
  if (has_messages(body)) api = is_messages_request(body) ? Api::kMessages : Api::kChat;
  return read_request(std::move(body), api);
}

Result<ApiRequest> read_request(json::Value body, Api api) {
  if (!body.is_object())
    return Error(ErrorCode::kInvalidArgument,
                 "a request must be an object, found " + std::string(describe(body.kind())));
  ApiRequest common;
  common.model = first_text(body, {"model"});
  common.conversation = conversation_id(body);
  common.previous_response = first_text(body, {"previous_response_id"});
  if (const json::Value* kwargs = body.find("chat_template_kwargs"); kwargs != nullptr && kwargs->is_object())
    common.kwargs = kwargs->as_object();
  std::string effort = first_text(body, {"reasoning_effort"});
  if (const json::Value* reasoning = body.find("reasoning"); effort.empty() && reasoning != nullptr)
    effort = first_text(*reasoning, {"effort"});
  if (const json::Value* output = body.find("output_config"); effort.empty() && output != nullptr)
    effort = first_text(*output, {"effort"});
  if (!effort.empty() && common.kwargs.find("reasoning_effort") == nullptr)
    common.kwargs.set("reasoning_effort", std::move(effort));

  Result<ApiRequest> read = read_as(std::move(body), api);
  if (!read.ok()) return read;
  ApiRequest& out = read.value();
  out.model = std::move(common.model);
  out.conversation = std::move(common.conversation);
  out.previous_response = std::move(common.previous_response);
  out.kwargs = std::move(common.kwargs);
  return read;
}

void take_old_calls(json::Array& messages) {
  for (json::Value& message : messages) {
    if (!message.is_object()) continue;
    json::Object& fields = message.as_object();
    if (message.find_string("role") == "function") fields.set("role", "tool");
    const json::Value* call = message.find("function_call");
    if (call == nullptr || !call->is_object() || message.find("tool_calls") != nullptr) continue;
    json::Array calls{json::Object{{"type", "function"}, {"function", *call}}};
    fields.set("tool_calls", std::move(calls));
    fields.erase("function_call");
  }
}

std::optional<ApiReply> read_reply(const json::Value& body) {
  if (body.is_string()) return read_reply(json::Value(read_event_stream(body.as_string())));
  if (body.is_array()) {
    const std::optional<json::Value> joined = join_stream(body.as_array());
    return joined ? read_reply(*joined) : std::nullopt;
  }
  if (!body.is_object()) return std::nullopt;
  if (body.find("choices") != nullptr) return read_chat_reply(body);
  if (body.find("output") != nullptr) return read_responses_reply(body);
  if (body.find("content") != nullptr) return read_messages_reply(body);
  return std::nullopt;
}

std::optional<ApiReply> read_chat_reply(const json::Value& body) {
  const json::Value* choices = body.find("choices");
  if (!choices->is_array() || choices->as_array().empty()) return std::nullopt;
  const json::Value* message = choices->as_array()[0].find("message");
  if (message == nullptr || !message->is_object()) return std::nullopt;
  json::Object said{{"role", "assistant"}};
  for (const std::string_view key :
       {"content", "reasoning_content", "reasoning", "thinking", "tool_calls", "function_call"}) {
    const json::Value* value = message->find(key);
    const bool is_empty_list = value != nullptr && value->is_array() && value->as_array().empty();
    if (value != nullptr && !value->is_null() && !is_empty_list) said.set(key, *value);
  }
  if (said.find("content") == nullptr) said.set("content", "");
  const json::Value* usage = body.find("usage");
  const json::Value* details = usage == nullptr ? nullptr : usage->find("prompt_tokens_details");
  return ApiReply{
      first_text(body, {"id"}), {std::move(said)}, whole(usage, "prompt_tokens"), whole(details, "cached_tokens")};
}

}  // namespace rondo::chat
