// Compares {% generation %} blocks with what is sampled, and the grammar with what the template writes.
#include <algorithm>

#include "audit/marks.h"
#include "audit/property_groups.h"
#include "base/utf8.h"
#include "format/units.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"
#include "parse/parser.h"
#include "render/training.h"

namespace rondo::audit {
namespace {

// ---- Generation blocks

void report_generation(const Trials& trials, const json::Array& messages, const TrialSetting& setting,
                       report::Report& report) {
  const auto encoded = trials.encode(messages, setting);
  const auto rendered = trials.render(messages, setting);
  if (!encoded.ok() || !rendered.ok()) return;
  for (const render::GenerationFinding& found : render::generation_findings(encoded.value())) {
    const std::size_t begin = encoded.value().begins[found.ids.begin];
    const std::size_t end = encoded.value().ends[found.ids.end - 1];
    const std::string& text = encoded.value().text;
    report::Finding finding;
    finding.rule = "generation-block";
    const bool is_space = format::is_blank(std::string_view(text).substr(begin, end - begin));
    finding.level = is_space ? report::Level::kNote : report::Level::kWarning;
    finding.sentence = found.is_covered ? "a {% generation %} block covers what no model samples"
                                        : "a {% generation %} block leaves out what the model samples";
    finding.proof =
        text::quoted(std::string_view(text).substr(begin, end - begin)) + " in " + excerpt(text, begin, end);
    finding.place = causes::place_at(trials.context().chat_template, rendered.value(), begin);
    finding.path = "messages";
    add_finding(report, std::move(finding));
  }
}

// ---- Grammars

// The turn without what follows its stop, because the grammar describes only the model's output.
std::string until_stop(const format::Format& format, const std::string& text) {
  std::size_t from = 0;
  for (const std::string_view name : {kToolName, kSecondToolName}) {
    const std::size_t found = text.rfind(name);
    if (found != std::string::npos) from = std::max(from, found);
  }
  std::size_t end = text.size();
  for (const auto* stops : {&format.stops.content, &format.stops.tool}) {
    for (const std::string& stop : *stops) {
      const std::string_view core = format::trimmed(stop);
      const std::size_t at = core.empty() ? std::string::npos : text.find(core, from);
      if (at != std::string::npos) end = std::min(end, at + core.size());
    }
  }
  std::string out = text.substr(0, end);
  while (!out.empty() && format::is_space(out.back())) out.pop_back();
  return out;
}

// A matcher follows all readings of a text at once and takes some microseconds for each character.  A trial's turn has
// a few hundred characters.
constexpr std::size_t kTurnBytes = 8192;

// How many bytes of `text` the grammar accepts.
std::size_t accepted_size(const grammar::Grammar& grammar, const std::string& text) {
  grammar::Matcher matcher(grammar);
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t next = at + 1;
    while (next < text.size() && utf8::is_continuation(text[next])) ++next;
    if (!matcher.feed(text.substr(at, next - at))) break;
    at = next;
  }
  return at;
}

bool loses_quotes(const format::Format& format) {
  return std::any_of(format.losses.begin(), format.losses.end(),
                     [](const format::Loss& loss) { return loss.what == "quotes in strings"; });
}

class GrammarAudit {
 public:
  GrammarAudit(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {}

  void check(const std::string& what, const Saying& parts, const json::Value& tools) {
    const TrialSetting setting{.tools = true, .other_tools = tools};
    const auto written = trials_.write(parts, setting);
    if (!written || !written->is_asked || !is_read(*written, parts, tools)) return;
    const std::string text = until_stop(trials_.format(), written->text);
    if (text.size() > kTurnBytes) return;
    grammar::TurnOptions options;
    options.tools = tools;
    options.prompt_tail =
        written->prompt.substr(written->prompt.size() - std::min<std::size_t>(written->prompt.size(), 200));
    options.laziness = grammar::Laziness::kNever;
    std::vector<std::pair<const char*, grammar::ToolChoice>> choices = {{"auto", grammar::ToolChoice::kAuto}};
    if (!parts.calls.empty()) choices.emplace_back("required", grammar::ToolChoice::kRequired);
    Refusal refusal;
    for (const auto& [name, choice] : choices) {
      options.choice = choice;
      try_choice(std::string("tool choice `") + name + "`", text, options, refusal);
    }
    if (parts.calls.size() == 1) {
      options.choice = grammar::ToolChoice::kRequired;
      options.tool_name = parts.calls[0].name;
      try_choice("the tool named", text, options, refusal);
    }
    if (!refusal.choices.empty()) report(what, refusal);
  }

 private:
  // Whether the parser reads the message.  The rules `unreadable-turn` and `argument-fidelity` report those that it
  // cannot read.
  [[nodiscard]] bool is_read(const WrittenTurn& written, const Saying& parts, const json::Value& tools) const {
    parse::Options options;
    options.tools = tools;
    options.prompt_tail = written.prompt;
    const auto message = parse::parse(trials_.context().format, options, written.text);
    if (!message.ok() || message.value().tool_calls.size() != parts.calls.size()) return false;
    if (format::trimmed(message.value().content) != parts.content) return false;
    for (std::size_t i = 0; i < parts.calls.size(); ++i) {
      const chat::ToolCall& call = message.value().tool_calls[i];
      const auto arguments = json::parse(call.arguments);
      const bool has_all = arguments.ok() && arguments.value().is_object() &&
                           arguments.value().as_object().size() == parts.calls[i].arguments.size();
      if (call.name != parts.calls[i].name || call.status != chat::CallStatus::kOk || !has_all) return false;
    }
    return true;
  }

  // The tool choices whose grammars refuse a turn, and where the first of them stops.
  struct Refusal {
    std::vector<std::string> choices;
    std::string proof;
  };

  void try_choice(const std::string& choice, const std::string& text, const grammar::TurnOptions& options,
                  Refusal& refusal) {
    const auto made = grammar::turn_grammar(trials_.format(), options);
    if (!made.ok() || !made.value().is_needed || grammar::accepts(made.value().grammar, text)) return;
    const std::size_t at = accepted_size(made.value().grammar, text);
    if (refusal.choices.empty()) {
      refusal.proof = at >= text.size() ? "it expects more behind " + shortened(text)
                                        : "it ends at " + excerpt(text, at, std::min(at + 1, text.size()));
    }
    refusal.choices.push_back(choice);
  }

  void report(const std::string& what, const Refusal& refusal) {
    report::Finding finding;
    finding.rule = "grammar-gap";
    // If the template leaves quotes inside strings unescaped, no grammar can tell where a string ends.
    finding.level = loses_quotes(trials_.format()) ? report::Level::kWarning : report::Level::kError;
    finding.sentence = "with " + listed(refusal.choices) + " the grammar refuses a turn with " + what;
    finding.proof = refusal.proof;
    finding.path = "messages[1].tool_calls";
    add_finding(report_, std::move(finding));
  }

  const Trials& trials_;
  report::Report& report_;
};

}  // namespace

void find_generation_differences(const Trials& trials, report::Report& report) {
  if (!trials.context().chat_template.has_generation_block()) return;
  report_generation(trials, training_messages(trials, false), {}, report);
  if (!trials.writes_calls()) return;
  const TrialSetting setting{.tools = true};
  report_generation(trials, training_messages(trials, true), setting, report);
}

void find_grammar_gaps(const Trials& trials, report::Report& report) {
  if (!trials.format().calls.present) return;
  GrammarAudit audit(trials, report);
  const SaidCall call = first_call();
  const SaidCall second = second_call();
  const std::string thought = trials.format().input.reasoning_field.empty() ? "" : std::string(kThoughtWord);
  audit.check("text", {"", std::string(kAnswerWord), {}}, trial_tools());
  audit.check("one call", {"", "", {call}}, trial_tools());
  audit.check("text and a call", {thought, std::string(kAnswerWord), {call}}, trial_tools());
  if (!trials.format().input.single_call) audit.check("two calls", {"", "", {call, second}}, trial_tools());
  for (const ArgumentKind& kind : argument_kinds()) {
    const Saying parts{"", "", {first_call(kind.value)}};
    audit.check("arguments that are " + kind.name, parts, tools_for(kind.value));
  }
}

}  // namespace rondo::audit
