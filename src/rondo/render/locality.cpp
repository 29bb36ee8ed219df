#include "render/locality.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "format/units.h"
#include "probe/messages.h"
#include "probe/words.h"
#include "render/bridge.h"
#include "render/histories.h"
#include "render/stand_in.h"
#include "render/suffix.h"

namespace rondo::render {
namespace {

using probe::plain_message;

// What the template writes after such a turn if it is the last one, tried with each stand-in until the template accepts
// one; nullopt if it refuses all.
std::optional<std::string> tail_of(const TurnContext& context, const ParsedCompletion& said_now,
                                   const json::Array& history) {
  tmpl::ReadyConversation messages(context.base, history);
  const json::Array results = trial_results(said_now.message.tool_calls.size());
  for (const Rung& rung : ladder_of(said_now, results)) {
    messages.shrink(history.size());
    messages.push(make_stand_in(said_now, results, rung).message);
    if (!messages.render(context.chat_template, false, context.options).ok()) continue;
    return render::tail_alone(context, messages);
  }
  return std::nullopt;
}

// The first reason to think that the suffix depends on older messages; "" if none.
std::string dependence_of(const SuffixRender& suffix) {
  const text::PathTable& paths = suffix.full.origins.paths;
  const auto is_older = [&](text::PathId path) {
    const std::int32_t message = paths.message(path);
    return message > 0 && message < suffix.index;
  };
  return dependence(suffix.full, {suffix.close.suffix_begin, suffix.index + 1, is_older});
}

std::string suffix_text(const SuffixRender& suffix) {
  return suffix.close.stop + '\0' + suffix.full.text.bytes().substr(suffix.close.suffix_begin);
}

}  // namespace

Step step_of(const ParsedCompletion& completion, std::span<const json::Value> new_messages) {
  if (new_messages.empty()) return Step::kOther;
  const auto are_all = [&](std::string_view role) {
    return std::ranges::all_of(new_messages, [role](const json::Value& message) {
      const json::Value* content = message.find("content");
      return message.find_string("role") == role && content != nullptr && content->is_string();
    });
  };
  const std::size_t calls = completion.message.tool_calls.size();
  if (calls == 0 && new_messages.size() == 1 && are_all("user")) return Step::kUserAfterText;
  if (calls > 0 && new_messages.size() == calls && are_all("tool")) return Step::kResultsAfterCalls;
  return Step::kOther;
}

const std::string* Locality::tail_alone(const ParsedCompletion& completion) const {
  const chat::AssistantMessage& message = completion.message;
  const std::size_t calls = message.tool_calls.size();
  const bool is_plain = calls == 0 ? !format::is_blank(message.content) : format::is_blank(message.content);
  if (calls >= tails_.size() || !are_tails_fixed_[calls] || !is_plain) return nullptr;
  return &tails_[calls];
}

Locality Locality::prove(const TurnContext& context, const TurnProfile& profile, const format::InputShape& input) {
  const auto& tools = context.base.tools;
  if (!tools || !tools->is_array() || tools->as_array().empty())
    return prove_with(context, profile, input, context.base.tools);
  // The shortest window has no tools at all.
  Locality without = prove_with(context, profile, input, std::nullopt);
  if (without.is_local(Step::kUserAfterText) && without.is_local(Step::kResultsAfterCalls)) return without;
  return prove_with(context, profile, input, json::Value(json::Array{probe::small_tool()}));
}

Locality Locality::prove_with(const TurnContext& context, const TurnProfile& profile, const format::InputShape& input,
                              std::optional<json::Value> tools) {
  Locality out;
  out.windows_ = {
      json::Array{plain_message("user", probe::kShortQuestion)},
      json::Array{plain_message("system", probe::kShortSystem), plain_message("user", probe::kShortQuestion)}};
  out.base_ = context.base;
  out.base_.messages.clear();
  out.base_.tools = std::move(tools);
  const TurnContext small{context.chat_template, context.tokenizer, out.base_, context.options};
  constexpr std::size_t kConstants = 8;
  const std::vector<json::Array> all =
      trial_histories(input, searched_constants(context.chat_template, context.base, context.options, kConstants));
  const auto examine = [&](std::size_t calls, bool reasons) -> std::string {
    const ParsedCompletion said_now = trial_completion(input, calls, reasons);
    const json::Array next =
        calls == 0 ? json::Array{plain_message("user", probe::kNewQuestion)} : trial_results(calls);
    const Following following(next, true);
    std::size_t compared = 0;
    std::array<std::string, 2> windows;
    for (const bool has_system : {false, true}) {
      const Result<SuffixRender> window =
          render_suffix(small, profile.plain, {.messages = out.window(has_system)}, said_now, following);
      if (!window.ok()) continue;
      if (!window.value().notes.empty()) return window.value().notes.front();
      windows[has_system ? 1 : 0] = suffix_text(window.value());
    }
    for (const json::Array& history : all) {
      const bool has_system = history.front().find_string("role") == "system";
      if (!render_messages(context, history, true).ok()) continue;
      const Result<SuffixRender> full =
          render_suffix(context, profile.plain, {.messages = history}, said_now, following);
      if (!full.ok()) continue;  // the template refuses such a history, so it cannot occur
      if (!full.value().notes.empty()) return full.value().notes.front();
      if (std::string reason = dependence_of(full.value()); !reason.empty()) return reason;
      if (suffix_text(full.value()) != windows[has_system ? 1 : 0])
        return "the template writes the new turns differently behind another history";
      ++compared;
    }
    return compared < 4 ? "the template refuses most histories" : "";
  };
  const bool can_reason = !input.reasoning_field.empty();
  for (std::size_t calls = 0; calls <= 1; ++calls) {
    out.tails_[calls] = tail_of(small, trial_completion(input, calls, false), out.window(false)).value_or("");
    const auto is_same = [&](const json::Array& history, bool reasons) {
      const std::optional<std::string> other = tail_of(context, trial_completion(input, calls, reasons), history);
      return !other || *other == out.tails_[calls];
    };
    out.are_tails_fixed_[calls] = std::ranges::all_of(all, [&](const json::Array& history) {
      return is_same(history, false) && (!can_reason || is_same(history, true));
    });
  }
  std::string& user = out.reasons_[static_cast<std::size_t>(Step::kUserAfterText)];
  user = examine(0, false);
  if (user.empty() && can_reason) user = examine(0, true);
  std::string& results = out.reasons_[static_cast<std::size_t>(Step::kResultsAfterCalls)];
  results = examine(1, false);
  if (results.empty() && can_reason) results = examine(1, true);
  if (results.empty() && !input.single_call) results = examine(3, false);
  return out;
}

}  // namespace rondo::render
