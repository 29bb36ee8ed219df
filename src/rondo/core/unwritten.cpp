#include "core/unwritten.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "chat/conversation.h"
#include "format/units.h"

namespace rondo::core {
namespace {

constexpr std::string_view kCalls = "tool_calls";
constexpr std::size_t kMostCalls = 65536;  // a path must not force a larger vector

// Which parts of a message are in the prompt.
struct Written {
  bool content = false;
  bool all_calls = false;
  std::vector<bool> calls;

  // `path` begins after "messages[N]".  If a value is written, so are the fields inside it, as in a dump of all calls.
  void note(std::string_view path) {
    if (!path.empty()) path.remove_prefix(1);
    content = content || path.empty() || path.starts_with("content");
    if (path.empty() || path == kCalls) all_calls = true;
    if (!path.starts_with(kCalls) || path == kCalls) return;
    path.remove_prefix(kCalls.size() + 1);
    std::size_t call = 0;
    const auto read = std::from_chars(path.data(), path.data() + path.size(), call);
    if (read.ec != std::errc() || call >= kMostCalls) return;
    if (calls.size() <= call) calls.resize(call + 1);
    calls[call] = true;
  }
  [[nodiscard]] bool has_call(std::size_t call) const { return all_calls || (call < calls.size() && calls[call]); }
};

// nullopt if all messages are written at once.
std::optional<std::vector<Written>> written_in(const render::Encoded& encoded, std::size_t count) {
  std::vector<Written> out(count);
  for (const render::FieldSpan& field : encoded.fields) {
    if (field.path == "messages") return std::nullopt;
    if (field.message < 0 || static_cast<std::size_t>(field.message) >= count) continue;
    const std::size_t end = field.path.find(']');
    if (end == std::string::npos) continue;
    out[static_cast<std::size_t>(field.message)].note(std::string_view(field.path).substr(end + 1));
  }
  return out;
}

bool shows_content(const Written& written, const json::Value& message, const render::Encoded& encoded) {
  if (written.content) return true;
  const std::string text = chat::content_text(message);
  const std::string_view said = format::trimmed(text);
  return said.empty() || encoded.text.find(said) != std::string::npos;
}

}  // namespace

std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                          const render::Encoded& encoded) {
  const auto known = written_in(encoded, messages.size());
  if (!known) return {};
  const std::vector<Written>& written = *known;
  std::vector<std::string> out;
  const auto tell = [&](std::size_t message, const std::string& path) {
    const std::size_t sent = tmpl::sent_index(shaping, message);
    out.push_back("messages[" + std::to_string(sent) + "]." + tmpl::sent_path(shaping, sent, path) +
                  ": the template writes nothing of it");
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto role = messages[i].find_string("role");
    if (!role || *role == "function" || !chat::is_api_role(*role)) continue;
    if (!shows_content(written[i], messages[i], encoded)) tell(i, "content");
    const json::Value* calls = messages[i].find(kCalls);
    const std::size_t count = calls != nullptr && calls->is_array() ? calls->as_array().size() : 0;
    for (std::size_t call = 0; call < count; ++call)
      if (!written[i].has_call(call)) tell(i, std::string(kCalls) + "[" + std::to_string(call) + "]");
  }
  return out;
}

}  // namespace rondo::core
