// Rollouts over real models: the window against the whole history, retention of reasoning, many at once.
#include "render/rollout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "analysis/analyse.h"
#include "json/parse.h"
#include "render/raw_turns.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/rollouts.h"

namespace rondo {
namespace {

using render::Retention;
using render::Rollout;
using render::RolloutModel;
using tokenizer::TokenId;

json::Array messages(const std::string& text) { return json::parse(text).value().as_array(); }

const char* const kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}},
  {"type": "function", "function": {"name": "search", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}}])";

// nullptr if the row's tokenizer cannot be loaded.
std::shared_ptr<const RolloutModel> load(const test::CorpusRow& row, bool with_tools, json::Object kwargs = {}) {
  const auto model = test::load_model(row);
  if (!model) return nullptr;
  RolloutModel::Parts parts;
  parts.chat_template = model->chat_template;
  parts.tokenizer = model->tokenizer;
  parts.base.bos_token = row.bos_token;
  parts.base.eos_token = row.eos_token;
  parts.base.kwargs = std::move(kwargs);
  if (with_tools) parts.base.tools = json::parse(kTools).value();
  parts.apply.now = test::kClock;
  analysis::Options options = test::analysis_options(row);
  options.kwargs = parts.base.kwargs;
  options.tokenizer = parts.tokenizer.get();
  auto format = analysis::analyse(*parts.chat_template, options);
  if (!format.ok()) return nullptr;
  parts.format = format.value();
  return RolloutModel::make(std::move(parts));
}

std::shared_ptr<const RolloutModel> load(const test::Corpus& corpus, const std::string& id, json::Object kwargs = {}) {
  const test::CorpusRow* row = corpus.find(id);
  return row != nullptr && !row->model_folder.empty() ? load(*row, true, std::move(kwargs)) : nullptr;
}

std::vector<TokenId> ids_of(const RolloutModel& model, const std::string& text) {
  return model.parts().tokenizer->encode_ids(text, {});
}

std::string text_of(const Rollout& rollout) {
  return rollout.model().parts().tokenizer->decode(rollout.ids(), {}).value();
}

// The messages of a rollout, with what was sampled beside them, make its prompt again, whoever has kept them.
void check_raw_turns(const Rollout& rollout, const std::string& name) {
  const RolloutModel& model = rollout.model();
  chat::Conversation conversation = model.parts().base;
  conversation.messages = rollout.messages();
  conversation.add_generation_prompt = true;
  for (const Rollout::Turn& turn : rollout.turns()) {
    json::Array raw;
    for (const TokenId id : rollout.ids().subspan(turn.begin, turn.end - turn.begin))
      raw.emplace_back(static_cast<std::int64_t>(id));
    conversation.messages[turn.message].as_object().set("raw_ids", std::move(raw));
  }
  const auto turns = render::take_raw_turns(conversation.messages);
  REQUIRE(turns.ok());
  CHECK(conversation.messages == rollout.messages());
  const auto made =
      render::encode_raw({*model.parts().chat_template, *model.parts().tokenizer, conversation, model.parts().apply},
                         {model.profile(), model.reader()}, turns.value(), model.parts().specials);
  REQUIRE_MESSAGE(made.ok(), name << ": " << made.error().to_string());
  const std::vector<TokenId> ids(rollout.ids().begin(), rollout.ids().end());
  CHECK_MESSAGE(made.value().ids == ids, name << ": " << made.value().text << "\n---\n" << text_of(rollout));
  CHECK(made.value().sampled_mask.size() == ids.size());
}

// The owners of a first prompt are those of encode().
void check_owners(const Rollout& started, const std::string& name) {
  const RolloutModel::Parts& parts = started.model().parts();
  chat::Conversation conversation = parts.base;
  conversation.messages = started.messages();
  conversation.add_generation_prompt = true;
  const auto encoded =
      render::encode(*parts.chat_template, *parts.tokenizer, conversation, parts.apply, parts.specials);
  REQUIRE(encoded.ok());
  CHECK_MESSAGE(started.message_indices() == encoded.value().message_indices, name);
}

