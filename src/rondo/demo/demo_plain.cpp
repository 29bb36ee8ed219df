// Timing and reuse on plain text: for models without a template.
#include <algorithm>
#include <array>

#include "base/common_prefix.h"
#include "demo/demo_parts.h"

namespace rondo::demo {
namespace {

using tokenizer::TokenId;

constexpr std::size_t kTurnTokens = 24;
constexpr int kOpeningLines = 24;  // about 500 tokens: enough for prefill to take some time

std::string opening_text() {
  std::string text = "Notes of a walk along the river.\n";
  for (int i = 1; i <= kOpeningLines; ++i) {
    text +=
        "Kilometre " + std::to_string(i) + ": the path follows the water, and the next village is still far away.\n";
  }
  return text;
}

constexpr std::array<std::string_view, 5> kLines = {
    "\nQuestion: what was at the second kilometre?\nAnswer:", "\nQuestion: and at the fifth?\nAnswer:",
    "\nQuestion: is there a bridge?\nAnswer:", "\nQuestion: who wrote these notes?\nAnswer:",
    "\nQuestion: how does the walk end?\nAnswer:"};

Result<double> decode_turn(engine::Engine& engine, std::span<const TokenId> prompt,
                           const std::function<double()>& clock, engine::PromptReport& report,
                           engine::Generation& turn) {
  const double begin = clock ? clock() : 0;
  Result<engine::PromptReport> prompted = engine.prompt(prompt);
  if (!prompted.ok()) return prompted.error();
  report = std::move(prompted).value();
  engine::GenerateOptions generate;
  generate.max_tokens = kTurnTokens;
  Result<engine::Generation> generated = engine.generate(generate);
  if (!generated.ok()) return generated.error();
  turn = std::move(generated).value();
  return clock ? clock() - begin : 0.0;
}

void append(std::vector<TokenId>& ids, const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  const std::vector<TokenId> more = tokenizer.encode_ids(text, {});
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

Result<DemoRun> run_plain_text(EmbeddedModel& model, const std::function<double()>& clock) {
  DemoRun run;
  tokenizer::EncodeOptions first;
  first.add_special = true;
  std::vector<TokenId> ids = model.tokenizer->encode_ids(opening_text(), first);
  std::vector<std::vector<TokenId>> again;  // the prompt of a client that keeps only text
  double seconds = 0;
  for (std::size_t i = 0; i < kLines.size(); ++i) {
    const std::vector<TokenId> seen = ids;
    append(ids, *model.tokenizer, kLines[i]);
    DemoRow row;
    row.turn = i + 1;
    row.prompt = ids.size();
    // The same prompt made from the text that the client has seen.  Control tokens are not part of that.
    const Result<std::string> text = model.tokenizer->decode(ids, {.skip_special = true});
    if (!text.ok()) return text.error();
    again.push_back(model.tokenizer->encode_ids(text.value(), first));
    row.rerender_prompt = again.back().size();
    if (i > 0) {
      row.rerender_reused = common_prefix(again.back(), seen);
      if (row.rerender_reused < seen.size()) row.cause = "the text is tokenized otherwise than the model sampled it";
    }
    engine::PromptReport report;
    engine::Generation turn;
    const Result<double> took = decode_turn(*model.engine, ids, clock, report, turn);
    if (!took.ok()) return took.error();
    seconds += took.value();
    row.reused = report.reused;
    row.prefilled = report.prefilled;
    row.generated = turn.ids.size();
    row.stop = engine::to_string(turn.stop);
    if (!row.cause.empty()) ++run.rerender_breaks;
    run.rows.push_back(row);
    ids.insert(ids.end(), turn.ids.begin(), turn.ids.end());
  }
  double fresh = 0;
  for (const std::vector<TokenId>& prompt : again) {
    model.engine->clear();  // nothing is kept between turns, as on a stateless server
    engine::PromptReport report;
    engine::Generation turn;
    const Result<double> took = decode_turn(*model.engine, prompt, clock, report, turn);
    if (!took.ok()) return took.error();
    fresh += took.value();
    run.rerender_prefilled += report.prefilled;
  }
  if (clock) {
    run.bridge_seconds = seconds;
    run.rerender_seconds = fresh;
  }
  return run;
}

}  // namespace rondo::demo
