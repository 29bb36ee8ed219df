#include "session/session.h"

#include <algorithm>
#include <utility>

#include "causes/find.h"
#include "causes/places.h"
#include "render/join.h"

namespace rondo::session {
namespace {

constexpr std::size_t kShownTokens = 12;

std::string decode_some(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  const Result<std::string> text = tokenizer.decode(ids.first(std::min(ids.size(), kShownTokens)), {});
  return text.ok() ? text.value() : "";
}

}  // namespace

Result<Session> Session::start(std::shared_ptr<const render::RolloutModel> model, engine::Engine& engine,
                               json::Array messages, const SessionOptions& options) {
  auto rollout = render::Rollout::start(std::move(model), std::move(messages));
  if (!rollout.ok()) return rollout.error();
  return Session(std::move(rollout).value(), engine, options);
}

Result<Turn> Session::step(engine::GenerateOptions generate) {
  if (rollout_.has_spoken())
    return Error(ErrorCode::kInvalidArgument, "the model has spoken: add messages before its next turn");
  const render::TurnProfile& profile = rollout_.model().profile();
  Turn turn;
  turn.prompt_tokens = ids().size();
  Result<engine::PromptReport> report = engine_->prompt(ids(), generate.cancel);
  if (!report.ok()) return report.error();
  turn.prompt = std::move(report).value();
  if (generate.stop_ids.empty()) generate.stop_ids = profile.stop_ids;
  Result<engine::Generation> sampled = engine_->generate(generate);
  if (!sampled.ok()) return sampled.error();

  const std::vector<TokenId>& completion = sampled.value().ids;
  const auto said = rollout_.complete(completion);
  if (!said.ok()) return said.error();
  turn.said = said.value()->message;
  turn.stop = sampled.value().stop;
  turn.truncated = completion.empty() || !profile.is_stop(completion.back());
  turn.message = messages().size();
  turn.sampled_begin = turn.prompt_tokens;
  turn.sampled_end = ids().size();
  turn.notes = std::exchange(notes_, {});
  turn.lossy = std::exchange(lossy_, {});
  turn.rerender = std::exchange(rerender_, std::nullopt);
  turns_.push_back(turn);
  return turn;
}

// Why the engine's ids `seen` and the re-render `again` differ after `kept` ids.
Break Session::find_break(std::span<const TokenId> seen, std::size_t kept, const jinja::Rendered& again,
                          std::span<const tokenizer::Piece> pieces, std::size_t new_messages) const {
  const render::RolloutModel& model = rollout_.model();
  const render::TurnContext& context = model.context();
  const std::size_t byte = kept < pieces.size() ? pieces[kept].begin : again.text.size();
  Break out;
  out.kept_tokens = kept;
  out.kept = decode_some(context.tokenizer, seen.subspan(kept));
  out.rerendered = again.text.bytes().substr(byte, std::max<std::size_t>(out.kept.size(), 24));
  out.place = causes::describe_origin(again, byte);
  const Turn& turn = turns_.back();
  const std::span<const TokenId> sampled = seen.subspan(turn.sampled_begin);
  const Result<std::string> completion =
      render::text_behind(context.tokenizer, seen.first(turn.sampled_begin), sampled);
  if (!completion.ok()) return out;
  const bool stops = !sampled.empty() && model.profile().is_stop(sampled.back());
  const std::size_t stop_size = stops ? context.tokenizer.token_bytes(sampled.back()).size() : 0;
  std::optional<probe::Extent> parted;
  if (kept < pieces.size()) parted = causes::parted_tokens(context.tokenizer, seen[kept], pieces[kept]);
  const std::span<const json::Value> all = messages();
  auto found = causes::find_cause(causes::Exchange{.chat_template = context.chat_template,
                                                   .base = context.base,
                                                   .options = context.options,
                                                   .format = model.parts().format,
                                                   .before = all.first(all.size() - new_messages - 1),
                                                   .completion = completion.value(),
                                                   .stop_size = std::min(stop_size, completion.value().size()),
                                                   .after = all,
                                                   .again = again,
                                                   .parted_tokens = parted});
  if (found.ok()) out.cause = std::move(found).value().cause;
  return out;
}

Result<Rerender> Session::render_again(std::size_t known, std::size_t new_messages) {
  const render::TurnContext& context = rollout_.model().context();
  Result<jinja::Rendered> rendered = render::render_messages(context, messages(), true);
  if (!rendered.ok()) return rendered.error();
  const std::vector<tokenizer::Piece> pieces = render::encode_range(
      context, rendered.value(), 0, rendered.value().text.size(), rollout_.model().parts().specials);
  Rerender out;
  out.ids = render::ids_of(pieces);
  const std::span<const TokenId> seen = ids().first(known);
  out.reusable = static_cast<std::size_t>(std::ranges::mismatch(seen, out.ids).in1 - seen.begin());
  if (out.reusable < known) {
    // A break stays where it is for the rest of the conversation.  Its cause shows only in the render that caused it.
    const bool is_known = broken_ && broken_->kept_tokens == out.reusable;
    out.broken = is_known ? *broken_ : find_break(seen, out.reusable, rendered.value(), pieces, new_messages);
  }
  broken_ = out.broken;
  return out;
}

// What the visible messages would have cost.  The last `new_messages` of them were just added after the model's turn.
void Session::compare_with_rerender(std::size_t known, std::size_t new_messages) {
  // If the template refuses the visible messages, the client has no prompt at all and can reuse nothing.
  Result<Rerender> again = render_again(known, new_messages);
  if (again.ok()) {
    rerender_ = std::move(again).value();
    return;
  }
  causes::Cause& cause = rerender_.emplace().broken.emplace().cause;
  cause.kind = causes::CauseKind::kRefused;
  cause.sentence = "the template refuses the messages: " + again.error().message;
  cause.place = causes::place_of(rollout_.model().context().chat_template, again.error());
}

Status Session::add(json::Array new_messages) {
  const std::size_t known = ids().size();
  const std::size_t count = new_messages.size();
  auto extended = rollout_.extend(std::move(new_messages));
  if (!extended.ok()) return extended.error();
  notes_ = std::move(extended.value().notes);
  lossy_ = std::move(extended.value().lossy);
  if (options_.compare) compare_with_rerender(known, count);
  return Done{};
}

}  // namespace rondo::session
