#include "protocol/readers.h"

#include <string>
#include <string_view>

#include "protocol/reply.h"
#include "protocol/requests.h"

namespace rondo::protocol {
namespace {

// {"part", "roles", "messages"} of a request; nullopt if it asks for no mask.
std::optional<render::MaskOptions> read_mask(Fields& fields) {
  if (!fields.has("loss_mask")) return std::nullopt;
  const json::Object object = fields.object("loss_mask");
  Fields inner(object);
  render::MaskOptions out;
  const std::string part = inner.choice("part", {"sampled", "content", "turn", "generation"});
  if (part == "content") out.part = render::MaskPart::kContent;
  if (part == "turn") out.part = render::MaskPart::kTurn;
  if (part == "generation") out.part = render::MaskPart::kGeneration;
  if (inner.has("roles")) out.roles = inner.required_texts("roles");
  if (const json::Value* messages = inner.value("messages")) {
    if (!messages->is_array()) inner.fail("`messages` of `loss_mask` is a list with true or false for each message");
    for (const json::Value& item : messages->is_array() ? messages->as_array() : json::Array()) {
      if (!item.is_bool()) inner.fail("`messages` of `loss_mask` is a list with true or false for each message");
      out.messages.push_back(item.is_bool() && item.as_bool() ? 1 : 0);
    }
  }
  if (Status status = inner.finish(); !status.ok()) fields.fail(status.error());
  return out;
}

// [[begin, end], ...]
std::vector<std::pair<std::size_t, std::size_t>> read_ranges(Fields& fields, std::string_view name) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  const json::Value* found = fields.value(name);
  if (found == nullptr) return out;
  const auto bound = [](const json::Value& value) {
    const std::optional<std::int64_t> number = value.to_int64();
    return number && *number >= 0 ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
  };
  bool fits = found->is_array();
  for (std::size_t i = 0; fits && i < found->as_array().size(); ++i) {
    const json::Value& range = found->as_array()[i];
    fits = range.is_array() && range.as_array().size() == 2 && bound(range.as_array()[0]) && bound(range.as_array()[1]);
    if (fits) out.emplace_back(*bound(range.as_array()[0]), *bound(range.as_array()[1]));
  }
  if (!fits) fields.fail(std::string(name) + " must be an array of ranges [begin, end] of prompt_ids");
  return out;
}

json::Value call_to_json(const chat::ToolCall& call) {
  json::Object out;
  out.set("id", call.id ? json::Value(*call.id) : json::Value());
  out.set("name", call.name);
  out.set("arguments", call.arguments);
  if (call.status != chat::CallStatus::kOk) {
    out.set("status", chat::to_string(call.status));
    out.set("raw", json::Array{call.raw_begin, call.raw_end});
  }
  json::Array problems;
  for (const chat::CallProblem& problem : call.problems)
    problems.push_back(json::Object{
        {"kind", chat::to_string(problem.kind)}, {"parameter", problem.parameter}, {"message", problem.sentence}});
  if (!problems.empty()) out.set("problems", std::move(problems));
  return out;
}

json::Value finding_to_json(const render::LossyFinding& finding) {
  json::Object out{{"what", finding.what}, {"cause", causes::to_string(finding.cause)}};
  if (finding.message >= 0) out.set("message", finding.message);
  if (!finding.place.empty()) out.set("place", finding.place);
  if (finding.line > 0) out.set("line", finding.line);
  if (finding.column > 0) out.set("column", finding.column);
  return out;
}

json::Array findings_to_json(const std::vector<render::LossyFinding>& findings) {
  json::Array out;
  for (const render::LossyFinding& finding : findings) out.push_back(finding_to_json(finding));
  return out;
}

json::Array media_to_json(const std::vector<render::MediaSpan>& media) {
  json::Array out;
  for (const render::MediaSpan& span : media) {
    out.push_back(json::Object{
        {"message", span.message}, {"part", span.part}, {"type", span.type}, {"begin", span.begin}, {"end", span.end}});
  }
  return out;
}

json::Array cuts_to_json(const std::vector<render::Cut>& cuts) {
  json::Array out;
  for (const render::Cut& cut : cuts)
    out.push_back(json::Object{{"begin", cut.begin}, {"end", cut.end}, {"message", cut.message}});
  return out;
}

// What a step did to old and new ids, if anything.
void set_notes(json::Object& reply, const std::vector<std::string>& notes, const std::vector<std::string>& shaped,
               const std::vector<render::MediaSpan>& media) {
  if (!notes.empty()) reply.set("notes", texts_to_json(notes));
  if (!shaped.empty()) reply.set("shaped", texts_to_json(shaped));
  if (!media.empty()) reply.set("media", media_to_json(media));
}

}  // namespace

