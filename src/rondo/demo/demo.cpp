#include "demo/demo.h"

#include <cmath>

#include "base/files.h"
#include "demo/demo_bare.h"
#include "demo/demo_parts.h"
#include "json/print.h"

namespace rondo::demo {
namespace {

constexpr const char* kCorpusBeside = "../shared/corpus";  // beside the checkout, in which ./dev demo runs

std::string seconds_text(double seconds) {
  const auto hundredths = static_cast<long>(std::lround(seconds * 100));
  const std::string cents = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + (cents.size() < 2 ? ".0" : ".") + cents + " s";
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string times(const std::optional<double>& all, const std::optional<double>& prompts) {
  if (!all) return "";
  return ", " + seconds_text(*all) + (prompts ? " of which prompts " + seconds_text(*prompts) : std::string());
}

std::string totals(const DemoRun& run, const char* other) {
  std::size_t prompt = 0;
  std::size_t reused = 0;
  std::size_t prefilled = 0;
  std::size_t generated = 0;
  for (const DemoRow& row : run.rows) {
    prompt += row.prompt;
    reused += row.reused;
    prefilled += row.prefilled;
    generated += row.generated;
  }
  std::string out = "bridge:    " + counted(run.bridge_breaks, "break") + ", " + std::to_string(prompt) +
                    " prompt tokens, " + std::to_string(reused) + " reused, " + std::to_string(prefilled) +
                    " prefilled, " + std::to_string(generated) + " generated";
  out += times(run.bridge_seconds, run.bridge_prompt_seconds);
  out += "\n" + std::string(other) + ": " + counted(run.rerender_breaks, "break") + ", " +
         std::to_string(run.rerender_prefilled) + " prefilled";
  out += times(run.rerender_seconds, run.rerender_prompt_seconds);
  return out + "\n";
}

std::string describe(const EmbeddedModel& model) {
  const engine::Description& description = model.engine->describe();
  std::string out = "model:     " + model.path + " (" + description.name + ", " +
                    std::string(engine::to_string(description.memory)) + " memory, context of " +
                    std::to_string(description.context_tokens) + " tokens, " +
                    counted(static_cast<std::size_t>(description.threads), "thread") + ")\n";
  out += "tokenizer: " + model.tokenizer->to_string() + "\n";
  if (!model.template_name.empty()) out += "template:  " + model.template_name + "\n";
  return out + "\n";
}

Result<EmbeddedModel> agent_model(const DemoOptions& options, const Print& progress) {
  EmbeddedOptions embedded;
  embedded.model = options.model;
  embedded.cache_folder = options.cache_folder;
  embedded.fixtures = options.fixtures;
  embedded.layers = options.layers;
  return load_embedded(embedded, progress);
}

Result<DemoRun> agent(EmbeddedModel& model, const DemoOptions& options, const DemoData& data, const Print& print,
                      const Print& progress) {
  if (!options.json) {
    print("An agent with " + counted(data.tools.as_array().size(), "tool") + " and " +
          counted(data.agent.size(), "turn") +
          " of the model.  Each next prompt is a bridge: all ids so far, and the new turn.\n" + describe(model));
  }
  return run_agent(model, data, options.seed, options.seconds, [&](const DemoRow& row) {
    progress("turn " + std::to_string(row.turn) + " of " + std::to_string(data.agent.size()) + "\n");
  });
}

Result<DemoRun> plain_text(const DemoOptions& options, const Print& print, const Print& progress) {
  EmbeddedOptions embedded;
  embedded.model = options.gemma;
  embedded.needs_template = false;
  Result<EmbeddedModel> model = load_embedded(embedded, progress);
  if (!model.ok()) return model.error();
  if (!options.json) print("\nPlain text turns on base weights, without a template.\n" + describe(model.value()));
  return run_plain_text(model.value(), options.seconds);
}

std::vector<FamilyRun> families(const DemoOptions& options, const DemoData& data, const Print& progress) {
  const std::string fixtures = fixtures_folder(options.fixtures, options.cache_folder);
  std::string corpus = options.corpus;
  if (corpus.empty() && files::is_folder(kCorpusBeside)) corpus = kCorpusBeside;
  std::vector<FamilyRun> runs;
  for (const DemoFamily& family : data.families) {
    progress("rollout: " + family.name + "\n");
    runs.push_back(run_family(family, data, fixtures, corpus));
  }
  return runs;
}

// The parts of the demonstration, in their order, and the report that they make together.
class Demonstration {
 public:
  Demonstration(const DemoOptions& options, const Print& print, const Print& progress)
      : options_(options), print_(print), progress_(progress) {}

  Status run() {
    const Result<DemoData> data = demo_data();
    if (!data.ok()) return data.error();
    Result<EmbeddedModel> model = agent_model(options_, progress_);
    if (!model.ok()) return model.error();
    if (Status done = play_agent(model.value(), data.value()); !done.ok()) return done;
    if (Status done = play_together(model.value(), data.value()); !done.ok()) return done;
    if (Status done = play_bare(model.value(), data.value()); !done.ok()) return done;
    play_families(data.value());
    if (Status done = play_plain_text(); !done.ok()) return done;
    if (Status done = play_served(); !done.ok()) return done;
    if (options_.json) print_(json::to_compact(report_) + "\n");
    if (failed_.empty()) return Done{};
    return Error(ErrorCode::kInternal, "a rollout of the demonstration failed: " + failed_);
  }

 private:
  // Adds a part to the report, or prints its text for people.
  void show(const char* key, json::Value part, const std::string& text) {
    report_.set(key, std::move(part));
    if (!options_.json) print_(text);
  }

  Status play_agent(EmbeddedModel& model, const DemoData& data) {
    const Result<DemoRun> run = agent(model, options_, data, print_, progress_);
    if (!run.ok()) return run.error();
    show("agent", to_json(run.value()), rows_table(run.value().rows) + "\n" + totals(run.value(), "re-render"));
    return Done{};
  }
  Status play_together(EmbeddedModel& model, const DemoData& data) {
    if (options_.conversations == 0) return Done{};
    progress_("several conversations at once\n");
    const Result<DemoTogether> together = run_together(model, data, options_.conversations, options_.seconds);
    if (!together.ok()) return together.error();
    show("together", to_json(together.value()), "\n" + together_text(together.value()));
    return Done{};
  }
  Status play_bare(EmbeddedModel& model, const DemoData& data) {
    progress_("a template without tools\n");
    const std::string fixtures = fixtures_folder(options_.fixtures, options_.cache_folder);
    const Result<BareRun> bare = run_bare(model, data, fixtures, options_.seed);
    if (!bare.ok()) return bare.error();
    show("bare", to_json(bare.value()), "\n" + bare_text(bare.value()));
    return Done{};
  }
  void play_families(const DemoData& data) {
    const std::vector<FamilyRun> runs = families(options_, data, progress_);
    json::Array reports;
    for (const FamilyRun& one : runs) {
      reports.push_back(to_json(one));
      if (failed_.empty() && !one.failure.empty()) failed_ = one.name + ": " + one.failure;
    }
    show("families", std::move(reports),
         "\nThe same rollout in five families: six turns with calls, some in compact JSON, with extra newlines, cut "
         "off.\n" +
             families_table(runs));
  }
  Status play_plain_text() {
    if (options_.gemma.empty()) return Done{};
    const Result<DemoRun> plain = plain_text(options_, print_, progress_);
    if (!plain.ok()) return plain.error();
    show("plain_text", to_json(plain.value()),
         rows_table(plain.value().rows) + "\n" + totals(plain.value(), "fresh    "));
    return Done{};
  }
  Status play_served() {
    if (!options_.serve) return Done{};
    progress_("a server\n");
    const Result<Served> served = options_.serve();
    if (!served.ok()) return served.error();
    show("served", to_json(served.value()), "\n" + served_text(served.value()));
    return Done{};
  }

  const DemoOptions& options_;
  const Print& print_;
  const Print& progress_;
  json::Object report_;
  std::string failed_;  // the first rollout that failed, and why; "" if none did
};

}  // namespace

Status run_demo(const DemoOptions& options, const Print& print, const Print& progress) {
  return Demonstration(options, print, progress).run();
}

}  // namespace rondo::demo
