// What replays take for granted, with the models of the corpus: prompts that are tokenized from where they part from an earlier
// one are those that are tokenized as a whole; nearly every answer can be put as the model must have sampled it; and the bridge
// of a replay, which is cut out of the next prompt, is that of render/.
#include <doctest/doctest.h>

#include <string>

#include "analysis/analyse.h"
#include "render/bridge.h"
#include "replay/prompt_maker.h"
#include "replay/replay_step.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"

namespace rondo {
namespace {

struct Tally {
  int prompts = 0;
  int answers = 0;
  int kept = 0;  // answers that the prompt without generation prompt goes on with
};

void compare(const replay::PromptMaker& maker, const chat::Conversation& base, const json::Array& all, Tally& tally) {
  std::optional<replay::Prompt> known;
  json::Array messages;
  for (const json::Value& next : all) {
    if (next.find_string("role") == "assistant" && known) {
      replay::Sheet sheet = maker.sheet(messages, base.tools, base.kwargs, std::nullopt);
      const auto before = maker.prompt(sheet, nullptr);
      if (before.ok()) {
        const auto sampled = maker.sampled(sheet, before.value(), next);
        CHECK(replay::PromptMaker::messages_of(sheet).size() == messages.size());
        ++tally.answers;
        tally.kept += sampled.empty() ? 0 : 1;
      }
    }
    messages.push_back(next);
    const replay::Sheet sheet = maker.sheet(messages, base.tools, base.kwargs, std::nullopt);
    const auto whole = maker.prompt(sheet, nullptr);
    if (!whole.ok()) continue;
    const auto from_known = maker.prompt(sheet, known ? &*known : nullptr);
    REQUIRE(from_known.ok());
    CHECK(from_known.value().ids == whole.value().ids);
    CHECK(from_known.value().ends == whole.value().ends);
    ++tally.prompts;
    known = from_known.value();
  }
}

// The maker of a row; its tokenizer is always supported.
replay::PromptMaker maker_of(const test::CorpusRow& row) {
  const auto model = test::load_model(row);
  REQUIRE(model);
  analysis::Options options = test::analysis_options(row);
  options.tokenizer = model->tokenizer.get();
  const auto format = analysis::analyse(*model->chat_template, options);
  REQUIRE(format.ok());
  replay::PromptMaker::Parts parts{
      model->chat_template, model->tokenizer, format.value(), row.bos_token, row.eos_token, {}, {}};
  parts.apply.now = test::kClock;
  return replay::PromptMaker(std::move(parts));
}

struct Bridges {
  int breaks = 0;  // where the prompt does not go on
  int made = 0;
  int equal = 0;
};

replay::Incoming incoming(json::Array messages, const chat::Conversation& base) {
  chat::ApiRequest request;
  request.messages = std::move(messages);
  request.tools = base.tools;
  request.kwargs = base.kwargs;
  return replay::make_incoming(request, 1, std::nullopt);
}

// The request that ends before the answer `all[at]`, the answer, and the request behind it.
void bridge_one(const replay::PromptMaker& maker, const chat::Conversation& base, const json::Array& all,
                std::size_t at, Bridges& tally) {
  const auto head = [&all](std::size_t count) {
    return json::Array(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  };
  std::size_t end = at + 1;
  while (end < all.size() && all[end].find_string("role") != "assistant") ++end;
  if (end == at + 1) return;
  replay::ConversationState parent;
  parent.last = incoming(head(at), base);
  replay::Sheet sheet = maker.sheet(parent.last.messages, base.tools, parent.last.kwargs, std::nullopt);
  auto before = maker.prompt(sheet, nullptr);
  if (!before.ok()) return;
  parent.prompts[0] = std::move(before).value();
  parent.completion = maker.sampled(sheet, *parent.prompts[0], all[at]);

  replay::ReplayStep step;
  step.request = incoming(head(end), base);
  step.parent = &parent;
  step.comparison.is_continuation = true;
  step.comparison.appended_from = at + 1;
  step.sheets[0] = maker.sheet(step.request.messages, base.tools, step.request.kwargs, std::nullopt);
  auto after = maker.prompt(*step.sheets[0], nullptr);
  if (!after.ok()) return;
  step.next.prompts[0] = std::move(after).value();
  const std::size_t full = parent.prompts[0]->ids.size() + parent.completion.size();
  if (replay::common_ids(parent.prompts[0]->ids, parent.completion, step.sent().ids) == full) return;
  ++tally.breaks;
  const auto ids = replay::bridged_ids(maker, step, replay::RewriteSet::kNone, 0);
  if (!ids) return;
  ++tally.made;

  const chat::Conversation own = maker.base_of(*step.sheets[0]);
  const render::TurnContext context{*maker.parts().chat_template, *maker.parts().tokenizer, own, maker.parts().apply};
  const render::TurnProfile profile = render::probe_turns(context);
  auto said = render::interpret(maker.parts().format, *maker.parts().tokenizer, profile, own.tools,
                                parent.prompts[0]->ids, parent.completion);
  if (!said.ok()) return;
  render::BridgeRequest request;
  request.prompt_ids = parent.prompts[0]->ids;
  request.completion_ids = parent.completion;
  request.completion = &said.value();
  const json::Array& shaped = replay::PromptMaker::messages_of(*step.sheets[0]);
  request.messages = std::span(shaped).first(at);
  request.new_messages.assign(shaped.begin() + static_cast<std::ptrdiff_t>(at) + 1, shaped.end());
  request.specials = render::ContentSpecials::kParse;
  request.find_lossy = false;
  const auto real = render::bridge(context, profile, request);
  tally.equal += real.ok() && real.value().ids == *ids ? 1 : 0;
}

TEST_CASE("prompts of all models, from what is known and as a whole") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  Tally tally;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    CAPTURE(row.id);
    const replay::PromptMaker maker = maker_of(row);
    // All of them one after the other, so that unrelated prompts stand beside each other as well.
    for (const test::CorpusConversation& item : corpus->conversations())
      compare(maker, corpus->conversation(row, item), item.messages, tally);
  }
  MESSAGE(tally.prompts, " prompts; ", tally.kept, " of ", tally.answers, " answers are written by their templates");
  CHECK(tally.prompts > 500);
  CHECK(tally.kept * 10 > tally.answers * 9);
}

TEST_CASE("bridges of all models, from the next prompt and by render") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  Bridges total;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    const replay::PromptMaker maker = maker_of(row);
    Bridges tally;
    for (const test::CorpusConversation& item : corpus->conversations()) {
      if (item.has_tag("injection")) continue;
      for (std::size_t at = 0; at < item.messages.size(); ++at) {
        if (item.messages[at].find_string("role") == "assistant")
          bridge_one(maker, corpus->conversation(row, item), item.messages, at, tally);
      }
    }
    MESSAGE(row.id, ": ", tally.breaks, " breaks, ", tally.made, " bridges, ", tally.equal, " equal");
    total.breaks += tally.breaks;
    total.made += tally.made;
    total.equal += tally.equal;
  }
  MESSAGE(total.breaks, " breaks, ", total.made, " bridges, ", total.equal, " equal");
  CHECK(total.made > 10);
  CHECK(total.made * 5 > total.breaks * 4);
  // A template that ends its turns with two stops is bridged in two ways; the small corpus's sample has one.
  const int least = test::is_small_corpus() ? 85 : 95;
  CHECK(total.equal * 100 > total.made * least);
}

}  // namespace
}  // namespace rondo
