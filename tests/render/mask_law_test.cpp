// The law of sampled masks, over templates of the corpus: what counts as sampled in a conversation is, for each assistant turn, what
// a model would have sampled behind the generation prompt at that point.
//
//   begin   behind the generation prompt that the template writes before this turn, as far as history keeps it
//   end     where it ends when the turn is the last one; a turn without a stop of its own ends with one more token
//
// Conversations are those of the corpus, and small ones with calls, results and reasoning in the form that the template takes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "analysis/analyse.h"
#include "format/units.h"
#include "render/bridge.h"
#include "render/encode.h"
#include "render/histories.h"
#include "render/stop.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"

namespace rondo::render {
namespace {

struct Tally {
  std::size_t turns = 0;
  std::size_t begins = 0;  // judged
  std::size_t ends = 0;
  std::size_t wrong_begins = 0;
  std::size_t wrong_ends = 0;

  void add(const Tally& other) {
    turns += other.turns;
    begins += other.begins;
    ends += other.ends;
    wrong_begins += other.wrong_begins;
    wrong_ends += other.wrong_ends;
  }
};

std::size_t data_end_before(const jinja::Rendered& rendered, std::int32_t index) {
  std::size_t end = 0;
  for (std::int32_t i = 0; i < index; ++i) {
    if (const auto data = data_extent(rendered, i)) end = std::max(end, data->end);
  }
  return end;
}

std::string_view rest(const jinja::Rendered& rendered, std::size_t at) {
  return std::string_view(rendered.text.bytes()).substr(at);
}

class Law {
 public:
  Law(const TurnContext& context, Tally& tally, std::string name)
      : context_(context), profile_(probe_turns(context)), tally_(tally), name_(std::move(name)) {}

  void check(const json::Array& messages) {
    const auto whole = render_messages(context_, messages, false);
    if (!whole.ok()) return;
    // Results may stand between the calls and the text of a message, which is sampled in two parts then.
    const std::vector<SampledExtent> extents = sampled_extents(context_, whole.value(), messages);
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const SampledExtent& extent = extents[i];
      const bool is_first = i == 0 || extents[i - 1].message != extent.message;
      const bool is_last = i + 1 == extents.size() || extents[i + 1].message != extent.message;
      ++tally_.turns;
      if (is_first) check_begin(messages, whole.value(), extent);
      if (is_last) check_end(messages, whole.value(), extent);
    }
  }

 private:
  void check_begin(const json::Array& messages, const jinja::Rendered& whole, const SampledExtent& extent) {
    // Nobody asks a model for its answer behind nothing, or behind its answer.
    const auto index = static_cast<std::size_t>(extent.message);
    if (index == 0 || messages[index - 1].find_string("role") == "assistant") return;
    const json::Array before(messages.begin(), messages.begin() + extent.message);
    const auto asked = render_messages(context_, before, true);
    const auto bare = render_messages(context_, before, false);
    if (!asked.ok() || !bare.ok()) return;
    const std::size_t from = data_end_before(whole, extent.message);
    const auto turn = turn_begin(whole, extent.message);
    if (!turn || *turn < from) return;
    const std::string_view prompt = rest(asked.value(), data_end_before(asked.value(), extent.message));
    const std::string_view written = rest(whole, from);
    const auto data = data_extent(whole, extent.message);
    const std::size_t common = shared_units(prompt, written, data ? data->begin - from : written.size());
    // The turn's header may stand elsewhere than behind the last data, but it is the generation prompt.
    const std::string& shorter = bare.value().text.bytes();
    const bool goes_on = asked.value().text.bytes().starts_with(shorter);
    const std::string_view added = goes_on ? rest(asked.value(), shorter.size()) : "";
    const bool is_header =
        common < prompt.size() && !added.empty() && rest(whole, 0).substr(0, extent.begin).ends_with(added);
    if (from + common < *turn) return;  // history has nothing of the generation prompt
    ++tally_.begins;
    if (extent.begin == from + common || is_header) return;
    ++tally_.wrong_begins;
    tell("begins", extent,
         text::quoted(rest(whole, extent.begin).substr(0, kShown)) + " instead of " +
             text::quoted(written.substr(common, kShown)) + " behind " + text::quoted(prompt));
  }

