// Finds out which messages the template accepts, and probes all message shapes.
#include <set>

#include "analysis/evidence.h"
#include "chat/reasoning_fields.h"
#include "probe/words.h"

namespace rondo::analysis {

ProbeMessage message_of(const Parts& parts) {
  ProbeMessage message{.reasoning = parts.reasoning, .content = parts.content};
  if (parts.calls > 0) message.calls.push_back({std::string(probe::kFirstTool), json::Object{{"k0", "v0"}}});
  if (parts.calls > 1) message.calls.push_back({std::string(probe::kSecondTool), json::Object{{"q0", "w0"}}});
  return message;
}

bool is_in_call(const Turn& turn, SlotKind kind) {
  const std::size_t at = turn.first(kind);
  const std::size_t call = turn.first_of_call(0);
  if (call == kNone || call < at || !is_inside_json(turn.literals(0, at))) return false;
  return turn.literals(at, call).find_first_of("{[") == std::string::npos;
}

namespace {

// The shape of messages of whose calls the template shows most, and whether it shows calls at all.
struct CallShape {
  Shape shape;
  bool shows_calls = false;
};

// Scores how much of a call the template shows in messages of that shape and with these parts, from 4 (all of it) down to
// -1 (nothing).
int shape_score(Prober& prober, const Shape& shape, const Parts& parts) {
  const ProbeMessage probe = message_of(parts);
  int best = -1;
  for (const auto& [with_tools, with_result] : {std::pair(true, false), {true, true}, {false, false}}) {
    if (!with_tools && best >= 0) continue;  // only for templates that refuse the probe's tools
    const auto turn = prober.turn(shape, probe, {.tools = with_tools, .with_result = with_result});
    if (!turn) continue;
    int score = 0;
    if (turn->has(SlotKind::kName) || turn->has(SlotKind::kId)) score += 2;
    if (const std::size_t at = turn->first(SlotKind::kArguments); at != kNone) {
      score += 2;
      for (const ArgumentPart& part : turn->tokens[at].parts) {
        const bool wants_text =
            !shape.arguments_as_text && part.kind == text::RunKind::kSerialiser && contains(part.chain, "pyrepr");
        const bool wants_object = shape.arguments_as_text && contains(part.chain, "json");
        if (wants_text || wants_object) {
          score -= 2;
          break;
        }
      }
    }
    if (contains(turn->literals(), "None")) --score;
    best = std::max(best, score);
    if (score >= 4) break;
  }
  return best;
}

// Tries all shapes of arguments and of absent content in messages with these parts.  The first shape with the best score
// counts.
CallShape find_call_shape(Prober& prober, const Shape& said, const Parts& parts) {
  CallShape out;
  int best = -2;
  for (const bool as_text : {false, true}) {
    for (const auto no_content : {format::NoContent::kEmpty, format::NoContent::kNull, format::NoContent::kAbsent}) {
      Shape shape = said;
      shape.arguments_as_text = as_text;
      shape.no_content = no_content;
      const int score = shape_score(prober, shape, parts);
      if (score > best) {
        best = score;
        out.shape = shape;
      }
    }
  }
  out.shows_calls = best >= 3;
  return out;
}

// Returns whether the turn's reasoning is a part of something larger that the template prints as a whole: then it is no
// reasoning there.  A text that is a JSON string of its own has a literal of the template before it.
bool is_in_dump(const Turn& turn, const Shape& shape) {
  const std::size_t at = turn.first(SlotKind::kReasoning);
  const std::string& chain = turn.tokens[at].chain;
  if (contains(chain, "pyrepr")) return true;
  if (!contains(chain, "json")) return false;
  const bool is_behind_literal = at > 0 && turn.tokens[at - 1].kind == SlotKind::kLiteral &&
                                 !turn.tokens[at - 1].sources.empty() &&
                                 turn.tokens[at - 1].sources.back().literal != kNoLiteral;
  return !is_behind_literal || !shape.reasoning_part.empty() || is_in_call(turn, SlotKind::kReasoning);
}

// Returns a turn that shows the reasoning of a message of that shape; nullopt if there is none.
std::optional<Turn> reasoned_turn(Prober& prober, const CallShape& asked) {
  for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
    if (calls > 0 && !asked.shows_calls) continue;
    for (const char* thinking : {"default", "on"}) {
      auto turn = prober.turn(asked.shape, message_of({true, true, calls}), {.thinking = thinking});
      if (turn && turn->has(SlotKind::kReasoning) && !is_in_dump(*turn, asked.shape)) return turn;
    }
  }
  return std::nullopt;
}

// The shape of messages whose reasoning the template shows, and the field that it reads the reasoning from; "" if it
// reads a part of the content.
struct ReasoningShape {
  Shape shape;
  std::string field;
};

std::optional<ReasoningShape> find_reasoning(Prober& prober, const CallShape& calls) {
  for (const char* field : {"reasoning_content", "reasoning"}) {
    CallShape asked = calls;
    asked.shape.reasoning_field = field;
    if (const auto turn = reasoned_turn(prober, asked)) return ReasoningShape{asked.shape, turn->reasoning_name};
  }
  for (const char* part : {"thinking", "reasoning"}) {
    CallShape asked = calls;
    asked.shape.reasoning_part = part;
    if (reasoned_turn(prober, asked)) return ReasoningShape{asked.shape, ""};
  }
  return std::nullopt;
}

// Returns names that the template may read as fields, and that the chat APIs do not have.
std::vector<std::string> own_fields(const jinja::Template& chat_template) {
  std::vector<std::string> words = chat_template.names();
  words.insert(words.end(), chat_template.literal_texts().begin(), chat_template.literal_texts().end());
  std::vector<std::string> out;
  for (std::string& name : names_in(words, words.size())) {
    if (!chat::is_reasoning_field(name)) out.push_back(std::move(name));
  }
  return out;
}

// Returns whether reasoning stands between the text that asks for an answer and content or calls, with visible text on
// both sides.  The visible text before it may be the end of the prompt.
bool stands_apart(const Turn& turn, const Written& prompt) {
  const std::string_view asking = format::trimmed(prompt.text);
  const std::size_t at = turn.first(SlotKind::kReasoning);
  const std::string before = turn.literals(0, at);
  const std::size_t asked = before.rfind(asking);
  if (asking.empty() || asked == std::string::npos || turn.first_slot() != at) return false;
  const std::size_t end = turn.last(SlotKind::kReasoning) + 1;
  std::size_t next = end;
  while (next < turn.tokens.size() && turn.tokens[next].kind == SlotKind::kLiteral) ++next;
  if (next == turn.tokens.size() || format::is_blank(turn.literals(end, next))) return false;
  return !format::is_blank(before.substr(asked + asking.size())) || prompt.begins.size() > 1;
}

// Returns those of `fields` whose text is written before the content.  Each field's text is the placeholder and its own
// name.
std::vector<std::string> fields_before_content(const std::string& text, const std::vector<std::string>& fields) {
  std::vector<std::string> out;
  const std::size_t content = text.find(probe::kContentText);
  for (const std::string& field : fields) {
    if (text.find(std::string(probe::kReasoningText) + field + ".") < content) out.push_back(field);
  }
  return out;
}

// Looks for reasoning in a field that only this template reads.  The field counts if its text stands apart between the
// text that asks for an answer and content or calls.
std::optional<ReasoningShape> find_own_reasoning(Prober& prober, const CallShape& shown, const Written& prompt) {
  const std::vector<std::string> fields = own_fields(prober.chat_template());
  for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
    if (calls > 0 && !shown.shows_calls) continue;
    const probe::Saying saying{"", std::string(probe::kContentText), message_of({.calls = calls}).calls};
    json::Value message = probe::assistant_message(shown.shape, saying);
    for (const std::string& field : fields)
      message.as_object().set(field, std::string(probe::kReasoningText) + field + ".");
    const auto text = prober.text_with(message.as_object(), {.tools = calls > 0});
    for (const std::string& field : fields_before_content(text.value_or(""), fields)) {
      CallShape asked = shown;
      asked.shape.reasoning_field = field;
      const auto turn = reasoned_turn(prober, asked);
      if (turn && stands_apart(*turn, prompt)) return ReasoningShape{asked.shape, field};
    }
  }
  return std::nullopt;
}

