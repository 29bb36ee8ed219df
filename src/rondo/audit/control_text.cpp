// Finds fields that can write control tokens, either with text that reads like one or by completing one that the
// template begins.
#include <algorithm>

#include "audit/property_groups.h"
#include "probe/places.h"

namespace rondo::audit {
namespace {

struct ControlMarker {
  tokenizer::TokenId id = 0;
  std::string text;
};

// The token that an attack would use: the one that ends a turn.
std::optional<ControlMarker> ending_token(const AuditContext& context) {
  const tokenizer::Tokenizer& tokenizer = context.tokenizer;
  const auto marker = [&](tokenizer::TokenId id) { return ControlMarker{id, std::string(tokenizer.token_bytes(id))}; };
  if (context.profile.plain.marker) return marker(context.profile.plain.marker->id);
  for (const tokenizer::TokenId id : tokenizer.end_ids()) {
    if (tokenizer.is_added(id)) return marker(id);
  }
  for (const tokenizer::AddedToken& token : tokenizer.added_tokens()) {
    if (token.special) return marker(token.id);
  }
  return std::nullopt;
}

// A field, and a conversation that carries `text` in it.
json::Value tool_with(std::string_view place, const std::string& text) {
  const auto or_text = [&](std::string_view here, const char* other) { return place == here ? text : other; };
  json::Object parameter{{"type", "string"}, {"description", or_text("parameter description", "the key")}};
  if (place == "enum value") parameter.set("enum", json::Array{text, "other"});
  json::Object properties;
  properties.set(or_text("parameter name", "k"), std::move(parameter));
  const json::Object parameters{{"type", "object"},
                                {"properties", std::move(properties)},
                                {"required", json::Array{or_text("parameter name", "k")}}};
  return json::Array{
      json::Object{{"type", "function"},
                   {"function", json::Object{{"name", or_text("tool name", "find_city")},
                                             {"description", or_text("tool description", "finds a city")},
                                             {"parameters", parameters}}}}};
}

std::vector<Trial> message_fields(const Trials& trials, const std::string& text) {
  const json::Value user = user_message();
  const json::Value part = text_part(text);
  std::vector<Trial> out = {
      {"system content", {plain_message("system", text), user}, {}},
      {"user content", {plain_message("user", text)}, {}},
      {"text parts", {plain_message("user", json::Array{part})}, {}},
      {"assistant content", {user, plain_message("assistant", text), user}, {}},
  };
  const format::InputShape& input = trials.format().input;
  if (!input.reasoning_field.empty() || !input.reasoning_part.empty())
    out.push_back({"reasoning", {user, trials.assistant({text, std::string(kAnswerWord), {}})}, {}});
  return out;
}

std::vector<Trial> call_fields(const Trials& trials, const std::string& text) {
  const TrialSetting tools{.tools = true};
  const json::Value user = user_message();
  const SaidCall plain = first_call();
  json::Object odd_key;
  odd_key.set(text, "v");
  const json::Value call = trials.assistant({"", "", {plain}});
  json::Value odd_id = call;
  odd_id.as_object().find("tool_calls")->as_array()[0].as_object().set("id", text);
  json::Value odd_name = trials.result(0, kToolName, kResultWord);
  odd_name.as_object().set("name", text);
  return {
      {"tool call name", {user, trials.assistant({"", "", {{text, json::Object{{"k", "v"}}}}})}, tools},
      {"tool call id", {user, odd_id}, tools},
      {"argument name", {user, trials.assistant({"", "", {{std::string(kToolName), odd_key}}})}, tools},
      {"argument value", {user, trials.assistant({"", "", {first_call(text)}})}, tools},
      {"tool result", {user, call, trials.result(0, kToolName, text)}, tools},
      {"name of a tool result", {user, call, odd_name}, tools},
  };
}

std::vector<Trial> all_fields(const Trials& trials, const std::string& text) {
  std::vector<Trial> out = message_fields(trials, text);
  if (trials.writes_calls()) {
    for (Trial& field : call_fields(trials, text)) out.push_back(std::move(field));
  }
  if (trials.reads_variable("tools")) {
    for (const char* name :
         {"tool name", "tool description", "parameter name", "parameter description", "enum value"}) {
      out.push_back({name, {user_message()}, {.tools = true, .other_tools = tool_with(name, text)}});
    }
  }
  for (const std::string& name : trials.own_variables()) {
    TrialSetting setting;
    setting.kwargs.set(name, text);
    out.push_back({"variable `" + name + "`", {user_message()}, std::move(setting)});
  }
  return out;
}

// Where the render has the token inside text from the conversation.
std::optional<std::size_t> find_token(const Trials& trials, const jinja::Rendered& rendered,
                                      const ControlMarker& token) {
  const std::vector<render::Marker> markers = render::markers(trials.context().tokenizer, rendered.text.bytes());
  auto marker = markers.begin();
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    end += run.size;
    for (; marker != markers.end() && marker->begin < end; ++marker) {
      if (marker->id != token.id || run.kind != text::RunKind::kData) continue;
      const std::string_view root = rendered.origins.paths.root(run.path());
      if (root != "bos_token" && root != "eos_token") return marker->begin;
    }
  }
  return std::nullopt;
}

// ---- Tokens that a field completes

// The value at a path of the conversation; nullptr for keys and for paths that do not exist.
json::Value* value_at(json::Value& root, const text::PathTable& paths, text::PathId path) {
  if (paths.depth(path) <= 1) return &root;
  json::Value* parent = value_at(root, paths, paths.parent(path));
  if (parent == nullptr) return nullptr;
  switch (paths.step_kind(path)) {
    case text::PathTable::StepKind::kMember:
      return parent->is_object() ? parent->as_object().find(paths.step_name(path)) : nullptr;
    case text::PathTable::StepKind::kIndex: {
      const std::size_t index = paths.step_index(path);
      return parent->is_array() && index < parent->as_array().size() ? &parent->as_array()[index] : nullptr;
    }
    default: return nullptr;
  }
}

// What the field between `before` and `after` must hold so that the three form an added token; "" if nothing does.
std::string missing_part(std::string_view token, std::string_view before, std::string_view after) {
  for (std::size_t begun = 1; begun + 1 < token.size(); ++begun) {
    if (!before.ends_with(token.substr(0, begun))) continue;
    for (std::size_t rest = token.size() - begun - 1; rest > 0; --rest) {
      // A bracket on each side is not enough: markup has brackets too, and its names are not meant as tokens.
      if (begun + rest < 3 || !after.starts_with(token.substr(token.size() - rest))) continue;
      return std::string(token.substr(begun, token.size() - begun - rest));
    }
  }
  return "";
}

// Turns messages[2].role into messages[].role.
std::string pattern(const std::string& path) {
  std::string out;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool is_index = !out.empty() && out.back() == '[' && path[i] >= '0' && path[i] <= '9';
    if (!is_index) out += path[i];
  }
  return out;
}

