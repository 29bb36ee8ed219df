#include "analysis/capabilities.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "analysis/evidence.h"
#include "analysis/probe.h"
#include "chat/reasoning_fields.h"
#include "json/print.h"
#include "probe/turns.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using text::RunKind;
using tmpl::MessageRules;
using tmpl::RoleRules;

constexpr std::string_view kDeveloperText = "Dprobe orderD";
constexpr std::string_view kSystemText = "Sprobe systemS";
constexpr std::string_view kNameText = "Nprobe";
constexpr std::string_view kDocumentText = "Oprobe documentO";
constexpr std::string_view kAddress = "probe.example/one";

// Returns whether the path is `place` or lies below it.
bool lies_in(const std::string& path, std::string_view place) {
  if (!path.starts_with(place)) return false;
  return path.size() == place.size() || path[place.size()] == '.' || path[place.size()] == '[';
}

std::string quoted(std::string_view text) { return json::to_compact(json::Value(text)); }

// A rendered conversation of probes, or the template's refusal.
class Render {
 public:
  Render(const jinja::Template& chat_template, std::optional<jinja::Rendered> rendered, std::string refusal)
      : template_(chat_template), rendered_(std::move(rendered)), refusal_(std::move(refusal)) {}

  [[nodiscard]] bool is_there() const { return rendered_.has_value(); }
  [[nodiscard]] const std::string& text() const { return rendered_->text.bytes(); }
  // Returns the run of a value at `place`; nullptr if nothing of it was written.
  [[nodiscard]] const text::Run* find(std::string_view place) const {
    if (!rendered_) return nullptr;
    const text::PathTable& paths = rendered_->origins.paths;
    const auto found = std::ranges::find_if(rendered_->text.runs(), [&](const text::Run& run) {
      const bool is_value = run.kind == RunKind::kData || run.kind == RunKind::kEscaped || run.kind == RunKind::kScalar;
      return is_value && lies_in(paths.to_string(run.path()), place);
    });
    return found == rendered_->text.runs().end() ? nullptr : &*found;
  }
  [[nodiscard]] bool has(std::string_view place) const { return find(place) != nullptr; }
  // Returns the line of the expression or literal that wrote the run; 0 if it is unknown.
  [[nodiscard]] std::int32_t line_of(const text::Run& run) const {
    if (run.kind == RunKind::kLiteral) return rendered_->origins.literals[static_cast<std::size_t>(run.literal())].line;
    const auto places = template_.expressions();
    return run.expression == 0 || run.expression > places.size() ? 0 : places[run.expression - 1U].line;
  }
  // Returns a capability that is supported if all places reach the prompt.  Its evidence names the places, or the first
  // one that is missing.
  [[nodiscard]] Capability shows(std::string name, std::initializer_list<std::string_view> places) const {
    if (!rendered_) return {std::move(name), false, refused(), 0};
    Capability out{std::move(name), true, "", 0};
    for (const std::string_view place : places) {
      const text::Run* run = find(place);
      if (run == nullptr) return {std::move(out.name), false, "nothing of " + std::string(place) + " is written", 0};
      if (out.line == 0) out.line = line_of(*run);
      out.evidence += (out.evidence.empty() ? "" : " and ") + std::string(place);
    }
    out.evidence += places.size() > 1 ? " are written" : " is written";
    return out;
  }
  // Finds the template's own text in this prompt that `plain` lacks; `plain` has one part of a message less.  Returns
  // the first such run, and sets `added` to all text that differs; nullptr if no text of the template was added.
  [[nodiscard]] const text::Run* added_literal(const Render& plain, std::string& added) const {
    const std::string& with = text();
    const std::string& without = plain.text();
    const auto begin = static_cast<std::size_t>(std::ranges::mismatch(with, without).in1 - with.begin());
    const std::size_t most = std::min(with.size(), without.size()) - begin;
    std::size_t same_end = 0;
    while (same_end < most && with[with.size() - 1 - same_end] == without[without.size() - 1 - same_end]) ++same_end;
    const std::size_t end = with.size() - same_end;
    std::size_t at = 0;
    for (const text::Run& run : rendered_->text.runs()) {
      const std::size_t behind = at + run.size;
      if (run.kind == RunKind::kLiteral && behind > begin && at < end) {
        added = with.substr(begin, end - begin);
        return &run;
      }
      at = behind;
    }
    return nullptr;
  }
  [[nodiscard]] std::string refused() const {
    return refusal_.empty() ? "the template writes nothing of it" : "the template refuses it: " + refusal_;
  }