// Returns the text that asks for an answer.  Some templates always ask, and add nothing for a prompt.  There it is the
// text behind the question with which an assistant's turn begins too.
Written asking_text(Prober& prober, const std::vector<Prompt>& prompts) {
  constexpr std::size_t kShortest = 3;  // a shorter one may be the same by chance
  if (!prompts.empty() && !format::is_blank(prompts.front().written.text)) return prompts.front().written;
  const ProbeSetting setting{.tools = false};
  const auto text = prober.text_of({probe::plain_message("user", probe::kQuestionText)}, setting);
  const auto turn = prober.turn_of(std::string(probe::kContentText), setting);
  const std::size_t question = text ? text->rfind(probe::kQuestionText) : std::string::npos;
  if (!turn || question == std::string::npos) return {};
  const std::string begin = turn->literals(0, turn->first_slot());
  std::string_view tail = format::trimmed(std::string_view(*text).substr(question + probe::kQuestionText.size()));
  while (tail.size() >= kShortest && !format::trimmed(begin).starts_with(tail)) tail.remove_prefix(1);
  return tail.size() < kShortest ? Written{} : Written{std::string(tail), {}};
}

std::vector<Prompt> find_prompts(Prober& prober) {
  std::vector<Prompt> out;
  for (const char* thinking : {"default", "on", "off"}) {
    auto written = prober.generation_prompt({.thinking = thinking, .tools = false});
    if (!written) written = prober.generation_prompt({.thinking = thinking});
    if (written) out.push_back({thinking, std::move(*written)});
  }
  return out;
}

