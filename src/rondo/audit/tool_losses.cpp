// Finds which parts of the request's tools do not reach the prompt.
#include "audit/property_groups.h"
#include "json/parse.h"

namespace rondo::audit {
namespace {

// Each part of the definition has a word of its own.
constexpr const char* kRichTool = R"([{"type":"function","function":{"name":"locate_ship","description":"ship-text",
 "parameters":{"type":"object","properties":{
  "harbour":{"type":"string","description":"harbour-text"},
  "flag":{"type":"string","description":"flag-text","enum":["enum-red","enum-blue"]},
  "depth":{"type":"integer","description":"depth-text","minimum":4711,"maximum":4799,"default":4755},
  "code":{"type":"string","description":"code-text","pattern":"^pattern-word$"},
  "route":{"type":"object","description":"route-text","properties":{
   "waypoint":{"type":"string","description":"waypoint-text"}},"required":["waypoint"]},
  "crew":{"type":"array","description":"crew-text","items":{"type":"object","properties":{
   "sailor":{"type":"string","description":"sailor-text"}}}}},
 "required":["harbour"]}}}])";

// The same without nested values, which some templates cannot describe.
constexpr const char* kFlatTool = R"([{"type":"function","function":{"name":"locate_ship","description":"ship-text",
 "parameters":{"type":"object","properties":{
  "harbour":{"type":"string","description":"harbour-text"},
  "flag":{"type":"string","description":"flag-text","enum":["enum-red","enum-blue"]},
  "depth":{"type":"integer","description":"depth-text"}},
 "required":["harbour"]}}}])";

constexpr std::string_view kShip = "locate_ship";

struct ToolPart {
  std::string_view word;
  std::string_view name;
};

// What a model needs to call the tool correctly.
constexpr ToolPart kNeeded[] = {
    {"ship-text", "the description"},
    {"harbour", "the parameters"},
    {"harbour-text", "descriptions of parameters"},
    {"enum-blue", "enum values"},
    {"waypoint", "parameters inside an object"},
    {"sailor", "parameters inside the items of an array"},
};
// What helps the model but is not essential.
constexpr ToolPart kHelpful[] = {
    {"4711", "minimum"},
    {"4799", "maximum"},
    {"4755", "default"},
    {"pattern-word", "pattern"},
    {"waypoint-text", "descriptions of parameters inside an object"},
};

