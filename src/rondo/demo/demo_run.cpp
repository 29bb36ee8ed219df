// Plays the scripted conversations, on the engine and by script alone.
#include "demo/demo_parts.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "demo/demo_driver.h"
#include "engine/fake.h"
#include "engine/forced_ids.h"
#include "render/completion.h"

namespace rondo::demo {
namespace {

using tokenizer::TokenId;

struct Replayed {
  double prompt_seconds = 0;
  double turn_seconds = 0;
  std::size_t prefilled = 0;
};

// Runs the same turns again on an empty memory, with the bridged or the re-rendered prompts.  The work is equal except
// for the prompts.
Result<Replayed> run_again(engine::Engine& engine, const session::Session& session, bool rerendered,
                           const std::function<double()>& clock) {
  const auto now = [&] { return clock ? clock() : 0.0; };
  engine.clear();
  Replayed out;
  for (const session::Turn& turn : session.turns()) {
    const std::span<const TokenId> all = session.ids();
    std::span<const TokenId> prompt = all.first(turn.prompt_tokens);
    if (rerendered && turn.rerender) prompt = turn.rerender->ids;
    if (prompt.empty()) continue;  // the template refused the messages, so a client could not continue at all
    const std::span<const TokenId> sampled = all.subspan(turn.sampled_begin, turn.generated());
    engine::ForcedIds forced({sampled.begin(), sampled.end()});
    engine::GenerateOptions generate;
    generate.max_tokens = turn.generated();
    generate.constraint = &forced;
    const double begin = now();
    const Result<engine::PromptReport> report = engine.prompt(prompt);
    if (!report.ok()) return report.error();
    const double middle = now();
    if (const Result<engine::Generation> done = engine.generate(generate); !done.ok()) return done.error();
    out.prompt_seconds += middle - begin;
    out.turn_seconds += now() - middle;
    out.prefilled += report.value().prefilled;
  }
  return out;
}

// Times both ways, the bridge first.
Status time_both(engine::Engine& engine, const session::Session& session, const std::function<double()>& clock,
                 DemoRun& run) {
  const Result<Replayed> bridged = run_again(engine, session, false, clock);
  if (!bridged.ok()) return bridged.error();
  const Result<Replayed> rerendered = run_again(engine, session, true, clock);
  if (!rerendered.ok()) return rerendered.error();
  run.rerender_prefilled = rerendered.value().prefilled;
  if (!clock) return Done{};
  run.bridge_seconds = bridged.value().prompt_seconds + bridged.value().turn_seconds;
  run.rerender_seconds = rerendered.value().prompt_seconds + rerendered.value().turn_seconds;
  run.bridge_prompt_seconds = bridged.value().prompt_seconds;
  run.rerender_prompt_seconds = rerendered.value().prompt_seconds;
  return Done{};
}

std::size_t count_breaks(const std::vector<DemoRow>& rows) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const DemoRow& row) { return !row.cause.empty(); }));
}

}  // namespace

Result<DemoRun> run_agent(EmbeddedModel& model, const DemoData& data, std::uint64_t seed,
                          const std::function<double()>& clock, const std::function<void(const DemoRow&)>& on_row) {
  chat::Conversation conversation = opening(data, data.agent, {});
  conversation.bos_token = model.bos_token;
  conversation.eos_token = model.eos_token;
  auto started = Driver::start({model.chat_template, model.tokenizer, *model.engine}, conversation, data.agent);
  if (!started.ok()) return started.error();
  Driver& driver = started.value();
  DemoRun run;
  for (std::size_t i = 0; i < data.agent.size(); ++i) {
    if (const Status prepared = driver.prepare(i); !prepared.ok()) return prepared.error();
    engine::GenerateOptions generate;
    generate.max_tokens = driver.script().size();
    generate.constraint = &driver.script();
    generate.sampling = {.temperature = 1.0F, .seed = seed * 1000 + i};
    const Result<session::Turn> turn = driver.session().step(generate);
    if (!turn.ok()) return turn.error();
    run.rows.push_back(row_of(turn.value(), i + 1));
    on_row(run.rows.back());
  }
  run.bridge_breaks = driver.bridge_breaks();
  run.rerender_breaks = count_breaks(run.rows);
  run.messages = driver.session().messages();
  if (const Status timed = time_both(*model.engine, driver.session(), clock, run); !timed.ok()) return timed.error();
  return run;
}

