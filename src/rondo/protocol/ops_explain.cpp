// explain: the format inferred from a template, and the reasons.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explain.h"
#include "core/places.h"
#include "format/escapes.h"
#include "grammar/gbnf.h"
#include "grammar/turn.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "protocol/ops.h"

namespace rondo::protocol {
namespace {

constexpr const char* kExampleTools = R"([{"type": "function", "function": {"name": "search", "parameters": {
    "type": "object", "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query"], "additionalProperties": false}}}])";

void set_place(json::Object& out, const core::TemplateLines& lines, const text::Literal& literal) {
  if (literal.line == 0) return;
  const core::TemplatePlace place = lines.place(literal);
  out.set("line", place.line);
  out.set("column", place.column);
}

json::Array origins_to_json(const std::vector<analysis::FieldOrigin>& origins, const core::TemplateLines& lines) {
  json::Array out;
  for (const analysis::FieldOrigin& origin : origins) {
    json::Array pieces;
    for (const analysis::OriginPiece& piece : origin.pieces) {
      json::Object entry{{"text", piece.text}};
      set_place(entry, lines, piece.place);
      pieces.emplace_back(std::move(entry));
    }
    out.emplace_back(json::Object{{"field", origin.field}, {"text", origin.text}, {"pieces", std::move(pieces)}});
  }
  return out;
}

// Whether the calls' ids contain the tools' names.  Ids that the template makes are not the message's.
bool names_are_in_ids(const format::Format& format, const analysis::ProbeRecord& probe) {
  return std::ranges::find(probe.parts, "id", &analysis::ProbePart::slot) != probe.parts.end() &&
         std::ranges::find(format.calls.pieces, format::CallPiece::Kind::kNameInId, &format::CallPiece::kind) !=
             format.calls.pieces.end();
}

json::Value tools_named(const std::vector<std::string>& names) {
  json::Array tools;
  for (const std::string& name : names)
    tools.emplace_back(json::Object{{"type", "function"}, {"function", json::Object{{"name", name}}}});
  return tools;
}

// What a probe's message contained, or what the parser finds in its turn.
struct Held {
  std::string reasoning;
  std::string content;
  std::vector<std::string> names;  // of calls; consecutive equal names count once, because a name may be written twice
};

void add_name(std::vector<std::string>& names, const std::string& name) {
  if (names.empty() || names.back() != name) names.push_back(name);
}

// Returns the text that the template wrote as `slot`.  Escapes in it may be parts of their own.
std::string held_text(const analysis::ProbeRecord& probe, std::string_view slot,
                      const std::vector<format::Escape>& escapes) {
  const auto is_own = [slot](const analysis::ProbePart& part) { return part.slot == slot; };
  const auto first = std::ranges::find_if(probe.parts, is_own);
  const auto last = std::find_if(probe.parts.rbegin(), probe.parts.rend(), is_own).base();
  std::string out;
  for (auto part = first; part < last; ++part) {
    if (is_own(*part) || !escapes.empty()) out += part->text;
  }
  return format::unescaped_text(out, escapes);
}

Held held_by(const format::Format& format, const analysis::ProbeRecord& probe) {
  Held out;
  out.reasoning = held_text(probe, "reasoning", format.reasoning.escapes);
  out.content = held_text(probe, "content", format.content.escapes);
  for (const analysis::ProbePart& part : probe.parts) {
    if (part.slot == "name") add_name(out.names, part.text);
    if (part.slot == "id" && names_are_in_ids(format, probe)) out.names.push_back(part.text);
  }
  return out;
}

std::string quoted(const std::string& text) { return json::to_compact(json::Value(text)); }

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// What the parser finds in a probe's turn that was not in its message; "" if nothing.
std::string difference(const std::shared_ptr<const format::Format>& format, const analysis::ProbeRecord& probe) {
  const Held wanted = held_by(*format, probe);
  std::string text;
  for (const analysis::ProbePart& part : probe.parts) text += part.text;
  if (text.starts_with(format->header)) text.erase(0, format->header.size());
  parse::Options options;
  options.prompt_tail = format->header;
  options.tools = tools_named(wanted.names);
  const auto message = parse::parse(format, std::move(options), text);
  if (!message.ok()) return message.error().message;
  Held found{message.value().reasoning.value_or(""), message.value().content, {}};
  for (const chat::ToolCall& call : message.value().tool_calls) {
    if (call.status != chat::CallStatus::kOk) return "a call is read as " + std::string(chat::to_string(call.status));
    add_name(found.names, names_are_in_ids(*format, probe) ? call.id.value_or("") : call.name);
  }
  if (found.reasoning != wanted.reasoning)
    return "reasoning is read as " + quoted(found.reasoning) + ", it was " + quoted(wanted.reasoning);
  if (found.content != wanted.content)
    return "content is read as " + quoted(found.content) + ", it was " + quoted(wanted.content);
  if (found.names != wanted.names)
    return "calls are read of " + listed(found.names) + ", they were of " + listed(wanted.names);
  return "";
}