// A conversation of three messages has a few hundred runs.
constexpr std::size_t kRuns = 2000;

class GlueFinder {
 public:
  GlueFinder(const Trials& trials, report::Report& report) : trials_(trials), report_(report) {}

  void look(const json::Array& messages, const TrialSetting& setting) {
    const auto rendered = trials_.render(messages, setting);
    if (!rendered.ok()) return;
    const std::string_view text = rendered.value().text.bytes();
    const auto runs = rendered.value().text.runs();
    std::size_t at = 0;
    for (std::size_t i = 0; i < std::min(runs.size(), kRuns); at += runs[i++].size) {
      const bool is_between = i > 0 && i + 1 < runs.size() && runs[i - 1].kind == text::RunKind::kLiteral &&
                              runs[i + 1].kind == text::RunKind::kLiteral && runs[i].kind == text::RunKind::kData;
      if (!is_between || rendered.value().origins.paths.root(runs[i].path()) != "messages") continue;
      const std::string_view before = text.substr(at - runs[i - 1].size, runs[i - 1].size);
      const std::string_view after = text.substr(at + runs[i].size, runs[i + 1].size);
      for (const tokenizer::AddedToken& token : trials_.context().tokenizer.added_tokens()) {
        const std::string value = missing_part(token.content, before, after);
        if (value.empty() || value == text.substr(at, runs[i].size)) continue;
        if (is_known_role(value) || !prove(messages, setting, {rendered.value(), runs[i].path(), value, token.id}))
          continue;
        break;
      }
    }
  }

