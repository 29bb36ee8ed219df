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

// One kind of turn and what follows it, rendered with whole histories and in windows.
class StepTrial {
 public:
  StepTrial(const TurnProfile& profile, const format::InputShape& input, std::size_t calls, bool reasons)
      : profile_(profile),
        said_(trial_completion(input, calls, reasons)),
        next_(calls == 0 ? json::Array{plain_message("user", probe::kNewQuestion)} : trial_results(calls)) {}

  // Both return why the step is not local; "" if they find no reason.
  std::string play_window(const TurnContext& small, const json::Array& window, bool has_system) {
    const Result<SuffixRender> rendered = render_suffix(small, profile_.plain, {.messages = window}, said_, following_);
    if (!rendered.ok()) return "";
    if (!rendered.value().notes.empty()) return rendered.value().notes.front();
    windows_[has_system ? 1 : 0] = suffix_text(rendered.value());
    return "";
  }
  std::string play_history(const TurnContext& context, const json::Array& history) {
    const bool has_system = history.front().find_string("role") == "system";
    if (!render_messages(context, history, true).ok()) return "";
    const Result<SuffixRender> full = render_suffix(context, profile_.plain, {.messages = history}, said_, following_);
    if (!full.ok()) return "";  // the template refuses such a history, so it cannot occur
    if (!full.value().notes.empty()) return full.value().notes.front();
    if (std::string reason = dependence_of(full.value()); !reason.empty()) return reason;
    if (suffix_text(full.value()) != windows_[has_system ? 1 : 0])
      return "the template writes the new turns differently behind another history";
    ++compared_;
    return "";
  }

  [[nodiscard]] bool has_proof() const { return compared_ >= 4; }

 private:
  const TurnProfile& profile_;
  const ParsedCompletion said_;
  const json::Array next_;
  const Following following_{next_, true};
  std::array<std::string, 2> windows_;  // without and with a system message
  std::size_t compared_ = 0;
};

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
  if (calls >= tails_.size() || !are_tails_fixed_[calls] || !is_plain || completion.is_bare) return nullptr;
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
    StepTrial trial(profile, input, calls, reasons);
    for (const bool has_system : {false, true}) {
      if (std::string why = trial.play_window(small, out.window(has_system), has_system); !why.empty()) return why;
    }
    for (const json::Array& history : all) {
      if (std::string why = trial.play_history(context, history); !why.empty()) return why;
    }
    return trial.has_proof() ? "" : "the template refuses most histories";
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