 private:
  const jinja::Template& template_;
  std::optional<jinja::Rendered> rendered_;
  std::string refusal_;
};

// The probe of a tool's call: how many calls it has, and what stands beside and after them.
struct ToolTurn {
  std::size_t calls = 1;
  bool content = false;
  bool results = true;
};

class CapabilityFinder {
 public:
  CapabilityFinder(const Studied& plain, const Studied& with_tools)
      : plain_(plain),
        tools_(with_tools),
        plain_prober_(plain.chat_template, plain.options, false),
        tools_prober_(with_tools.chat_template, with_tools.options, false) {}

  [[nodiscard]] Capabilities find() {
    find_roles();
    find_tools();
    find_arguments();
    find_reasoning();
    find_parts();
    find_documents();
    find_output();
    static constexpr std::array<std::string_view, 0> kKnown{};
    Capabilities out{std::move(all_), probe::own_variables(plain_.chat_template, kKnown)};
    for (std::string& name : probe::own_variables(tools_.chat_template, kKnown)) {
      if (std::ranges::find(out.free_variables, name) == out.free_variables.end())
        out.free_variables.push_back(std::move(name));
    }
    std::ranges::sort(out.free_variables);
    return out;
  }

 private:
  void add(Capability capability) { all_.push_back(std::move(capability)); }
  // Renders the messages.  If `shaped`, they are first brought into the form that the template needs.
  [[nodiscard]] Render render(json::Array messages, bool tools, bool shaped = true, ProbeSetting setting = {}) {
    // Some templates cannot be rendered without tools.
    if (Render first = render_one(messages, tools, shaped, setting); first.is_there() || tools) return first;
    Render second = render_one(std::move(messages), true, shaped, std::move(setting));
    return second;
  }
  [[nodiscard]] Render render_one(json::Array messages, bool tools, bool shaped, ProbeSetting setting) {
    const Studied& studied = tools ? tools_ : plain_;
    if (shaped) tmpl::shape(messages, studied.rules);
    setting.tools = tools;
    Prober& prober = tools ? tools_prober_ : plain_prober_;
    auto rendered = prober.rendered(std::move(messages), setting);
    return {studied.chat_template, std::move(rendered), prober.last_refusal()};
  }
  [[nodiscard]] static json::Value user(std::string_view text = probe::kQuestionText) {
    return probe::plain_message("user", text);
  }
  [[nodiscard]] static json::Value answer() { return probe::plain_message("assistant", probe::kContentText); }
  [[nodiscard]] json::Array tool_messages(const ToolTurn& turn) const;
  // Tries several settings, because some values are written only with tools or with thinking on.
  [[nodiscard]] Capability shown_somehow(const std::string& name, const json::Array& messages, std::string_view place) {
    Capability usual = render(messages, false).shows(name, {place});
    struct Other {
      bool tools;
      const char* thinking;
      const char* where;
    };
    constexpr std::array<Other, 3> kOthers{{{false, "on", ", where thinking is switched on"},
                                            {true, "default", ", where there are tools"},
                                            {true, "on", ", where there are tools and thinking is switched on"}}};
    for (const Other& other : kOthers) {
      if (usual.is_supported) break;
      Capability found = render(messages, other.tools, true, {.thinking = other.thinking}).shows(name, {place});
      if (!found.is_supported) continue;
      found.evidence += other.where;
      return found;
    }
    return usual;
  }
  // Returns whether the template writes text of its own for a part of such a type.  Tries `parts` in order.
  [[nodiscard]] Capability placeholder(std::string_view name, const std::vector<json::Object>& parts);

  void find_roles();
  void find_tools();
  void find_arguments();
  void find_reasoning();
  void find_parts();
  void find_documents();
  void find_output();

