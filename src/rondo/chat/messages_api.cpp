// The Anthropic Messages API.
#include <string>
#include <utility>

#include "chat/api_parts.h"
#include "chat/conversation.h"
#include "chat/files.h"
#include "json/print.h"

namespace rondo::chat {
namespace {

std::string message_place(std::size_t message) { return "messages[" + std::to_string(message) + "]"; }

// An image or document: {"type": "base64", "media_type", "data"} or {"type": "url", "url"}.
std::string url_of(const json::Value& block) {
  const json::Value* source = block.find("source");
  if (source == nullptr) return "";
  if (std::string url = first_text(*source, {"url"}); !url.empty()) return url;
  return "data:" + first_text(*source, {"media_type"}) + ";base64," + first_text(*source, {"data"});
}

void add_line(std::string& text, std::string_view line) {
  if (!text.empty() && !line.empty()) text += '\n';
  text += line;
}

// Texts given as one text or as blocks, each on its own line.
std::string lines_of(const json::Value* content) {
  if (content == nullptr) return "";
  if (content->is_string()) return std::string(content->as_string());
  std::string text;
  if (content->is_array()) {
    for (const json::Value& block : content->as_array()) add_line(text, block.find_string("text").value_or(""));
  }
  return text;
}

// The text of a block, if it has one: also a text document, a search result, or the name of a tool that a search found.
std::optional<std::string> text_of(const json::Value& block) {
  const std::string_view type = block.find_string("type").value_or("");
  if (type == "text") return std::string(block.find_string("text").value_or(""));
  if (type == "tool_reference") return first_text(block, {"tool_name"});
  std::string text = first_text(block, {"title"});
  if (type == "search_result") {
    add_line(text, first_text(block, {"source"}));
    add_line(text, lines_of(block.find("content")));
    return text;
  }
  const json::Value* source = type == "document" ? block.find("source") : nullptr;
  if (source == nullptr) return std::nullopt;
  const std::string_view kind = source->find_string("type").value_or("");
  std::optional<std::string> content;
  if (kind == "text") content = first_text(*source, {"data"});
  if (kind == "content") content = lines_of(source->find("content"));
  if (kind == "base64") content = text_of_data(first_text(*source, {"media_type"}), first_text(*source, {"data"}));
  if (!content) return std::nullopt;
  add_line(text, first_text(block, {"context"}));
  add_line(text, *content);
  return text;
}

// The member with the text of such a block; "" if there are several.
std::string_view text_member(std::string_view type) { return type == "text" ? "text" : ""; }

// The text of a result, or its parts if some are not texts.
json::Value result_content(const json::Value& block) {
  const json::Value* content = block.find("content");
  if (content == nullptr || content->is_null()) return "";
  if (!content->is_array()) return *content;
  json::Array parts;
  std::string text;
  bool is_text = true;
  for (const json::Value& part : content->as_array()) {
    if (const auto said = text_of(part)) {
      if (!parts.empty()) text += '\n';
      text += *said;
      parts.push_back(text_part(*said));
    } else {
      is_text = false;
      parts.push_back(part.find_string("type") == "image" ? image_part(url_of(part)) : part);
    }
  }
  if (is_text) return text;
  return parts;
}

class MessagesTranslation {
 public:
  void system(const json::Value& system) {
    std::string text;
    if (system.is_string()) text = system.as_string();
    if (system.is_array()) {
      for (const json::Value& block : system.as_array()) {
        text += block.find_string("text").value_or("");
        mark(block, 0, text.size());
        const auto part = static_cast<std::int32_t>(&block - system.as_array().data());
        out_.places.push_back({.index = text.size(), .part = part, .member = "text"});
      }
    }
    if (text.empty()) {
      out_.places.clear();
      return out_.cache_marks.clear();
    }
    out_.messages.push_back(json::Object{{"role", "system"}, {"content", std::move(text)}});
    out_.has_instructions = true;
    out_.sources = {-1};
  }

  Status message(const json::Value& message, std::size_t index) {
    Status status = translate(message, index);
    out_.sources.resize(out_.messages.size(), static_cast<std::int32_t>(index));
    return status;
  }

  void assistant(const json::Array& blocks, std::size_t index) {
    AssistantParts said;
    const auto note = [&](const json::Value& block, PartPlace::Field field, std::size_t at, std::string_view member) {
      place({.field = field, .index = at, .member = member}, index, &block - blocks.data());
    };
    using Field = PartPlace::Field;
    for (const json::Value& block : blocks) {
      mark(block, out_.messages.size());
      const std::string_view type = block.find_string("type").value_or("");
      if (type == "text") {
        said.say(block.find_string("text").value_or(""));
        note(block, Field::kContent, said.said_bytes(), "text");
      } else if (type == "thinking") {
        said.reason(block.find_string("thinking").value_or(""));
        note(block, Field::kReasoning, 0, "thinking");
        said.echo(EchoedKey::Kind::kSignature, first_text(block, {"signature"}));
      } else if (type == "tool_use") {
        const json::Value* input = block.find("input");
        note(block, Field::kCall, said.calls(), "input");
        said.call(function_call(first_text(block, {"id"}), first_text(block, {"name"}),
                                json::to_python(input == nullptr ? json::Value(json::Object()) : *input, {})));
      } else if (type == "redacted_thinking") {
        said.echo(EchoedKey::Kind::kEncrypted, first_text(block, {"data"}));
        out_.notes.push_back("the redacted thinking of " + message_place(index) + " was left out");
      } else {
        note_left_out_block(type, index);
      }
    }
    said.take(out_);
  }

