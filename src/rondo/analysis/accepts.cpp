// What the template accepts, and the probes of all message shapes.
#include <array>

#include "analysis/analyst.h"
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

void Analyst::find_reasoning_shape() {
  const auto shows = [this](const Shape& shape) -> std::optional<std::string> {
    for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
      if (calls > 0 && !shows_calls_) continue;
      for (const char* thinking : {"default", "on"}) {
        ProbeMessage probe;
        probe.reasoning = probe.content = true;
        probe.calls = probe_calls(calls);
        const auto turn = prober_.turn(shape, probe, {thinking, true, false, false});
        const std::size_t at = turn ? turn->first(SlotKind::kReasoning) : kNone;
        // A list of parts that is printed as a whole shows them, but not as reasoning.
        if (at != kNone && !contains(turn->tokens[at].chain, "json") && !contains(turn->tokens[at].chain, "pyrepr"))
          return turn->reasoning_name;
      }
    }
    return std::nullopt;
  };
  for (const char* field : {"reasoning_content", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_field = field;
    if (const auto name = shows(shape)) {
      shape_ = shape;
      format_.input.reasoning_field = *name;
      shows_reasoning_ = true;
      return;
    }
  }
  for (const char* part : {"thinking", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_part = part;
    if (shows(shape)) {
      shape_ = shape;
      format_.input.reasoning_part = part;
      shows_reasoning_ = true;
      return;
    }
  }
}

void Analyst::find_generation_prompts() {
  for (const char* thinking : kThinking) {
    auto text = prober_.generation_prompt({thinking, false, false, false});
    if (!text) text = prober_.generation_prompt({thinking, true, false, false});
    if (text) format_.generation_prompts.push_back({thinking, *text});
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
      const auto text = prober_.generation_prompt(setting);
      if (!text || !text->starts_with(format_.header)) continue;
      if (value.is_string() && contains(*text, value.as_string())) continue;  // it is only repeated
      const auto is_same = [&text](const format::GenerationPrompt& prompt) { return prompt.text == *text; };
      auto& prompts = format_.generation_prompts;
      if (std::none_of(prompts.begin(), prompts.end(), is_same))
        prompts.push_back({name + "=" +
                               (value.is_string() ? value.as_string()
                                : value.as_bool() ? "true"
                                                  : "false"),
                           *text});
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