bool contains(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// Reports templates that never look at the request's tools, whatever they do with tools inside messages.
void report_unread(const Trials& trials, report::Report& report) {
  report::Finding finding = finding_of("tools-not-written", report::Level::kNote);
  finding.sentence = "the template does not read `tools`: tools of a request have no effect";
  finding.proof = "it reads " + (trials.own_variables().empty() ? std::string("no variable of its own")
                                                                : "`" + listed(trials.own_variables()) + "`");
  finding.path = "tools";
  add_finding(report, std::move(finding));
}

class ToolAudit {
 public:
  ToolAudit(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {
    user_ = {user_message()};
    system_ = {plain_message("system", kSystemWord), user_message()};
  }

  void run() {
    json::Value tools = json::parse(kRichTool).value();
    auto rendered = render(user_, tools);
    if (!rendered.ok()) {
      report_refusal(rendered.error());
      tools = json::parse(kFlatTool).value();
      rendered = render(user_, tools);
      if (!rendered.ok()) return;
      is_flat_ = true;
    }
    const auto with_system = render(system_, tools);
    const bool is_here = contains(rendered.value().text.bytes(), kShip);
    const bool is_there = with_system.ok() && contains(with_system.value().text.bytes(), kShip);
    if (!is_here && !is_there && deciding_place(rendered.value()).line == 0) {
      report_unread(trials_, report_);
      return;
    }
    if (!is_here || (with_system.ok() && !is_there)) report_missing(rendered.value(), is_here, is_there);
    if (!is_here && !is_there) return;
    const jinja::Rendered& shown = is_here ? rendered.value() : with_system.value();
    messages_ = is_here ? user_ : system_;
    report_parts(shown);
    report_toggles(tools, shown);
    report_python(shown);
  }

 private:
  [[nodiscard]] Result<jinja::Rendered> render(const json::Array& messages, const json::Value& tools) const {
    return trials_.render(messages, {.generation_prompt = true, .tools = true, .other_tools = tools});
  }

  void report_refusal(const Error& error) {
    const TrialSetting setting{.tools = true};
    const bool takes_plain = trials_.text(user_, setting).ok();
    report::Finding finding = finding_of("refused", takes_plain ? report::Level::kWarning : report::Level::kNote);
    finding.sentence =
        takes_plain ? "a tool with a parameter that is an object or an array is refused" : "tools are refused";
    finding.proof = "the template fails with " + text::quoted(error.message);
    finding.place = causes::place_of(trials_.context().chat_template, error);
    finding.path = "tools";
    add_finding(report_, std::move(finding));
  }

  // The first condition that looked at the tools.
  [[nodiscard]] causes::TemplatePlace deciding_place(const jinja::Rendered& rendered) const {
    for (const jinja::Decision& decision : rendered.decisions) {
      for (const text::PathId path : rendered.reads_of(decision)) {
        if (rendered.origins.paths.root(path) == "tools")
          return causes::place_of(trials_.context().chat_template, {decision.line, decision.column});
      }
    }
    return {};
  }

  void report_missing(const jinja::Rendered& rendered, bool is_here, bool is_there) {
    report::Finding finding = finding_of("tools-not-written", report::Level::kError);
    const char* without = "where there is no system message";
    const char* with = "where there is a system message";
    finding.sentence = "tools of the request are not written";
    if (is_here || is_there) finding.sentence += std::string(" ") + (is_here ? with : without);
    finding.proof = "a tool `locate_ship` is given, and the prompt is " + shortened(rendered.text.bytes());
    if (is_here) {
      const auto with_system = render(system_, json::parse(is_flat_ ? kFlatTool : kRichTool).value());
      finding.proof = "a tool `locate_ship` is given, and the prompt is " + shortened(with_system.value().text.bytes());
    }
    finding.place = deciding_place(rendered);
    finding.path = "tools";
    add_finding(report_, std::move(finding));
  }

  void report_parts(const jinja::Rendered& rendered) {
    const std::string& text = rendered.text.bytes();
    std::vector<std::string> needed;
    for (const ToolPart& part : kNeeded) {
      const bool is_given = !is_flat_ || contains(kFlatTool, part.word);
      if (is_given && !contains(text, part.word)) needed.emplace_back(part.name);
    }
    std::vector<std::string> helpful;
    for (const ToolPart& part : kHelpful) {
      if (!is_flat_ && !contains(text, part.word)) helpful.emplace_back(part.name);
    }
    for (const bool is_needed : {true, false}) {
      const std::vector<std::string>& parts = is_needed ? needed : helpful;
      if (parts.empty()) continue;
      report::Finding finding =
          finding_of("tools-not-written", is_needed ? report::Level::kWarning : report::Level::kNote);
      finding.sentence = "of a tool's definition these are not written: " + listed(parts);
      const std::size_t at = text.find(kShip);
      finding.proof = "the tool is written as " + shortened(std::string_view(text).substr(at, text.size() - at));
      finding.place = causes::place_at(trials_.context().chat_template, rendered, at);
      finding.path = is_needed ? "tools[0].function" : "tools[0].function.parameters";
      add_finding(report_, std::move(finding));
    }
  }

  // Types and required parameters have no word of their own, so they are found by changing them.
  void report_toggles(const json::Value& tools, const jinja::Rendered& rendered) {
    const auto changed = [&tools](std::string_view key, json::Value value) {
      json::Value out = tools;
      json::Value* function = out.as_array()[0].as_object().find("function");
      json::Object& parameters = function->as_object().find("parameters")->as_object();
      if (key == "required") {
        parameters.set(key, std::move(value));
      } else {
        parameters.find("properties")->as_object().find("depth")->as_object().set("type", std::move(value));
      }
      return out;
    };
    std::vector<std::string> missing;
    const auto required = render(messages_, changed("required", json::Array{"harbour", "depth"}));
    if (required.ok() && required.value().text.bytes() == rendered.text.bytes())
      missing.emplace_back("which parameters are required");
    const auto type = render(messages_, changed("type", "boolean"));
    if (type.ok() && type.value().text.bytes() == rendered.text.bytes()) missing.emplace_back("types of parameters");
    if (missing.empty() || !contains(rendered.text.bytes(), "harbour")) return;
    report::Finding finding = finding_of("tools-not-written", report::Level::kWarning);
    finding.sentence = "of a tool's definition these are not written: " + listed(missing);
    const std::size_t at = rendered.text.bytes().find("harbour");
    finding.proof = "with another definition the prompt is the same: " + excerpt(rendered.text.bytes(), at, at + 60);
    finding.place = causes::place_at(trials_.context().chat_template, rendered, at);
    finding.path = "tools[0].function.parameters.properties";
    add_finding(report_, std::move(finding));
  }

  // Tools that are printed as a Python dictionary are what the model was shown, but they are not JSON.
  void report_python(const jinja::Rendered& rendered) {
    std::size_t at = 0;
    for (const text::Run& run : rendered.text.runs()) {
      const bool is_python = run.kind == text::RunKind::kSerialiser &&
                             rendered.origins.chains.contains(run.chain, "pyrepr") &&
                             rendered.origins.paths.root(run.path()) == "tools";
      if (is_python) {
        report::Finding finding = finding_of("python-value", report::Level::kNote);
        finding.sentence = "tools are printed as Python prints them";
        finding.proof = "they are written as " + excerpt(rendered.text.bytes(), at, at + 60);
        finding.place = causes::place_at(trials_.context().chat_template, rendered, at);
        finding.path = "tools";
        add_finding(report_, std::move(finding));
        return;
      }
      at += run.size;
    }
  }

  const Trials& trials_;
  report::Report& report_;
  json::Array user_;
  json::Array system_;
  json::Array messages_;  // conversations, in one of which the tools are written
  bool is_flat_ = false;
};

}  // namespace

void find_tool_losses(const Trials& trials, report::Report& report) {
  if (trials.reads_variable("tools")) {
    ToolAudit(trials, report).run();
    return;
  }
  report_unread(trials, report);
}

}  // namespace rondo::audit
