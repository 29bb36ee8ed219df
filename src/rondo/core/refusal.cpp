#include "core/refusal.h"

#include <optional>
#include <utility>

#include "template/chat_template.h"

namespace rondo::core {
namespace {

// An id that every template takes.
constexpr std::string_view kPlainId = "abcdef000";

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
    if (renders(conversation_.messages)) return "";  // what is continued is at fault
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

  // Many templates refuse a conversation without messages, whatever the rest is.
  [[nodiscard]] std::string hint_without_messages() {
    if (conversation_.messages.empty()) return "";
    if (conversation_.tools) {
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

  // At most so many messages are tried one by one.
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
