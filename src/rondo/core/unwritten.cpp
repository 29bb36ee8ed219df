#include "core/unwritten.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

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

// Returns nullopt if the template writes all messages at once.
std::optional<std::vector<Written>> written_in(const jinja::Rendered& rendered, std::size_t count) {
  std::vector<Written> out(count);
  std::unordered_set<text::PathId> seen;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.path() == text::PathId::kNone || !seen.insert(run.path()).second) continue;
    const std::string path = rendered.origins.paths.to_string(run.path());
    if (path == "messages") return std::nullopt;
    const std::int32_t message = rendered.origins.paths.message(run.path());
    if (message < 0 || static_cast<std::size_t>(message) >= count) continue;
    const std::size_t end = path.find(']');
    if (end == std::string::npos) continue;
    out[static_cast<std::size_t>(message)].note(std::string_view(path).substr(end + 1));
  }
  return out;
}

bool shows_content(const Written& written, const json::Value& message, std::string_view prompt) {
  if (written.content) return true;
  const std::string text = chat::content_text(message);
  const std::string_view said = format::trimmed(text);
  return said.empty() || prompt.find(said) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                          const jinja::Rendered& rendered) {
  const auto known = written_in(rendered, messages.size());
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
    if (!shows_content(written[i], messages[i], rendered.text.bytes())) tell(i, "content");
    const json::Value* calls = messages[i].find(kCalls);
    const std::size_t count = calls != nullptr && calls->is_array() ? calls->as_array().size() : 0;
    for (std::size_t call = 0; call < count; ++call)
      if (!written[i].has_call(call)) tell(i, std::string(kCalls) + "[" + std::to_string(call) + "]");
  }
  return out;
}

}  // namespace rondo::core