render::ContentSpecials read_specials(Fields& fields) {
  return fields.choice("content_specials", {"text", "parse"}) == "parse" ? render::ContentSpecials::kParse
                                                                         : render::ContentSpecials::kText;
}

EncodeFields read_encode(Fields& fields) {
  EncodeFields out;
  out.specials = read_specials(fields);
  out.mask = read_mask(fields);
  out.raw_turns = fields.flag("raw_turns", false);
  out.retention = read_retention(fields);
  out.inline_reasoning = fields.flag("inline_reasoning", true);
  return out;
}

Status enter(const EncodeFields& fields, core::Call& call) {
  call.specials = fields.specials;
  call.inline_reasoning = fields.inline_reasoning;
  call.retention = fields.retention;
  if (!fields.raw_turns) return Done{};
  auto taken = render::take_raw_turns(call.conversation.messages);
  if (!taken.ok()) return taken.error();
  call.raw_turns = std::move(taken).value();
  return Done{};
}

ParseFields read_parse(Fields& fields, const std::optional<json::Value>& tools) {
  ParseFields out;
  const core::Asked asked = core::read_asked(fields);
  if (const Status status = core::check_tool_name(asked, tools); !status.ok()) fields.fail(status.error().message);
  out.corrections = read_corrections(fields);
  out.call.by_spelling = true;
  parse::Options& options = out.call.options;
  options = core::parse_options(asked, tools.has_value());
  options.partial = fields.flag("partial", false);
  options.strict = fields.flag("strict", false);
  options.inline_reasoning = fields.choice("reasoning", {"split", "inline"}) == "inline";
  return out;
}

BridgeFields read_bridge(Fields& fields, bool lossy) {
  BridgeFields out;
  out.specials = read_specials(fields);
  out.lossy = fields.flag("lossy", lossy);
  out.corrections = read_corrections(fields);
  out.retention = read_retention(fields).value_or(render::Retention::kAll);
  out.sampled = read_ranges(fields, "sampled");
  return out;
}

const json::Array& sent_messages(const chat::Conversation& conversation) {
  static const json::Array kNone;
  const json::Value* replaced = conversation.kwargs.find("messages");
  if (replaced == nullptr) return conversation.messages;
  return replaced->is_array() ? replaced->as_array() : kNone;
}

json::Object message_to_json(const chat::AssistantMessage& message) {
  json::Array calls;
  for (const chat::ToolCall& call : message.tool_calls) calls.push_back(call_to_json(call));
  json::Object out;
  out.set("content", message.content);
  out.set("reasoning_content", message.reasoning ? json::Value(*message.reasoning) : json::Value());
  out.set("tool_calls", std::move(calls));
  out.set("complete", message.complete);
  if (!message.behind_stop.empty()) out.set("behind_stop", message.behind_stop);
  return out;
}

json::Object bridged_to_json(const render::Bridged& bridged, const BridgeFields& request) {
  const bool may_cut =
      request.retention != render::Retention::kAll && request.retention != render::Retention::kAllThinking;
  json::Object reply{{"appended", bridged.appended}};
  if (may_cut) {
    reply.set("kept", bridged.kept);
    reply.set("cuts", cuts_to_json(bridged.cuts));
  }
  if (may_cut || request.lossy) {
    reply.set("lossy", findings_to_json(bridged.lossy));
    set_notes(reply, bridged.notes, bridged.shaped, bridged.media);
  }
  return reply;
}

json::Object extension_to_json(const render::Extension& extension) {
  json::Object reply{{"begin", extension.begin},
                     {"kept", extension.kept},
                     {"cuts", cuts_to_json(extension.cuts)},
                     {"lossy", findings_to_json(extension.lossy)}};
  set_notes(reply, extension.notes, extension.shaped, extension.media);
  return reply;
}

}  // namespace rondo::protocol
