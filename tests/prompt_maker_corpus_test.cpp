// Prompts that are tokenized from where they part from an earlier one are those that are tokenized as a whole, and what is taken
// for sampled is what stands in the next prompt, wherever the template writes history as it was sampled.
#include <doctest/doctest.h>

#include <string>

#include "analysis/analyse.h"
#include "audit/prompt_maker.h"
#include "model/model_files.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

struct Tally {
  int prompts = 0;
  int answers = 0;
  int kept = 0;  // answers that the prompt without generation prompt goes on with
};

void compare(const audit::PromptMaker& maker, const chat::Conversation& base, const json::Array& all, Tally& tally) {
  std::optional<audit::Prompt> known;
  json::Array messages;
  for (const json::Value& next : all) {
    if (next.find_string("role") == "assistant" && known) {
      audit::Sheet sheet = maker.sheet(messages, base.tools, base.kwargs, std::nullopt);
      const auto before = maker.prompt(sheet, nullptr);
      if (before.ok()) {
        const auto sampled = maker.sampled(sheet, before.value(), next);
        CHECK(audit::PromptMaker::messages_of(sheet).size() == messages.size());
        ++tally.answers;
        tally.kept += sampled.empty() ? 0 : 1;
      }
    }
    messages.push_back(next);
    const audit::Sheet sheet = maker.sheet(messages, base.tools, base.kwargs, std::nullopt);
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

TEST_CASE("prompts of all models, from what is known and as a whole") {
  const std::optional<test::Corpus> corpus = test::Corpus::open();
  if (!corpus || corpus->rows_with_tokenizer().empty()) {
    MESSAGE("skipped: the corpus with its models is not there");
    return;
  }
  Tally tally;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    CAPTURE(row.id);
    const auto files = model::load(row.model_folder);
    REQUIRE(files.ok());
    const auto tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
    const auto chat_template = jinja::Template::compile(files.value().templates.front().text, {}, row.id);
    REQUIRE(tokenizer.ok());
    REQUIRE(chat_template.ok());
    analysis::Options options;
    options.tokenizer = tokenizer.value().get();
    options.bos_token = row.bos_token;
    options.eos_token = row.eos_token;
    options.now = corpus->clock();
    const auto format = analysis::analyse(*chat_template.value(), options);
    REQUIRE(format.ok());
    audit::PromptMaker::Parts parts{
        chat_template.value(), tokenizer.value(), format.value(), row.bos_token, row.eos_token, {}, {}};
    parts.apply.now = corpus->clock();
    const audit::PromptMaker maker(std::move(parts));
    // All of them one after the other, so that unrelated prompts stand beside each other as well.
    for (const test::CorpusConversation& item : corpus->conversations())
      compare(maker, corpus->conversation(row, item), item.messages, tally);
  }
  MESSAGE(tally.prompts, " prompts; ", tally.kept, " of ", tally.answers, " answers are written by their templates");
  CHECK(tally.prompts > 0);
  CHECK(tally.kept * 10 > tally.answers * 9);
}

}  // namespace
}  // namespace rondo
