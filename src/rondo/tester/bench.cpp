#include "tester/bench.h"

#include <utility>

#include "audit/sample.h"
#include "base/utf8.h"
#include "grammar/matcher.h"
#include "render/bridge.h"
#include "render/completion.h"
#include "render/join.h"
#include "render/turn.h"

namespace rondo::tester {
namespace {

using tokenizer::TokenId;

// Whether the appended text is what a re-render writes after the turn of message `index`.  The end of that turn may
// differ: the bridge closes what was sampled, and the template closes what was kept.
bool agree(const jinja::Rendered& again, std::size_t index, const std::string& appended) {
  const std::string& text = again.text.bytes();
  if (text.ends_with(appended)) return true;
  const auto data = render::data_extent(again, static_cast<std::int32_t>(index) + 1);
  return data && appended.ends_with(std::string_view(text).substr(data->begin));
}

}  // namespace

Result<Bench> Bench::make(std::shared_ptr<const core::Model> model, const Case& test) {
  if (model->tokenizer() != nullptr) return Bench(std::move(model), true, test.asked);
  auto stand_in = model->with_stand_in(test.call);
  if (!stand_in.ok()) return stand_in.error();
  return Bench(std::move(stand_in).value(), false, test.asked);
}

Result<Rendering> Bench::render(core::Call call) const {
  auto prepared = model_->prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto prompt = model_->prompt(prepared.value(), call.conversation, prepared.value().options);
  if (!prompt.ok()) return prompt.error();
  return Rendering{std::move(call), std::move(prepared).value(), std::move(prompt.value().rendered)};
}

Result<Turn> Bench::written(core::Call call, const json::Value& message) const {
  call.conversation.add_generation_prompt = true;
  call.conversation.continue_final_message.reset();
  const auto before = render(call);
  if (!before.ok()) return before.error();
  const auto format = model_->format(call);
  if (!format.ok()) return format.error();
  const auto profile = model_->profile(call);
  if (!profile.ok()) return profile.error();
  const Rendering& prompt = before.value();
  const chat::Conversation base = core::without_messages(prompt.call.conversation);
  const audit::AuditContext context{*prompt.prepared.chat_template,
                                    *prompt.prepared.tokenizer,
                                    has_tokenizer_,
                                    format.value(),
                                    *profile.value(),
                                    base,
                                    prompt.prepared.options};
  audit::Sample sample = audit::sample(context, prompt.call.conversation.messages, prompt.rendered, message);
  if (!sample.sampled) return Error(ErrorCode::kUnsupported, sample.why_not);
  return Turn{std::move(call), std::move(sample.sampled->text)};
}

Result<parse::Parser> Bench::parser(const Turn& turn) const {
  core::Call call = turn.call;
  core::ParseCall options;
  options.by_spelling = true;
  options.options = core::parse_options(asked_, call.conversation.tools.has_value());
  return model_->parser(call, options);
}

Result<Crossing> Bench::cross(const Turn& turn, json::Array new_messages) const {
  core::Call call = turn.call;
  const auto prompt = model_->encode(call);
  if (!prompt.ok()) return prompt.error();
  const tokenizer::Tokenizer& tokenizer = *model_->tokenizer();
  const std::vector<TokenId> completion =
      render::ids_of(render::encode_behind(tokenizer, prompt.value().ids, turn.text, nullptr));
  auto bridged =
      model_->bridge(call, {.prompt = prompt.value().ids, .completion = completion, .new_messages = new_messages});
  if (!bridged.ok()) return bridged.error();
  Crossing out;
  out.appended = std::move(bridged.value().appended_text);
  out.bridged = prompt.value().text + turn.text + out.appended;
  for (render::LossyFinding& finding : bridged.value().lossy) out.lossy.push_back(std::move(finding.what));

  // The conversation as a client keeps it.
  const auto format = model_->format(call);
  const auto profile = model_->profile(call);
  if (!format.ok() || !profile.ok()) return format.ok() ? profile.error() : format.error();
  const auto said = render::interpret(format.value(), tokenizer, *profile.value(), call.conversation.tools,
                                      prompt.value().ids, completion);
  if (!said.ok()) return said.error();
  core::Call next = turn.call;
  json::Array& messages = next.conversation.messages;
  const std::size_t index = messages.size();
  messages.push_back(render::history_message(said.value(), new_messages));
  messages.insert(messages.end(), new_messages.begin(), new_messages.end());
  next.conversation.add_generation_prompt = true;
  next.conversation.continue_final_message.reset();
  auto again = render(std::move(next));
  if (!again.ok()) return again.error();
  out.agrees = agree(again.value().rendered, index, out.appended);
  out.again = std::move(again).value();
  return out;
}

Result<std::optional<std::size_t>> Bench::refused_at(const Turn& turn, std::string_view text, bool& is_bound) const {
  core::Call call = turn.call;
  const auto made = model_->turn_grammar(call, asked_);
  if (!made.ok()) return made.error();
  is_bound = made.value().is_needed;
  std::optional<std::size_t> none;
  if (!is_bound) return none;
  grammar::Matcher matcher(made.value().grammar);
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!next.valid || !matcher.feed(next.code_point)) return std::optional(at);
    at += next.size;
  }
  if (matcher.gave_up()) return Error(ErrorCode::kLimit, "the grammar is too ambiguous to be matched with a text");
  return matcher.is_complete() ? none : std::optional(text.size());
}

}  // namespace rondo::tester