  void tools(const json::Value& body) {
    for (const json::Value& tool : body.find("tools")->as_array()) {
      if (const auto seconds = cache_lifetime(tool))
        out_.cache_marks.insert(out_.cache_marks.begin(), {std::nullopt, CacheMark::kAll, *seconds});
    }
    set_tools(body, out_);
  }

  // The `cache_control` of the request itself, which marks its end.
  void end(const json::Value& body) {
    if (!out_.messages.empty()) mark(body, out_.messages.size() - 1);
  }

  ApiRequest take() { return std::move(out_); }

 private:
  void note_left_out_block(std::string_view type, std::size_t index) {
    out_.notes.push_back("a block `" + std::string(type) + "` of " + message_place(index) + " was left out");
  }

  Status translate(const json::Value& message, std::size_t index) {
    const auto role = message.find_string("role");
    const json::Value* content = message.find("content");
    if (!role) return Error(ErrorCode::kInvalidArgument, message_place(index) + " has no `role`");
    if (content == nullptr || (!content->is_string() && !content->is_array()))
      return Error(ErrorCode::kInvalidArgument, message_place(index) + ".content must be a string or an array");
    if (content->is_string()) {
      place({.index = content->as_string().size(), .member = "content"}, index, -1);
      out_.messages.push_back(json::Object{{"role", *role}, {"content", *content}});
      return Done{};
    }
    if (role == "assistant") {
      assistant(content->as_array(), index);
    } else {
      user(*role, content->as_array(), index);
    }
    return Done{};
  }

  void mark(const json::Value& block, std::size_t message, std::size_t text_end = CacheMark::kAll) {
    if (const auto seconds = cache_lifetime(block)) out_.cache_marks.push_back({message, text_end, *seconds});
  }

  // Notes where a part of the next message was sent; `block` is negative for a text.
  void place(PartPlace at, std::size_t entry, std::ptrdiff_t block) {
    at.message = out_.messages.size();
    at.entry = static_cast<std::int32_t>(entry);
    if (block >= 0) at.list = "content";
    at.part = static_cast<std::int32_t>(block);
    out_.places.push_back(at);
  }

  void user(std::string_view role, const json::Array& blocks, std::size_t index) {
    json::Array parts;
    std::size_t text_size = 0;
    const auto flush = [&] {
      text_size = 0;
      if (parts.empty()) return;
      out_.messages.push_back(json::Object{{"role", role}, {"content", content_of(std::exchange(parts, {}))}});
    };
    for (const json::Value& block : blocks) {
      const std::string_view type = block.find_string("type").value_or("");
      if (type == "tool_result") {
        flush();
        mark(block, out_.messages.size());
        json::Object result{
            {"role", "tool"}, {"tool_call_id", first_text(block, {"tool_use_id"})}, {"content", result_content(block)}};
        if (const json::Value* failed = block.find("is_error")) result.set("is_error", *failed);
        place({.index = CacheMark::kAll, .member = "content"}, index, &block - blocks.data());
        out_.messages.push_back(std::move(result));
      } else if (type == "tool_addition" || type == "tool_removal") {
        note_left_out_block(type, index);  // a prompt has all tools, from its beginning to its end
      } else if (const auto text = text_of(block)) {
        parts.push_back(text_part(*text));
        text_size += text->size();
        place({.index = text_size, .member = text_member(type)}, index, &block - blocks.data());
        mark(block, out_.messages.size(), text_size);
      } else {
        parts.push_back(type == "image" ? image_part(url_of(block)) : block);
        mark(block, out_.messages.size(), text_size);
      }
    }
    flush();
  }

  ApiRequest out_;
};

}  // namespace

Result<ApiRequest> read_messages_request(const json::Value& body) {
  MessagesTranslation translation;
  if (const json::Value* system = body.find("system")) translation.system(*system);
  const json::Array& messages = body.find("messages")->as_array();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (Status status = translation.message(messages[i], i); !status.ok()) return status.error();
  }
  if (const json::Value* tools = body.find("tools"); tools != nullptr && tools->is_array()) translation.tools(body);
  translation.end(body);
  ApiRequest out = translation.take();
  out.api = Api::kMessages;
  return out;
}

std::optional<ApiReply> read_messages_reply(const json::Value& body) {
  const json::Value* content = body.find("content");
  if (!content->is_array() || content->as_array().empty()) return std::nullopt;
  MessagesTranslation translation;
  translation.assistant(content->as_array(), 0);
  ApiReply out{first_text(body, {"id"}), translation.take().messages, std::nullopt, std::nullopt};
  const json::Value* usage = body.find("usage");
  out.cached_tokens = whole(usage, "cache_read_input_tokens");
  if (const auto input = whole(usage, "input_tokens")) {
    out.prompt_tokens =
        *input + out.cached_tokens.value_or(0) + whole(usage, "cache_creation_input_tokens").value_or(0);
  }
  return out;
}

}  // namespace rondo::chat
