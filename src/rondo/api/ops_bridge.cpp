// bridge: the next prompt as the old ids plus only the new turn.
#include <span>
#include <string>
#include <utility>

#include "api/formats.h"
#include "api/ops.h"
#include "api/profile.h"
#include "api/reply.h"
#include "render/bridge.h"
#include "render/completion.h"

namespace rondo::api {
namespace {

struct BridgeFields {
  TemplateFields chat_template;
  ConversationFields input;
  std::vector<tokenizer::TokenId> prompt_ids;
  std::vector<tokenizer::TokenId> completion_ids;
  json::Array new_messages;
  std::optional<json::Object> corrections;
  render::ContentSpecials specials = render::ContentSpecials::kText;
  bool lossy = false;
};

BridgeFields read_bridge(Fields& fields) {
  BridgeFields out;
  out.chat_template = read_template(fields, TokenizerUse::kRequired);
  out.input = read_conversation(fields, {.add_generation_prompt = true});
  out.prompt_ids = fields.required_ids("prompt_ids");
  out.completion_ids = fields.required_ids("completion_ids");
  fields.require("new_messages");
  out.new_messages = fields.objects("new_messages").value_or(json::Array{});
  if (fields.choice("content_specials", {"text", "parse"}) == "parse") out.specials = render::ContentSpecials::kParse;
  out.lossy = fields.flag("lossy", false);
  out.corrections = read_corrections(fields);
  return out;
}

json::Value finding_to_json(const render::LossyFinding& finding) {
  json::Object out{{"what", finding.what}};
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

Error refusal(const render::LossyFinding& finding) {
  Error error;
  error.code = ErrorCode::kCannotBridge;
  error.message = finding.what;
  error.line = finding.line;
  error.column = finding.column;
  return error;
}

Result<render::Bridged> bridge(const OpContext& context, BridgeFields& request) {
  chat::Conversation& conversation = request.input.conversation;
  auto prepared = prepare(context.cache, request.chat_template, conversation, context.clock);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  auto profile = turn_profile(context.profiles, use, conversation);
  if (!profile.ok()) return profile.error();
  auto format = inferred_format(context.formats, use, conversation, request.corrections);
  if (!format.ok()) return format.error();
  auto completion = render::interpret(format.value(), *use.tokenizer, *profile.value(), conversation.tools,
                                      request.prompt_ids, request.completion_ids);
  if (!completion.ok()) return completion.error();

  render::BridgeRequest bridge;
  bridge.prompt_ids = request.prompt_ids;
  bridge.completion_ids = request.completion_ids;
  bridge.completion = &completion.value();
  if (request.input.has_messages) bridge.messages = std::span<const json::Value>(conversation.messages);
  bridge.new_messages = request.new_messages;
  bridge.specials = request.specials;
  const render::TurnContext turn{*use.chat_template, *use.tokenizer, conversation, use.options};
  return render::bridge(turn, *profile.value(), bridge);
}

}  // namespace

Reply op_bridge(const OpContext& context, Fields& fields) {
  BridgeFields request = read_bridge(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto bridged = bridge(context, request);
  if (!bridged.ok()) return bridged.error();
  const render::Bridged& done = bridged.value();
  if (!request.lossy && !done.lossy.empty()) return refusal(done.lossy.front());
  json::Object reply{{"ids", numbers_to_json(done.ids)},
                     {"message_indices", numbers_to_json(done.message_indices)},
                     {"appended", done.appended}};
  if (request.lossy) {
    reply.set("lossy", findings_to_json(done.lossy));
    if (!done.notes.empty()) reply.set("notes", json::Array(done.notes.begin(), done.notes.end()));
    if (!done.media.empty()) reply.set("media", media_to_json(done.media));
  }
  return json::Value(std::move(reply));
}

}  // namespace rondo::api
