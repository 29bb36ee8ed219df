#include "analysis/probe.h"

#include <algorithm>
#include <array>

#include "chat/reasoning_fields.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using probe::kContentText;
using probe::kQuestionText;
using probe::kReasoningText;
using text::PathId;
using text::PathTable;
using text::RunKind;

constexpr std::int32_t kAssistant = 1;  // index of the probed message: a user message comes first

// Variables that the probes set (see kwargs()).
constexpr std::array<std::string_view, 2> kSwitches = {"enable_thinking", "thinking"};

json::Value assistant(const Shape& shape, const ProbeMessage& message) {
  const auto said = [&message](bool is_said, std::string_view text) -> std::string {
    if (!is_said) return "";
    return message.is_padded ? "\n " + std::string(text) + " \n" : std::string(text);
  };
  probe::Saying saying{said(message.reasoning, kReasoningText), said(message.content, kContentText), message.calls};
  for (std::size_t i = 0; i < saying.calls.size(); ++i) saying.calls[i].id = probe::call_id(i);
  return probe::assistant_message(shape, saying);
}

// The slot that a path of the assistant message belongs to.
struct Slot {
  SlotKind kind = SlotKind::kLiteral;
  std::size_t call = 0;
};

std::vector<PathId> steps_of(const PathTable& paths, PathId path) {
  std::vector<PathId> steps;
  for (; path != PathId::kNone; path = paths.parent(path)) steps.push_back(path);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string step_text(const PathTable& paths, PathId step) {
  return paths.step_kind(step) == PathTable::StepKind::kIndex ? std::to_string(paths.step_index(step))
                                                              : std::string(paths.step_name(step));
}

// `own_field`: one more field that holds reasoning.
Slot slot_of(const PathTable& paths, PathId path, std::string_view own_field) {
  if (paths.message(path) != kAssistant) return {};
  const std::vector<PathId> steps = steps_of(paths, path);
  const auto name = [&](std::size_t i) { return i < steps.size() ? step_text(paths, steps[i]) : std::string(); };
  if (chat::is_reasoning_field(name(2)) || (name(2) == own_field && !own_field.empty())) return {SlotKind::kReasoning};
  if (name(2) == "content") {
    // A part of type thinking names its text like its type.
    const bool is_reasoning = steps.size() > 4 && name(4) != "text";
    return {is_reasoning ? (name(4) == "type" ? SlotKind::kLiteral : SlotKind::kReasoning) : SlotKind::kContent};
  }
  if (name(2) != "tool_calls" || steps.size() < 4) return {};
  // The keys of a call that is serialised as a whole are syntax.
  if (paths.step_kind(steps.back()) == PathTable::StepKind::kKey && steps.size() <= 6) return {};
  const std::size_t call = paths.step_kind(steps[3]) == PathTable::StepKind::kIndex ? paths.step_index(steps[3]) : 0;
  if (name(4) == "id") return {SlotKind::kId, call};
  if (name(4) != "function") return {};
  if (name(5) == "name") return {SlotKind::kName, call};
  if (name(5) == "arguments") return {SlotKind::kArguments, call};
  return {};
}

ArgumentPart argument_part(const jinja::Rendered& rendered, const text::Run& run, std::string bytes) {
  const PathTable& paths = rendered.origins.paths;
  ArgumentPart part;
  part.text = std::move(bytes);
  part.kind = run.kind;
  part.chain = rendered.origins.chains.to_string(run.chain);
  const std::vector<PathId> steps = steps_of(paths, run.path());
  for (std::size_t i = 6; i < steps.size(); ++i) part.path.push_back(step_text(paths, steps[i]));
  part.is_key = !steps.empty() && paths.step_kind(steps.back()) == PathTable::StepKind::kKey;
  return part;
}

bool is_digits(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

Source source_of(const text::Run& run) {
  if (run.kind != RunKind::kLiteral) return {0, kNoLiteral, 0};
  return {0, static_cast<std::uint32_t>(run.literal()), run.source_offset};
}

Token token_of(const jinja::Rendered& rendered, const text::Run& run, std::string bytes, std::string_view own_field) {
  Token token;
  token.text = bytes;
  const Slot slot = run.is_input() ? slot_of(rendered.origins.paths, run.path(), own_field) : Slot{};
  token.kind = slot.kind;
  token.call = slot.call;
  const bool is_named = slot.kind == SlotKind::kName || slot.kind == SlotKind::kId;
  if (is_named && run.kind == RunKind::kSerialiser) token.kind = SlotKind::kLiteral;  // quotes of tojson
  if (slot.kind == SlotKind::kLiteral && run.kind == RunKind::kComputed && is_digits(bytes))
    token.kind = SlotKind::kIndex;
  if (token.kind == SlotKind::kLiteral) token.sources.push_back(source_of(run));
  if (slot.kind == SlotKind::kArguments) token.parts.push_back(argument_part(rendered, run, std::move(bytes)));
  if (slot.kind == SlotKind::kReasoning || slot.kind == SlotKind::kContent)
    token.chain = rendered.origins.chains.to_string(run.chain);
  return token;
}

void add_token(std::vector<Token>& tokens, Token token) {
  if (!tokens.empty() && token.kind != SlotKind::kIndex) {
    Token& last = tokens.back();
    if (last.kind == token.kind && (token.kind == SlotKind::kLiteral || last.call == token.call)) {
      for (const Source& source : token.sources) {
        last.sources.push_back({last.text.size() + source.at, source.literal, source.offset});
      }
      last.text += token.text;
      for (ArgumentPart& part : token.parts) last.parts.push_back(std::move(part));
      return;
    }
  }
  tokens.push_back(std::move(token));
}

bool is_own(const jinja::Rendered& rendered, const text::Run& run) {
  const text::Context& context = rendered.origins.contexts.at(run.context);
  return context.owner() == kAssistant && !context.generation_prompt;
}

// "content", "tool_calls", "arguments.k1" for a path of the assistant message; "" for others.
std::string field_of(const PathTable& paths, PathId path) {
  if (paths.message(path) != kAssistant || paths.depth(path) < 3) return "";
  if (paths.depth(path) > 6) return "arguments." + step_text(paths, paths.prefix(path, 7));
  return step_text(paths, paths.prefix(path, 3));
}

void read_conditions(const jinja::Rendered& rendered, Turn& turn) {
  const PathTable& paths = rendered.origins.paths;
  for (const jinja::Decision& decision : rendered.decisions) {
    for (const PathId path : rendered.reads_of(decision)) {
      std::string field = field_of(paths, path);
      if (!field.empty()) turn.reads.push_back({std::move(field), decision.line, decision.outcome});
    }
  }
  for (const jinja::Strip& strip : rendered.strips) {
    std::string field = field_of(paths, strip.path);
    if (!field.empty()) turn.cuts.emplace_back(std::move(field), strip.line);
  }
}

// "role", "content", ... of whichever message.
std::string field_name(const PathTable& paths, PathId path) {
  return paths.depth(path) == 3 ? step_text(paths, path) : "";
}

// From the first to the last run of the assistant's turn.
Turn read_turn(const jinja::Rendered& rendered, bool is_followed, std::string_view own_field) {
  Turn turn;
  const auto runs = rendered.text.runs();
  std::size_t first = kNone;
  std::size_t last = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_own(rendered, runs[i])) {
      if (is_followed && first != kNone) break;
      continue;
    }
    if (first == kNone) first = i;
    last = i;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs.size() && first != kNone; at += runs[i++].size) {
    const std::string bytes = rendered.text.bytes().substr(at, runs[i].size);
    if (i >= first && i <= last) {
      add_token(turn.tokens, token_of(rendered, runs[i], bytes, own_field));
    } else if (i > last) {
      // Its role is part of the next turn's opening.
      const bool is_data = runs[i].is_input() && rendered.origins.paths.message(runs[i].path()) > kAssistant &&
                           field_name(rendered.origins.paths, runs[i].path()) != "role";
      if (is_data) break;
      turn.following_sources.push_back(source_of(runs[i]));
      turn.following_sources.back().at = turn.following.size();
      turn.following += bytes;
    }
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < runs.size() && first != kNone && i <= last; ++i) end += runs[i].size;
  turn.behind = rendered.text.bytes().substr(end);
  for (const jinja::Probe& probe : rendered.probes) {
    if (rendered.origins.paths.message(probe.path) == kAssistant) turn.probes.push_back(probe);
  }
  read_conditions(rendered, turn);
  for (const text::Run& run : runs) {
    if (!run.is_input() || slot_of(rendered.origins.paths, run.path(), own_field).kind != SlotKind::kReasoning)
      continue;
    const std::vector<PathId> steps = steps_of(rendered.origins.paths, run.path());
    turn.reasoning_name = step_text(rendered.origins.paths, steps[2]);
    break;
  }
  return turn;
}

}  // namespace

