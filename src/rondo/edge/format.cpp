#include "edge/format.h"

#include <utility>

namespace rondo::edge {
namespace {

Error invalid(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

Error wrong_type(const std::string& place, std::string_view expected, const json::Value& found) {
  return invalid(place + " must be " + std::string(expected) + ", found " + std::string(json::describe(found.kind())));
}

class Formatter {
 public:
  Formatter(const EdgeTemplate& edge_template, const FormatOptions& options)
      : template_(edge_template), options_(options) {}

  Result<Formatted> format(const json::Value& messages, const std::string& place) {
    if (!messages.is_array()) return wrong_type(place, "an array", messages);
    const json::Array& array = messages.as_array();
    if (array.empty()) return invalid(place + " must hold at least one message");
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (Status status = check(array[i], place + "[" + std::to_string(i) + "]"); !status.ok()) return status.error();
    }
    if (Status status = lead(array.front(), place + "[0]"); !status.ok()) return status.error();
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (i == 0 && role_of(array[i]) == kSystem) continue;
      if (Status status = add(array[i], place + "[" + std::to_string(i) + "]"); !status.ok()) return status.error();
    }
    if (options_.apply_chat_template && options_.add_generation_prompt) out_.complete += generation_prompt();
    return std::move(out_);
  }

 private:
  static std::string_view role_of(const json::Value& message) { return *message.find_string("role"); }

  static Status check(const json::Value& message, const std::string& place) {
    if (!message.is_object()) return wrong_type(place, "an object", message);
    const json::Value* role = message.find("role");
    if (role == nullptr) return invalid(place + " lacks the required member `role`");
    if (!role->is_string()) return wrong_type(place + ".role", "a string", *role);
    const json::Value* content = message.find("content");
    if (content == nullptr) return invalid(place + " lacks the required member `content`");
    if (!content->is_string() && !content->is_array())
      return wrong_type(place + ".content", "a string or an array", *content);
    return Done{};
  }

  [[nodiscard]] const std::string& generation_prompt() const {
    const auto& thinking = template_.generation_prompt_thinking;
    return options_.enable_thinking && thinking && !thinking->empty() ? *thinking : template_.generation_prompt;
  }

  // Writes the system prompt: that of the first message if it is one, else the default.
  Status lead(const json::Value& first, const std::string& place) {
    const std::string& fallback = options_.default_system_prompt && !options_.default_system_prompt->empty()
                                      ? *options_.default_system_prompt
                                      : template_.default_system_prompt;
    std::string text;
    if (role_of(first) == kSystem) {
      if (Status status = body(first, place, true, text); !status.ok()) return status;
    } else if (!options_.apply_chat_template || fallback.empty()) {
      return Done{};
    } else {
      text = fallback;
    }
    const Role* role = template_.find_role(kSystem);
    if (options_.apply_chat_template && role != nullptr) {
      out_.system = role->prefix + text + role->suffix;
    } else {
      out_.system = std::move(text);
    }
    out_.complete = out_.system;
    return Done{};
  }

  Status add(const json::Value& message, const std::string& place) {
    const Role* role = template_.find_role(role_of(message));
    if (role == nullptr) {
      out_.warnings.push_back(place + ".role: the template has no role `" + std::string(role_of(message)) +
                              "`; the message is left out");
      return Done{};
    }
    if (options_.apply_chat_template) out_.complete += role->prefix;
    if (Status status = body(message, place, false, out_.complete); !status.ok()) return status;
    if (options_.apply_chat_template) out_.complete += role->suffix;
    return Done{};
  }

  // Appends the content.  `text_only`: other parts than text are left out.
  Status body(const json::Value& message, const std::string& place, bool text_only, std::string& out) {
    const json::Value& content = *message.find("content");
    if (content.is_string()) {
      out += content.as_string();
      return Done{};
    }
    for (std::size_t i = 0; i < content.as_array().size(); ++i) {
      const json::Value& part = content.as_array()[i];
      const std::string here = place + ".content[" + std::to_string(i) + "]";
      if (!part.is_object()) return wrong_type(here, "an object", part);
      const json::Value* type = part.find("type");
      if (type == nullptr) return invalid(here + " lacks the required member `type`");
      if (!type->is_string()) return wrong_type(here + ".type", "a string", *type);
      if (type->as_string() == "text") {
        const json::Value* text = part.find("text");
        if (text == nullptr) return invalid(here + " lacks the required member `text`");
        if (!text->is_string()) return wrong_type(here + ".text", "a string", *text);
        out += text->as_string();
      } else if (text_only) {
        out_.warnings.push_back(here + ": a system message is text alone; the part of type `" + type->as_string() +
                                "` is left out");
      } else {
        placeholder(type->as_string(), here, out);
      }
    }
    return Done{};
  }

  void placeholder(const std::string& type, const std::string& place, std::string& out) {
    const ContentType* found = template_.find_content_type(content_type_of(type));
    if (found != nullptr && !found->format.empty()) {
      out += found->format;
      return;
    }
    out_.warnings.push_back(place + ": the template has no format for parts of type `" + type +
                            "`; the part is left out");
  }

  const EdgeTemplate& template_;
  const FormatOptions& options_;
  Formatted out_;
};

}  // namespace

json::Value to_json(const Formatted& formatted) {
  json::Object out{{"system", formatted.system}, {"complete", formatted.complete}};
  if (!formatted.warnings.empty())
    out.set("warnings", json::Array(formatted.warnings.begin(), formatted.warnings.end()));
  return out;
}

std::string_view content_type_of(std::string_view part_type) { return part_type == "image_url" ? kImage : part_type; }

Result<Formatted> format(const EdgeTemplate& edge_template, const json::Value& messages, const FormatOptions& options,
                         const std::string& place) {
  return Formatter(edge_template, options).format(messages, place);
}

}  // namespace rondo::edge