// Whatever random rollouts append, the window appends it as the whole history does.
void compare_window(const std::shared_ptr<const RolloutModel>& shared, const std::string& name, int rollouts,
                    int& compared) {
  const RolloutModel& model = *shared;
  for (int seed = 0; seed < rollouts; ++seed) {
    test::RolloutMaker maker(model.context(), model.profile(), *model.parts().format,
                             static_cast<std::uint32_t>(seed + 7000));
    auto started = Rollout::start(shared, maker.first_messages());
    if (!started.ok()) continue;
    Rollout& rollout = started.value();
    check_owners(rollout, name);
    for (int turn = 0; turn < 5; ++turn) {
      const test::RandomCompletion completion = maker.completion(rollout.ids(), rollout.messages());
      const auto said = rollout.complete(completion.ids);
      REQUIRE(said.ok());
      const std::size_t sampled_end = rollout.ids().size();
      render::BridgeRequest request;
      const render::ParsedCompletion parsed = *said.value();
      const std::vector<TokenId> before(rollout.ids().begin(), rollout.ids().end());
      request.prompt_ids = std::span(before).first(sampled_end - completion.ids.size());
      request.completion_ids = std::span(before).subspan(sampled_end - completion.ids.size());
      request.completion = &parsed;
      const json::Array history = rollout.messages();
      request.messages = history;
      request.new_messages = maker.new_messages(parsed);
      const auto whole = render::append_turn(model.context(), model.profile(), request);
      const auto near = rollout.extend(request.new_messages);
      REQUIRE(whole.ok() == near.ok());
      if (!near.ok()) break;
      compared += model.locality().is_local(render::step_of(parsed, request.new_messages)) ? 1 : 0;
      const std::vector<TokenId> appended(rollout.ids().begin() + static_cast<std::ptrdiff_t>(near.value().begin),
                                          rollout.ids().end());
      CHECK_MESSAGE(appended == whole.value().ids, name << ": " << whole.value().text);
      CHECK(std::equal(before.begin(), before.end(), rollout.ids().begin()));
      CHECK(rollout.message_indices().size() == rollout.ids().size());
    }
    if (!rollout.turns().empty() && !rollout.has_spoken()) check_raw_turns(rollout, name);
  }
}

TEST_CASE("a window, and messages with raw turns, give what the whole history gives") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  int local = 0;
  int all = 0;
  int compared = 0;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    for (const bool with_tools : {true, false}) {
      const auto model = load(row, with_tools);
      if (model == nullptr) continue;
      const render::Locality& locality = model->locality();
      const std::string& user = locality.reason(render::Step::kUserAfterText);
      const std::string& tools = locality.reason(render::Step::kResultsAfterCalls);
      std::printf("%-32s %s | %s\n", (row.id + (with_tools ? "+tools" : "")).c_str(),
                  user.empty() ? "local" : user.c_str(), tools.empty() ? "local" : tools.c_str());
      local += (user.empty() ? 1 : 0) + (tools.empty() ? 1 : 0);
      all += 2;
      compare_window(model, row.id, 10, compared);
    }
  }
  std::printf("local: %d of %d; compared: %d\n", local, all, compared);
  CHECK(local > 0);
  CHECK(compared > 100);
}

// A conversation of two cycles: a call with reasoning, its result, an answer with reasoning, and another user message.
struct Cycles {
  Rollout rollout;
  render::Extension last;
};

Cycles two_cycles(const std::shared_ptr<const RolloutModel>& model, const std::vector<std::string>& sampled,
                  Retention retention) {
  auto started = Rollout::start(model, messages(R"([{"role": "user", "content": "Weather?"}])"));
  REQUIRE(started.ok());
  Rollout rollout = std::move(started).value();
  auto said = rollout.complete(ids_of(*model, sampled[0]));
  REQUIRE(said.ok());
  REQUIRE(said.value()->message.tool_calls.size() == 1);
  REQUIRE(rollout
              .extend(messages(R"([{"role": "tool", "tool_call_id": "c1", "name": "get_weather", "content": "20"}])"),
                      retention)
              .ok());
  REQUIRE(rollout.complete(ids_of(*model, sampled[1])).ok());
  auto next = rollout.extend(messages(R"([{"role": "user", "content": "Thanks"}])"), retention);
  REQUIRE(next.ok());
  return {std::move(rollout), std::move(next).value()};
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("retention: reasoning that the template drops is cut out, and nothing else") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto model = load(*corpus, "qwen3");
  REQUIRE(model != nullptr);
  // Odd spelling throughout, to see that it stays.
  const std::vector<std::string> sampled = {
      "<think>\nlook it  "
      "up\n</think>\n\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Oslo\"}}\n</"
      "tool_call><|im_end|>",
      "<think>\nit is mild\n</think>\n\n20  degrees<|im_end|>"};
  const auto text = [&](Retention retention) { return text_of(two_cycles(model, sampled, retention).rollout); };
  const std::string all = text(Retention::kAll);
  CHECK(occurrences(all, "look it  up") == 1);
  CHECK(occurrences(all, "it is mild") == 1);
  CHECK(text(Retention::kAllThinking) == all);
  std::string without = all;
  for (const char* block : {"<think>\nlook it  up\n</think>\n\n", "<think>\nit is mild\n</think>\n\n"})
    without.erase(without.find(block), std::string(block).size());
  CHECK(text(Retention::kTemplate) == without);
  CHECK(text(Retention::kToolCycle) == without);
  CHECK(text(Retention::kThinkingBetweenToolCalls) == without);

  const Cycles cut = two_cycles(model, sampled, Retention::kToolCycle);
  REQUIRE(cut.last.cuts.size() == 2);
  CHECK(cut.last.cuts[0].message == 1);
  CHECK(cut.last.cuts[1].message == 3);
  CHECK(cut.last.kept == cut.last.cuts[0].begin);
  CHECK(two_cycles(model, sampled, Retention::kAll).last.cuts.empty());
}

