#include "render/lossy.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "causes/find.h"
#include "causes/places.h"
#include "format/units.h"
#include "probe/places.h"
#include "render/join.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// Where the closing token of message `index`'s turn begins, or the white space before that token.
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
    if (std::ranges::find(fields, probe::message_field(paths, run.path())) != fields.end()) return true;
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
    finding.cause = field == std::string_view("reasoning_content") ? causes::CauseKind::kReasoningDropped
                                                                   : causes::CauseKind::kDroppedField;
    finding.message = index;
    finding.place = "messages[" + std::to_string(index) + "]." + field;
    finding.what = std::string("the template does not write the turn's ") + field + " any more";
    out.push_back(std::move(finding));
  };
  // Templates read reasoning under one of several names.  template_variables() aliases two of them.
  if (has_text(assistant, "reasoning_content") &&
      !writes_path(after, index, {"reasoning_content", "thinking", "reasoning"}))
    add("reasoning_content");
  if (has_text(assistant, "content") && !writes_path(after, index, {"content"})) add("content");
  if (assistant.find("tool_calls") != nullptr && !writes_path(after, index, {"tool_calls"})) add("tool_calls");
}

class LossySearch {
 public:
  LossySearch(const TurnContext& context, const format::Format& format, std::span<const json::Value> history,
              const json::Value& assistant, std::span<const json::Value> new_messages)
      : context_(context),
        format_(format),
        history_(history),
        assistant_(assistant),
        messages_(context.base, history),
        turn_(with_turn(new_messages)) {}

  std::vector<LossyFinding> run(const SampledText& sampled) {
    std::vector<LossyFinding> out = of_the_template();
    out.insert(out.end(), sampled.ends.begin(), sampled.ends.end());
    locate(out, sampled);
    return out;
  }

 private:
  // What the template changes of its own writing, or does not write at all.
  std::vector<LossyFinding> of_the_template() {
    if (!after_.ok()) return {};
    const Result<jinja::Rendered> prompt = render(true);
    if (prompt.ok()) {
      if (!again().starts_with(prompt.value().text.bytes()))
        return {finding("the earlier prompt changes", prompt.value(), {})};
    }
    if (turn_.ok()) {
      const auto index = static_cast<std::int32_t>(history_.size());
      const std::size_t kept = before_close(context_, turn_.value(), index);
      const std::string_view said = std::string_view(turn_.value().text.bytes()).substr(0, kept);
      if (!again().starts_with(said)) {
        const std::string what = "the assistant's turn changes";
        const bool goes_on = prompt.ok() && said.starts_with(prompt.value().text.bytes());
        if (!goes_on) return {finding(what, turn_.value(), {})};
        const std::size_t begin = prompt.value().text.size();
        causes::Sampled sampled;
        sampled.text = said.substr(begin);
        sampled.regions = causes::find_regions(turn_.value(), format_, index, {begin, kept});
        sampled.stop_begin = sampled.text.size();
        return {finding(what, prompt.value(), sampled)};
      }
    }
    std::vector<LossyFinding> out;
    add_dropped_fields(after_.value(), assistant_, static_cast<std::int32_t>(history_.size()), out);
    return out;
  }

  // Findings without a place have that of the same cause, as the whole turn shows it.
  void locate(std::vector<LossyFinding>& findings, const SampledText& sampled) {
    const bool is_placed = std::ranges::all_of(findings, [](const LossyFinding& finding) { return finding.line > 0; });
    if (is_placed || sampled.text.empty() || !after_.ok()) return;
    const Result<jinja::Rendered> prompt = render(true);
    if (!prompt.ok() || again().starts_with(prompt.value().text.bytes() + sampled.text)) return;
    // The format outlives the search, which only borrows it.
    const std::shared_ptr<const format::Format> borrowed(std::shared_ptr<const format::Format>(), &format_);
    const causes::Sampled turn =
        causes::read_sampled(borrowed, prompt.value().text.bytes(), sampled.text, sampled.stop_size);
    const causes::Found found = causes::find_cause(event_of(prompt.value(), turn));
    for (LossyFinding& finding : findings) {
      if (finding.line > 0 || finding.cause != found.cause.kind || finding.message != found.cause.message) continue;
      finding.line = found.cause.place.line;
      finding.column = found.cause.place.column;
      if (finding.place.empty()) finding.place = place_of(found);
    }
  }