 private:
  struct Claim {
    const jinja::Rendered& rendered;
    text::PathId path;
    const std::string& value;
    tokenizer::TokenId token;
  };

  [[nodiscard]] bool is_known_role(const std::string& value) const {
    const auto& compared = trials_.context().chat_template.compared_roles();
    return chat::is_api_role(value) || std::find(compared.begin(), compared.end(), value) != compared.end();
  }

  // Renders with that value and reports it if the token appears.
  bool prove(const json::Array& messages, const TrialSetting& setting, const Claim& claim) {
    const text::PathTable& paths = claim.rendered.origins.paths;
    json::Value changed(messages);
    json::Value* field = value_at(changed, paths, claim.path);
    if (field == nullptr || !field->is_string()) return false;
    *field = claim.value;
    const auto rendered = trials_.render(changed.as_array(), setting);
    if (!rendered.ok()) return false;
    const std::string& text = rendered.value().text.bytes();
    const std::string path = paths.to_string(claim.path);
    for (const render::Marker& found : render::markers(trials_.context().tokenizer, text)) {
      const text::Run* first = probe::spot_at(rendered.value(), found.begin).run;
      if (found.id != claim.token || first == nullptr || first->kind != text::RunKind::kLiteral) continue;
      std::size_t at = found.begin;
      while (at < found.end && probe::spot_at(rendered.value(), at).run->kind == text::RunKind::kLiteral) ++at;
      if (at == found.end ||
          rendered.value().origins.paths.to_string(probe::spot_at(rendered.value(), at).run->path()) != path)
        continue;
      report::Finding finding;
      finding.rule = "glued-token";
      const bool is_role = paths.depth(claim.path) == 3 && paths.step_name(claim.path) == "role";
      finding.level = is_role ? report::Level::kNote : report::Level::kWarning;
      finding.sentence =
          "the template puts `" + pattern(path) + "` inside a control token, and does not check its value";
      finding.proof = "with " + text::quoted(claim.value) + " there it writes " +
                      excerpt(text, found.begin, found.end) + ", where " +
                      text::quoted(text.substr(found.begin, found.end - found.begin)) +
                      " is one token if the prompt is tokenized as a whole";
      finding.place = causes::place_at(trials_.context().chat_template, rendered.value(), at);
      finding.path = pattern(path);
      add_finding(report_, std::move(finding));
      return true;
    }
    return false;
  }

  const Trials& trials_;
  report::Report& report_;
};

void find_glue(const Trials& trials, report::Report& report) {
  GlueFinder finder(trials, report);
  finder.look({user_message()}, {});
  finder.look({user_message(), plain_message("assistant", kAnswerWord), plain_message("user", kSecondQuestionWord)},
              {});
  if (!trials.writes_calls()) return;
  const TrialSetting setting{.tools = true};
  const json::Value call = trials.assistant({"", "", {first_call()}});
  finder.look({user_message(), call, trials.result(0, kToolName, kResultWord)}, setting);
}

}  // namespace

void find_control_text(const Trials& trials, report::Report& report) {
  find_glue(trials, report);
  const std::optional<ControlMarker> token = ending_token(trials.context());
  if (!token) return;
  std::vector<std::string> written;
  report::Finding finding;
  for (Trial& field : all_fields(trials, "n" + token->text)) {
    field.setting.generation_prompt = true;
    const auto rendered = trials.render(field.messages, field.setting);
    if (!rendered.ok()) continue;
    const std::optional<std::size_t> at = find_token(trials, rendered.value(), *token);
    if (!at) continue;
    if (written.empty()) {
      const std::string& text = rendered.value().text.bytes();
      finding.proof = text::quoted(token->text) + " in the " + field.name + " is written as " +
                      excerpt(text, *at, *at + token->text.size());
      finding.place = causes::place_at(trials.context().chat_template, rendered.value(), *at);
    }
    written.push_back(field.name);
  }
  if (written.empty()) return;
  finding.rule = "control-text";
  finding.level = report::Level::kNote;
  finding.sentence = "text that reads like a control token becomes one, where a prompt is tokenized as a whole, in: " +
                     listed(written);
  add_finding(report, std::move(finding));
}

}  // namespace rondo::audit
