#include "demo/demo_bare.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "base/files.h"
#include "core/model.h"
#include "demo/demo_script.h"
#include "grammar/matcher.h"
#include "json/print.h"

namespace rondo::demo {
namespace {

using tokenizer::TokenId;

// Wherever a grammar leaves room, a model with random weights rambles: in white space, and in members that nobody asked
// for.  So it chooses among whole turns, token by token, and each turn is offered as far as the grammar allows it.
class OneOf final : public engine::TokenConstraint {
 public:
  // Offers `turn` up to the point where `grammar` refuses it.
  void add(const grammar::Grammar& grammar, const tokenizer::Tokenizer& tokenizer, std::vector<TokenId> turn) {
    grammar::Matcher matcher(grammar);
    const auto fits = [&](TokenId id) { return matcher.feed(tokenizer.token_bytes(id)); };
    turn.erase(std::find_if_not(turn.begin(), turn.end(), fits), turn.end());
    turns_.push_back(std::move(turn));
  }

  engine::Allowed next(std::span<const TokenId> sampled) override {
    next_.clear();
    for (const std::vector<TokenId>& turn : turns_) {
      if (turn.size() > sampled.size() && std::equal(sampled.begin(), sampled.end(), turn.begin()))
        next_.push_back(turn[sampled.size()]);
    }
    using Kind = engine::Allowed::Kind;
    return {.kind = next_.empty() ? Kind::kDone : Kind::kOnly, .ids = next_};
  }

 private:
  std::vector<std::vector<TokenId>> turns_;
  std::vector<TokenId> next_;
};

class BareTalk {
 public:
  BareTalk(std::shared_ptr<const core::Model> model, engine::Engine& engine, std::uint64_t seed)
      : model_(std::move(model)), engine_(engine), seed_(seed) {}

  Result<BareRun> run(const DemoBare& bare) {
    core::Call call = call_of(bare);
    call.has_messages = true;
    call.conversation.add_generation_prompt = true;
    call.conversation.messages.emplace_back(json::Object{{"role", "system"}, {"content", bare.system}});
    call.conversation.messages.emplace_back(json::Object{{"role", "user"}, {"content", bare.user}});
    run_.messages = call.conversation.messages;
    const auto first = model_->encode(call);
    if (!first.ok()) return first.error();
    run_.supplied = first.value().shaped;
    const std::vector<TokenId>& prompt = first.value().ids;
    const auto called =
        turn(bare, bare.called, prompt, {.tool_choice = core::ToolChoice::kRequired, .is_direct = true});
    if (!called.ok()) return called.error();
    const auto said = model_->parse_ids(call, {.prompt_ids = prompt}, called.value());
    if (!said.ok()) return said.error();
    if (said.value().message.tool_calls.empty())
      return Error(ErrorCode::kInternal, "the model did not call the tool: " + said.value().text);
    json::Array results;
    for (const chat::ToolCall& one : said.value().message.tool_calls)
      results.emplace_back(json::Object{{"role", "tool"}, {"name", one.name}, {"content", bare.result}});
    run_.messages.push_back(chat::to_history(said.value().message, 0));
    run_.messages.insert(run_.messages.end(), results.begin(), results.end());
    const auto next = model_->bridge(
        call,
        {.prompt = prompt, .completion = called.value(), .new_messages = std::move(results), .find_lossy = false});
    if (!next.ok()) return next.error();
    for (const std::string& sentence : next.value().shaped) {
      if (std::ranges::find(run_.supplied, sentence) == run_.supplied.end()) run_.supplied.push_back(sentence);
    }
    return answer(bare, next.value().ids);
  }

 private:
  static core::Call call_of(const DemoBare& bare) {
    core::Call call;
    call.conversation.tools = bare.tools;
    return call;
  }

  // The last turn: the model answers after the result.
  Result<BareRun> answer(const DemoBare& bare, const std::vector<TokenId>& prompt) {
    const auto answered = turn(
        bare, bare.answers, prompt,
        {.tool_choice = core::ToolChoice::kNone, .tool_name = {}, .is_direct = true, .response_schema = bare.answer});
    if (!answered.ok()) return answered.error();
    core::Call call = call_of(bare);
    const auto said = model_->parse_ids(call, {.prompt_ids = prompt}, answered.value());
    if (!said.ok()) return said.error();
    run_.messages.push_back(chat::to_history(said.value().message, 0));
    return std::move(run_);
  }

