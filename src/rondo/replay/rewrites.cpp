#include "replay/rewrites.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "template/chat_template.h"

namespace rondo::replay {
namespace {

constexpr std::uint8_t kHeader = 1;
constexpr std::uint8_t kDates = 2;
constexpr std::uint64_t kToolsSeed = 0x70015;

bool has(RewriteSet set, RewriteSet part) { return set == part || set == RewriteSet::kAll; }

// The message with what was there at first and is now missing or spelled differently; nullopt if nothing is.
std::optional<json::Value> restored(const json::Value& message, const FirstForm& first, RewriteSet set) {
  std::optional<json::Value> out;
  if (has(set, RewriteSet::kKeepReasoning) && first.reasoning && tmpl::reasoning_field(message).empty()) {
    out = message;
    out->as_object().set("reasoning_content", *first.reasoning);
  }
  const json::Value* calls = message.find("tool_calls");
  if (has(set, RewriteSet::kVerbatimArguments) && first.tool_calls && calls != nullptr && *calls != *first.tool_calls) {
    if (!out) out = message;
    out->as_object().set("tool_calls", *first.tool_calls);
  }
  return out;
}

bool is_same(const std::optional<jinja::LocalTime>& a, const std::optional<jinja::LocalTime>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  const auto fields = [](const jinja::LocalTime& t) {
    return std::array{t.year, t.month, t.day, t.hour, t.minute, t.second};
  };
  return fields(*a) == fields(*b);
}

}  // namespace

std::string_view to_string(RewriteSet set) {
  switch (set) {
    case RewriteSet::kNone: return "as-sent";
    case RewriteSet::kStableHeader: return "stable-header";
    case RewriteSet::kStableDate: return "stable-date";
    case RewriteSet::kKeepReasoning: return "keep-reasoning";
    case RewriteSet::kVerbatimArguments: return "verbatim-arguments";
    case RewriteSet::kSortTools: return "sort-tools";
    case RewriteSet::kAll: return "all-remedies";
  }
  return "";
}

std::string_view sentence_of(RewriteSet set) {
  switch (set) {
    case RewriteSet::kNone: return "the requests as they were sent";
    case RewriteSet::kStableHeader: return "the same system text in every request, dates aside";
    case RewriteSet::kStableDate: return "dates and times of the system text stay those of the first request";
    case RewriteSet::kKeepReasoning: return "reasoning that the model wrote is sent back";
    case RewriteSet::kVerbatimArguments: return "arguments of calls are sent back as the model wrote them";
    case RewriteSet::kSortTools: return "the same tools always in the same order";
    case RewriteSet::kAll: return "all of these together";
  }
  return "";
}

void Rewriter::note_first_forms(ConversationState& state, const Incoming& after, const Comparison& comparison) {
  const Incoming& before = state.last;
  for (const Change& change : comparison.changes) {
    const bool is_reasoning = change.kind == ChangeKind::kReasoningLeftOut;
    if (!is_reasoning && change.kind != ChangeKind::kArgumentsRespelled) continue;
    const std::uint64_t loose = after.marks[static_cast<std::size_t>(change.message)].loose;
    const auto at = std::ranges::find(before.marks, loose, &MessageMark::loose);
    if (at == before.marks.end()) continue;
    const json::Value& message = before.messages[static_cast<std::size_t>(at - before.marks.begin())];
    FirstForm& form = state.first_forms[loose];
    const json::Value* reasoning = message.find(tmpl::reasoning_field(message));
    const json::Value* calls = message.find("tool_calls");
    if (is_reasoning && reasoning != nullptr && !form.reasoning) form.reasoning = *reasoning;
    if (!is_reasoning && calls != nullptr && !form.tool_calls) form.tool_calls = *calls;
  }
}

const Rewriter::Known& Rewriter::first_of(std::uint64_t key, const json::Value& value, std::uint64_t order) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    known_.splice(known_.begin(), known_, found->second);
    return *found->second;
  }
  known_.push_front({key, value, order});
  by_key_[key] = known_.begin();
  if (known_.size() > kMostValues) {
    by_key_.erase(known_.back().key);
    known_.pop_back();
  }
  return known_.front();
}

std::optional<std::string> Rewriter::stable_text(const Incoming& request, std::size_t index,
                                                 const ConversationState* state, std::uint8_t undone) {
  const json::Value* content = request.messages[index].find("content");
  if (content == nullptr || !content->is_string() || content->as_string().size() > kMostTextBytes) return std::nullopt;
  const std::string& text = content->as_string();
  const json::Value& known = first_of(request.shapes[index], *content, 0).value;
  const json::Value* own =
      state != nullptr && index < state->instructions.size() ? state->instructions[index].find("content") : nullptr;
  const std::string& stable = own != nullptr && own->is_string() ? own->as_string() : known.as_string();
  if (stable == text) return std::nullopt;
  std::string out = text;
  if ((undone & kHeader) != 0) out = undo_changes(stable, out, false);
  if ((undone & kDates) != 0) out = undo_changes(stable, out, true);
  return out == text ? std::nullopt : std::optional(std::move(out));
}

std::optional<json::Value> Rewriter::ordered_tools(const Incoming& request) {
  if (!request.tools) return std::nullopt;
  const json::SourceRange source = request.tools->source();
  if (source.end - source.begin > kMostToolBytes) return std::nullopt;
  const std::vector<std::uint64_t>& hashes = request.tool_hashes;
  const auto bytes = [](const std::vector<std::uint64_t>& of) {
    return std::string_view(reinterpret_cast<const char*>(of.data()), of.size() * sizeof(std::uint64_t));
  };
  const std::uint64_t order = hash_bytes(bytes(hashes));
  std::vector<std::uint64_t> sorted = hashes;
  std::ranges::sort(sorted);
  const Known& known = first_of(hash_bytes(bytes(sorted), kToolsSeed), *request.tools, order);
  return known.order == order ? std::nullopt : std::optional(known.value);
}

std::optional<Rewritten> Rewriter::rewrite(RewriteSet set, const Incoming& request, const ConversationState* state) {
  std::optional<Rewritten> out;
  const auto changed = [&]() -> Rewritten& {
    if (!out) out = Rewritten{request.messages, request.tools, request.now};
    return *out;
  };
  const auto undone = static_cast<std::uint8_t>((has(set, RewriteSet::kStableHeader) ? kHeader : 0) |
                                                (has(set, RewriteSet::kStableDate) ? kDates : 0));
  for (std::size_t i = 0; undone != 0 && i < request.shapes.size(); ++i) {
    std::optional<std::string> text = stable_text(request, i, state, undone);
    if (text) changed().messages[i].as_object().set("content", *std::move(text));
  }
  if ((undone & kDates) != 0 && state != nullptr && !is_same(request.now, state->first_now))
    changed().now = state->first_now;
  if (has(set, RewriteSet::kSortTools)) {
    std::optional<json::Value> tools = ordered_tools(request);
    if (tools) changed().tools = std::move(tools);
  }
  if (state == nullptr || state->first_forms.empty()) return out;
  for (std::size_t i = request.shapes.size(); i < request.messages.size(); ++i) {
    const auto form = state->first_forms.find(request.marks[i].loose);
    if (form == state->first_forms.end()) continue;
    std::optional<json::Value> message = restored(request.messages[i], form->second, set);
    if (message) changed().messages[i] = *std::move(message);
  }
  return out;
}

}  // namespace rondo::replay
