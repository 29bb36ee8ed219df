// Finds texts that the template puts between its own double quotes, as JSON does, without escaping the quotes inside.
#include "audit/property_groups.h"
#include "probe/places.h"

namespace rondo::audit {
namespace {

constexpr std::string_view kQuoting = R"(say "hi" to)";

json::Value quoting_tool(bool in_parameter) {
  json::Value tools = trial_tools();
  json::Object& function = tools.as_array()[0].as_object().find("function")->as_object();
  if (!in_parameter) {
    function.set("description", kQuoting);
    return tools;
  }
  json::Value* properties = function.find("parameters")->as_object().find("properties");
  properties->as_object().find("k")->as_object().set("description", kQuoting);
  return tools;
}

std::vector<Trial> fields(const Trials& trials) {
  std::vector<Trial> out;
  for (const bool in_parameter : {false, true}) {
    if (!trials.reads_variable("tools")) break;
    Trial field{in_parameter ? "the description of a parameter" : "the description of a tool", {user_message()}, {}};
    field.setting.tools = true;
    field.setting.other_tools = quoting_tool(in_parameter);
    out.push_back(std::move(field));
  }
  if (!trials.writes_calls()) return out;
  const TrialSetting tools{.tools = true};
  const SaidCall plain = first_call();
  const SaidCall quoting = first_call(kQuoting);
  out.push_back({"an argument", {user_message(), trials.assistant({"", "", {quoting}})}, tools});
  out.push_back({"a tool result",
                 {user_message(), trials.assistant({"", "", {plain}}), trials.result(0, kToolName, kQuoting)},
                 tools});
  return out;
}

// Where the text appears unescaped between quotes that the template wrote; npos if it does not.
std::size_t find_bare(const jinja::Rendered& rendered) {
  const std::string& text = rendered.text.bytes();
  for (std::size_t at = text.find(kQuoting); at != std::string::npos; at = text.find(kQuoting, at + 1)) {
    const std::size_t end = at + kQuoting.size();
    if (at == 0 || text[at - 1] != '"' || end >= text.size() || text[end] != '"') continue;
    const text::Run* before = probe::spot_at(rendered, at - 1).run;
    const text::Run* after = probe::spot_at(rendered, end).run;
    if (before->kind == text::RunKind::kLiteral && after->kind == text::RunKind::kLiteral) return at;
  }
  return std::string::npos;
}

}  // namespace

void find_bare_quotes(const Trials& trials, report::Report& report) {
  for (const Trial& field : fields(trials)) {
    const auto rendered = trials.render(field.messages, field.setting);
    if (!rendered.ok()) continue;
    const std::size_t at = find_bare(rendered.value());
    if (at == std::string::npos) continue;
    report::Finding finding = finding_of("unescaped-quotes", report::Level::kWarning);
    finding.sentence = field.name + " is put between quotes, and the quotes inside it are not escaped";
    finding.proof = text::quoted(kQuoting) + " is written as " +
                    excerpt(rendered.value().text.bytes(), at - 1, at + kQuoting.size() + 1);
    finding.place = causes::place_at(trials.context().chat_template, rendered.value(), at);
    const text::Run* run = probe::spot_at(rendered.value(), at).run;
    finding.path = rendered.value().origins.paths.to_string(run->path());
    finding.remedies.push_back(
        {.kind = report::Remedy::Kind::kPatch, .sentence = "write it through `tojson`, which brings its own quotes"});
    add_finding(report, std::move(finding));
  }
}

}  // namespace rondo::audit
