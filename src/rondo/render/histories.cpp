#include "render/histories.h"

#include <algorithm>
#include <set>
#include <utility>

#include "probe/messages.h"
#include "probe/words.h"
#include "render/bridge.h"

namespace rondo::render {
namespace {

using probe::plain_message;

std::string_view tool_name(std::size_t call) { return call % 2 == 0 ? probe::kSmallTool : "other"; }

// Building blocks of histories.  Each is a whole exchange that ends before a user message.
std::vector<json::Array> exchanges(const format::InputShape& input, const std::vector<std::string>& constants) {
  std::vector<json::Array> out;
  const auto cycle = [&](std::size_t calls, bool reasons) {
    json::Array part{plain_message("user", probe::kOlderQuestion),
                     history_message(trial_completion(input, calls, reasons), trial_results(calls))};
    for (json::Value& result : trial_results(calls)) part.push_back(std::move(result));
    if (calls > 0) part.push_back(history_message(trial_completion(input, 0, reasons), {}));
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

}  // namespace

ParsedCompletion trial_completion(const format::InputShape& input, std::size_t calls, bool reasons) {
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

json::Array trial_results(std::size_t count) {
  json::Array out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(probe::tool_message(probe::call_id(i), tool_name(i), probe::kOlderResult));
  }
  return out;
}

std::vector<json::Array> trial_histories(const format::InputShape& input, const std::vector<std::string>& constants) {
  const std::vector<json::Array> parts = exchanges(input, constants);
  std::vector<json::Array> out;
  const auto add = [&](const std::vector<const json::Array*>& chosen, bool in_cycle) {
    for (const bool has_system : {false, true}) {
      json::Array history;
      if (has_system) history.push_back(plain_message("system", probe::kOlderSystem));
      for (const json::Array* part : chosen) history.insert(history.end(), part->begin(), part->end());
      history.push_back(plain_message("user", probe::kOlderQuestion));
      if (in_cycle) {
        history.push_back(history_message(trial_completion(input, 1, false), trial_results(1)));
        history.push_back(trial_results(1)[0]);
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

std::vector<std::string> searched_constants(const jinja::Template& chat_template, const chat::Conversation& base,
                                            const tmpl::ApplyOptions& options, std::size_t most) {
  std::set<std::string> found;
  for (const char* role : {"user", "assistant"}) {
    const json::Array messages{plain_message("user", probe::kOlderQuestion), plain_message(role, probe::kOlderAnswer),
                               plain_message("user", probe::kOlderQuestion)};
    const Result<jinja::Rendered> rendered = tmpl::apply(chat_template, base, messages, true, options);
    if (!rendered.ok()) continue;
    for (const jinja::Probe& probe : rendered.value().probes) found.insert(probe.constant);
  }
  std::vector<std::string> out(found.begin(), found.end());
  if (out.size() > most) out.resize(most);
  return out;
}

std::string dependence(const jinja::Rendered& full, const NewTurns& turns) {
  const text::Origins& origins = full.origins;
  std::size_t at = 0;
  for (const text::Run& run : full.text.runs()) {
    at += run.size;
    if (at > turns.begin && turns.is_older(run.path()))
      return "the new turns contain " + origins.paths.to_string(run.path());
  }
  // A condition affects the new turns if it is in them or opens the generation prompt.
  const auto opens_prompt = [&](text::PathId path) {
    return origins.paths.step_kind(path) == text::PathTable::StepKind::kVariable &&
           origins.paths.step_name(path) == "add_generation_prompt";
  };
  for (const jinja::Decision& decision : full.decisions) {
    const auto reads = full.reads_of(decision);
    const auto older = std::ranges::find_if(reads, turns.is_older);
    if (older == reads.end()) continue;
    const text::Context& context = origins.contexts.at(decision.context);
    if (context.generation_prompt || context.owner() >= turns.message || std::ranges::any_of(reads, opens_prompt))
      return "line " + std::to_string(decision.line) + " reads " + origins.paths.to_string(*older);
  }
  return "";
}

}  // namespace rondo::render