bool Turn::has(SlotKind kind, std::size_t call) const { return first(kind, call) != kNone; }

std::size_t Turn::first(SlotKind kind, std::size_t call) const {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == kind && tokens[i].call == call) return i;
  }
  return kNone;
}

std::size_t Turn::last(SlotKind kind, std::size_t call) const {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i].kind == kind && tokens[i].call == call) return i;
  }
  return kNone;
}

std::string Turn::literals(std::size_t begin, std::size_t end) const {
  std::string out;
  for (std::size_t i = begin; i < std::min(end, tokens.size()); ++i) {
    if (tokens[i].kind == SlotKind::kLiteral || tokens[i].kind == SlotKind::kIndex) out += tokens[i].text;
  }
  return out;
}

Prober::Prober(const jinja::Template& chat_template, const Options& options, bool keeps_trials)
    : template_(chat_template),
      options_(options),
      tools_(probe::parsed_tools(probe::kTextTools)),
      own_variables_(probe::own_variables(chat_template, kSwitches)),
      stand_ins_(probe::stand_ins(own_variables_, probe::kTextTools)),
      keeps_trials_(keeps_trials) {}

json::Object Prober::kwargs(const ProbeSetting& setting) const {
  json::Object out;
  if (setting.thinking != "default") {
    out.set("enable_thinking", setting.thinking == "on");
    out.set("thinking", setting.thinking == "on");
  }
  for (const json::Member& member : options_.kwargs) out.set(member.key, member.value);
  if (setting.variable) out.set(setting.variable->key, setting.variable->value);
  return out;
}

