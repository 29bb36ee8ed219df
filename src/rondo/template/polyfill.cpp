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
constexpr std::array<Named, 9> kAll{{{"developer", &Polyfills::developer},
                                     {"system", &Polyfills::system},
                                     {"late_system", &Polyfills::late_system},
                                     {"repeated", &Polyfills::repeated},
                                     {"tools", &Polyfills::tools},
                                     {"calls", &Polyfills::calls},
                                     {"results", &Polyfills::results},
                                     {"flat", &Polyfills::flat},
                                     {"parts", &Polyfills::parts}}};

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
  // No line of it ends inside of a text, so that line breaks and what indents lines are nothing but space.
  for (const char c : polyfill_jinja()) {
    const bool is_space = c == ' ' || c == '\n';
    if (!is_space || out.back() != ' ') out += is_space ? ' ' : c;
  }
  out.back() = '\n';
  return out;
}

std::vector<std::string> changes_of(const Polyfills& polyfills, const chat::Conversation& conversation) {
  std::vector<std::string> out;
  const auto say = [&](std::size_t index, const char* what) {
    out.push_back("messages[" + std::to_string(index) + "]: " + what);
  };
  const bool has_tools =
      conversation.tools && conversation.tools->is_array() && !conversation.tools->as_array().empty();
  if (polyfills.tools && has_tools) out.emplace_back("tools: given in the system text");
  bool has_begun = false;
  std::string_view before;
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const json::Value& message = conversation.messages[i];
    std::string_view role = message.find_string("role").value_or("");
    if (role == "developer" && polyfills.developer) {
      say(i, "given as a system message");
      role = "system";
    }
    const json::Value* calls = message.find("tool_calls");
    if (role == "system" && (has_begun ? polyfills.late_system : polyfills.system)) {
      say(i,
          has_begun ? "given in front of the next user message" : "given at the beginning of the first user message");
      continue;
    }
    if (role == "assistant" && polyfills.calls && calls != nullptr && calls->is_array() && !calls->as_array().empty())
      say(i, "calls given as text of the content");
    else if (role == "assistant" && polyfills.flat && calls != nullptr && calls->is_array())
      say(i, "calls given with their name and arguments also beside `function`");
    if (role == "tool" && polyfills.results) {
      say(i, "given as a user message");
      role = "user";
    }
    if (polyfills.repeated && role == before && (role == "user" || role == "assistant"))
      say(i, "joined to the message before it");
    has_begun = has_begun || role != "system";
    before = role;
  }
  return out;
}

}  // namespace rondo::tmpl
