#include "render/locality.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "format/units.h"
#include "probe/messages.h"
#include "probe/words.h"
#include "render/bridge.h"
#include "render/stand_in.h"
#include "render/suffix.h"

namespace rondo::render {
namespace {

using probe::plain_message;

std::string_view tool_name(std::size_t call) { return call % 2 == 0 ? probe::kSmallTool : "other"; }

// A completion with `calls` calls, or plain text.
ParsedCompletion completion(const format::InputShape& input, std::size_t calls, bool reasons) {
  ParsedCompletion out;
  out.input = input;
  if (calls == 0) out.message.content = probe::kOlderAnswer;
  if (reasons) out.message.reasoning = probe::kOlderThought;
  for (std::size_t i = 0; i < calls; ++i) {
    chat::ToolCall call;
    call.name = tool_name(i);
    call.id = probe::call_id(i);
    call.arguments = probe::small_arguments(true).as_string();
    out.message.tool_calls.push_back(std::move(call));
  }
  out.message.complete = true;
  return out;
}

json::Array results_of(std::size_t count) {
  json::Array out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(probe::tool_message(probe::call_id(i), tool_name(i), probe::kOlderResult));
  }
  return out;
}

// Parts that histories are made of, each a whole exchange that ends before a user message.
std::vector<json::Array> exchanges(const format::InputShape& input, const std::vector<std::string>& constants) {
  std::vector<json::Array> out;
  const auto cycle = [&](std::size_t calls, bool reasons) {
    json::Array part{plain_message("user", probe::kOlderQuestion),
                     history_message(completion(input, calls, reasons), results_of(calls))};
    for (json::Value& result : results_of(calls)) part.push_back(std::move(result));
    if (calls > 0) part.push_back(history_message(completion(input, 0, reasons), {}));
    return part;
  };
  for (std::size_t calls = 0; calls <= 2; ++calls) {
    out.push_back(cycle(calls, false));
    if (!input.reasoning_field.empty()) out.push_back(cycle(calls, true));
  }
  for (const std::string& constant : constants) {
    out.push_back({plain_message("user", "u" + constant + "v"), plain_message("assistant", "a" + constant + "b")});
  }
  return out;
}

// Histories up to the message that the model answers: each exchange alone, each pair of them, and a long one; for tools
// also inside a cycle.  Every other one has a system message.
std::vector<json::Array> histories(const format::InputShape& input, const std::vector<std::string>& constants) {
  const std::vector<json::Array> parts = exchanges(input, constants);
  std::vector<json::Array> out;
  const auto add = [&](const std::vector<const json::Array*>& chosen, bool in_cycle) {
    for (const bool has_system : {false, true}) {
      json::Array history;
      if (has_system) history.push_back(plain_message("system", probe::kOlderSystem));
      for (const json::Array* part : chosen) history.insert(history.end(), part->begin(), part->end());
      history.push_back(plain_message("user", probe::kOlderQuestion));
      if (in_cycle) {
        history.push_back(history_message(completion(input, 1, false), results_of(1)));
        history.push_back(results_of(1)[0]);
      }
      out.push_back(std::move(history));
    }
  };
  std::vector<const json::Array*> all;
  for (const json::Array& part : parts) {
    add({&part}, false);
    all.push_back(&part);
  }
  constexpr std::size_t kPaired = 6;
  for (std::size_t i = 0; i < parts.size() && i < kPaired; ++i) {
    for (std::size_t j = 0; j < parts.size() && j < kPaired; ++j) add({&parts[i], &parts[j]}, false);
  }
  add({}, true);
  add({&parts[0]}, true);
  add(all, false);
  add(all, true);
  return out;
}

// What the template searches in input text.
std::vector<std::string> searched_constants(const TurnContext& context) {
  std::set<std::string> found;
  for (const char* role : {"user", "assistant"}) {
    const json::Array messages{plain_message("user", probe::kOlderQuestion), plain_message(role, probe::kOlderAnswer),
                               plain_message("user", probe::kOlderQuestion)};
    const Result<jinja::Rendered> rendered = render_messages(context, messages, true);
    if (!rendered.ok()) continue;
    for (const jinja::Probe& probe : rendered.value().probes) found.insert(probe.constant);
  }
  constexpr std::size_t kEnough = 8;
  std::vector<std::string> out(found.begin(), found.end());
  if (out.size() > kEnough) out.resize(kEnough);
  return out;
}

// The first reason in `full` to think that its suffix depends on older messages; "" if none.
std::string dependence(const SuffixRender& suffix) {
  const text::Origins& origins = suffix.full.origins;
  const auto is_older = [&](text::PathId path) {
    const std::int32_t message = origins.paths.message(path);
    return message > 0 && message < suffix.index;
  };
  std::size_t at = 0;
  for (const text::Run& run : suffix.full.text.runs()) {
    at += run.size;
    if (at > suffix.close.suffix_begin && is_older(run.path()))
      return "the new turns contain " + origins.paths.to_string(run.path());
  }
  // A condition decides on the new turns where it stands in them, or opens the generation prompt.
  const auto opens_prompt = [&](text::PathId path) {
    return origins.paths.step_kind(path) == text::PathTable::StepKind::kVariable &&
           origins.paths.step_name(path) == "add_generation_prompt";
  };
  for (const jinja::Decision& decision : suffix.full.decisions) {
    const auto reads = suffix.full.reads_of(decision);
    const auto older = std::ranges::find_if(reads, is_older);
    if (older == reads.end()) continue;
    const text::Context& context = origins.contexts.at(decision.context);
    if (context.generation_prompt || context.owner() > suffix.index || std::ranges::any_of(reads, opens_prompt))
      return "line " + std::to_string(decision.line) + " reads " + origins.paths.to_string(*older);
  }
  return "";
}

// What the template writes behind such a turn that is last, by the first stand-in that it takes; nullopt where
// it refuses all.
std::optional<std::string> tail_of(const TurnContext& context, const ParsedCompletion& said_now,
                                   const json::Array& history) {
  tmpl::ReadyConversation messages(context.base, history);
  const json::Array results = results_of(said_now.message.tool_calls.size());
  for (const Rung& rung : ladder_of(said_now, results)) {
    messages.shrink(history.size());
    messages.push(make_stand_in(said_now, results, rung).message);
    if (!messages.render(context.chat_template, false, context.options).ok()) continue;
    return render::tail_alone(context, messages);
  }
  return std::nullopt;
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
  const std::vector<json::Array> all = histories(input, searched_constants(context));
  const auto examine = [&](std::size_t calls, bool reasons) -> std::string {
    const ParsedCompletion said_now = completion(input, calls, reasons);
    const json::Array next = calls == 0 ? json::Array{plain_message("user", probe::kNewQuestion)} : results_of(calls);
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
      if (!full.ok()) continue;  // the template refuses such a history: there is none
      if (!full.value().notes.empty()) return full.value().notes.front();
      if (std::string reason = dependence(full.value()); !reason.empty()) return reason;
      if (suffix_text(full.value()) != windows[has_system ? 1 : 0])
        return "the template writes the new turns differently behind another history";
      ++compared;
    }
    return compared < 4 ? "the template refuses most histories" : "";
  };
  const bool can_reason = !input.reasoning_field.empty();
  for (std::size_t calls = 0; calls <= 1; ++calls) {
    out.tails_[calls] = tail_of(small, completion(input, calls, false), out.window(false)).value_or("");
    const auto is_same = [&](const json::Array& history, bool reasons) {
      const std::optional<std::string> other = tail_of(context, completion(input, calls, reasons), history);
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