  const Studied& plain_;
  const Studied& tools_;
  Prober plain_prober_;
  Prober tools_prober_;
  std::vector<Capability> all_;
};

void CapabilityFinder::find_roles() {
  const json::Value system = probe::plain_message("system", kSystemText);
  add(shown_somehow("system", {system, user()}, "messages[0].content"));
  add(shown_somehow("late_system", {user(), answer(), system, user()}, "messages[2].content"));
  json::Value order = probe::plain_message("developer", kDeveloperText);
  json::Value asked = user();
  if (plain_.rules.user.content == RoleRules::Content::kParts) {
    for (json::Value* message : {&order, &asked}) {
      json::Value& content = *message->as_object().find("content");
      content = json::Array{chat::text_part(content.as_string())};
    }
  }
  add(render({std::move(order), std::move(asked)}, false, false).shows("developer", {"messages[0].content"}));
  add(render({user(), answer(), user()}, false).shows("history", {"messages[0].content", "messages[1].content"}));
  add(render({user(), user(probe::kSecondQuestionText)}, false)
          .shows("repeated_user", {"messages[0].content", "messages[1].content"}));
  add(render({answer(), user()}, false).shows("assistant_first", {"messages[0].content", "messages[1].content"}));
  json::Value named = user();
  named.as_object().set("name", kNameText);
  add(render({std::move(named), answer(), user()}, false).shows("names", {"messages[0].name"}));
}

json::Array CapabilityFinder::tool_messages(const ToolTurn& turn) const {
  ProbeMessage asked = message_of({.calls = turn.calls});
  probe::Saying saying{"", turn.content ? std::string(probe::kContentText) : "", std::move(asked.calls)};
  for (std::size_t i = 0; i < saying.calls.size(); ++i)
    saying.calls[i].id = probe::id_of(tools_.format, saying.calls[i].name, i, probe::call_id(i));
  json::Array out{user(), probe::assistant_message(tools_.format.input, saying)};
  for (std::size_t i = 0; turn.results && i < saying.calls.size(); ++i)
    out.push_back(probe::tool_message(saying.calls[i].id, saying.calls[i].name, probe::kResultText));
  return out;
}

void CapabilityFinder::find_tools() {
  // Some templates write tools only into the first message, if that has instructions.
  std::vector<json::Array> beginnings{{user()}};
  for (const char* role : {"system", "developer"})
    beginnings.push_back({probe::plain_message(role, kSystemText), user()});
  std::size_t last = 0;
  while (last + 1 < beginnings.size() && !render(beginnings[last], true).has("tools[0].function.name")) ++last;
  const Render offered = render(beginnings[last], true);
  add(offered.shows("tools", {"tools[0].function.name"}));
  add(offered.shows("tool_schemas", {"tools[0].function.description", "tools[0].function.parameters"}));
  const Render one = render(tool_messages({.results = false}), true);
  // A template may write the name by writing an id that contains it.
  constexpr std::array<std::string_view, 2> kNames = {"messages[1].tool_calls[0].function.name",
                                                      "messages[1].tool_calls[1].function.name"};
  constexpr std::array<std::string_view, 2> kIds = {"messages[1].tool_calls[0].id", "messages[1].tool_calls[1].id"};
  const auto& [name, second] = one.has(kNames[0]) || !one.has(kIds[0]) ? kNames : kIds;
  add(one.shows("tool_calls", {name, "messages[1].tool_calls[0].function.arguments"}));
  add(render(tool_messages({.calls = 2, .results = false}), true).shows("parallel_tool_calls", {name, second}));
  add(render(tool_messages({.content = true, .results = false}), true)
          .shows("content_beside_calls", {"messages[1].content", name}));
  json::Array bare = tool_messages({.results = false});
  for (json::Value& call : bare[1].as_object().find("tool_calls")->as_array()) {
    json::Object flat = chat::function_of(call).as_object();
    flat.set("id", *call.find("id"));
    call = json::Value(std::move(flat));
  }
  add(render(std::move(bare), true, false)
          .shows("flat_tool_calls", {"messages[1].tool_calls[0].name", "messages[1].tool_calls[0].arguments"}));
  const Render answered = render(tool_messages({}), true);
  add(answered.shows("tool_results", {"messages[2].content"}));
  add(render(tool_messages({.calls = 2}), true)
          .shows("parallel_tool_results", {"messages[2].content", "messages[3].content"}));
  add(answered.shows("call_ids", {"messages[1].tool_calls[0].id"}));
  add(answered.shows("result_ids", {"messages[2].tool_call_id"}));
  add(answered.shows("result_names", {"messages[2].name"}));
}

