#include "render/lossy.h"

#include <algorithm>

#include "format/units.h"
#include "probe/places.h"
#include "render/explain.h"

namespace rondo::render {
namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin()).first -
      a.begin());
}

// The owner of byte `at` in `rendered`, or kNoMessage.
std::int32_t owner_at(const jinja::Rendered& rendered, std::size_t at) {
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    end += run.size;
    if (at < end) return owner(run, rendered.origins);
  }
  return text::kNoMessage;
}

// A finding if `after` does not start with bytes [0, kept) of `before`.
std::optional<LossyFinding> compare(const TurnContext& context, const jinja::Rendered& before, std::size_t kept,
                                    const jinja::Rendered& after, const std::string& what) {
  const std::string_view old_text = std::string_view(before.text.bytes()).substr(0, kept);
  const std::size_t same = common_prefix(old_text, after.text.bytes());
  if (same == old_text.size()) return std::nullopt;
  LossyFinding finding;
  finding.message = owner_at(before, same);
  finding.place = describe_origin(before, same);
  const jinja::Decision* flip = first_flip(before, after, finding.message);
  finding.what = what + ": " + text::quoted(old_text.substr(same, 40)) + " becomes " +
                 text::quoted(std::string_view(after.text.bytes()).substr(same, 40));
  if (flip != nullptr) {
    finding.line = flip->line;
    finding.column = flip->column;
    finding.what += "; line " + std::to_string(flip->line) + " `" + source_line(context.chat_template, flip->line) +
                    "` now goes the other way";
  }
  return finding;
}

// Where the closing token of message `index`'s turn begins, or white space before it.
std::size_t before_close(const TurnContext& context, const jinja::Rendered& turn, std::int32_t index) {
  const auto data = data_extent(turn, index);
  const std::size_t from = data ? data->end : turn_begin(turn, index).value_or(0);
  const std::string_view tail = probe::slice(turn, from, tail_end(turn, index, from));
  const auto close = closing_marker(context.tokenizer, tail);
  const std::size_t last = tail.substr(0, close ? close->begin : tail.size()).find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? from : from + last + 1;
}

bool writes_path(const jinja::Rendered& rendered, std::int32_t index, const std::vector<std::string_view>& fields) {
  const text::PathTable& paths = rendered.origins.paths;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.path() == text::PathId::kNone || paths.message(run.path()) != index) continue;
    const std::string_view field =
        paths.depth(run.path()) >= 3 ? paths.step_name(paths.prefix(run.path(), 3)) : std::string_view();
    if (std::find(fields.begin(), fields.end(), field) != fields.end()) return true;
  }
  return false;
}

bool has_text(const json::Value& message, std::string_view field) {
  const auto text = message.find_string(field);
  return text && !format::is_blank(*text);
}

void add_dropped_fields(const jinja::Rendered& after, const json::Value& assistant, std::int32_t index,
                        std::vector<LossyFinding>& out) {
  const auto add = [&](const char* field) {
    LossyFinding finding;
    finding.message = index;
    finding.place = "messages[" + std::to_string(index) + "]." + field;
    finding.what = std::string("the template does not write the turn's ") + field + " any more";
    out.push_back(std::move(finding));
  };
  // Templates read reasoning under one of several names; the aliases of template_variables() are two of them.
  if (has_text(assistant, "reasoning_content") &&
      !writes_path(after, index, {"reasoning_content", "thinking", "reasoning"}))
    add("reasoning_content");
  if (has_text(assistant, "content") && !writes_path(after, index, {"content"})) add("content");
  if (assistant.find("tool_calls") != nullptr && !writes_path(after, index, {"tool_calls"})) add("tool_calls");
}

}  // namespace

std::vector<LossyFinding> find_lossy(const TurnContext& context, std::span<const json::Value> history,
                                     const json::Value& assistant, std::span<const json::Value> new_messages) {
  std::vector<LossyFinding> out;
  const auto index = static_cast<std::int32_t>(history.size());
  tmpl::ReadyConversation messages(context.base, history);
  messages.push(assistant);
  const Result<jinja::Rendered> turn = messages.render(context.chat_template, false, context.options);
  for (const json::Value& message : new_messages) messages.push(message);
  const Result<jinja::Rendered> after = messages.render(context.chat_template, true, context.options);
  if (!after.ok()) return out;
  messages.shrink(history.size());
  const Result<jinja::Rendered> prompt = messages.render(context.chat_template, true, context.options);
  if (prompt.ok()) {
    const auto finding =
        compare(context, prompt.value(), prompt.value().text.size(), after.value(), "the earlier prompt changes");
    if (finding) out.push_back(*finding);
  }
  if (out.empty() && turn.ok()) {
    const auto finding = compare(context, turn.value(), before_close(context, turn.value(), index), after.value(),
                                 "the assistant's turn changes");
    if (finding) out.push_back(*finding);
  }
  if (out.empty()) add_dropped_fields(after.value(), assistant, index, out);
  return out;
}

}  // namespace rondo::render
