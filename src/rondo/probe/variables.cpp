#include "probe/variables.h"

#include <algorithm>
#include <array>

namespace rondo::probe {
namespace {

constexpr std::array<std::string_view, 6> kOfRequests = {"messages",  "tools",    "documents", "add_generation_prompt",
                                                         "bos_token", "eos_token"};

}  // namespace

bool reads_variable(const jinja::Template& chat_template, std::string_view name) {
  const std::vector<std::string>& names = chat_template.undeclared_variables();
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> own_variables(const jinja::Template& chat_template, std::span<const std::string_view> known) {
  std::vector<std::string> out = chat_template.undeclared_variables();
  std::erase_if(out, [&](const std::string& name) {
    return std::ranges::find(kOfRequests, name) != kOfRequests.end() || std::ranges::find(known, name) != known.end();
  });
  return out;
}

json::Object stand_ins(const std::vector<std::string>& names, std::string_view text) {
  json::Object out;
  for (const std::string& name : names) out.set(name, text);
  return out;
}

void add_missing(json::Object& variables, const json::Object& stand_ins) {
  for (const json::Member& member : stand_ins) {
    if (variables.find(member.key) == nullptr) variables.set(member.key, member.value);
  }
}

}  // namespace rondo::probe