json::Array probes_to_json(const analysis::Explanation& explanation, const core::TemplateLines& lines) {
  json::Array out;
  for (const analysis::ProbeRecord& probe : explanation.probes) {
    json::Object entry{{"name", probe.name}};
    if (probe.is_refused) {
      entry.set("refused", true);
      entry.set("refusal", probe.refusal);
      out.emplace_back(std::move(entry));
      continue;
    }
    json::Array parts;
    for (const analysis::ProbePart& part : probe.parts) {
      json::Object shown;
      if (!part.slot.empty()) shown.set("slot", part.slot);
      shown.set("text", part.text);
      set_place(shown, lines, part.place);
      parts.emplace_back(std::move(shown));
    }
    if (probe.is_other_shape) {
      entry.set("other_shape", true);
    } else if (probe.is_message) {
      const std::string differs = difference(explanation.format, probe);
      entry.set("read_back", differs.empty());
      if (!differs.empty()) entry.set("difference", differs);
    }
    entry.set("parts", std::move(parts));
    out.emplace_back(std::move(entry));
  }
  return out;
}

json::Array states_to_json(const std::shared_ptr<const format::Format>& format) {
  json::Array out;
  for (const parse::StateView& state : parse::states(format, {})) {
    json::Array exits;
    for (const parse::StateExit& exit : state.exits)
      exits.emplace_back(json::Object{{"marker", exit.marker}, {"next", exit.next}});
    out.emplace_back(json::Object{{"name", state.name}, {"exits", std::move(exits)}});
  }
  return out;
}

// The grammar of one tool, as an example for people.
json::Object grammar_to_json(const format::Format& format, const std::optional<json::Value>& tools) {
  grammar::TurnOptions options;
  options.tools = tools ? tools : json::parse(kExampleTools).value();
  const auto turn = grammar::turn_grammar(format, options);
  if (!turn.ok()) return {{"error", turn.error().message}};
  json::Array triggers;
  for (const grammar::Trigger& trigger : turn.value().triggers) triggers.emplace_back(trigger.value);
  return {{"text", turn.value().is_needed ? grammar::to_gbnf(turn.value().grammar) : ""},
          {"triggers", std::move(triggers)}};
}

json::Object template_to_json(const jinja::Template& chat_template, const core::TemplateLines& lines) {
  json::Array rows;
  for (std::size_t line = 1; line <= lines.size(); ++line) rows.emplace_back(std::string(lines.line(line)));
  return {{"name", chat_template.name()}, {"lines", std::move(rows)}};
}

}  // namespace

Reply op_explain(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kOptional);
  ConversationFields input = read_conversation(fields, {.add_generation_prompt = true});
  const std::optional<json::Object> corrections = read_corrections(fields);
  const bool wants_capabilities = fields.flag("capabilities", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto model = context.models.model(template_fields, corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  if (wants_capabilities) {
    const auto capabilities = model.value()->capabilities(call);
    if (!capabilities.ok()) return capabilities.error();
    return json::Value(json::Object{{"capabilities", analysis::to_json(capabilities.value())}});
  }
  const auto prepared = model.value()->prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto explained = core::explained_format(prepared.value(), call.conversation, corrections);
  if (!explained.ok()) return explained.error();
  const analysis::Explanation& explanation = explained.value();
  const jinja::Template& chat_template = *prepared.value().chat_template;
  const core::TemplateLines lines(chat_template);
  return json::Value(json::Object{{"format", format::to_json(*explanation.format)},
                                  {"summary", explanation.format->to_string()},
                                  {"origins", origins_to_json(explanation.origins, lines)},
                                  {"states", states_to_json(explanation.format)},
                                  {"grammar", grammar_to_json(*explanation.format, call.conversation.tools)},
                                  {"probes", probes_to_json(explanation, lines)},
                                  {"template", template_to_json(chat_template, lines)}});
}

}  // namespace rondo::protocol
