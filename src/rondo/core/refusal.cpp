#include "core/refusal.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "template/chat_template.h"

namespace rondo::core {
namespace {

// An id that every template accepts.
constexpr std::string_view kPlainId = "abcdef000";

// A member that many tools leave out and some templates read anyway: its place, and a value to use.
struct Addition {
  std::size_t tool = 0;
  std::vector<std::string> path;  // keys that lead to it in the tool
  std::string member;
  json::Value value;
};

std::string shown(const Addition& addition) {
  std::string out = "tools[" + std::to_string(addition.tool) + "]";
  for (const std::string& member : addition.path) out += "." + member;
  return out;
}

void find_additions(const json::Value& schema, Addition at, std::vector<Addition>& out) {
  const auto offer = [&](const char* member, json::Value value) {
    if (schema.find(member) == nullptr) out.push_back({at.tool, at.path, member, std::move(value)});
  };
  offer("type", "string");
  offer("description", "x");
  const json::Value* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object()) return;
  offer("required", json::Array{});
  at.path.emplace_back("properties");
  for (const json::Member& property : properties->as_object()) {
    if (!property.value.is_object()) continue;
    at.path.push_back(property.key);
    find_additions(property.value, at, out);
    at.path.pop_back();
  }
}

std::vector<Addition> additions_to(const json::Value& tools) {
  std::vector<Addition> out;
  if (!tools.is_array()) return out;
  for (std::size_t i = 0; i < tools.as_array().size(); ++i) {
    const json::Value* function = tools.as_array()[i].find("function");
    if (function == nullptr || !function->is_object()) continue;
    const std::vector<std::string> path{"function"};
    if (function->find("description") == nullptr) out.push_back({i, path, "description", "x"});
    const json::Value* parameters = function->find("parameters");
    if (parameters == nullptr) {
      const json::Object none{{"type", "object"}, {"properties", json::Object{}}, {"required", json::Array{}}};
      out.push_back({i, path, "parameters", none});
    } else if (parameters->is_object()) {
      find_additions(*parameters, {i, {"function", "parameters"}, "", {}}, out);
    }
  }
  return out;
}

void add(json::Value& tools, const Addition& addition) {
  json::Value* at = &tools.as_array()[addition.tool];
  for (const std::string& member : addition.path) at = at->as_object().find(member);
  at->as_object().set(addition.member, addition.value);
}

class Trial {
 public:
  Trial(const Prepared& prepared, const chat::Conversation& conversation)
      : prepared_(prepared), conversation_(conversation) {
    conversation_.continue_final_message.reset();
    options_ = prepared.options;
    options_.origins = false;
  }

  [[nodiscard]] std::string hint() {
    if (!renders({})) return hint_without_messages();
    std::size_t good = 0;
    std::size_t bad = conversation_.messages.size();
    if (renders(conversation_.messages)) return "";  // the continued message is at fault
    while (bad - good > 1) {
      const std::size_t middle = good + (bad - good) / 2;
      (renders(up_to(middle)) ? good : bad) = middle;
    }
    return hint_of(up_to(bad));
  }

