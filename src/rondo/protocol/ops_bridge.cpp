// bridge: the next prompt, made of the old ids and only the new turn.
#include <utility>
#include <vector>

#include "protocol/ops.h"
#include "protocol/readers.h"
#include "protocol/reply.h"

namespace rondo::protocol {
namespace {

struct BridgeRequest {
  TemplateFields chat_template;
  ConversationFields input;
  std::vector<tokenizer::TokenId> prompt_ids;
  std::vector<tokenizer::TokenId> completion_ids;
  json::Array new_messages;
  BridgeFields fields;
};

BridgeRequest read_bridge_request(Fields& fields) {
  BridgeRequest out;
  out.chat_template = read_template(fields, core::TokenizerUse::kRequired);
  out.input = read_conversation(fields, {});
  out.prompt_ids = fields.required_ids("prompt_ids");
  out.completion_ids = fields.required_ids("completion_ids");
  fields.require("new_messages");
  out.new_messages = fields.objects("new_messages").value_or(json::Array{});
  out.fields = read_bridge(fields, false);
  return out;
}

}  // namespace

Reply op_bridge(const OpContext& context, Fields& fields) {
  BridgeRequest request = read_bridge_request(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto model = context.models.model(request.chat_template, request.fields.corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(request.chat_template, std::move(request.input));
  call.specials = request.fields.specials;
  const auto bridged = model.value()->bridge(call, {.prompt = request.prompt_ids,
                                                    .completion = request.completion_ids,
                                                    .new_messages = std::move(request.new_messages),
                                                    .allow_lossy = request.fields.lossy,
                                                    .retention = request.fields.retention,
                                                    .sampled = request.fields.sampled});
  if (!bridged.ok()) return bridged.error();
  json::Object reply{{"ids", numbers_to_json(bridged.value().ids)},
                     {"message_indices", numbers_to_json(bridged.value().message_indices)}};
  for (const json::Member& member : bridged_to_json(bridged.value(), request.fields))
    reply.set(member.key, member.value);
  return json::Value(std::move(reply));
}

}  // namespace rondo::protocol
