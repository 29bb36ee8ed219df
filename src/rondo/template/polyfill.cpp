#include "template/polyfill.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "template/polyfill_text.h"

namespace rondo::tmpl {
namespace {

struct Named {
  std::string_view name;
  bool Polyfills::* is_on;
};
constexpr std::array<Named, 10> kAll{{{"developer", &Polyfills::developer},
                                      {"system", &Polyfills::system},
                                      {"late_system", &Polyfills::late_system},
                                      {"repeated", &Polyfills::repeated},
                                      {"tools", &Polyfills::tools},
                                      {"calls", &Polyfills::calls},
                                      {"results", &Polyfills::results},
                                      {"flat", &Polyfills::flat},
                                      {"parts", &Polyfills::parts},
                                      {"tool_list", &Polyfills::tool_list}}};

}  // namespace

std::vector<std::string> names_of(const Polyfills& polyfills) {
  std::vector<std::string> out;
  for (const Named& one : kAll) {
    if (polyfills.*one.is_on) out.emplace_back(one.name);
  }
  return out;
}

std::string prelude_of(const Polyfills& polyfills) {
  std::string out = "{%- set polyfill_on = [";
  for (const std::string& name : names_of(polyfills)) out += "'" + name + "',";
  out += "] -%}";
  // No line of it ends inside a text, so line breaks and indentation are only white space.
  for (const char c : polyfill_jinja()) {
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || out.back() != ' ') out += is_space ? ' ' : c;
  }
  out.back() = '\n';
  return out;
}

namespace {

// What the messages say, one after the other.
class Changes {
 public:
  Changes(const Polyfills& polyfills, std::string_view array, const Preceding& preceding)
      : polyfills_(polyfills),
        array_(array),
        has_begun_(preceding.has_begun),
        before_(given_role(preceding.last_role)) {}

  void take(std::size_t index, const json::Value& message) {
    const std::string_view sent = message.find_string("role").value_or("");
    if (sent == "developer" && polyfills_.developer) say(index, "given as a system message");
    const std::string_view role = given_role(sent);
    const json::Value* calls = message.find("tool_calls");
    const bool has_calls = role == "assistant" && calls != nullptr && calls->is_array();
    if (role == "system" && (has_begun_ ? polyfills_.late_system : polyfills_.system)) {
      say(index,
          has_begun_ ? "given in front of the next user message" : "given at the beginning of the first user message");
      return;
    }
    if (has_calls && polyfills_.calls && !calls->as_array().empty())
      say(index, "calls given as text of the content");
    else if (has_calls && polyfills_.flat)
      say(index, "calls given with their name and arguments also beside `function`");
    if (sent == "tool" && polyfills_.results) say(index, "given as a user message");
    if (polyfills_.repeated && role == before_ && (role == "user" || role == "assistant"))
      say(index, "joined to the message before it");
    has_begun_ = has_begun_ || role != "system";
    before_ = role;
  }
  [[nodiscard]] std::vector<std::string> take_sentences() { return std::move(out_); }

 private:
  void say(std::size_t index, const char* what) {
    out_.push_back(std::string(array_) + "[" + std::to_string(index) + "]: " + what);
  }
  [[nodiscard]] std::string_view given_role(std::string_view sent) const {
    if (sent == "developer" && polyfills_.developer) return "system";
    return sent == "tool" && polyfills_.results ? "user" : sent;
  }

  const Polyfills& polyfills_;
  std::string_view array_;
  bool has_begun_;
  std::string_view before_;
  std::vector<std::string> out_;
};

}  // namespace

std::vector<std::string> changes_of(const Polyfills& polyfills, const chat::Conversation& conversation) {
  Changes changes(polyfills, "messages", {false, ""});
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) changes.take(i, conversation.messages[i]);
  std::vector<std::string> out = changes.take_sentences();
  const bool has_tools =
      conversation.tools && conversation.tools->is_array() && !conversation.tools->as_array().empty();
  if (polyfills.tools && has_tools) out.insert(out.begin(), "tools: given in the system text");
  return out;
}

std::vector<std::string> changes_of_new(const Polyfills& polyfills, std::span<const json::Value> new_messages,
                                        const Preceding& preceding) {
  Changes changes(polyfills, "new_messages", preceding);
  for (std::size_t i = 0; i < new_messages.size(); ++i) changes.take(i, new_messages[i]);
  return changes.take_sentences();
}

Preceding preceding_of(std::span<const json::Value> messages) {
  const auto is_said = [](const json::Value& message) {
    return message.find_string("role") != "system" && message.find_string("role") != "developer";
  };
  const std::string_view last = messages.empty() ? "" : messages.back().find_string("role").value_or("");
  return {std::ranges::any_of(messages, is_said), last};
}

}  // namespace rondo::tmpl
