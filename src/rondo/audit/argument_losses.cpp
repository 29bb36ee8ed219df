// Finds what happens to argument values: which are printed as Python prints them, and which can no longer be told
// apart.
#include <algorithm>
#include <map>

#include "audit/property_groups.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"

namespace rondo::audit {
namespace {

bool is_same(const json::Value& a, const json::Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_object()) {
    const auto is_in_b = [&b](const json::Member& member) {
      const json::Value* other = b.find(member.key);
      return other != nullptr && is_same(member.value, *other);
    };
    return a.as_object().size() == b.as_object().size() &&
           std::all_of(a.as_object().begin(), a.as_object().end(), is_in_b);
  }
  if (a.is_array())
    return std::equal(a.as_array().begin(), a.as_array().end(), b.as_array().begin(), b.as_array().end(), is_same);
  if (a.kind() == json::Kind::kFloat) return a.to_double() == b.to_double();
  return a == b;
}

Saying call_with(json::Object arguments) { return {"", "", {{std::string(kToolName), std::move(arguments)}}}; }

// How the template wrote an argument, and what the parser reads from it.
struct Written {
  WrittenTurn turn;
  json::Value tools;
};

std::optional<Written> write_call(const Trials& trials, json::Object arguments, const json::Value& tools) {
  const TrialSetting setting{.tools = true, .other_tools = tools};
  auto turn = trials.write(call_with(std::move(arguments)), setting);
  if (!turn || turn->text.find(kToolName) == std::string::npos) return std::nullopt;
  return Written{std::move(*turn), tools};
}

// The arguments of the one call that the parser reads; nullopt if it reads something else.
std::optional<json::Value> read_call(const Trials& trials, const Written& written, bool with_tools) {
  parse::Options options;
  if (with_tools) options.tools = written.tools;
  options.prompt_tail = written.turn.prompt;
  const auto message = parse::parse(trials.context().format, options, written.turn.text);
  if (!message.ok() || message.value().tool_calls.size() != 1) return std::nullopt;
  const chat::ToolCall& call = message.value().tool_calls[0];
  auto arguments = json::parse(call.arguments);
  if (call.status != chat::CallStatus::kOk || !arguments.ok()) return std::nullopt;
  return std::move(arguments).value();
}

constexpr std::string_view kArguments = "messages[1].tool_calls[0].function.arguments";

// The written text from the first to the last byte that came from the call.
std::string written_call(const Written& written) {
  const jinja::Rendered& rendered = written.turn.render;
  const std::string& text = rendered.text.bytes();
  std::size_t begin = text.size();
  std::size_t end = 0;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.is_input() && rendered.origins.paths.to_string(run.path()).starts_with("messages[1].tool_calls[0]")) {
      begin = std::min(begin, at);
      end = at + run.size;
    }
    at += run.size;
  }
  return begin < end ? shortened(std::string_view(text).substr(begin, end - begin)) : "nothing";
}

