// edge_export, edge_import, edge_validate, edge_format: Edge JSON (docs/edge.md).
#include <string>
#include <utility>

#include "base/files.h"
#include "core/edge.h"
#include "edge/requests.h"
#include "edge/to_jinja.h"
#include "json/print.h"
#include "protocol/ops.h"
#include "protocol/reply.h"

namespace rondo::protocol {
namespace {

// An Edge template as a request names it: a file, or the object itself.
struct EdgeSource {
  std::optional<std::string> file;
  std::optional<std::string> text;
  const json::Value* object = nullptr;
};

EdgeSource read_edge(Fields& fields) {
  EdgeSource out;
  out.file = fields.text("file");
  out.text = fields.text("text");
  out.object = fields.value("edge");
  const int given = (out.file ? 1 : 0) + (out.text ? 1 : 0) + (out.object != nullptr ? 1 : 0);
  if (given != 1) fields.fail("exactly one of the fields `file`, `text` and `edge` must be given");
  return out;
}

Result<std::string> text_of(const EdgeSource& source) {
  if (source.file) return edge::read_file(*source.file);
  return source.text ? *source.text : json::to_pretty(*source.object);
}

std::string name_of(const EdgeSource& source) { return source.file.value_or(source.text ? "text" : "edge"); }

Result<edge::EdgeTemplate> load_edge(const EdgeSource& source) {
  auto text = text_of(source);
  if (!text.ok()) return text.error();
  return edge::parse(text.value(), name_of(source));
}

// A model whose template was made in advance.  Nothing is taken from the model itself.
json::Value prebuilt_reply(const edge::Prebuilt& prebuilt, std::optional<edge::Exported> compared,
                           const std::string& why_not) {
  edge::Exported out;
  if (compared) {
    out = *std::move(compared);
  } else {
    out.edge_template = prebuilt.edge_template;
    out.loses.push_back("the model's own template could not be compared: " + why_not);
  }
  json::Value reply = edge::to_json(out);
  reply.as_object().set("prebuilt", json::Object{{"name", prebuilt.name}, {"reason", prebuilt.reason}});
  return reply;
}

}  // namespace

Reply op_edge_export(const OpContext& context, Fields& fields) {
  const TemplateFields chat_template = read_template(fields, core::TokenizerUse::kOptional);
  ConversationFields base;
  base.conversation.kwargs = fields.object("kwargs");
  base.conversation.bos_token = fields.text("bos_token");
  base.conversation.eos_token = fields.text("eos_token");
  const std::string file = chat_template.file.value_or("");
  const std::string model_path = fields.text("model_path").value_or(file);
  const bool may_be_prebuilt = fields.flag("prebuilt", true);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  const edge::Prebuilt* prebuilt = may_be_prebuilt && !file.empty() ? core::prebuilt_edge(file) : nullptr;
  auto model = context.models.model(chat_template);
  if (!model.ok()) {
    if (prebuilt == nullptr) return model.error();
    return prebuilt_reply(*prebuilt, std::nullopt, model.error().message);
  }
  core::Call call = context.models.call(chat_template, std::move(base));
  if (prebuilt != nullptr) {
    auto compared = core::compare_edge(*model.value(), call, prebuilt->edge_template);
    if (!compared.ok()) return prebuilt_reply(*prebuilt, std::nullopt, compared.error().message);
    return prebuilt_reply(*prebuilt, std::move(compared).value(), "");
  }
  const auto exported = core::export_edge(*model.value(), call, model_path);
  if (!exported.ok()) return exported.error();
  return edge::to_json(exported.value());
}

Reply op_edge_import(const OpContext& /*context*/, Fields& fields) {
  const EdgeSource source = read_edge(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  const auto loaded = load_edge(source);
  if (!loaded.ok()) return loaded.error();
  return json::Value(json::Object{{"template", edge::to_jinja(loaded.value())}});
}

Reply op_edge_validate(const OpContext& /*context*/, Fields& fields) {
  const EdgeSource source = read_edge(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto text = text_of(source);
  if (!text.ok()) return text.error();
  const edge::Validated validated = edge::validate(text.value());
  json::Array findings;
  for (const edge::Finding& finding : validated.findings) findings.push_back(edge::to_json(finding));
  json::Object out{{"valid", validated.edge_template.has_value()}};
  out.set("findings", std::move(findings));
  if (validated.edge_template) out.set("template", edge::to_json(*validated.edge_template));
  return json::Value(std::move(out));
}

Reply op_edge_format(const OpContext& /*context*/, Fields& fields) {
  const EdgeSource source = read_edge(fields);
  fields.require("requests");
  const json::Value* requests = fields.value("requests");
  if (Status status = fields.finish(); !status.ok()) return status.error();
  const auto loaded = load_edge(source);
  if (!loaded.ok()) return loaded.error();
  const auto file = edge::read_requests(*requests);
  if (!file.ok()) return file.error();
  const auto formatted = edge::format_all(loaded.value(), file.value());
  if (!formatted.ok()) return formatted.error();
  json::Array results;
  for (const edge::Formatted& one : formatted.value()) results.push_back(edge::to_json(one));
  json::Object out;
  out.set("results", std::move(results));
  if (!file.value().remarks.empty()) out.set("remarks", texts_to_json(file.value().remarks));
  return json::Value(std::move(out));
}

}  // namespace rondo::protocol
