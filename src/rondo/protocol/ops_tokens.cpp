// tokenize, detokenize, encode, stop: token ids.
#include <memory>
#include <string>
#include <utility>

#include "base/utf8.h"
#include "core/roles.h"
#include "protocol/ops.h"
#include "protocol/readers.h"
#include "protocol/reply.h"
#include "render/training.h"

namespace rondo::protocol {
namespace {

// "special", "added" or null for each id.
json::Array kinds(const tokenizer::Tokenizer& tokenizer, const std::vector<tokenizer::TokenId>& ids) {
  json::Array out;
  out.reserve(ids.size());
  for (const tokenizer::TokenId id : ids) {
    if (!tokenizer.is_added(id)) {
      out.emplace_back(nullptr);
    } else {
      out.emplace_back(tokenizer.is_special(id) ? "special" : "added");
    }
  }
  return out;
}

json::Array ranges(const std::vector<std::uint32_t>& begins, const std::vector<std::uint32_t>& ends) {
  json::Array out;
  out.reserve(begins.size());
  for (std::size_t i = 0; i < begins.size(); ++i) {
    out.emplace_back(json::Array{static_cast<std::int64_t>(begins[i]), static_cast<std::int64_t>(ends[i])});
  }
  return out;
}

// The owners' roles, for readers.
json::Array roles(const json::Array& messages) {
  json::Array out;
  for (const json::Value& message : messages) {
    const auto role = message.find_string("role");
    out.emplace_back(role ? json::Value(*role) : json::Value());
  }
  return out;
}

// Where the template's {% generation %} blocks differ from what is sampled.
json::Array generation_rows(const render::Encoded& encoded) {
  json::Array out;
  for (const render::GenerationFinding& finding : render::generation_findings(encoded)) {
    out.emplace_back(json::Object{
        {"ids", json::Array{static_cast<std::int64_t>(finding.ids.begin), static_cast<std::int64_t>(finding.ids.end)}},
        {"message", static_cast<std::int64_t>(finding.message)},
        {"covered", finding.is_covered}});
  }
  return out;
}

json::Array field_rows(const render::Encoded& encoded) {
  json::Array out;
  for (const render::FieldSpan& field : encoded.fields) {
    out.emplace_back(json::Object{
        {"ids", json::Array{static_cast<std::int64_t>(field.ids.begin), static_cast<std::int64_t>(field.ids.end)}},
        {"path", field.path}});
  }
  return out;
}

}  // namespace

Reply op_tokenize(const OpContext& context, Fields& fields) {
  const std::string path = fields.required_text("tokenizer");
  const std::string text = fields.required_text("text");
  tokenizer::EncodeOptions options;
  options.parse_special = fields.flag("parse_special", true);
  options.add_special = fields.flag("add_special", false);
  const bool offsets = fields.flag("offsets", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto loaded = context.models.tokenizer(path);
  if (!loaded.ok()) return loaded.error();
  const tokenizer::Tokenizer& tokenizer = *loaded.value()->tokenizer;
  if (!offsets && !context.options.trace) {
    return json::Value(json::Object{{"ids", numbers_to_json(tokenizer.encode_ids(text, options))}});
  }
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint32_t> begins;
  std::vector<std::uint32_t> ends;
  for (const tokenizer::Piece& piece : tokenizer.encode(text, options)) {
    ids.push_back(piece.id);
    begins.push_back(piece.begin);
    ends.push_back(piece.end);
  }
  json::Object reply{{"ids", numbers_to_json(ids)}};
  if (offsets) reply.set("offsets", ranges(begins, ends));
  if (context.options.trace) reply.set("kinds", kinds(tokenizer, ids));
  return json::Value(std::move(reply));
}

Reply op_detokenize(const OpContext& context, Fields& fields) {
  const std::string path = fields.required_text("tokenizer");
  const std::vector<tokenizer::TokenId> ids = fields.required_ids("ids");
  tokenizer::DecodeOptions options;
  options.skip_special = fields.flag("skip_special", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto loaded = context.models.tokenizer(path);
  if (!loaded.ok()) return loaded.error();
  auto text = loaded.value()->tokenizer->decode(ids, options);
  if (!text.ok()) return text.error();
  return json::Value(json::Object{{"text", utf8::to_valid(text.value())}});
}

Reply op_encode(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kRequired);
  ConversationFields input = read_conversation(fields, {.messages_required = true});
  const EncodeFields asked = read_encode(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  if (Status entered = enter(asked, call); !entered.ok()) return entered.error();

  auto model = context.models.model(template_fields);
  if (!model.ok()) return model.error();
  const json::Array& messages = call.conversation.messages;
  std::shared_ptr<const jinja::Template> checked;  // the template that must know the messages' roles
  if (context.options.refuse_unknown_roles) {
    auto prepared = model.value()->prepare(call, core::TokenizerUse::kRequired);
    if (!prepared.ok()) return prepared.error();
    checked = prepared.value().chat_template;
    Status known = core::check_roles(*checked, messages);
    if (!known.ok()) return known.error();
  }
  auto encoded = model.value()->encode(call);
  if (!encoded.ok()) return encoded.error();
  const render::Encoded& out = encoded.value();
  if (checked) {
    Status written = core::check_all_written(*checked, messages, out.message_indices);
    if (!written.ok()) return written.error();
  }
  json::Object reply{{"ids", numbers_to_json(out.ids)},
                     {"message_indices", numbers_to_json(out.message_indices)},
                     {"content_mask", numbers_to_json(out.content_mask)},
                     {"sampled_mask", numbers_to_json(out.sampled_mask)}};
  if (asked.mask) {
    auto mask = render::loss_mask(out, messages, *asked.mask);
    if (!mask.ok()) return Error(ErrorCode::kInvalidArgument, mask.error().message);
    reply.set("loss_mask", numbers_to_json(mask.value()));
  }
  if (!out.notes.empty()) reply.set("notes", texts_to_json(out.notes));
  if (!out.shaped.empty()) reply.set("shaped", texts_to_json(out.shaped));
  if (context.options.trace) {
    reply.set("text", out.text);
    reply.set("fields", field_rows(out));
    reply.set("generation", generation_rows(out));
    reply.set("offsets", ranges(out.begins, out.ends));
    reply.set("straddles", numbers_to_json(out.straddles));
    reply.set("kinds", kinds(*model.value()->tokenizer(), out.ids));
    reply.set("roles", roles(messages));
  }
  return json::Value(std::move(reply));
}

Reply op_stop(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kRequired);
  ConversationFields input = read_conversation(fields, {.add_generation_prompt = true});
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto model = context.models.model(template_fields);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  const auto profile = model.value()->profile(call);
  if (!profile.ok()) return profile.error();
  return json::Value(json::Object{{"stop_ids", numbers_to_json(profile.value()->stop_ids)},
                                  {"stop_strings", texts_to_json(profile.value()->stop_strings)}});
}

}  // namespace rondo::protocol
