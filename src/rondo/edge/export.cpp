#include "edge/export.h"

#include <algorithm>
#include <utility>

#include "edge/candidates.h"
#include "edge/proof.h"
#include "edge/to_jinja.h"
#include "json/print.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "probe/turns.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::edge {
namespace {

// Adds members of `from` that `to` lacks, also inside objects that both have.
void put_back(json::Object& to, const json::Object& from) {
  for (const json::Member& member : from) {
    json::Value* old = to.find(member.key);
    if (old == nullptr) {
      to.set(member.key, member.value);
    } else if (old->is_object() && member.value.is_object()) {
      put_back(old->as_object(), member.value.as_object());
    }
  }
}

// The prefix and suffix of another role, read from a message between two others.
Role further_role(const Renders& renders, const std::string& name) {
  const json::Array messages{probe::plain_message(kUser, probe::kQuestionWord),
                             probe::plain_message(name, probe::kResultWord),
                             probe::plain_message(kUser, probe::kSecondQuestionWord)};
  Role out{name, "", ""};
  const auto rendered = renders.traced(messages, {});
  if (!rendered.ok()) return out;
  const auto turns = probe::turn_extents(rendered.value(), messages.size());
  if (!turns[0].data || !turns[1].data) return out;
  out.prefix = probe::slice(rendered.value(), turns[0].tail_end, turns[1].data->begin);
  out.suffix = probe::slice(rendered.value(), turns[1].data->end, turns[1].tail_end);
  return out;
}

void add_formats(const Renders& renders, const std::optional<Unseen>& unseen, EdgeTemplate& out,
                 std::vector<std::string>& loses) {
  if (unseen) {
    for (const json::Member& type : unseen->content_types) {
      std::string format = type.value.is_string() ? type.value.as_string() : find_format(renders, type.key).format;
      out.content_types.push_back({type.key, std::move(format)});
    }
    return;
  }
  for (const std::string_view type : {kImage, kVideo}) {
    FoundFormat found = find_format(renders, type);
    if (found.format.empty()) continue;
    if (found.counts) loses.push_back("the number that the template writes before each " + std::string(type));
    out.content_types.push_back({std::string(type), std::move(found.format)});
  }
}

// Reports the template's own variables that change a prompt, and which of them counts as the thinking variable.
void add_variables(const Renders& renders, std::vector<std::string>& loses) {
  const json::Array messages{probe::plain_message(kUser, probe::kQuestionWord)};
  const auto plain = renders.text(messages, {});
  for (const std::string& name : probe::own_variables(renders.source().chat_template)) {
    if (name == renders.thinking_variable() || renders.source().base.kwargs.find(name) != nullptr) continue;
    for (const json::Value& value : {json::Value(probe::kAnswerWord), json::Value(true), json::Value(false)}) {
      const auto with = renders.text_with({name, value}, messages);
      if (!with.ok() || !plain.ok() || with.value() == plain.value()) continue;
      loses.push_back("the variable `" + name + "`: Edge JSON is as if nobody set it");
      break;
    }
  }
  if (renders.thinking_variable().empty()) return;
  const auto by_default = renders.text_by_default(messages);
  if (by_default.ok() && plain.ok() && by_default.value() != plain.value()) {
    loses.push_back("the default of `" + renders.thinking_variable() +
                    "`: where nobody sets it, the template writes another prompt than where it is false, as "
                    "`enable_thinking` of Edge JSON then is");
  }
}

// Reports what the template writes that an Edge template cannot express.
void add_features(const Renders& renders, std::vector<std::string>& loses) {
  const jinja::Template& chat_template = renders.source().chat_template;
  const auto& roles = chat_template.compared_roles();
  const auto& names = chat_template.names();
  if (probe::reads_variable(chat_template, "tools")) loses.emplace_back("tools: their definitions are left out");
  if (std::ranges::find(names, "tool_calls") != names.end())
    loses.emplace_back("tool calls of assistant messages are left out");
  if (std::ranges::find(roles, "tool") != roles.end()) loses.emplace_back("tool messages are left out");
  if (probe::reads_variable(chat_template, "documents")) loses.emplace_back("documents are left out");
  json::Value answer = probe::plain_message(kAssistant, probe::kAnswerWord);
  answer.as_object().set("reasoning_content", probe::kThoughtWord);
  json::Array messages{probe::plain_message(kUser, probe::kQuestionWord), std::move(answer)};
  const auto rendered = renders.traced(messages, {.generation_prompt = false, .thinking = true});
  if (rendered.ok() && probe::shows_reasoning(rendered.value(), 1))
    loses.emplace_back("reasoning of assistant messages is left out");
  const auto earlier = renders.text(messages, {.generation_prompt = false, .later = true});
  const auto now = renders.text(messages, {.generation_prompt = false});
  if (renders.reads_time() && earlier.ok() && now.ok() && earlier.value() != now.value())
    loses.emplace_back("the date: Edge JSON keeps the one of the export");
  add_variables(renders, loses);
}

// The candidate with the widest kind; the first of several.
std::size_t best_of(Proof& proof, const std::vector<EdgeTemplate>& candidates, std::optional<Kind>& kind) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::optional<Kind> found = base_kind(proof, candidates[i]);
    if (rank(found) <= rank(kind)) continue;
    kind = std::move(found);
    best = i;
  }
  return best;
}

}  // namespace