class ArgumentAudit {
 public:
  ArgumentAudit(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {}

  void run() {
    for (const ArgumentKind& kind : argument_kinds()) check(kind);
    report_python_values();
    if (needs_schema_.empty()) return;
    report::Finding finding = finding_of("argument-fidelity", report::Level::kNote);
    finding.sentence = "only the tool's schema tells what these arguments were: " + listed(needs_schema_);
    finding.proof = schema_proof_;
    finding.path = kArguments;
    add_finding(report_, std::move(finding));
  }

  void check_order() {
    const auto written = write_call(trials_, {{"z", "zebra-one"}, {"k", "koala-one"}}, trial_tools());
    if (!written) return;
    const std::string& text = written->turn.text;
    const std::size_t first = text.find("zebra-one");
    const std::size_t second = text.find("koala-one");
    if (first == std::string::npos || second == std::string::npos || first < second) return;
    report::Finding finding = finding_of("argument-fidelity", report::Level::kNote);
    finding.sentence = "arguments are sorted by name";
    finding.proof = R"({"z": "zebra-one", "k": "koala-one"} is written as )" + written_call(*written);
    finding.place =
        causes::place_at(trials_.context().chat_template, written->turn.render, written->turn.prompt.size() + second);
    finding.path = kArguments;
    add_finding(report_, std::move(finding));
  }

 private:
  void check(const ArgumentKind& kind) {
    const json::Object arguments{{"k", kind.value}};
    const auto written = write_call(trials_, arguments, tools_for(kind.value));
    if (!written) return;
    note_python_value(kind, *written);
    const json::Value sent(arguments);
    const auto bare = read_call(trials_, *written, false);
    if (bare && is_same(*bare, sent)) return;
    const auto typed = read_call(trials_, *written, true);
    if (typed && is_same(*typed, sent)) {
      if (needs_schema_.empty()) {
        schema_proof_ = json::to_compact(sent) + " is written as " + written_call(*written) + "; without a schema " +
                        (bare ? json::to_compact(*bare) : "nothing") + " is read";
      }
      needs_schema_.push_back(kind.name);
      return;
    }
    report_loss(kind, *written, typed);
  }

  // Reports another value that is written the same way, if there is one.  It proves that no reader can tell the two
  // apart.
  void report_loss(const ArgumentKind& kind, const Written& written, const std::optional<json::Value>& read) {
    report::Finding finding;
    finding.path = std::string(kArguments) + ".k";
    const json::Value sent(json::Object{{"k", kind.value}});
    const std::string proof = json::to_compact(sent) + " is written as " + written_call(written);
    finding.place = argument_place(written);
    if (!read || !read->is_object()) {
      finding.rule = "unreadable-turn";
      finding.level = report::Level::kWarning;
      finding.sentence = "a call cannot be read back where its arguments are " + kind.name;
      finding.proof = proof;
    } else {
      const auto other = write_call(trials_, read->as_object(), written.tools);
      if (!other || other->turn.text != written.turn.text) return;
      finding.rule = "argument-fidelity";
      const bool is_dropped = read->as_object().empty();
      finding.level = is_dropped ? report::Level::kError : report::Level::kWarning;
      finding.sentence = is_dropped ? "arguments that are " + kind.name + " are left out"
                                    : "arguments that are " + kind.name + " are written as other values are";
      finding.proof = proof + ", as " + json::to_compact(*read) + " is";
    }
    add_finding(report_, std::move(finding));
  }

  [[nodiscard]] causes::TemplatePlace argument_place(const Written& written) const {
    const jinja::Rendered& rendered = written.turn.render;
    causes::TemplatePlace around;
    std::size_t at = 0;
    for (const text::Run& run : rendered.text.runs()) {
      // For a value that is left out, only the call around it can be shown.
      const std::string path = run.is_input() ? rendered.origins.paths.to_string(run.path()) : "";
      if (path.starts_with(kArguments)) return causes::place_at(trials_.context().chat_template, rendered, at);
      if (path.starts_with("messages[1].tool_calls[0]"))
        around = causes::place_at(trials_.context().chat_template, rendered, at);
      at += run.size;
    }
    return around;
  }

  // ---- Python's words

  struct PythonValue {
    std::vector<std::string> kinds;
    causes::TemplatePlace place;
    std::string proof;
  };

  void note_python_value(const ArgumentKind& kind, const Written& written) {
    const jinja::Rendered& rendered = written.turn.render;
    const std::string& text = rendered.text.bytes();
    std::size_t at = 0;
    for (const text::Run& run : rendered.text.runs()) {
      const std::size_t begin = at;
      at += run.size;
      const bool is_here =
          run.is_input() && rendered.origins.paths.to_string(run.path()).starts_with(std::string(kArguments) + ".k");
      if (!is_here) continue;
      const std::string_view word = std::string_view(text).substr(begin, run.size);
      const bool is_word = run.kind == text::RunKind::kScalar && (word == "True" || word == "False" || word == "None");
      const bool is_structure =
          run.kind == text::RunKind::kSerialiser && rendered.origins.chains.contains(run.chain, "pyrepr");
      if (!is_word && !is_structure) continue;
      const causes::TemplatePlace place = causes::place_at(trials_.context().chat_template, rendered, begin);
      PythonValue& found = python_[place.line];
      if (found.kinds.empty()) {
        found.place = place;
        found.proof = json::to_compact(json::Value(json::Object{{"k", kind.value}})) + " is written as " +
                      written_call(written) + "; JSON has " + json::to_compact(kind.value);
      }
      found.kinds.push_back(kind.name);
      return;
    }
  }

  void report_python_values() {
    for (auto& [line, found] : python_) {
      if (add_to_break(found)) continue;
      report::Finding finding = finding_of("python-value", report::Level::kWarning);
      finding.sentence = "arguments that are " + listed(found.kinds) + " are printed as Python prints them";
      finding.proof = found.proof;
      finding.place = found.place;
      finding.path = kArguments;
      finding.remedies.push_back(
          {.kind = report::Remedy::Kind::kPatch, .sentence = "print what is no string through `tojson`"});
      add_finding(report_, std::move(finding));
    }
  }

  // Adds the details to a break that this value caused.
  bool add_to_break(const PythonValue& found) {
    const auto known = std::ranges::find_if(report_.findings, [](const report::Finding& finding) {
      return finding.rule == "python-value" && !finding.scenarios.empty() &&
             finding.path.find(".arguments") != std::string::npos;
    });
    if (known == report_.findings.end()) return false;
    known->sentence += "; this happens to " + listed(found.kinds);
    return true;
  }

  const Trials& trials_;
  report::Report& report_;
  std::vector<std::string> needs_schema_;
  std::string schema_proof_;
  std::map<std::int32_t, PythonValue> python_;  // by line
};

// ---- Messages that are written alike

struct Pair {
  Saying first;
  Saying second;  // what remains of it
};

// Two messages that look the same because of a loss of the format; nullopt for losses that other rules report.
std::optional<Pair> alike(const std::string& loss) {
  const Saying call = call_with({{"k", "v"}});
  Saying said = call;
  said.content = kAnswerWord;
  Saying thought = call;
  thought.reasoning = kThoughtWord;
  const Saying answer{"", std::string(kAnswerWord), {}};
  const Saying thought_answer{std::string(kThoughtWord), std::string(kAnswerWord), {}};
  if (loss == "content beside calls") return Pair{said, call};
  if (loss == "calls beside content") return Pair{said, answer};
  if (loss == "reasoning beside calls") return Pair{thought, call};
  if (loss == "reasoning beside content") return Pair{thought_answer, answer};
  return std::nullopt;
}

// Losses that other rules report: breaks, and arguments above.
bool is_told_elsewhere(const std::string& loss) {
  return loss.starts_with("white space") || loss.ends_with(" arguments") || loss == "calls in history" ||
         loss == "answers without reasoning" || loss == "reasoning in history";
}

void report_collision(const Trials& trials, const format::Loss& loss, report::Report& report) {
  report::Finding finding = finding_of("collision", report::Level::kNote);
  finding.sentence = loss.meaning;
  finding.place = causes::place_of(trials.context().chat_template, {loss.line, 0});
  finding.path = "messages[1]";
  TrialSetting setting;
  if (const auto pair = alike(loss.what)) {
    setting.tools = !pair->first.calls.empty();
    const auto first = trials.write(pair->first, setting);
    const auto second = trials.write(pair->second, setting);
    if (!first) return;
    const std::string sent = json::to_compact(trials.assistant(pair->first));
    finding.proof = shortened(sent) + " is written as " + shortened(first->text);
    if (second && second->text == first->text) finding.proof += ", as the message without it is";
  } else {
    // Losses between several calls, and values that only markers would separate, show in a turn with two calls.
    setting.tools = true;
    Saying parts = call_with({{"k", R"(it's "x")"}});
    if (loss.what == "calls behind content") parts.content = kAnswerWord;
    parts.calls.push_back(second_call());
    parts.calls.push_back(parts.calls.front());
    auto written = trials.write(parts, setting);
    if (!written) {
      parts.calls.resize(1);
      written = trials.write(parts, setting);
    }
    if (written)
      finding.proof =
          shortened(json::to_compact(trials.assistant(parts))) + " is written as " + shortened(written->text);
  }
  add_finding(report, std::move(finding));
}

// Reports calls that the template writes, if their format is unknown.
void report_unread_calls(const Trials& trials, report::Report& report) {
  constexpr std::string_view kValue = "koala-one";
  const auto written = write_call(trials, {{"k", kValue}}, trial_tools());
  if (!written || written->turn.text.find(kValue) == std::string::npos) return;
  report::Finding finding = finding_of("unreadable-turn", report::Level::kError);
  finding.sentence = "calls are written, but their format was not found: they are read as content";
  finding.proof = "a call is written as " + written_call(*written);
  const std::size_t at = written->turn.prompt.size() + written->turn.text.find(kToolName);
  finding.place = causes::place_at(trials.context().chat_template, written->turn.render, at);
  finding.path = "messages[1].tool_calls";
  add_finding(report, std::move(finding));
}

}  // namespace

void find_argument_losses(const Trials& trials, report::Report& report) {
  if (!trials.format().calls.present) report_unread_calls(trials, report);
  if (trials.writes_calls()) {
    ArgumentAudit audit(trials, report);
    audit.run();
    audit.check_order();
  }
  for (const format::Loss& loss : trials.format().losses) {
    if (!is_told_elsewhere(loss.what)) report_collision(trials, loss, report);
  }
}

}  // namespace rondo::audit
