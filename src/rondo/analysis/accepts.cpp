// What the template accepts, and the probes of all message shapes.
#include <array>

#include "analysis/analyst.h"
#include "chat/reasoning_fields.h"
#include "probe/words.h"

namespace rondo::analysis {

namespace {
constexpr std::array<const char*, 3> kThinking = {"default", "on", "off"};
}

std::vector<probe::SaidCall> probe_calls(std::size_t count) {
  std::vector<probe::SaidCall> calls;
  if (count > 0) calls.push_back({std::string(probe::kFirstTool), json::Object{{"k0", "v0"}}});
  if (count > 1) calls.push_back({std::string(probe::kSecondTool), json::Object{{"q0", "w0"}}});
  return calls;
}

int Analyst::shape_score(const Shape& shape) {
  ProbeMessage probe;
  probe.calls = probe_calls(1);
  int best = -1;
  for (const auto& [with_tools, with_result] : {std::pair(true, false), {true, true}, {false, false}}) {
    if (!with_tools && best >= 0) continue;  // only for templates that refuse the probe's tools
    const auto turn = prober_.turn(shape, probe, {"default", with_tools, with_result, false});
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
    if (contains(turn->literals(0, turn->tokens.size()), "None")) --score;
    best = std::max(best, score);
    if (score >= 4) break;
  }
  return best;
}

void Analyst::find_shape() {
  int best = -2;
  for (const bool as_text : {false, true}) {
    for (const auto no_content : {format::NoContent::kEmpty, format::NoContent::kNull, format::NoContent::kAbsent}) {
      Shape shape;
      shape.arguments_as_text = as_text;
      shape.no_content = no_content;
      const int score = shape_score(shape);
      if (score > best) {
        best = score;
        shape_ = shape;
      }
    }
  }
  shows_calls_ = best >= 3;
}

// A turn that shows the reasoning of a message of that shape.
std::optional<Turn> Analyst::reasoned_turn(const Shape& shape) {
  for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
    if (calls > 0 && !shows_calls_) continue;
    for (const char* thinking : {"default", "on"}) {
      ProbeMessage probe;
      probe.reasoning = probe.content = true;
      probe.calls = probe_calls(calls);
      auto turn = prober_.turn(shape, probe, {thinking, true, false, false});
      const std::size_t at = turn ? turn->first(SlotKind::kReasoning) : kNone;
      // A list of parts that is printed as a whole shows them, but not as reasoning.
      if (at != kNone && !contains(turn->tokens[at].chain, "json") && !contains(turn->tokens[at].chain, "pyrepr"))
        return turn;
    }
  }
  return std::nullopt;
}