// Returns whether the turn shows these parts and no others, each in a place of its own.
bool shows_all(const Turn& turn, const Parts& parts) {
  if (turn.has(SlotKind::kReasoning) != parts.reasoning || turn.has(SlotKind::kContent) != parts.content) return false;
  for (std::size_t i = 0; i < parts.calls; ++i) {
    if (!turn.has(SlotKind::kName, i) && !turn.has(SlotKind::kId, i)) return false;
  }
  return !is_in_call(turn, SlotKind::kContent);
}

// Looks for a setting under which the template shows all of `parts`; nullopt if there is none.
std::optional<Variant> find_variant(Prober& prober, const Shape& shape, const Parts& parts) {
  for (const char* thinking : {"default", "on"}) {
    for (const bool with_result : {false, true}) {
      if (with_result && parts.calls == 0) continue;
      for (const bool with_tools : {parts.calls > 0, parts.calls == 0}) {
        const ProbeSetting setting{.thinking = thinking, .tools = with_tools, .with_result = with_result};
        auto turn = prober.turn(shape, message_of(parts), setting);
        if (turn && shows_all(*turn, parts)) return Variant{std::move(*turn), setting};
      }
    }
  }
  return std::nullopt;
}

Variants find_variants(Prober& prober, const Shape& shape, bool shows_reasoning, bool shows_calls) {
  Variants out;
  for (const bool reasoning : {false, true}) {
    if (reasoning && !shows_reasoning) continue;
    for (const bool content : {false, true}) {
      for (const std::size_t calls : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        if ((calls > 0 && !shows_calls) || (!reasoning && !content && calls == 0)) continue;
        const Parts parts{reasoning, content, calls};
        if (auto found = find_variant(prober, shape, parts)) out.emplace(parts, std::move(*found));
      }
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> names_in(const std::vector<std::string>& words, std::size_t most) {
  std::set<std::string> tried = {"role",         "content",  "tool_calls", "name",
                                 "tool_call_id", "function", "arguments",  "type"};
  std::vector<std::string> names;
  for (const std::string& name : words) {
    const auto is_letter = [](char byte) { return (byte >= 'a' && byte <= 'z') || byte == '_'; };
    if (name.size() < 4 || !std::all_of(name.begin(), name.end(), is_letter) || !tried.insert(name).second) continue;
    names.push_back(name);
    if (names.size() == most) break;
  }
  return names;
}

Evidence gather_evidence(Prober& prober) {
  CallShape calls = find_call_shape(prober, {}, {.calls = 1});
  auto reasoning = find_reasoning(prober, calls);
  std::vector<Prompt> prompts = find_prompts(prober);
  if (!reasoning) reasoning = find_own_reasoning(prober, calls, asking_text(prober, prompts));
  if (reasoning && !calls.shows_calls) {  // calls may stand only beside reasoning
    const CallShape beside = find_call_shape(prober, reasoning->shape, {.reasoning = true, .calls = 1});
    if (beside.shows_calls) {
      reasoning->shape = beside.shape;
      calls = beside;
    }
  }
  const Shape shape = reasoning ? reasoning->shape : calls.shape;
  Variants variants = find_variants(prober, shape, reasoning.has_value(), calls.shows_calls);
  const bool has_two = std::ranges::any_of(variants, [](const auto& entry) { return entry.first.calls == 2; });
  format::InputShape input = shape;
  input.single_call = calls.shows_calls && !has_two;
  if (reasoning) input.reasoning_field = reasoning->field;
  std::vector<std::string> atoms = find_atoms(prober, variants);
  return {prober, shape, input, calls.shows_calls, std::move(prompts), std::move(variants), std::move(atoms)};
}

}  // namespace rondo::analysis