namespace {

// Records what holds for `out.edge_template`; `out.kind` is the widest plain kind.
void judge(Proof& proof, Exported& out) {
  if (out.kind) {
    out.kind = widen(proof, out.edge_template, *std::move(out.kind), out.loses);
    out.lossless = is_lossless(*out.kind, !out.thinking_variable.empty());
  } else {
    const auto why = proof.refute(out.edge_template, Kind{.turns = Turns::kOne});
    out.loses.push_back("no kind of conversations is written in the same way: " + why.value_or(""));
  }
  add_features(proof.renders(), out.loses);
  out.compared = proof.compared();
}

}  // namespace

Result<Exported> export_template(const JinjaSource& source, const std::string& model_path) {
  Renders renders(source);
  Exported out;
  out.thinking_variable = find_thinking_variable(renders);
  const std::vector<EdgeTemplate> candidates = find_candidates(renders);
  if (candidates.empty()) {
    const auto text = renders.text({probe::plain_message(kUser, probe::kQuestionWord)}, {});
    if (!text.ok()) return text.error();
    return Error(ErrorCode::kUnsupported,
                 "the template writes no user message as it is, so it has no prefix and suffix",
                 source.chat_template.name());
  }
  const std::optional<Unseen> unseen = unseen_of(source.chat_template.source());
  Proof proof(renders);
  out.edge_template = candidates[best_of(proof, candidates, out.kind)];
  add_formats(renders, unseen, out.edge_template, out.loses);
  out.edge_template.model_path = unseen ? unseen->model_path : model_path;
  judge(proof, out);
  if (!unseen) return out;
  for (const std::string& name : unseen->roles) out.edge_template.roles.push_back(further_role(renders, name));
  json::Value merged = to_json(out.edge_template);
  put_back(merged.as_object(), unseen->rest);
  auto whole = parse(json::to_compact(merged), source.chat_template.name());
  if (!whole.ok()) return whole.error();
  out.edge_template = std::move(whole).value();
  return out;
}

Exported compare(const JinjaSource& source, EdgeTemplate edge_template) {
  Renders renders(source);
  Exported out;
  out.thinking_variable = find_thinking_variable(renders);
  Proof proof(renders);
  out.kind = base_kind(proof, edge_template);
  out.edge_template = std::move(edge_template);
  judge(proof, out);
  return out;
}

json::Value to_json(const Exported& exported) {
  json::Array loses;
  for (const std::string& sentence : exported.loses) loses.emplace_back(sentence);
  json::Object out{{"lossless", exported.lossless}};
  out.set("loses", std::move(loses));
  out.set("template", to_json(exported.edge_template));
  if (exported.kind) {
    out.set("lossless_for", to_json(*exported.kind));
    out.set("sentence", to_sentence(*exported.kind));
  }
  if (!exported.thinking_variable.empty()) out.set("thinking_variable", exported.thinking_variable);
  out.set("compared", exported.compared);
  return out;
}

}  // namespace rondo::edge
