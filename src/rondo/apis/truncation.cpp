#include "apis/truncation.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

constexpr std::size_t kStays = static_cast<std::size_t>(-1);

// For each message the number of its group: the messages that are dropped together.  Groups are in the order of their
// first messages.
class DroppedGroups {
 public:
  explicit DroppedGroups(const json::Array& messages) {
    for (const json::Value& message : messages) groups_.push_back(group_of(message));
  }
  [[nodiscard]] const std::vector<std::size_t>& groups() const { return groups_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t group_of(const json::Value& message) {
    const std::string role = chat::first_text(message, {"role"});
    if (role == "system" || role == "developer") return kStays;
    if (role == "tool") {
      const auto call = calls_.find(chat::first_text(message, {"tool_call_id"}));
      if (call != calls_.end()) return call->second;
      if (last_caller_ != kStays) return last_caller_;  // ids of calls may be missing
    }
    const std::size_t group = count_++;
    const json::Value* calls = message.find("tool_calls");
    if (calls == nullptr || !calls->is_array() || calls->as_array().empty()) return group;
    last_caller_ = group;
    for (const json::Value& call : calls->as_array()) calls_[chat::first_text(call, {"id"})] = group;
    return group;
  }

  std::vector<std::size_t> groups_;
  std::unordered_map<std::string, std::size_t> calls_;  // groups by ids of calls
  std::size_t last_caller_ = kStays;
  std::size_t count_ = 0;
};

// Removes the messages, and moves everything that refers to messages by index.
void remove_messages(GenerateRequest& request, const std::vector<bool>& is_dropped) {
  constexpr std::size_t kGone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> moved(request.messages.size(), kGone);
  json::Array messages;
  std::vector<std::int32_t> sources;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    if (is_dropped[i]) continue;
    moved[i] = messages.size();
    messages.push_back(std::move(request.messages[i]));
    if (i < request.sources.size()) sources.push_back(request.sources[i]);
  }
  request.messages = std::move(messages);
  request.sources = std::move(sources);
  const auto place = [&](std::size_t message) { return message < moved.size() ? moved[message] : kGone; };
  std::erase_if(request.places, [&](const chat::PartPlace& part) { return place(part.message) == kGone; });
  for (chat::PartPlace& part : request.places) part.message = place(part.message);
  std::erase_if(request.echoed, [&](const chat::EchoedKey& key) { return place(key.message) == kGone; });
  for (chat::EchoedKey& key : request.echoed) key.message = place(key.message);
  std::erase_if(request.hidden_reasoning, [&](const MessageWarning& one) { return place(one.message) == kGone; });
  for (MessageWarning& one : request.hidden_reasoning) one.message = place(one.message);
  std::erase_if(request.cache_marks,
                [&](const chat::CacheMark& mark) { return mark.message && place(*mark.message) == kGone; });
  for (chat::CacheMark& mark : request.cache_marks) {
    if (mark.message) mark.message = place(*mark.message);
  }
}

}  // namespace

std::size_t drop_oldest(GenerateRequest& request, std::span<const std::size_t> sizes, std::size_t tokens) {
  const DroppedGroups found(request.messages);
  const std::vector<std::size_t>& groups = found.groups();
  if (groups.empty()) return 0;
  std::vector<std::size_t> size_of(found.count());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != kStays) size_of[groups[i]] += sizes[i];
  }
  // Nothing from the group of the last message on is dropped.
  std::size_t end = found.count();
  for (std::size_t i = groups.size(); i-- > 0;) {
    if (groups[i] == kStays) continue;
    end = groups[i];
    break;
  }
  std::size_t first_kept = 0;
  for (std::size_t gone = 0; first_kept < end && (gone < tokens || first_kept == 0); ++first_kept)
    gone += size_of[first_kept];
  std::vector<bool> is_dropped(groups.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    is_dropped[i] = groups[i] != kStays && groups[i] < first_kept;
    if (is_dropped[i]) ++count;
  }
  if (count > 0) remove_messages(request, is_dropped);
  return count;
}

}  // namespace rondo::apis