  // Samples after `prompt`: one of `steps` that the grammar for the request allows.
  Result<std::vector<TokenId>> turn(const DemoBare& bare, const std::vector<DemoStep>& steps,
                                    const std::vector<TokenId>& prompt, const core::Asked& asked) {
    core::Call call = call_of(bare);
    const auto grammar = model_->turn_grammar(call, asked);
    if (!grammar.ok()) return grammar.error();
    const auto rollouts = model_->rollouts(call, core::Locality::kNotProven);
    if (!rollouts.ok()) return rollouts.error();
    OneOf allowed;
    for (const DemoStep& step : steps) {
      const Result<Script> script = Script::make(rollouts.value()->context(), run_.messages, step);
      if (!script.ok()) return script.error();
      allowed.add(grammar.value().grammar, *model_->tokenizer(), script.value().ids());
    }
    const Result<engine::PromptReport> report = engine_.prompt(prompt);
    if (!report.ok()) return report.error();
    engine::GenerateOptions generate;
    generate.stop_ids = rollouts.value()->profile().stop_ids;
    generate.sampling = {.temperature = 1.0F, .seed = seed_};
    generate.constraint = &allowed;
    Result<engine::Generation> done = engine_.generate(generate);
    if (!done.ok()) return done.error();
    run_.turns.push_back(
        {.prompt = prompt.size(), .reused = report.value().reused, .generated = done.value().ids.size()});
    return std::move(done.value().ids);
  }

  std::shared_ptr<const core::Model> model_;
  engine::Engine& engine_;
  std::uint64_t seed_;
  BareRun run_;
};

std::string call_text(const json::Value& call) {
  const json::Value* function = call.find("function");
  if (function == nullptr) return "";
  const json::Value* arguments = function->find("arguments");
  return "calls " + std::string(function->find_string("name").value_or("")) + " " +
         (arguments == nullptr     ? ""
          : arguments->is_string() ? arguments->as_string()
                                   : json::to_compact(*arguments));
}

std::string message_text(const json::Value& message) {
  std::string out(message.find_string("content").value_or(""));
  if (const json::Value* calls = message.find("tool_calls"); calls != nullptr && calls->is_array()) {
    for (const json::Value& call : calls->as_array()) out += (out.empty() ? "" : " ") + call_text(call);
  }
  return out;
}

}  // namespace

Result<BareRun> run_bare(EmbeddedModel& model, const DemoData& data, const std::string& fixtures, std::uint64_t seed) {
  core::Source source{.path = model.path, .polyfill = core::Polyfill::kAuto};
  const std::string path = files::join(fixtures, data.bare.chat_template);
  const bool is_there = !fixtures.empty() && files::exists(path);
  if (is_there) {
    source.chat_template = path;
  } else {
    source.template_text = std::string(bare_jinja());
  }
  auto loaded = core::Model::load(source);
  if (!loaded.ok()) return loaded.error();
  auto run = BareTalk(std::move(loaded).value(), *model.engine, seed).run(data.bare);
  if (run.ok()) run.value().chat_template = is_there ? data.bare.chat_template : "one of ours";
  return run;
}

std::string bare_text(const BareRun& run) {
  std::string out = "A template that has neither tools nor a system role (" + run.chat_template +
                    "): what it lacks is supplied, and the grammar that is derived holds the model to a call.\n";
  for (const std::string& sentence : run.supplied) out += "  " + sentence + "\n";
  std::size_t turn = 0;
  for (const json::Value& message : run.messages) {
    const std::string role(message.find_string("role").value_or(""));
    out += role + ": " + message_text(message) + "\n";
    if (role != "assistant" || turn == run.turns.size()) continue;
    const BareTurn& numbers = run.turns[turn++];
    out += "  prompt of " + std::to_string(numbers.prompt) + " tokens, " + std::to_string(numbers.reused) +
           " of them reused; " + std::to_string(numbers.generated) + " sampled\n";
  }
  return out;
}

json::Value to_json(const BareRun& run) {
  json::Array turns;
  for (const BareTurn& turn : run.turns) {
    turns.emplace_back(
        json::Object{{"prompt_tokens", turn.prompt}, {"reused", turn.reused}, {"generated", turn.generated}});
  }
  json::Array supplied;
  for (const std::string& sentence : run.supplied) supplied.emplace_back(sentence);
  return json::Object{{"template", run.chat_template},
                      {"supplied", std::move(supplied)},
                      {"turns", std::move(turns)},
                      {"messages", run.messages}};
}

}  // namespace rondo::demo