void Analyst::find_reasoning_shape() {
  for (const char* field : {"reasoning_content", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_field = field;
    if (const auto turn = reasoned_turn(shape)) {
      shape_ = shape;
      format_.input.reasoning_field = turn->reasoning_name;
      shows_reasoning_ = true;
      return;
    }
  }
  for (const char* part : {"thinking", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_part = part;
    if (reasoned_turn(shape)) {
      shape_ = shape;
      format_.input.reasoning_part = part;
      shows_reasoning_ = true;
      return;
    }
  }
}

namespace {

// Fields that the template may read and the chat APIs do not have.
std::vector<std::string> own_fields(const jinja::Template& chat_template) {
  std::vector<std::string> words = chat_template.names();
  words.insert(words.end(), chat_template.literal_texts().begin(), chat_template.literal_texts().end());
  std::vector<std::string> out;
  for (std::string& name : names_in(words, words.size())) {
    if (!chat::is_reasoning_field(name)) out.push_back(std::move(name));
  }
  return out;
}

// Whether reasoning stands behind what asks for an answer, in front of content and calls, with visible texts on both
// sides; the one before it may be the end of the prompt.
bool stands_apart(const Turn& turn, const Written& prompt) {
  const std::string_view asking = format::trimmed(prompt.text);
  const std::size_t at = turn.first(SlotKind::kReasoning);
  const std::string before = turn.literals(0, at);
  const std::size_t asked = before.rfind(asking);
  if (asking.empty() || asked == std::string::npos || first_slot(turn) != at) return false;
  const std::size_t end = turn.last(SlotKind::kReasoning) + 1;
  std::size_t next = end;
  while (next < turn.tokens.size() && turn.tokens[next].kind == SlotKind::kLiteral) ++next;
  if (next == turn.tokens.size() || format::is_blank(turn.literals(end, next))) return false;
  return !format::is_blank(before.substr(asked + asking.size())) || prompt.begins.size() > 1;
}

// Which of `fields` are written in front of the content, each with its own name as its text.
std::vector<std::string> fields_before_content(const std::string& text, const std::vector<std::string>& fields) {
  std::vector<std::string> out;
  const std::size_t content = text.find(probe::kContentText);
  for (const std::string& field : fields) {
    if (text.find(std::string(probe::kReasoningText) + field + ".") < content) out.push_back(field);
  }
  return out;
}

}  // namespace

// A field that only this template reads is where its reasoning is, if its text stands behind what asks for an answer
// and in front of content and calls, with texts of the template on both sides.
void Analyst::find_own_reasoning() {
  if (shows_reasoning_ || prompts_.empty()) return;
  const std::vector<std::string> fields = own_fields(template_);
  for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
    if (calls > 0 && !shows_calls_) continue;
    probe::Saying saying{"", std::string(probe::kContentText), probe_calls(calls)};
    json::Value message = probe::assistant_message(shape_, saying);
    for (const std::string& field : fields)
      message.as_object().set(field, std::string(probe::kReasoningText) + field + ".");
    const auto text = prober_.text_with(message.as_object(), {"default", calls > 0, false, false});
    for (const std::string& field : fields_before_content(text.value_or(""), fields)) {
      Shape shape = shape_;
      shape.reasoning_field = field;
      const auto turn = reasoned_turn(shape);
      if (!turn || !stands_apart(*turn, prompts_.front())) continue;
      shape_ = shape;
      format_.input.reasoning_field = field;
      shows_reasoning_ = true;
      return;
    }
  }
}

void Analyst::find_generation_prompts() {
  for (const char* thinking : kThinking) {
    auto text = prober_.generation_prompt({thinking, false, false, false});
    if (!text) text = prober_.generation_prompt({thinking, true, false, false});
    if (!text) continue;
    format_.generation_prompts.push_back({thinking, text->text});
    prompts_.push_back(std::move(*text));
  }
}

// Variables that only this template has may change what it writes to ask for an answer.
void Analyst::find_other_prompts() {
  for (const std::string& name : prober_.own_variables()) {
    if (options_.kwargs.find(name) != nullptr) continue;
    for (const json::Value& value :
         {json::Value(true), json::Value(false), json::Value("none"), json::Value("low"), json::Value("high")}) {
      ProbeSetting setting{"default", false, false, false};
      setting.variable = json::Member{name, value};
      const auto written = prober_.generation_prompt(setting);
      if (!written || !written->text.starts_with(format_.header)) continue;
      const std::string& text = written->text;
      if (value.is_string() && contains(text, value.as_string())) continue;  // it is only repeated
      const auto is_same = [&text](const format::GenerationPrompt& prompt) { return prompt.text == text; };
      auto& prompts = format_.generation_prompts;
      if (std::none_of(prompts.begin(), prompts.end(), is_same))
        prompts.push_back({name + "=" +
                               (value.is_string() ? value.as_string()
                                : value.as_bool() ? "true"
                                                  : "false"),
                           text});
    }
  }
}

std::optional<Variant> Analyst::variant(bool reasoning, bool content, std::size_t calls) {
  ProbeMessage probe;
  probe.reasoning = reasoning;
  probe.content = content;
  probe.calls = probe_calls(calls);
  for (const char* thinking : {"default", "on"}) {
    for (const bool with_result : {false, true}) {
      if (with_result && calls == 0) continue;
      for (const bool with_tools : {calls > 0, calls == 0}) {
        const ProbeSetting setting{thinking, with_tools, with_result, false};
        auto turn = prober_.turn(shape_, probe, setting);
        if (!turn) continue;
        bool is_whole = turn->has(SlotKind::kReasoning) == reasoning && turn->has(SlotKind::kContent) == content;
        for (std::size_t i = 0; i < calls; ++i)
          is_whole = is_whole && (turn->has(SlotKind::kName, i) || turn->has(SlotKind::kId, i));
        if (is_whole) return Variant{std::move(*turn), setting};
      }
    }
  }
  return std::nullopt;
}

void Analyst::collect_variants() {
  for (const bool reasoning : {false, true}) {
    if (reasoning && !shows_reasoning_) continue;
    for (const bool content : {false, true}) {
      for (const std::size_t calls : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        if (calls > 0 && !shows_calls_) continue;
        if (!reasoning && !content && calls == 0) continue;
        if (auto found = variant(reasoning, content, calls))
          variants_.emplace(VariantKey{reasoning, content, calls}, std::move(*found));
      }
    }
  }
  bool has_two = false;
  for (const auto& [key, found] : variants_) has_two = has_two || std::get<2>(key) == 2;
  format_.input.single_call = shows_calls_ && !has_two;
}
}  // namespace rondo::analysis