namespace {

// The first of the family's templates that exists.
std::string template_path(const DemoFamily& family, const std::string& fixtures, const std::string& corpus) {
  for (const std::string& name : family.templates) {
    std::string path;
    if (name.starts_with("corpus/") && !corpus.empty()) path = files::join(corpus, name.substr(7));
    if (name.starts_with("fixtures/")) path = files::join(fixtures, name.substr(9));
    if (!path.empty() && files::exists(path)) return path;
  }
  return "";
}

// Plays the rollout into `run`; returns any failure.
Status play(const DemoFamily& family, const DemoData& data, const std::string& path,
            const model::TokenizerSource& source, FamilyRun& run) {
  const Result<std::string> text = files::read(path);
  if (!text.ok()) return text.error();
  const Result<std::shared_ptr<const jinja::Template>> compiled = jinja::Template::compile(text.value(), {}, path);
  if (!compiled.ok()) return compiled.error();
  const auto tokenizer = tokenizer::Tokenizer::load(with_special_tokens(source, family.special_tokens));
  if (!tokenizer.ok()) return tokenizer.error();
  engine::Description description;
  description.name = "script";
  description.context_tokens = 1U << 20U;
  description.vocab_size = tokenizer.value()->vocab_size();
  engine::Fake fake(description, {});

  chat::Conversation conversation = opening(data, data.rollout, family.kwargs);
  const std::span<const tokenizer::AddedToken> added = tokenizer.value()->added_tokens();
  const auto content_of = [&](std::optional<TokenId> id) -> std::optional<std::string> {
    if (!id) return std::nullopt;
    const auto found =
        std::find_if(added.begin(), added.end(), [&](const tokenizer::AddedToken& token) { return token.id == *id; });
    return found == added.end() ? std::nullopt : std::optional(found->content);
  };
  conversation.bos_token = content_of(tokenizer.value()->bos());
  conversation.eos_token = content_of(tokenizer.value()->eos());
  auto started = Driver::start({compiled.value(), tokenizer.value(), fake}, conversation, data.rollout);
  if (!started.ok()) return started.error();
  Driver& driver = started.value();
  for (std::size_t i = 0; i < data.rollout.size(); ++i) {
    if (const Status prepared = driver.prepare(i); !prepared.ok()) return prepared;
    fake.add(driver.script().ids());
    engine::GenerateOptions generate;
    generate.max_tokens = driver.script().size();
    const Result<session::Turn> turn = driver.session().step(generate);
    if (!turn.ok()) return turn.error();
    run.rows.push_back(row_of(turn.value(), i + 1));
    if (i > 0) {
      run.bridge_kept += run.rows[i - 1].prompt + run.rows[i - 1].generated;
      run.rerender_kept += run.rows[i].rerender_reused;
    }
    run.bridge_breaks = driver.bridge_breaks();
    run.rerender_breaks = count_breaks(run.rows);
  }
  return Done{};
}

}  // namespace

FamilyRun run_family(const DemoFamily& family, const DemoData& data, const std::string& fixtures,
                     const std::string& corpus) {
  FamilyRun run;
  run.name = family.name;
  run.tokenizer = family.tokenizer;
  const std::string path = template_path(family, fixtures, corpus);
  if (path.empty()) {
    run.failure = "none of its templates is there";
    return run;
  }
  run.chat_template = std::filesystem::path(path).stem().string();
  const Result<model::TokenizerSource> source = model::load_tokenizer_source(files::join(fixtures, family.tokenizer));
  const Status played = source.ok() ? play(family, data, path, source.value(), run) : Status(source.error());
  if (!played.ok()) run.failure = played.error().message;
  return run;
}

}  // namespace rondo::demo
