#include "analysis/analyse.h"

#include "analysis/escapes.h"
#include "analysis/parts.h"

namespace rondo::analysis {
namespace {

using format::trimmed;

// Collects the prompts that ask for an answer.  Variables that only this template has may change such a prompt, so
// their usual values are tried too.
std::vector<format::GenerationPrompt> generation_prompts(const Evidence& evidence, const std::string& header) {
  std::vector<format::GenerationPrompt> out;
  for (const Prompt& prompt : evidence.prompts) out.push_back({prompt.thinking, prompt.written.text});
  for (const std::string& name : evidence.prober.own_variables()) {
    if (evidence.prober.options().kwargs.find(name) != nullptr) continue;
    for (const json::Value& value :
         {json::Value(true), json::Value(false), json::Value("none"), json::Value("low"), json::Value("high")}) {
      const auto written = evidence.prober.generation_prompt({.tools = false, .variable = json::Member{name, value}});
      if (!written || !written->text.starts_with(header)) continue;
      const std::string& text = written->text;
      if (value.is_string() && contains(text, value.as_string())) continue;  // the prompt only repeats the value
      if (std::ranges::find(out, text, &format::GenerationPrompt::text) != out.end()) continue;
      const std::string shown = value.is_string() ? value.as_string() : value.as_bool() ? "true" : "false";
      out.push_back({std::string(name).append("=").append(shown), text});
    }
  }
  return out;
}

// Adds the end tokens of the tokenizer, and the eos token, to the stops of plain turns.
format::Stops with_end_tokens(format::Stops stops, const Options& options) {
  const auto add = [&stops](std::string_view text) {
    const auto is_same = [text](const std::string& known) { return trimmed(known) == trimmed(text); };
    if (format::is_blank(text) || std::ranges::any_of(stops.content, is_same) ||
        std::ranges::any_of(stops.tool, is_same))
      return;
    stops.content.emplace_back(text);
  };
  if (options.eos_token) add(*options.eos_token);
  if (options.tokenizer != nullptr) {
    for (const tokenizer::TokenId id : options.tokenizer->end_ids()) add(options.tokenizer->token_bytes(id));
  }
  return stops;
}

// If the parts do not fit together, drops reasoning that nothing closes, and drops the calls if that is not enough.  A
// note says what was wrong.
format::Format verified(format::Format format) {
  const auto wrong = format.verify();
  if (!wrong) return format;
  format.notes.push_back(*wrong);
  if (format.reasoning.present && format::is_blank(format.reasoning.close)) format.reasoning = {};
  if (format.verify()) format.calls = {};
  return format;
}

}  // namespace

void Remarks::lose(std::string what, std::string meaning, std::int32_t line) {
  if (std::ranges::find(losses, what, &format::Loss::what) != losses.end()) return;
  losses.push_back({std::move(what), std::move(meaning), line});
}

void Remarks::note(std::string sentence) {
  if (std::ranges::find(notes, sentence) == notes.end()) notes.push_back(std::move(sentence));
}

void Remarks::add(const Remarks& more) {
  for (const format::Loss& loss : more.losses) lose(loss.what, loss.meaning, loss.line);
  for (const std::string& sentence : more.notes) note(sentence);
}

// Each part is inferred from the evidence and from the parts before it.
Result<std::shared_ptr<const format::Format>> infer_format(Prober& prober) {
  prober.learn_content_forms();
  const Evidence evidence = gather_evidence(prober);
  const Blocks shown = infer_blocks(evidence, find_header(evidence));
  const Ending ending = infer_ending(evidence, shown);
  const CallPart shown_calls = infer_calls(evidence, shown, ending);
  const format::Stops stops = infer_stops(evidence, ending, shown_calls);
  const Blocks blocks = with_content_leads(
      evidence, with_text_escapes(evidence, add_hidden_reasoning(evidence, shown, ending, shown_calls.calls)));
  const CallPart calls = evidence.shows_calls ? shown_calls : mine_calls(evidence);
  const Lost lost = find_losses(evidence, blocks, calls.calls, stops, ending);
  std::vector<format::GenerationPrompt> prompts = generation_prompts(evidence, blocks.header);
  if (prober.limit()) return *prober.limit();

  Remarks remarks = shown.remarks;
  for (const Remarks* more : {&shown_calls.remarks, &blocks.remarks, &calls.remarks, &lost.remarks}) remarks.add(*more);
  if (evidence.variants.empty()) remarks.note("the template refuses every probe: " + prober.refusal());
  if (const std::string missing = prober.missing_tokens(); !missing.empty()) {
    remarks.note("the template needs " + missing + ": not given, and taken as empty");
  }
  return std::make_shared<const format::Format>(verified({.input = evidence.input,
                                                          .generation_prompts = std::move(prompts),
                                                          .header = blocks.header,
                                                          .reasoning = blocks.reasoning,
                                                          .content = blocks.content,
                                                          .calls = calls.calls,
                                                          .stops = with_end_tokens(stops, prober.options()),
                                                          .trims = lost.trims,
                                                          .atoms = evidence.atoms,
                                                          .losses = std::move(remarks.losses),
                                                          .notes = std::move(remarks.notes)}));
}

Result<std::shared_ptr<const format::Format>> analyse(const jinja::Template& chat_template, const Options& options) {
  Prober prober(chat_template, options, false);
  return infer_format(prober);
}

}  // namespace rondo::analysis