  void check_end(const json::Array& messages, const jinja::Rendered& whole, const SampledExtent& extent) {
    const json::Array until(messages.begin(), messages.begin() + extent.message + 1);
    const auto alone = render_messages(context_, until, false);
    if (!alone.ok()) return;
    const auto extents = sampled_extents(context_, alone.value(), until);
    if (extents.empty() || extents.back().message != extent.message) return;
    const SampledExtent& own = extents.back();
    const std::string_view last = rest(alone.value(), own.begin).substr(0, own.end - own.begin);
    const std::string_view now = rest(whole, extent.begin);
    if (!now.starts_with(last)) return;  // history changes the turn
    ++tally_.ends;
    const std::size_t size = extent.end - extent.begin;
    if (size == last.size()) return;
    const std::string_view more = size < last.size() ? "" : now.substr(last.size(), size - last.size());
    const auto tokens = markers(context_.tokenizer, more);
    const bool is_token =
        tokens.size() == 1 && tokens[0].end == more.size() && format::is_blank(more.substr(0, tokens[0].begin));
    // Where plain turns have no stop of their own, the next turn's first token is it, or white space where it has none.
    const auto& plain = profile_.plain.marker;
    const bool is_plain = is_token && plain && tokens[0].id == plain->id && !last.ends_with(more);
    const bool is_next = !plain && !more.empty() && (is_token || format::is_blank(more));
    if (is_plain || is_next) return;
    ++tally_.wrong_ends;
    tell("ends", extent,
         text::quoted(now.substr(0, size).substr(size - std::min(size, kShown))) + ", alone with " +
             text::quoted(last.substr(last.size() - std::min(last.size(), kShown))));
  }

  // How much both begin with, in whole units; one ends where the turn's data begins.
  std::size_t shared_units(std::string_view prompt, std::string_view written, std::size_t data_begin) const {
    const auto common = static_cast<std::size_t>(std::ranges::mismatch(prompt, written).in1 - prompt.begin());
    if (common == prompt.size()) return common;
    std::vector<std::string> atoms;
    for (const std::string_view text : {prompt, written.substr(0, common + kShown)}) {
      for (const Marker& marker : markers(context_.tokenizer, text))
        atoms.emplace_back(context_.tokenizer.token_bytes(marker.id));
    }
    std::size_t best = 0;
    const auto theirs = format::unit_boundaries(written.substr(0, common + kShown), atoms);
    for (const std::size_t at : format::unit_boundaries(prompt, atoms)) {
      if (at <= common && (at == data_begin || std::ranges::binary_search(theirs, at))) best = at;
    }
    return best;
  }

  void tell(const std::string& what, const SampledExtent& extent, const std::string& how) {
    constexpr std::size_t kMostTold = 3;
    if (told_++ < kMostTold) MESSAGE(name_ << ", message " << extent.message << " " << what << " with " << how);
  }

  static constexpr std::size_t kShown = 48;
  const TurnContext& context_;
  TurnProfile profile_;
  Tally& tally_;
  std::string name_;
  std::size_t told_ = 0;
};

// Conversations that end with reasoning in the content, in words and beside a call, where a format keeps it there.
std::vector<json::Array> inline_histories(const format::Format& format) {
  if (!format.reasoning.in_content) return {};
  std::vector<json::Array> out;
  for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
    json::Value said = history_message(trial_completion(format.input, calls, false), trial_results(calls));
    said.as_object().set("content", format.reasoning.open + "Why" + format.reasoning.close + "So");
    out.push_back({json::Object{{"role", "user"}, {"content", "Hi"}}, std::move(said)});
  }
  return out;
}

TEST_CASE("what counts as sampled is what a model would have sampled behind the prompt at that point") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  Tally all;
  const bool is_whole = test::is_small_corpus();  // it has no model that takes long
  for (const test::CorpusRow& row : is_whole ? corpus->rows() : corpus->rows_with_tokenizer()) {
    const auto model = test::load_model(row);
    if (!model) continue;
    analysis::Options analysis_options = test::analysis_options(row);
    analysis_options.tokenizer = model->tokenizer.get();
    const auto format = analysis::analyse(*model->chat_template, analysis_options);
    Tally tally;
    tmpl::ApplyOptions options;
    options.now = test::kClock;
    for (const test::CorpusConversation& item : corpus->conversations()) {
      const chat::Conversation base = corpus->conversation(row, item);
      Law({*model->chat_template, *model->tokenizer, base, options}, tally, row.id + " " + item.id)
          .check(item.messages);
    }
    if (format.ok()) {
      const chat::Conversation base = corpus->conversation(row, {});
      for (const json::Array& history : trial_histories(format.value()->input, {}))
        Law({*model->chat_template, *model->tokenizer, base, options}, tally, row.id).check(history);
      for (const json::Array& history : inline_histories(*format.value()))
        Law({*model->chat_template, *model->tokenizer, base, options}, tally, row.id).check(history);
    }
    if (tally.wrong_begins + tally.wrong_ends > 0)
      MESSAGE(row.id << ": " << tally.wrong_begins << " of " << tally.begins << " begin and " << tally.wrong_ends
                     << " of " << tally.ends << " end wrongly");
    all.add(tally);
  }
  MESSAGE(all.turns << " turns, " << all.wrong_begins << " of " << all.begins << " begin and " << all.wrong_ends
                    << " of " << all.ends << " end wrongly");
  CHECK(all.wrong_begins == 0);
  CHECK(all.wrong_ends == 0);
}

}  // namespace
}  // namespace rondo::render
