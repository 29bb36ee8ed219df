// Finds where other front ends and template engines would write something else.
#include <algorithm>

#include "audit/dialects.h"
#include "audit/property_groups.h"
#include "probe/places.h"

namespace rondo::audit {
namespace {

// ---- Front ends that wrap text into parts: a list of one part in every message, empty for null

// Whether the template goes through a list of parts of a user message and writes their texts.
bool reads_parts(const Trials& trials) {
  const json::Array parts{text_part(kQuestionWord), text_part(kSecondQuestionWord)};
  const auto rendered = trials.render({plain_message("user", parts)}, {});
  if (!rendered.ok()) return false;
  const std::string& text = rendered.value().text.bytes();
  for (const std::string_view word : {kQuestionWord, kSecondQuestionWord}) {
    const std::size_t at = text.find(word);
    const text::Run* run = at == std::string::npos ? nullptr : probe::spot_at(rendered.value(), at).run;
    if (run == nullptr || run->kind != text::RunKind::kData) return false;
    const text::ChainTable& chains = rendered.value().origins.chains;
    if (chains.contains(run->chain, "pyrepr") || chains.contains(run->chain, "json")) return false;
  }
  return true;
}

std::vector<Trial> shapes(const Trials& trials) {
  const json::Value user = user_message();
  std::vector<Trial> out = {
      {"a system message", {plain_message("system", kSystemWord), user}, {}},
      {"several turns",
       {user, plain_message("assistant", kAnswerWord), plain_message("user", kSecondQuestionWord)},
       {}},
  };
  if (trials.writes_calls()) {
    const TrialSetting tools{.tools = true};
    const json::Value call = trials.assistant({"", "", {first_call()}});
    out.push_back({"a call and its result", {user, call, trials.result(0, kToolName, kResultWord)}, tools});
  }
  for (Trial& shape : out) shape.setting.generation_prompt = true;
  return out;
}

void compare_wrapped(const Trials& trials, report::Report& report) {
  if (trials.needs_parts() || !reads_parts(trials)) return;
  for (const Trial& shape : shapes(trials)) {
    const auto plain = trials.text(shape.messages, shape.setting);
    if (!plain.ok()) continue;
    const auto parts = trials.render(with_parts(shape.messages), shape.setting);
    if (parts.ok() && parts.value().text.bytes() == plain.value()) continue;
    report::Finding finding = finding_of("engine-parity", report::Level::kNote);
    finding.sentence =
        "a front end that wraps text into parts, because the template takes parts, does not get the prompt of the "
        "text: "
        "seen with " +
        shape.name;
    if (parts.ok()) {
      const std::string& text = parts.value().text.bytes();
      finding.proof = difference({"text", plain.value()}, {"wrapped", text});
      finding.place =
          causes::place_at(trials.context().chat_template, parts.value(), first_difference(text, plain.value()));
    } else {
      finding.proof = "wrapped, the template fails with " + text::quoted(parts.error().message);
      finding.place = causes::place_of(trials.context().chat_template, parts.error());
    }
    finding.path = "messages";
    add_finding(report, std::move(finding));
  }
}

// ---- Another template engine

// The features that the template uses and minijinja lacks, each once, with the place of the first.
struct Parts {
  std::vector<std::string> names;
  causes::TemplatePlace place;

  void add(const AuditContext& context, const std::string& name, const text::Literal& at) {
    if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return;
    if (names.empty()) place = causes::place_of(context.chat_template, at);
    names.push_back(name);
  }
};

void report_features(const Trials& trials, report::Report& report) {
  Parts lacks;
  Parts wants;
  const AuditContext& context = trials.context();
  const std::vector<jinja::Feature> features = jinja::used_features(context.chat_template.source());
  for (const jinja::Feature& feature : features) {
    lacks.add(context, lacking(feature), feature.place);
    wants.add(context, to_be_added(feature), feature.place);
  }
  if (const jinja::Feature* none = length_of_none(features)) {
    report::Finding finding = finding_of("engine-parity", report::Level::kNote);
    finding.sentence =
        "minijinja takes none for iterable, and fails on its length where a request has no `" + none->subject + "`";
    finding.place = causes::place_of(context.chat_template, none->place);
    finding.proof = "line " + std::to_string(none->place.line) + " is `" + finding.place.source + "`";
    finding.path = none->subject;
    add_finding(report, std::move(finding));
  }
  for (const bool is_lack : {true, false}) {
    const Parts& parts = is_lack ? lacks : wants;
    if (parts.names.empty()) continue;
    report::Finding finding = finding_of("engine-parity", report::Level::kNote);
    finding.sentence = is_lack ? "minijinja has no " + listed(parts.names)
                               : "minijinja runs the template only where a server has added " + listed(parts.names);
    finding.proof = "line " + std::to_string(parts.place.line) + " is `" + parts.place.source + "`";
    finding.place = parts.place;
    finding.path = is_lack ? "" : "messages";
    add_finding(report, std::move(finding));
  }
}

// A conversation that shows how values are printed: markup in texts, lists, words of Python.
struct TellingSample {
  json::Array messages;
  TrialSetting setting;
};

TellingSample telling_sample(const Trials& trials) {
  TellingSample out;
  out.messages = {user_message()};
  out.setting.tools = true;
  out.setting.generation_prompt = true;
  json::Value tools = trial_tools();
  tools.as_array()[0].as_object().find("function")->as_object().set("description", "finds <b>Ann's</b> city");
  out.setting.other_tools = std::move(tools);
  if (!trials.writes_calls()) return out;
  const json::Object arguments{{"k", json::Array{"a <b> & 'c'", true, nullptr}}};
  out.messages.push_back(trials.assistant({"", "", {{std::string(kToolName), arguments}}}));
  out.messages.push_back(trials.result(0, kToolName, kResultWord));
  return out;
}

struct Printing {
  const char* sentence;
  const Dialect& dialect;
  bool own_json;
};

void compare_dialects(const Trials& trials, report::Report& report) {
  const TellingSample sample = telling_sample(trials);
  const auto rendered = trials.render(sample.messages, sample.setting);
  if (!rendered.ok()) return;
  const std::string& text = rendered.value().text.bytes();
  for (const Printing& printing :
       {Printing{"minijinja 2 prints lists and dictionaries as JSON, where Python has its own form", kMinijinja2,
                 false},
        Printing{"the `tojson` of minijinja itself, where a server does not replace it, escapes markup", kMinijinja3,
                 true}}) {
    const std::string other = in_dialect(rendered.value(), printing.dialect, printing.own_json);
    if (other == text) continue;
    report::Finding finding = finding_of("engine-parity", report::Level::kNote);
    finding.sentence = printing.sentence;
    finding.proof = difference({"jinja2", text}, {printing.dialect.name, other});
    finding.place = causes::place_at(trials.context().chat_template, rendered.value(), first_difference(text, other));
    finding.path = "messages";
    add_finding(report, std::move(finding));
  }
}

}  // namespace

void find_engine_differences(const Trials& trials, report::Report& report) {
  compare_wrapped(trials, report);
  report_features(trials, report);
  compare_dialects(trials, report);
}

}  // namespace rondo::audit
