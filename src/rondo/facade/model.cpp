#include "rondo/model.h"

#include <utility>

#include "base/utf8.h"
#include "core/check.h"
#include "core/model.h"
#include "facade/convert.h"
#include "json/print.h"
#include "report/report.h"

namespace rondo {
namespace {

std::vector<CheckFinding> findings_of(const std::vector<report::Finding>& findings) {
  std::vector<CheckFinding> out;
  for (const report::Finding& from : findings) {
    CheckFinding& finding = out.emplace_back();
    finding.rule = from.rule;
    finding.level = std::string(report::to_string(from.level));
    finding.sentence = from.sentence;
    finding.line = from.place.line;
    finding.column = from.place.column;
    finding.path = from.path;
    finding.lost_tokens = from.lost_tokens;
    for (const report::Remedy& remedy : from.remedies) finding.remedies.push_back(remedy.sentence);
  }
  return out;
}

}  // namespace

Result<Model> Model::load(const std::string& path) { return load(path, path); }

Result<Model> Model::load(const std::string& template_path, const std::string& tokenizer_path) {
  core::Loader loader;
  auto tokenizer = loader.tokenizer(tokenizer_path);
  if (!tokenizer.ok()) return tokenizer.error();
  auto templates = loader.template_from_file(template_path, {});
  if (!templates.ok()) return templates.error();
  return Model(std::make_shared<const core::Model>(
      core::Model::Parts{template_path, templates.value(), tokenizer.value(), {}, false}));
}

Result<std::string> Model::render(const Chat& chat) const {
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  return model_->render(call.value());
}

Result<Shaped> Model::shape(const Chat& chat) const {
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  const auto prepared = model_->prepare(call.value(), core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  chat::Conversation& conversation = call.value().conversation;
  return Shaped{json::to_compact(json::Value(std::move(conversation.messages))),
                conversation.tools ? json::to_compact(*conversation.tools) : "", tmpl::sentences(call.value().shaping)};
}

Result<Encoded> Model::encode(const Chat& chat) const {
  auto call = facade::prompt_call_of(chat);
  if (!call.ok()) return call.error();
  // The raw fields leave the messages before a template can see and print them.
  if (chat.raw_turns) {
    auto turns = render::take_raw_turns(call.value().conversation.messages);
    if (!turns.ok()) return turns.error();
    call.value().raw_turns = std::move(turns).value();
  }
  if (!chat.retention.empty()) {
    call.value().retention = render::retention_of(chat.retention);
    if (!call.value().retention)
      return Error(ErrorCode::kInvalidArgument, "`retention` is not a policy: \"" + chat.retention + "\"");
  }
  auto made = model_->encode(call.value());
  if (!made.ok()) return made.error();
  render::Encoded& from = made.value();
  return Encoded{std::move(from.ids),          std::move(from.message_indices), std::move(from.content_mask),
                 std::move(from.sampled_mask), std::move(from.notes),           std::move(from.shaped)};
}

Result<Bridged> Model::bridge(const Chat& chat, const Bridge& bridge) const {
  auto call = facade::call_of(chat);
  if (!call.ok()) return call.error();
  auto new_messages = facade::messages_of(bridge.new_messages, "new_messages", chat::RoleCheck::kAsGiven);
  if (!new_messages.ok()) return new_messages.error();
  // Only this function knows the names of its arguments, which the error of a wrong id needs.
  const tokenizer::Tokenizer& tokenizer = *model_->tokenizer();
  for (const auto& [ids, name] :
       {std::pair{&bridge.prompt_ids, "prompt_ids"}, {&bridge.completion_ids, "completion_ids"}}) {
    if (Status valid = core::check_ids(tokenizer, *ids, name); !valid.ok()) return valid.error();
  }
  auto made = model_->bridge(call.value(), {.prompt = bridge.prompt_ids,
                                            .completion = bridge.completion_ids,
                                            .new_messages = std::move(new_messages).value(),
                                            .allow_lossy = bridge.allow_lossy});
  if (!made.ok()) return made.error();
  render::Bridged& from = made.value();
  Bridged out{std::move(from.ids), std::move(from.message_indices), from.appended, {}};
  for (render::LossyFinding& finding : from.lossy) out.lossy.push_back(std::move(finding.what));
  return out;
}

Result<Parsed> Model::parse(const Chat& chat, const std::string& text) const {
  auto call = facade::call_of(chat);
  if (!call.ok()) return call.error();
  // A text has no tokens, so only their spelling can show markers.
  auto parser = model_->parser(call.value(), {.by_spelling = true});
  if (!parser.ok()) return parser.error();
  static_cast<void>(parser.value().feed(text));  // only the message is needed here
  const auto message = parser.value().finish();
  if (!message.ok()) return message.error();
  return facade::parsed_of(message.value());
}

Result<Parsed> Model::parse(const Chat& chat, const std::vector<std::int32_t>& ids) const {
  auto call = facade::call_of(chat);
  if (!call.ok()) return call.error();
  const auto parsed = model_->parse_ids(call.value(), {}, ids);
  if (!parsed.ok()) return parsed.error();
  return facade::parsed_of(parsed.value().message);
}

Result<Checked> Model::check(const Chat& chat) const {
  // A check plays conversations of its own.  So only the variables and the time of `chat` have a meaning for it.
  Chat base;
  base.kwargs = chat.kwargs;
  base.now = chat.now;
  auto call = facade::call_of(base);
  if (!call.ok()) return call.error();
  const auto report = core::check(*model_, call.value(), {.model = model_->name(), .has_file = true, .scenarios = {}});
  if (!report.ok()) return report.error();
  const json::Value json = report::to_json(report.value());
  return Checked{std::string(json.find_string("worst").value_or("none")), findings_of(report.value().findings),
                 findings_of(report.value().notes), json::to_compact(json)};
}

Result<std::vector<std::int32_t>> Model::stop_ids() const {
  core::Call call;
  const auto profile = model_->profile(call);
  if (!profile.ok()) return profile.error();
  return profile.value()->stop_ids;
}

Result<std::vector<std::int32_t>> Model::tokenize(const std::string& text) const {
  return model_->tokenize(text, true);
}

Result<std::string> Model::detokenize(const std::vector<std::int32_t>& ids) const {
  auto text = model_->detokenize(ids, false);
  if (!text.ok()) return text.error();
  // Ids may end inside a character.  The text must be valid for callers whose strings are UTF-8.
  return utf8::to_valid(text.value());
}

}  // namespace rondo