  // Renders the turn as the last message and then with what follows; only the history remains.
  Result<jinja::Rendered> with_turn(std::span<const json::Value> new_messages) {
    messages_.push(assistant_);
    Result<jinja::Rendered> turn = render(false);
    for (const json::Value& message : new_messages) messages_.push(message);
    after_ = render(true);
    messages_.shrink(history_.size());
    return turn;
  }
  Result<jinja::Rendered> render(bool add_generation_prompt) {
    return messages_.render(context_.chat_template, add_generation_prompt, context_.options);
  }
  [[nodiscard]] std::string_view again() const { return after_.value().text.bytes(); }

  // The references of the event must outlive it.
  causes::Event event_of(const jinja::Rendered& prompt, const causes::Sampled& sampled) {
    return {.chat_template = context_.chat_template,
            .format = format_,
            .history = history_,
            .prompt = prompt,
            .render_bare = [this] { return render(false); },
            .sampled = sampled,
            .kept = assistant_,
            .alone = turn_.ok() ? &turn_.value() : nullptr,
            .again = &after_.value(),
            .refusal = nullptr,
            .parted_tokens = {}};
  }

  [[nodiscard]] std::string place_of(const causes::Found& found) const {
    return found.cause.path.empty() ? causes::describe_origin(after_.value(), found.at) : found.cause.path;
  }

  // Explains why the next prompt does not begin with `prompt` and `sampled`.
  LossyFinding finding(const std::string& what, const jinja::Rendered& prompt, const causes::Sampled& sampled) {
    const causes::Event event = event_of(prompt, sampled);
    const causes::Found found = causes::find_cause(event);
    const std::string seen = event.seen();
    LossyFinding out;
    out.cause = found.cause.kind;
    out.message = found.cause.message;
    out.place = place_of(found);
    out.line = found.cause.place.line;
    out.column = found.cause.place.column;
    out.what = what + ": " + text::quoted(std::string_view(seen).substr(found.at, kShownBytes)) + " becomes " +
               text::quoted(again().substr(std::min(found.at, again().size()), kShownBytes)) + "; " +
               found.cause.sentence;
    return out;
  }

  static constexpr std::size_t kShownBytes = 40;

  const TurnContext& context_;
  const format::Format& format_;
  std::span<const json::Value> history_;
  const json::Value& assistant_;
  tmpl::ReadyConversation messages_;
  Result<jinja::Rendered> after_ = Error(ErrorCode::kInvalidArgument, "not rendered");
  Result<jinja::Rendered> turn_;
};

}  // namespace

std::vector<LossyFinding> find_lossy(const TurnContext& context, const format::Format& format,
                                     std::span<const json::Value> history, const json::Value& assistant,
                                     std::span<const json::Value> new_messages, const SampledText& sampled) {
  return LossySearch(context, format, history, assistant, new_messages).run(sampled);
}

SampledText sampled_text(const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                         std::span<const TokenId> prompt_ids, std::span<const TokenId> completion_ids) {
  SampledText out;
  Result<std::string> text = text_behind(tokenizer, prompt_ids, completion_ids);
  if (!text.ok() || completion_ids.empty()) return out;
  out.text = std::move(text).value();
  const bool is_stopped = profile.is_stop(completion_ids.back());
  if (is_stopped) out.stop_size = std::min(out.text.size(), tokenizer.token_bytes(completion_ids.back()).size());
  return out;
}

}  // namespace rondo::render