// Finds which forms of arguments and of absent content the template understands.
void CapabilityFinder::find_arguments() {
  const bool has_calls = std::ranges::any_of(
      all_, [](const Capability& capability) { return capability.name == "tool_calls" && capability.is_supported; });
  const MessageRules& rules = tools_.rules;
  const auto form = [&](std::string name, MessageRules::Arguments other, const char* sentence) {
    if (!has_calls) return Capability{std::move(name), false, "the template writes no calls", 0};
    const bool is_supported = rules.arguments != other;
    return Capability{std::move(name), is_supported,
                      is_supported ? std::string(sentence) + " is written as the same call"
                                   : std::string(sentence) + " is refused, or written otherwise",
                      0};
  };
  add(form("object_arguments", MessageRules::Arguments::kText, "an object"));
  add(form("string_arguments", MessageRules::Arguments::kObject, "a text with JSON"));
  json::Array messages = tool_messages({});
  tmpl::shape(messages, rules);
  json::Array with_null = messages;
  with_null[1].as_object().set("content", nullptr);
  const Render usual = render(std::move(messages), true, false);
  const Render null = render(std::move(with_null), true, false);
  const bool is_same = usual.is_there() && null.is_there() && usual.text() == null.text();
  add({"null_content", has_calls && is_same,
       !has_calls         ? "the template writes no calls"
       : is_same          ? "null beside calls is written as no content is"
       : !null.is_there() ? null.refused()
                          : "null beside calls is written otherwise than no content",
       0});
}

// If no field of a message has reasoning, the content may have it between the format's markers.
void CapabilityFinder::find_reasoning() {
  const std::string& own = plain_.format.input.reasoning_field;
  const std::string field = own.empty() ? std::string(chat::kReasoningFields[0]) : own;
  const auto with = [&](bool followed) {
    const ProbeMessage said{.reasoning = true, .content = true, .calls = {}};
    format::InputShape shape = plain_.format.input;
    shape.reasoning_field = field;
    json::Array messages{
        user(),
        probe::assistant_message(shape, {std::string(probe::kReasoningText), std::string(probe::kContentText), {}})};
    if (followed) messages.push_back(user(probe::kSecondQuestionText));
    return messages;
  };
  const std::string place = "messages[1]." + field;
  for (const auto& [name, followed] : {std::pair("reasoning", false), std::pair("earlier_reasoning", true)}) {
    Capability found = shown_somehow(name, with(followed), place);
    const format::Reasoning& reasoning = plain_.format.reasoning;
    if (found.is_supported) {
      found.details.set("field", field);
    } else if (reasoning.in_content && !followed) {
      found.evidence = "there is no field for it: the content carries it, between " + quoted(reasoning.open) + " and " +
                       quoted(reasoning.close);
      found.details = {{"in_content", true}, {"open", reasoning.open}, {"close", reasoning.close}};
    }
    add(std::move(found));
  }
}

Capability CapabilityFinder::placeholder(std::string_view name, const std::vector<json::Object>& parts) {
  const auto asked = [&](std::optional<json::Object> part) {
    json::Array content;
    if (part) content.emplace_back(std::move(*part));
    content.emplace_back(chat::text_part(probe::kQuestionText));
    return render({probe::plain_message("user", std::move(content))}, false, false);
  };
  const Render plain = asked(std::nullopt);
  Capability out{std::string(name), false, "", 0};
  if (!plain.is_there()) return {std::move(out.name), false, plain.refused(), 0};
  for (const json::Object& part : parts) {
    const Render with = asked(part);
    if (!with.is_there()) {
      out.evidence = with.refused();
      continue;
    }
    std::string added;
    const text::Run* run = with.added_literal(plain, added);
    // A template that prints the part as it is shows its address or type, which is not a placeholder.
    if (run == nullptr || with.has("messages[0].content[0].type")) continue;
    const std::string type = part.find("type")->as_string();
    out.is_supported = true;
    out.evidence = "a part of the type `" + type + "` is written as " + quoted(added);
    out.line = with.line_of(*run);
    out.details = {{"part", type}, {"placeholder", added}};
    return out;
  }
  if (out.evidence.empty()) out.evidence = "nothing is written for it";
  return out;
}

