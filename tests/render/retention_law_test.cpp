// The law of kept reasoning, over templates of the corpus and their switches: a turn whose reasoning stays although the template drops
// it stands in the prompt as the template writes it when it is the last one, header and all.
//
// A generation prompt may have closed the reasoning already; no model could have thought behind that.
#include <doctest/doctest.h>

#include <string>

#include "analysis/analyse.h"
#include "probe/places.h"
#include "render/histories.h"
#include "render/retention.h"
#include "render/rollout.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"

namespace rondo::render {
namespace {

// How many turns keep their reasoning otherwise than the template writes it when they are last.
void check_kept(const test::CorpusRow& row, const test::CorpusModel& model,
                const std::shared_ptr<const format::Format>& format, const json::Object& kwargs, std::size_t& kept,
                std::size_t& wrong) {
  chat::Conversation base;
  base.bos_token = row.bos_token;
  base.eos_token = row.eos_token;
  base.kwargs = kwargs;
  base.add_generation_prompt = true;
  tmpl::ApplyOptions options;
  options.now = test::kClock;
  if (format->reasoning.begins_text) return;  // history goes on behind words that only the prompt has
  for (const json::Array& history : trial_histories(format->input, {})) {
    base.messages = history;
    const TurnContext context{*model.chat_template, *model.tokenizer, base, options};
    const auto turns = kept_turns(context, *format, Retention::kAllThinking);
    if (!turns.ok() || turns.value().turns.empty()) continue;
    const TurnProfile profile = probe_turns(context);
    const CompletionReader reader(format, *model.tokenizer, base.tools);
    const auto out = encode_raw(context, {profile, reader}, turns.value().turns, ContentSpecials::kText);
    if (!out.ok()) continue;
    for (const RawTurn& turn : turns.value().turns) {
      const auto& written = std::get<WrittenTurn>(turn.completion);
      const auto begin = turn_begin(*written.rendered, written.extent.message);
      const std::string whole(probe::slice(*written.rendered, *begin, written.extent.end));
      ++kept;
      if (out.value().text.find(whole) != std::string::npos) continue;
      if (++wrong % 40 == 1)
        MESSAGE(row.id << ": " << text::quoted(whole) << " is not in " << text::quoted(out.value().text));
    }
  }
}

TEST_CASE("kept reasoning stands as the template writes it in the last turn") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  std::size_t kept = 0;
  std::size_t wrong = 0;
  const bool is_whole = test::is_small_corpus();  // it has no model that takes long
  for (const test::CorpusRow& row : is_whole ? corpus->rows() : corpus->rows_with_tokenizer()) {
    const auto model = test::load_model(row);
    if (!model) continue;
    std::size_t own = 0;
    for (const json::Value& set : row.kwargs_sets) {
      analysis::Options analysis_options = test::analysis_options(row);
      analysis_options.tokenizer = model->tokenizer.get();
      const json::Value* kwargs = set.find("kwargs");
      if (kwargs == nullptr || !kwargs->is_object()) continue;
      json::Object own_kwargs = kwargs->as_object();
      own_kwargs.erase("add_generation_prompt");
      analysis_options.kwargs = own_kwargs;
      const auto format = analysis::analyse(*model->chat_template, analysis_options);
      if (format.ok()) check_kept(row, *model, format.value(), own_kwargs, kept, own);
    }
    if (own > 0) MESSAGE(row.id << ": " << own);
    wrong += own;
  }
  MESSAGE(kept << " turns, " << wrong << " otherwise");
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace rondo::render
