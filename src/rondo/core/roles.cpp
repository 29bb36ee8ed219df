#include "core/roles.h"

#include <algorithm>
#include <set>

#include "base/printing.h"
#include "chat/conversation.h"

namespace rondo::core {
namespace {

bool knows(const std::vector<std::string>& compared, std::string_view role) {
  return std::ranges::find(compared, role) != compared.end();
}

}  // namespace

std::optional<UnknownRole> misspelled_role(const std::vector<std::string>& compared, const json::Array& messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto role = messages[i].find_string("role");
    if (role && !chat::is_api_role(*role) && !knows(compared, *role))
      return UnknownRole{i, std::string(*role), "unknown role"};
  }
  return std::nullopt;
}

std::optional<UnknownRole> unwritten_role(const std::vector<std::string>& compared, const json::Array& messages,
                                          std::span<const std::int32_t> owners) {
  std::set<std::string_view> doubtful;
  for (const json::Value& message : messages) {
    const auto role = message.find_string("role");
    if (role && !knows(compared, *role) && chat::has_content(message)) doubtful.insert(*role);
  }
  if (doubtful.empty()) return std::nullopt;
  for (const std::int32_t owner : owners) {
    if (owner < 0 || static_cast<std::size_t>(owner) >= messages.size()) continue;
    const auto role = messages[static_cast<std::size_t>(owner)].find_string("role");
    if (role && doubtful.erase(*role) > 0 && doubtful.empty()) return std::nullopt;
  }
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto role = messages[i].find_string("role");
    if (role && doubtful.contains(*role) && chat::has_content(messages[i]))
      return UnknownRole{i, std::string(*role), "the template writes nothing for the role"};
  }
  return std::nullopt;
}

std::string sentence(const UnknownRole& unknown) {
  return "messages[" + std::to_string(unknown.message) + "].role: " + std::string(unknown.why) + " `" +
         printing::excerpt(unknown.role) + "`";
}

Status check_roles(const jinja::Template& chat_template, const json::Array& messages) {
  if (Status shape = chat::check_messages(messages, "messages"); !shape.ok()) return shape;
  const auto unknown = misspelled_role(chat_template.compared_roles(), messages);
  if (unknown) return Error(ErrorCode::kInvalidArgument, sentence(*unknown));
  return Done{};
}

Status check_all_written(const jinja::Template& chat_template, const json::Array& messages,
                         std::span<const std::int32_t> owners) {
  const auto unknown = unwritten_role(chat_template.compared_roles(), messages, owners);
  if (unknown) return Error(ErrorCode::kInvalidArgument, sentence(*unknown));
  return Done{};
}

void note_unwritten_role(const jinja::Template& chat_template, const json::Array& messages,
                         std::span<const std::int32_t> owners, std::vector<std::string>& notes) {
  const auto unknown = unwritten_role(chat_template.compared_roles(), messages, owners);
  if (unknown) notes.push_back(sentence(*unknown));
}

}  // namespace rondo::core
