#include "audit/settings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "audit/messages.h"
#include "chat/reasoning_fields.h"
#include "jinja/reading/compared.h"
#include "json/print.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "probe/variables.h"

namespace rondo::audit {
namespace {

// A report must stay readable.  Most of what more settings would show, the single ones have shown already.
constexpr std::size_t kMostSettings = 12;
// Names that are not switches: special tokens and functions.
constexpr std::string_view kNoKnobs[] = {
    "continue_final_message", "unk_token", "pad_token", "raise_exception", "namespace", "range", "dict",
    "strftime_now",           "cycler"};

// What a template writes under some kwargs.
struct Outlook {
  std::vector<std::string> texts;  // of the probes; "" for one that is refused
  std::size_t refused = 0;
  std::size_t thoughts = 0;      // how often reasoning of an earlier turn is shown
  bool prints_variable = false;  // whether the variable's own value is written
};

class Prober {
 public:
  Prober(const jinja::Template& chat_template, const format::Format& format, const chat::Conversation& base,
         const tmpl::ApplyOptions& options)
      : template_(chat_template), base_(base), options_(options) {
    const Saying thought{"A thought.", "An answer.", {}};
    const Saying call{"A thought.", "", {{"get_weather", json::Object{{"location", "Paris"}}, probe::made_up_id(0)}}};
    const json::Value question = probe::plain_message("user", "A question?");
    const json::Value result = probe::tool_message(probe::made_up_id(0), "get_weather", "A result.");
    const json::Value system = probe::plain_message("system", "Rules.");
    const json::Value answer = message_of(format, thought);
    const json::Value asking = message_of(format, call);
    probes_ = {{question},
               {system, question},
               {question, answer},
               {question, answer, question},
               {question, asking, result},
               {question, asking, result, answer, question}};
  }

  Outlook look(const json::Object& kwargs, std::string_view variable = {}) const {
    Outlook out;
    chat::Conversation conversation = base_;
    conversation.kwargs = kwargs;
    // The effect of a switch may show only without tools.
    for (const bool has_tools : {true, false}) {
      if (!has_tools) conversation.tools.reset();
      for (const json::Array& probe : probes_) {
        const bool ends_in_turn = probe.back().find_string("role") == "assistant";
        const auto rendered = tmpl::apply(template_, conversation, probe, !ends_in_turn, options_);
        out.texts.push_back(rendered.ok() ? rendered.value().text.bytes() : "");
        if (!rendered.ok()) ++out.refused;
        if (rendered.ok()) count(rendered.value(), variable, out);
      }
    }
    return out;
  }

 private:
  static void count(const jinja::Rendered& rendered, std::string_view variable, Outlook& out) {
    const text::PathTable& paths = rendered.origins.paths;
    for (const text::Run& run : rendered.text.runs()) {
      if (!variable.empty() && paths.root(run.path()) == variable) out.prints_variable = true;
      const std::string_view field = probe::message_field(paths, run.path());
      if (chat::is_reasoning_field(field) && run.source_offset == 0) ++out.thoughts;
    }
  }

  const jinja::Template& template_;
  const chat::Conversation& base_;
  const tmpl::ApplyOptions& options_;
  std::vector<json::Array> probes_;
};

std::string name_of(const json::Member& member) {
  const std::string value = member.value.is_string() ? member.value.as_string() : json::to_compact(member.value);
  return member.key + "=" + value;
}

json::Object with(json::Object kwargs, const json::Member& member) {
  kwargs.set(member.key, member.value);
  return kwargs;
}

using Constants = std::map<std::string, std::vector<std::string>>;

struct Tried {
  json::Member member;
  Outlook outlook;
};

// The values of variable `name` that change the prompt, one for each effect.
std::vector<Tried> try_variable(const Constants& constants, const Prober& prober, const std::string& name,
                                const json::Object& kwargs, const Outlook& before) {
  std::vector<json::Value> values = {true, false};
  if (const auto compared = constants.find(name); compared != constants.end()) {
    for (const std::string& constant : compared->second) values.emplace_back(constant);
  }
  std::vector<Tried> out;
  for (const json::Value& value : values) {
    Tried tried{{name, value}, prober.look(with(kwargs, {name, value}), name)};
    // A variable that is printed is a text, so true and false are not values of it.
    if (value.is_bool() && tried.outlook.prints_variable) continue;
    if (tried.outlook.refused > before.refused || tried.outlook.texts == before.texts) continue;
    const bool is_known =
        std::ranges::any_of(out, [&](const Tried& other) { return other.outlook.texts == tried.outlook.texts; });
    if (!is_known) out.push_back(std::move(tried));
  }
  return out;
}

}  // namespace

Settings find_settings(const jinja::Template& chat_template, const format::Format& format,
                       const chat::Conversation& base, const tmpl::ApplyOptions& options) {
  Settings out;
  out.list.push_back({"default", base.kwargs});
  const Prober prober(chat_template, format, base, options);
  const Outlook before = prober.look(base.kwargs);
  const Constants constants = jinja::compared_constants(chat_template.source());
  std::vector<std::string> names = probe::own_variables(chat_template, kNoKnobs);
  std::erase_if(names, [&base](const std::string& name) { return base.kwargs.find(name) != nullptr; });
  std::vector<Tried> singles;
  for (const std::string& name : names) {
    std::vector<Tried> found = try_variable(constants, prober, name, base.kwargs, before);
    if (found.empty()) continue;
    report::Knob& knob = out.knobs.emplace_back();
    knob.name = name;
    for (Tried& tried : found) {
      knob.values.push_back(tried.member.value);
      singles.push_back(std::move(tried));
    }
  }
  for (const Tried& tried : singles) out.list.push_back({name_of(tried.member), with(base.kwargs, tried.member)});
  // A switch that decides what happens to reasoning shows its effect only if there is some.
  const auto thinking = std::ranges::max_element(singles, {}, [&](const Tried& tried) {
    return tried.outlook.texts[0] != before.texts[0] ? tried.outlook.thoughts : 0;
  });
  for (const std::string& name : names) {
    if (thinking == singles.end() || thinking->outlook.thoughts == 0 || name == thinking->member.key) continue;
    const json::Object on = with(base.kwargs, thinking->member);
    for (const Tried& tried : try_variable(constants, prober, name, on, thinking->outlook)) {
      if (tried.outlook.thoughts == thinking->outlook.thoughts) continue;
      out.list.push_back({name_of(thinking->member) + ", " + name_of(tried.member), with(on, tried.member)});
    }
  }
  if (out.list.size() > kMostSettings) {
    out.note = "the template's variables make " + std::to_string(out.list.size()) + " settings, of which the first " +
               std::to_string(kMostSettings) + " are played";
    out.list.resize(kMostSettings);
  }
  return out;
}

}  // namespace rondo::audit
