#include "core/edge.h"

#include <utility>

#include "base/files.h"
#include "json/parse.h"

namespace rondo::core {
namespace {

// Keeps the template alive that `source` borrows.
struct Borrowed {
  Prepared prepared;
  edge::JinjaSource source;
};

Result<Borrowed> source_of(const Model& model, Call& call) {
  auto rules = model.shaping_rules(call);
  if (!rules.ok()) return rules.error();
  auto prepared = model.prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  const jinja::Template& chat_template = *prepared.value().chat_template;
  chat::Conversation base = without_messages(call.conversation);
  tmpl::ApplyOptions options = prepared.value().options;
  return Borrowed{std::move(prepared).value(), {chat_template, std::move(base), *rules.value(), options}};
}

}  // namespace

Result<edge::Exported> export_edge(const Model& model, Call& call, const std::string& model_path) {
  auto borrowed = source_of(model, call);
  if (!borrowed.ok()) return borrowed.error();
  return edge::export_template(borrowed.value().source, model_path);
}

Result<edge::Exported> compare_edge(const Model& model, Call& call, edge::EdgeTemplate edge_template) {
  auto borrowed = source_of(model, call);
  if (!borrowed.ok()) return borrowed.error();
  return edge::compare(borrowed.value().source, std::move(edge_template));
}

const edge::Prebuilt* prebuilt_edge(const std::string& folder) {
  const auto text = files::read(files::join(folder, "config.json"));
  if (!text.ok()) return nullptr;
  const auto config = json::parse(text.value());
  if (!config.ok()) return nullptr;
  return edge::find_prebuilt(config.value().find_string("model_type").value_or(""));
}

}  // namespace rondo::core
