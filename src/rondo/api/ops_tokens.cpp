// tokenize, detokenize, encode, stop: token ids.
#include <string>
#include <utility>

#include "api/ops.h"
#include "api/profile.h"
#include "api/reply.h"
#include "base/utf8.h"
#include "render/encode.h"

namespace rondo::api {

Reply op_tokenize(const OpContext& context, Fields& fields) {
  const std::string path = fields.required_text("tokenizer");
  const std::string text = fields.required_text("text");
  tokenizer::EncodeOptions options;
  options.parse_special = fields.flag("parse_special", true);
  options.add_special = fields.flag("add_special", false);
  const bool offsets = fields.flag("offsets", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto loaded = context.cache.tokenizer(path);
  if (!loaded.ok()) return loaded.error();
  json::Array ids;
  json::Array ranges;
  for (const tokenizer::Piece& piece : loaded.value()->tokenizer->encode(text, options)) {
    ids.emplace_back(static_cast<std::int64_t>(piece.id));
    if (!offsets) continue;
    ranges.emplace_back(json::Array{static_cast<std::int64_t>(piece.begin), static_cast<std::int64_t>(piece.end)});
  }
  json::Object reply{{"ids", std::move(ids)}};
  if (offsets) reply.set("offsets", std::move(ranges));
  return json::Value(std::move(reply));
}

Reply op_detokenize(const OpContext& context, Fields& fields) {
  const std::string path = fields.required_text("tokenizer");
  const std::vector<tokenizer::TokenId> ids = fields.required_ids("ids");
  tokenizer::DecodeOptions options;
  options.skip_special = fields.flag("skip_special", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto loaded = context.cache.tokenizer(path);
  if (!loaded.ok()) return loaded.error();
  auto text = loaded.value()->tokenizer->decode(ids, options);
  if (!text.ok()) return text.error();
  return json::Value(json::Object{{"text", utf8::to_valid(text.value())}});
}

Reply op_encode(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, TokenizerUse::kRequired);
  chat::Conversation conversation = read_conversation(fields, {.messages_required = true}).conversation;
  const bool parse_specials = fields.choice("content_specials", {"text", "parse"}) == "parse";
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto prepared = prepare(context.cache, template_fields, conversation, context.clock);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  auto encoded = render::encode(*use.chat_template, *use.tokenizer, conversation, use.options,
                                parse_specials ? render::ContentSpecials::kParse : render::ContentSpecials::kText);
  if (!encoded.ok()) return encoded.error();
  return json::Value(json::Object{{"ids", numbers_to_json(encoded.value().ids)},
                                  {"message_indices", numbers_to_json(encoded.value().message_indices)},
                                  {"content_mask", numbers_to_json(encoded.value().content_mask)},
                                  {"sampled_mask", numbers_to_json(encoded.value().sampled_mask)}});
}

Reply op_stop(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, TokenizerUse::kRequired);
  chat::Conversation conversation = read_conversation(fields, {.add_generation_prompt = true}).conversation;
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto prepared = prepare(context.cache, template_fields, conversation, context.clock);
  if (!prepared.ok()) return prepared.error();
  auto profile = turn_profile(context.profiles, prepared.value(), conversation);
  if (!profile.ok()) return profile.error();
  return json::Value(json::Object{{"stop_ids", numbers_to_json(profile.value()->stop_ids)},
                                  {"stop_strings", texts_to_json(profile.value()->stop_strings)}});
}

}  // namespace rondo::api