// Models whose templates treat reasoning alike, each with a call behind reasoning and an answer behind reasoning.
struct Speaker {
  const char* row;
  std::vector<std::string> sampled;
};

TEST_CASE("retention: an empty block stays where the template writes one") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::vector<Speaker> speakers = {
      {"kimi-k2.6",
       {"look it  "
        "up</think><|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        "{\"city\":\"Oslo\"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>",
        "it is mild</think>20  degrees<|im_end|>"}},
      {"own-numbered",
       {"look it  "
        "up</inner><|calls|><|call|>functions.get_weather:0<|args|>{\"city\":\"Oslo\"}<|/call|><|/calls|><|done|>",
        "it is mild</inner>20  degrees<|done|>"}}};
  int played = 0;
  for (const Speaker& speaker : speakers) {
    CAPTURE(std::string(speaker.row));
    const auto model = load(*corpus, speaker.row);
    if (model == nullptr) continue;
    ++played;
    const std::string all = text_of(two_cycles(model, speaker.sampled, Retention::kAll).rollout);
    const std::string cut = text_of(two_cycles(model, speaker.sampled, Retention::kThinkingBetweenToolCalls).rollout);
    std::string without = all;
    for (const char* words : {"look it  up", "it is mild"})
      without.erase(without.find(words), std::string(words).size());
    CHECK(cut == without);
  }
  CHECK(played > 0);
}

// Reasoning goes where the template drops it, with the mark that the prompt opened it with.
void check_opened_block(const std::shared_ptr<const RolloutModel>& model, const std::vector<std::string>& sampled,
                        const std::string& open, const std::string& answer) {
  const std::string all = text_of(two_cycles(model, sampled, Retention::kAll).rollout);
  const std::string cut = text_of(two_cycles(model, sampled, Retention::kTemplate).rollout);
  CHECK(occurrences(all, open) == 3);  // two turns and the next prompt
  CHECK(occurrences(cut, open) == 1);
  CHECK(occurrences(cut, "it is mild") == 0);
  CHECK_MESSAGE(cut.find(answer) != std::string::npos, cut);
  // Within its cycle reasoning stays, whatever the policy.
  const std::vector<std::string> names = {"all", "template", "tool_cycle", "preserve_thinking_between_tool_calls",
                                          "preserve_all_thinking"};
  for (const std::string& name : names) {
    auto rollout = Rollout::start(model, messages(R"([{"role": "user", "content": "Weather?"}])")).value();
    REQUIRE(rollout.complete(ids_of(*model, sampled[0])).ok());
    const std::vector<TokenId> before(rollout.ids().begin(), rollout.ids().end());
    const auto next = rollout.extend(messages(R"([{"role": "tool", "content": "20"}])"), *render::retention_of(name));
    REQUIRE(next.ok());
    CHECK_MESSAGE(next.value().cuts.empty(), name);
    CHECK(std::equal(before.begin(), before.end(), rollout.ids().begin()));
  }
}