std::optional<jinja::Rendered> Prober::render(json::Array messages, const ProbeSetting& setting,
                                              bool generation_prompt) {
  chat::Conversation conversation;
  conversation.messages = std::move(messages);
  if (setting.tools) conversation.tools = tools_;
  conversation.add_generation_prompt = generation_prompt;
  conversation.kwargs = kwargs(setting);
  conversation.bos_token = options_.bos_token;
  conversation.eos_token = options_.eos_token;
  tmpl::ApplyOptions apply;
  apply.now = options_.now.value_or(jinja::LocalTime{2026, 1, 1, 12, 0, 0});
  apply.limits = options_.limits;
  for (const bool with_stand_ins : {false, true}) {
    if (setting.stand_ins && !with_stand_ins) continue;
    if (with_stand_ins) {
      if (stand_ins_.empty()) break;
      probe::add_missing(conversation.kwargs, stand_ins_);
    }
    auto rendered = tmpl::apply(template_, conversation, apply);
    if (rendered.ok()) return std::move(rendered).value();
    if (rendered.error().code == ErrorCode::kLimit && !limit_) limit_ = rendered.error();
    if (refusal_.empty()) refusal_ = rendered.error().message;
    last_refusal_ = rendered.error().message;
  }
  return std::nullopt;
}

std::optional<Turn> Prober::turn(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting) {
  last_refusal_.clear();
  auto turn = ask(shape, message, setting);
  if (keeps_trials_) trials_.push_back({shape, message, setting, turn, "", {}, turn ? "" : last_refusal_});
  return turn;
}

std::optional<Turn> Prober::ask(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting) {
  json::Array messages{probe::plain_message("user", kQuestionText), assistant(shape, message)};
  if (setting.with_result) {
    for (std::size_t i = 0; i < std::max<std::size_t>(message.calls.size(), 1); ++i) {
      json::Object result{{"role", "tool"}, {"content", probe::kResultText}, {"tool_call_id", probe::call_id(i)}};
      if (i < message.calls.size()) result.set("name", message.calls[i].name);
      messages.push_back(std::move(result));
    }
  }
  if (setting.with_user) messages.push_back(probe::plain_message("user", probe::kSecondQuestionText));
  const bool is_followed = setting.with_result || setting.with_user;
  auto rendered = render(std::move(messages), setting, is_followed && setting.with_result);
  if (!rendered) return std::nullopt;
  Turn turn = read_turn(*rendered, is_followed, shape.reasoning_field);
  if (!turn.tokens.empty()) return turn;
  last_refusal_ = "the template writes nothing of the message";
  return std::nullopt;
}

std::optional<std::string> Prober::instructions(const ProbeSetting& setting) {
  const auto rendered = render(json::Array{probe::plain_message("user", kQuestionText)}, setting, false);
  if (!rendered) return std::nullopt;
  std::string out;
  std::size_t at = 0;
  for (const text::Run& run : rendered->text.runs()) {
    if (run.kind == RunKind::kLiteral) {
      out += rendered->text.bytes().substr(at, run.size);
    } else if (out.empty() || out.back() != kNoText) {
      out += kNoText;
    }
    at += run.size;
  }
  return out;
}

std::optional<std::string> Prober::text_with(json::Object assistant_message, const ProbeSetting& setting) {
  json::Array messages{probe::plain_message("user", kQuestionText), std::move(assistant_message)};
  auto rendered = render(std::move(messages), setting, false);
  if (!rendered) return std::nullopt;
  return rendered->text.bytes();
}

std::optional<Written> Prober::generation_prompt(const ProbeSetting& setting) {
  const json::Array messages{probe::plain_message("user", kQuestionText)};
  const auto with = render(messages, setting, true);
  const auto without = render(messages, setting, false);
  if (!with || !without) return std::nullopt;
  ProbeTrial trial;
  trial.setting = setting;
  // What else changes when an answer is asked for hides it: take what was written under that condition at the end.
  const bool is_added = with->text.bytes().starts_with(without->text.bytes());
  std::string& out = trial.generation_prompt;
  std::size_t at = 0;
  for (const text::Run& run : with->text.runs()) {
    const std::size_t skip = is_added && at < without->text.size() ? without->text.size() - at : 0;
    const bool is_part = is_added ? skip < run.size : with->origins.contexts.at(run.context).generation_prompt;
    if (!is_part) {
      out.clear();
      trial.prompt_sources.clear();
    } else {
      Source source = source_of(run);
      source.at = out.size();
      source.offset += static_cast<std::uint32_t>(skip);
      trial.prompt_sources.push_back(source);
      out += with->text.bytes().substr(at + skip, run.size - skip);
    }
    at += run.size;
  }
  Written written;
  written.append(out, trial.prompt_sources);
  if (keeps_trials_) trials_.push_back(std::move(trial));
  return written;
}

}  // namespace rondo::analysis
