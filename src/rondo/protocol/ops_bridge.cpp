// bridge: the next prompt as the old ids plus only the new turn.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/ops.h"
#include "protocol/reply.h"
#include "render/bridge.h"
#include "render/completion.h"
#include "render/retention.h"

namespace rondo::protocol {
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
  render::Retention retention = render::Retention::kAll;
  std::vector<std::pair<std::size_t, std::size_t>> sampled;  // of prompt_ids, one range for each sampled turn
};

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

BridgeFields read_bridge(Fields& fields) {
  BridgeFields out;
  out.chat_template = read_template(fields, core::TokenizerUse::kRequired);
  out.input = read_conversation(fields, {});
  out.prompt_ids = fields.required_ids("prompt_ids");
  out.completion_ids = fields.required_ids("completion_ids");
  fields.require("new_messages");
  out.new_messages = fields.objects("new_messages").value_or(json::Array{});
  if (fields.choice("content_specials", {"text", "parse"}) == "parse") out.specials = render::ContentSpecials::kParse;
  out.lossy = fields.flag("lossy", false);
  out.corrections = read_corrections(fields);
  out.retention = read_retention(fields).value_or(render::Retention::kAll);
  out.sampled = read_ranges(fields, "sampled");
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
  return Error(ErrorCode::kCannotBridge, finding.what).at(finding.line, finding.column);
}

Result<render::Bridged> bridge(const OpContext& context, BridgeFields& request) {
  auto model = context.models.model(request.chat_template, request.corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(request.chat_template, std::move(request.input));
  call.specials = request.specials;
  return model.value()->bridge(call, {.prompt = request.prompt_ids,
                                      .completion = request.completion_ids,
                                      .new_messages = std::move(request.new_messages),
                                      .retention = request.retention,
                                      .sampled = std::move(request.sampled)});
}

json::Array cuts_to_json(const std::vector<render::Cut>& cuts) {
  json::Array out;
  for (const render::Cut& cut : cuts)
    out.push_back(json::Object{{"begin", cut.begin}, {"end", cut.end}, {"message", cut.message}});
  return out;
}

}  // namespace

Reply op_bridge(const OpContext& context, Fields& fields) {
  BridgeFields request = read_bridge(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  const bool may_cut =
      request.retention != render::Retention::kAll && request.retention != render::Retention::kAllThinking;
  auto bridged = bridge(context, request);
  if (!bridged.ok()) return bridged.error();
  const render::Bridged& done = bridged.value();
  if (!may_cut && !request.lossy && !done.lossy.empty()) return refusal(done.lossy.front());
  json::Object reply{{"ids", numbers_to_json(done.ids)},
                     {"message_indices", numbers_to_json(done.message_indices)},
                     {"appended", done.appended}};
  if (may_cut) {
    reply.set("kept", done.kept);
    reply.set("cuts", cuts_to_json(done.cuts));
  }
  if (may_cut || request.lossy) {
    reply.set("lossy", findings_to_json(done.lossy));
    if (!done.notes.empty()) reply.set("notes", texts_to_json(done.notes));
    if (!done.shaped.empty()) reply.set("shaped", texts_to_json(done.shaped));
    if (!done.media.empty()) reply.set("media", media_to_json(done.media));
  }
  return json::Value(std::move(reply));
}

}  // namespace rondo::protocol