void CapabilityFinder::find_parts() {
  const auto parts = [&](std::string name, std::string_view role, const RoleRules& rules) {
    json::Array content{chat::text_part(probe::kPartText)};
    json::Array messages{probe::plain_message(role, std::move(content))};
    if (role != "user") messages.push_back(user());
    Capability found =
        render(std::move(messages), false, false).shows(std::move(name), {"messages[0].content[0].text"});
    if (!found.is_supported || rules.content != RoleRules::Content::kText) return found;
    return Capability{std::move(found.name), false, "a text and a part with it are written differently", 0};
  };
  add(parts("text_parts", "user", plain_.rules.user));
  add(parts("system_text_parts", "system", plain_.rules.system));
  const json::Object address{{"url", kAddress}};
  add(placeholder("images", {{{"type", "image"}}, {{"type", "image_url"}, {"image_url", address}}}));
  add(placeholder("videos", {{{"type", "video"}}, {{"type", "video_url"}, {"video_url", address}}}));
  add(placeholder("audio",
                  {{{"type", "audio"}},
                   {{"type", "input_audio"}, {"input_audio", json::Object{{"data", "AA=="}, {"format", "wav"}}}},
                   {{"type", "audio_url"}, {"audio_url", address}}}));
}

void CapabilityFinder::find_documents() {
  ProbeSetting setting;
  json::Array documents;
  for (const char* title : {"first", "second"})
    documents.emplace_back(
        json::Object{{"title", title}, {"text", kDocumentText}, {"content", kDocumentText}, {"doc_id", title}});
  setting.variable = json::Member{"documents", json::Value(std::move(documents))};
  const Render plain = render({user()}, false, true, setting);
  Capability found = plain.shows("documents", {"documents[0]"});
  add(std::move(found));
}

void CapabilityFinder::find_output() {
  const auto prompt = plain_prober_.generation_prompt({.tools = false});
  const std::string text = prompt ? prompt->text : "";
  Capability opening{"generation_prompt", !text.empty(), text.empty() ? "nothing is added" : "it is " + quoted(text)};
  if (!text.empty()) opening.details = {{"text", text}};
  add(std::move(opening));
  const std::string& heading = tools_.format.calls.heading_close;
  const std::string& open = plain_.format.content.open;
  Capability channels{"channels", !heading.empty(), "blocks of a turn have no headings"};
  if (channels.is_supported) {
    channels.evidence = "headings end with " + quoted(heading) + "; what the user sees stands behind " + quoted(open);
    channels.details = {{"open", open}, {"heading_close", heading}};
  }
  add(std::move(channels));
}

}  // namespace

const Capability* Capabilities::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name, &Capability::name);
  return found == all.end() ? nullptr : &*found;
}

Capabilities find_capabilities(const Studied& plain, const Studied& with_tools) {
  return CapabilityFinder(plain, with_tools).find();
}

json::Value to_json(const Capabilities& capabilities) {
  json::Object out;
  for (const Capability& capability : capabilities.all) {
    json::Object entry{{"supported", capability.is_supported}, {"evidence", capability.evidence}};
    if (capability.line > 0) entry.set("line", capability.line);
    for (const json::Member& detail : capability.details) entry.set(detail.key, detail.value);
    out.set(capability.name, std::move(entry));
  }
  json::Array variables;
  for (const std::string& name : capabilities.free_variables) variables.emplace_back(name);
  out.set("free_variables", std::move(variables));
  return json::Value(std::move(out));
}

}  // namespace rondo::analysis
