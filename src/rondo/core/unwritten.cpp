#include "core/unwritten.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "chat/conversation.h"
#include "format/units.h"

namespace rondo::core {
namespace {

using text::PathTable;

constexpr std::string_view kCalls = "tool_calls";
constexpr std::size_t kFieldDepth = 3;  // steps of messages[N].content

// Which parts of a message are in the prompt.
struct Written {
  bool content = false;
  bool all_calls = false;
  std::vector<bool> calls;

  // Notes a path of the message.  If a value is written, so are the fields inside it, as in a dump of all calls.
  void note(const PathTable& paths, text::PathId path) {
    const std::size_t depth = paths.depth(path);
    const text::PathId field = paths.prefix(path, kFieldDepth);
    const bool is_message = depth < kFieldDepth;
    const bool is_value = !is_message && paths.step_kind(field) != PathTable::StepKind::kKey;
    const std::string_view name = is_value ? paths.step_name(field) : "";
    content = content || is_message || name.starts_with("content");
    all_calls = all_calls || is_message || (name == kCalls && depth == kFieldDepth);
    if (name != kCalls || depth == kFieldDepth) return;
    const text::PathId element = paths.prefix(path, kFieldDepth + 1);
    if (paths.step_kind(element) != PathTable::StepKind::kIndex) return;
    const std::size_t call = paths.step_index(element);
    if (calls.size() <= call) calls.resize(call + 1);
    calls[call] = true;
  }
  [[nodiscard]] bool has_call(std::size_t call) const { return all_calls || (call < calls.size() && calls[call]); }
};

// Returns nullopt if the template writes all messages at once.
std::optional<std::vector<Written>> written_in(const jinja::Rendered& rendered, std::size_t count) {
  std::vector<Written> out(count);
  const PathTable& paths = rendered.origins.paths;
  for (const text::Run& run : rendered.text.runs()) {
    if (paths.depth(run.path()) == 1 && paths.root(run.path()) == "messages") return std::nullopt;
    const std::int32_t message = paths.message(run.path());
    if (message >= 0 && static_cast<std::size_t>(message) < count)
      out[static_cast<std::size_t>(message)].note(paths, run.path());
  }
  return out;
}

bool shows_content(const Written& written, const json::Value& message, std::string_view prompt) {
  if (written.content) return true;
  const std::string text = chat::content_text(message);
  const std::string_view said = format::trimmed(text);
  return said.empty() || prompt.find(said) != std::string_view::npos;
}

// Looks for texts in a prompt, which has most of them in the order of the messages.
class Finder {
 public:
  explicit Finder(std::string_view prompt) : prompt_(prompt) {}

  bool has(std::string_view text) {
    text = format::trimmed(text);
    std::size_t found = prompt_.find(text, from_);
    if (found == std::string_view::npos) found = prompt_.find(text);
    if (found == std::string_view::npos) return false;
    from_ = found + text.size();
    return true;
  }

 private:
  std::string_view prompt_;
  std::size_t from_ = 0;
};

}  // namespace

bool shows_all(const json::Array& messages, std::string_view prompt) {
  Finder finder(prompt);
  return std::ranges::all_of(messages, [&finder](const json::Value& message) {
    const std::vector<chat::OpenCall> calls = chat::open_calls(message);
    return finder.has(chat::content_text(message)) &&
           std::ranges::all_of(calls, [&finder](const chat::OpenCall& call) { return finder.has(call.name); });
  });
}

std::vector<std::string> unwritten_fields(const json::Array& messages, const tmpl::Shaping& shaping,
                                          const jinja::Rendered& rendered,
                                          const std::optional<UnknownRole>& unwritten) {
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
    if (!role || *role == "function" || !chat::is_api_role(*role) || (unwritten && unwritten->role == *role)) continue;
    if (!shows_content(written[i], messages[i], rendered.text.bytes())) tell(i, "content");
    const json::Value* calls = messages[i].find(kCalls);
    const std::size_t count = calls != nullptr && calls->is_array() ? calls->as_array().size() : 0;
    for (std::size_t call = 0; call < count; ++call)
      if (!written[i].has_call(call)) tell(i, std::string(kCalls) + "[" + std::to_string(call) + "]");
  }
  return out;
}

}  // namespace rondo::core