TEST_CASE("retention: a block that the prompt opened goes with its opening") {
  CHECK_FALSE(render::retention_of("some").has_value());
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::string call =
      "look it  "
      "up\n</think>\n\n<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</"
      "tool_call>"
      "<|im_end|>";
  const std::string answer = "it is mild\n</think>\n\n20  degrees<|im_end|>";
  const std::vector<Speaker> speakers = {
      {"qwen3.6", {call, answer}},
      {"qwen3.5", {call, answer}},
      {"own-forgetful",
       {"look it  "
        "up\n</ponder>\n\n<use>\n<tool=get_weather>\n<slot=city>\nOslo\n</slot>\n</tool>\n</use><:end:>",
        "it is mild\n</ponder>\n\n20  degrees<:end:>"}}};
  int played = 0;
  for (const Speaker& speaker : speakers) {
    CAPTURE(std::string(speaker.row));
    const auto model = load(*corpus, speaker.row);
    if (model == nullptr) continue;
    ++played;
    const bool is_own = std::string(speaker.row).starts_with("own-");
    check_opened_block(
        model, speaker.sampled, is_own ? "<ponder>" : "<think>",
        is_own ? "<:turn:>assistant\n20  degrees<:end:>" : "<|im_start|>assistant\n20  degrees<|im_end|>");
  }
  CHECK(played >= 2);
}

TEST_CASE("a rollout that was begun elsewhere goes on as one that was not") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto model = load(*corpus, "qwen3");
  REQUIRE(model != nullptr);
  const std::vector<std::string> sampled = {
      "<think>\nlook\n</think>\n\n<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{}}\n</tool_call><|im_end|>",
      "<think>\nmild\n</think>\n\n20<|im_end|>"};
  Cycles whole = two_cycles(model, sampled, Retention::kAll);
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const Rollout::Turn& turn : whole.rollout.turns()) ranges.emplace_back(turn.begin, turn.end);
  auto again = Rollout::resume(model, {whole.rollout.ids().begin(), whole.rollout.ids().end()},
                               whole.rollout.messages(), ranges);
  REQUIRE(again.ok());
  CHECK(again.value().sampled_mask() == whole.rollout.sampled_mask());
  for (Rollout* rollout : {&whole.rollout, &again.value()}) {
    REQUIRE(rollout->complete(ids_of(*model, "<think>\nbye\n</think>\n\nBye<|im_end|>")).ok());
    REQUIRE(rollout->extend(messages(R"([{"role": "user", "content": "So long"}])"), Retention::kTemplate).ok());
  }
  CHECK(std::ranges::equal(again.value().ids(), whole.rollout.ids()));
  const std::vector<std::pair<std::size_t, std::size_t>> beyond = {{0, 1U << 20U}};
  CHECK_FALSE(Rollout::resume(model, {1, 2, 3}, messages(R"([{"role": "assistant", "content": "x"}])"), beyond).ok());
  CHECK_FALSE(Rollout::resume(model, {1, 2, 3}, {}, ranges).ok());
}

TEST_CASE("a rollout keeps the order of turns") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto model = load(*corpus, "qwen3");
  REQUIRE(model != nullptr);
  auto rollout = Rollout::start(model, messages(R"([{"role": "user", "content": "Hi"}])")).value();
  const json::Array thanks = messages(R"([{"role": "user", "content": "Thanks"}])");
  CHECK_FALSE(rollout.extend(thanks).ok());
  REQUIRE(rollout.complete(ids_of(*model, "Hello<|im_end|>")).ok());
  CHECK_FALSE(rollout.complete(ids_of(*model, "Hello<|im_end|>")).ok());
  const std::size_t before = rollout.ids().size();
  CHECK_FALSE(rollout.extend(messages(R"([{"role": "assistant", "content": "x"}])")).ok());
  CHECK(rollout.ids().size() == before);
  CHECK(rollout.extend(thanks).ok());
}

TEST_CASE("rollouts of one model run in many threads") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto model = load(*corpus, "qwen3");
  REQUIRE(model != nullptr);
  constexpr int kThreads = 4;
  constexpr int kRollouts = 25;
  std::vector<std::string> texts(kThreads * kRollouts);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kRollouts; ++i) {
        auto rollout = Rollout::start(model, messages(R"([{"role": "user", "content": "Hi"}])")).value();
        for (int turn = 0; turn < 3; ++turn) {
          static_cast<void>(rollout.complete(ids_of(*model, "Hello<|im_end|>")).ok());
          static_cast<void>(rollout.extend(messages(R"([{"role": "user", "content": "Go on"}])")).ok());
        }
        texts[static_cast<std::size_t>(thread * kRollouts + i)] = text_of(rollout);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::all_of(texts, [&](const std::string& text) { return text == texts.front(); }));
  CHECK(occurrences(texts.front(), "Go on") == 3);
}

}  // namespace
}  // namespace rondo