 private:
  [[nodiscard]] bool renders(const json::Array& messages) {
    return tmpl::apply(*prepared_.chat_template, conversation_, messages, conversation_.add_generation_prompt, options_)
        .ok();
  }
  [[nodiscard]] json::Array up_to(std::size_t count) const {
    const json::Array& all = conversation_.messages;
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  // Many templates refuse a conversation without messages, whatever else it has.
  [[nodiscard]] std::string hint_without_messages() {
    if (conversation_.messages.empty()) return "";
    if (conversation_.tools) {
      if (std::string hint = hint_of_tools(); !hint.empty()) return hint;
      std::optional<json::Value> tools;
      std::swap(tools, conversation_.tools);
      const bool is_fine = renders(conversation_.messages);
      std::swap(tools, conversation_.tools);
      if (is_fine) return "without `tools` the template goes on";
    }
    for (std::size_t count = 1; count <= conversation_.messages.size() && count <= kScanned; ++count) {
      if (renders(up_to(count))) continue;
      return count == 1 && !renders({probe_message()}) ? "" : hint_of(up_to(count));
    }
    return "";
  }

  // The member that a tool lacks.
  [[nodiscard]] std::string hint_of_tools() {
    const json::Value given = *conversation_.tools;
    const std::vector<Addition> additions = additions_to(given);
    const auto renders_without = [&](std::size_t left_out) {
      json::Value tools = given;
      for (std::size_t i = 0; i < additions.size(); ++i)
        if (i != left_out) add(tools, additions[i]);
      std::swap(*conversation_.tools, tools);
      const bool is_fine = renders(conversation_.messages);
      std::swap(*conversation_.tools, tools);
      return is_fine;
    };
    if (additions.empty() || !renders_without(additions.size())) return "";
    for (std::size_t i = 0; i < std::min(additions.size(), kScanned); ++i)
      if (!renders_without(i))
        return shown(additions[i]) + ": with a member `" + additions[i].member + "` there the template goes on";
    return "";
  }

  [[nodiscard]] static json::Value probe_message() { return json::Object{{"role", "user"}, {"content", "x"}}; }

  // The messages up to the one at fault.
  [[nodiscard]] std::string hint_of(json::Array messages) {
    const std::string place = "messages[" + std::to_string(messages.size() - 1) + "]";
    const json::Value last = messages.back();
    if (!last.is_object()) return place + " is no object";
    const auto helps = [&](json::Object other) {
      messages.back() = std::move(other);
      return renders(messages);
    };
    json::Object with_text = last.as_object();
    with_text.set("content", "x");
    if (with_text != last.as_object() && helps(with_text))
      return place + ".content: with a text in its place the template goes on";
    if (std::string call = hint_of_calls(messages, last, place); !call.empty()) return call;
    for (const std::string_view field : {"tool_call_id", "name"}) {
      json::Object with_field = last.as_object();
      with_field.set(field, kPlainId);
      if (helps(std::move(with_field)))
        return place + "." + std::string(field) + ": with `" + std::string(kPlainId) + "` there the template goes on";
    }
    for (const json::Member& member : last.as_object()) {
      json::Object without = last.as_object();
      without.erase(member.key);
      if (member.key != "role" && helps(std::move(without)))
        return place + "." + member.key + ": without it the template goes on";
    }
    const std::string role(last.find_string("role").value_or(""));
    for (const std::string_view other : {"user", "assistant"}) {
      json::Object with_role{{"role", other}, {"content", "x"}};
      if (role != other && helps(std::move(with_role)))
        return (place + ".role: the template takes a message of the role `")
            .append(other)
            .append("` at this place, and none of the role `")
            .append(role)
            .append("`");
    }
    return place + ": up to the message before it the template goes on";
  }

  [[nodiscard]] std::string hint_of_calls(json::Array& messages, const json::Value& last, const std::string& place) {
    const json::Value* calls = last.find("tool_calls");
    if (calls == nullptr || !calls->is_array()) return "";
    for (std::size_t i = 0; i < calls->as_array().size(); ++i) {
      if (!calls->as_array()[i].is_object()) continue;
      for (const bool of_arguments : {true, false}) {
        json::Array changed = calls->as_array();
        if (of_arguments) chat::function_of(changed[i]).as_object().set("arguments", json::Object());
        if (!of_arguments) changed[i].as_object().set("id", kPlainId);
        messages.back() = last;
        messages.back().as_object().set("tool_calls", std::move(changed));
        if (!renders(messages)) continue;
        const std::string call = place + ".tool_calls[" + std::to_string(i) + "]";
        return of_arguments ? call + ": with {} as arguments the template goes on"
                            : call + ".id: with `" + std::string(kPlainId) + "` there the template goes on";
      }
    }
    return "";
  }

  // At most this many messages are tried one by one.
  static constexpr std::size_t kScanned = 64;

  const Prepared& prepared_;
  chat::Conversation conversation_;
  tmpl::ApplyOptions options_;
};

}  // namespace

std::string refusal_hint(const Prepared& prepared, const chat::Conversation& conversation) {
  return Trial(prepared, conversation).hint();
}

}  // namespace rondo::core
