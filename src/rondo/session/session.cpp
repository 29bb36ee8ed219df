#include "session/session.h"

#include <algorithm>
#include <utility>

#include "render/join.h"

namespace rondo::session {
namespace {

// Two token lists can differ and still spell the same text, at least over the tokens where they part; then no template
// line is to blame.
void explain_tokenization(const render::TurnContext& context, std::span<const TokenId> known,
                          const jinja::Rendered& rendered, std::span<const tokenizer::Piece> parted,
                          render::Break& broken) {
  const Result<std::string> text = context.tokenizer.decode(known, {});
  const Result<std::string> through = context.tokenizer.decode(known.first(broken.kept_tokens + 1), {});
  if (parted.empty() || !text.ok() || !through.ok()) return;
  const std::string& again = rendered.text.bytes();
  const auto same = static_cast<std::size_t>(
      std::mismatch(text.value().begin(), text.value().end(), again.begin(), again.end()).first - text.value().begin());
  if (same < through.value().size() || same < parted.front().end) return;
  broken.line = 0;
  broken.column = 0;
  broken.cause = "the same text, in other tokens than the model sampled";
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

Result<Rerender> Session::render_again(std::size_t known) {
  const render::TurnContext& context = rollout_.model().context();
  Result<jinja::Rendered> rendered = render::render_messages(context, messages(), true);
  if (!rendered.ok()) return rendered.error();
  const std::vector<tokenizer::Piece> pieces = render::encode_range(
      context, rendered.value(), 0, rendered.value().text.size(), rollout_.model().parts().specials);
  Rerender out;
  out.ids = render::ids_of(pieces);
  const std::span<const TokenId> seen = ids().first(known);
  out.broken = render::find_break(context, seen, rendered.value(), pieces, before_ ? &*before_ : nullptr);
  out.reusable = out.broken ? out.broken->kept_tokens : known;
  if (out.broken) {
    const std::size_t at = out.broken->kept_tokens;
    explain_tokenization(context, seen, rendered.value(), std::span(pieces).subspan(at), *out.broken);
    // A break stays where it is for the rest of the conversation; its cause is seen only in the render it came with.
    if (broken_ && broken_->kept_tokens == at && broken_->message == out.broken->message) out.broken = broken_;
  }
  broken_ = out.broken;
  return out;
}

// What the last `new_messages` change is seen against the render without them; both ask for a turn of the model, so that the
// generation prompt's condition is no change.
void Session::compare_with_rerender(std::size_t known, std::size_t new_messages) {
  const json::Array earlier(messages().begin(), messages().end() - static_cast<std::ptrdiff_t>(new_messages));
  Result<jinja::Rendered> before = render::render_messages(rollout_.model().context(), earlier, true);
  before_ = before.ok() ? std::optional(std::move(before).value()) : std::nullopt;
  // A template that refuses the visible messages leaves the client without any prompt: nothing can be reused.
  Result<Rerender> again = render_again(known);
  if (again.ok()) {
    rerender_ = std::move(again).value();
  } else {
    rerender_.emplace().broken.emplace();
    rerender_->broken->cause = "the template refuses the messages: " + again.error().message;
    rerender_->broken->line = again.error().line;
  }
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
