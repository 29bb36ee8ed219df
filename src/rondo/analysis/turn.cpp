#include "analysis/turn.h"

#include <algorithm>

#include "chat/reasoning_fields.h"

namespace rondo::analysis {
namespace {

using text::PathId;
using text::PathTable;
using text::RunKind;

constexpr std::int32_t kAssistant = 1;  // index of the probed message: a user message comes first

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

// `own_field` is one more field with reasoning, or "".
Slot slot_of(const PathTable& paths, PathId path, std::string_view own_field) {
  if (paths.message(path) != kAssistant) return {};
  const std::vector<PathId> steps = steps_of(paths, path);
  const auto name = [&](std::size_t i) { return i < steps.size() ? step_text(paths, steps[i]) : std::string(); };
  if (chat::is_reasoning_field(name(2)) || (name(2) == own_field && !own_field.empty())) return {SlotKind::kReasoning};
  if (name(2) == "content") {
    // A content part of type `thinking` has its text under the name of its type.
    const bool is_reasoning = steps.size() > 4 && name(4) != "text";
    return {is_reasoning ? (name(4) == "type" ? SlotKind::kLiteral : SlotKind::kReasoning) : SlotKind::kContent};
  }
  if (name(2) != "tool_calls" || steps.size() < 4) return {};
  // If a call is serialised as a whole, its keys are syntax.
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

// Adds a token.  Joins it with the last one if both are one kind of slot of one call; a counter stays alone.
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

// Returns whether the run belongs to the assistant's turn.
bool is_own(const jinja::Rendered& rendered, const text::Run& run) {
  const text::Context& context = rendered.origins.contexts.at(run.context);
  return context.owner() == kAssistant && !context.generation_prompt;
}

// Returns "content", "tool_calls", "arguments.k1" and so on for a path of the assistant message; "" for other paths.
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

// Returns "role", "content" and so on for a path in any message; "" for other paths.
std::string field_name(const PathTable& paths, PathId path) {
  return paths.depth(path) == 3 ? step_text(paths, path) : "";
}

// The indices of the first and the last run of a turn; `first` is kNone if there is no turn.
struct OwnRuns {
  std::size_t first = kNone;
  std::size_t last = 0;
};

// Finds the assistant's turn.  If other messages follow, it ends before the first run that is not its own.
OwnRuns own_runs(const jinja::Rendered& rendered, bool is_followed) {
  const auto runs = rendered.text.runs();
  OwnRuns out;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_own(rendered, runs[i])) {
      if (is_followed && out.first != kNone) break;
      continue;
    }
    if (out.first == kNone) out.first = i;
    out.last = i;
  }
  return out;
}

// Returns whether the run is data of a later message.  That message's role is not: it is part of the text that opens
// its turn.
bool is_later_data(const jinja::Rendered& rendered, const text::Run& run) {
  const PathTable& paths = rendered.origins.paths;
  return run.is_input() && paths.message(run.path()) > kAssistant && field_name(paths, run.path()) != "role";
}

// Reads the tokens of the turn, and the template's text after it up to the next message's data.
void read_texts(const jinja::Rendered& rendered, const OwnRuns& own, std::string_view own_field, Turn& turn) {
  if (own.first == kNone) return;
  const auto runs = rendered.text.runs();
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs.size(); at += runs[i++].size) {
    if (i < own.first) continue;
    const std::string bytes = rendered.text.bytes().substr(at, runs[i].size);
    if (i <= own.last) {
      add_token(turn.tokens, token_of(rendered, runs[i], bytes, own_field));
      if (i == own.last) turn.behind = rendered.text.bytes().substr(at + runs[i].size);
      continue;
    }
    if (is_later_data(rendered, runs[i])) break;
    turn.following_sources.push_back(source_of(runs[i]));
    turn.following_sources.back().at = turn.following.size();
    turn.following += bytes;
  }
}

// Returns the field of the first run of reasoning; "" if there is none.
std::string reasoning_name_of(const jinja::Rendered& rendered, std::string_view own_field) {
  const PathTable& paths = rendered.origins.paths;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.is_input() && slot_of(paths, run.path(), own_field).kind == SlotKind::kReasoning)
      return step_text(paths, steps_of(paths, run.path())[2]);
  }
  return "";
}

}  // namespace

Source source_of(const text::Run& run) {
  if (run.kind != RunKind::kLiteral) return {0, kNoLiteral, 0};
  return {0, static_cast<std::uint32_t>(run.literal()), run.source_offset};
}

Turn read_turn(const jinja::Rendered& rendered, bool is_followed, std::string_view own_field) {
  Turn turn;
  read_texts(rendered, own_runs(rendered, is_followed), own_field, turn);
  for (const jinja::Probe& probe : rendered.probes) {
    if (rendered.origins.paths.message(probe.path) == kAssistant) turn.probes.push_back(probe);
  }
  read_conditions(rendered, turn);
  turn.reasoning_name = reasoning_name_of(rendered, own_field);
  return turn;
}

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

std::size_t Turn::first_slot() const {
  std::size_t i = 0;
  while (i < tokens.size() && (tokens[i].kind == SlotKind::kLiteral || tokens[i].kind == SlotKind::kIndex)) ++i;
  return i;
}

std::size_t Turn::first_of_call(std::size_t call) const {
  return std::min({first(SlotKind::kName, call), first(SlotKind::kId, call), first(SlotKind::kArguments, call)});
}

std::size_t Turn::last_of_call(std::size_t call) const {
  for (std::size_t i = tokens.size(); i-- > 0;) {
    const SlotKind kind = tokens[i].kind;
    const bool is_part = kind == SlotKind::kName || kind == SlotKind::kId || kind == SlotKind::kArguments;
    if (is_part && tokens[i].call == call) return i;
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

std::string Turn::between_calls(std::size_t call) const {
  std::string out;
  const std::size_t end = first_of_call(call + 1);
  for (std::size_t i = last_of_call(call); i < std::min(end, tokens.size()); ++i) {
    if (tokens[i].kind == SlotKind::kLiteral) out += tokens[i].text;
  }
  return out;
}

std::string Turn::behind_calls(std::size_t last) const {
  const std::size_t content = first(SlotKind::kContent);
  return literals(last, content > last ? content : tokens.size());
}

}  // namespace rondo::analysis
