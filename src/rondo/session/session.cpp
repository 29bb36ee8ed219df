#include "session/session.h"

#include <algorithm>
#include <utility>

#include "render/join.h"

namespace rondo::session {
namespace {

// Two token lists can differ and still spell the same text, at least over the tokens where they part; then no template
// line is to blame.
void explain_tokenization(const render::TurnContext& context, std::span<const TokenId> known,
                          const jinja::Rendered& rendered, const tokenizer::Piece* piece, render::Break& broken) {
  if (piece == nullptr) return;
  const Result<std::string> text = context.tokenizer.decode(known, {});
  const Result<std::string> through = context.tokenizer.decode(known.first(broken.kept_tokens + 1), {});
  if (!text.ok() || !through.ok()) return;
  const std::string& again = rendered.text.bytes();
  const auto same = static_cast<std::size_t>(
      std::mismatch(text.value().begin(), text.value().end(), again.begin(), again.end()).first - text.value().begin());
  if (same < through.value().size() || same < piece->end) return;
  broken.line = 0;
  broken.column = 0;
  broken.cause = "the same text, in other tokens than the model sampled";
}

}  // namespace

Session::Session(const Parts& parts, chat::Conversation conversation, SessionOptions options)
    : parts_(parts),
      base_(std::move(conversation)),
      options_(std::move(options)),
      context_{parts_.chat_template, parts_.tokenizer, base_, options_.apply},
      profile_(render::probe_turns(context_)),
      messages_(base_.messages) {}

Result<std::unique_ptr<Session>> Session::start(const Parts& parts, chat::Conversation conversation,
                                                SessionOptions options) {
  conversation.add_generation_prompt = true;
  std::unique_ptr<Session> session(new Session(parts, std::move(conversation), std::move(options)));
  Result<jinja::Rendered> first = render::render_messages(session->context_, session->messages_, true);
  if (!first.ok()) return first.error();
  const std::size_t size = first.value().text.size();
  session->ids_ =
      render::ids_of(render::encode_range(session->context_, first.value(), 0, size, session->options_.specials));
  return session;
}

Result<Turn> Session::step(engine::GenerateOptions generate) {
  if (spoken_) return Error(ErrorCode::kInvalidArgument, "the model has spoken: add messages before its next turn");
  Turn turn;
  turn.prompt_tokens = ids_.size();
  Result<engine::PromptReport> report = parts_.engine.prompt(ids_, generate.cancel);
  if (!report.ok()) return report.error();
  turn.prompt = std::move(report).value();
  if (generate.stop_ids.empty()) generate.stop_ids = profile_.stop_ids;
  Result<engine::Generation> sampled = parts_.engine.generate(generate);
  if (!sampled.ok()) return sampled.error();

  const std::vector<TokenId>& completion = sampled.value().ids;
  Result<render::ParsedCompletion> parsed = options_.interpret(ids_, completion);
  if (!parsed.ok()) return parsed.error();
  last_ = std::move(parsed).value();
  turn.said = last_.message;
  turn.stop = sampled.value().stop;
  turn.truncated = completion.empty() || !profile_.is_stop(completion.back());
  turn.message = messages_.size();
  turn.sampled_begin = ids_.size();
  turn.sampled_end = ids_.size() + completion.size();
  if (bridged_) {
    turn.notes = std::move(bridged_->notes);
    turn.lossy = std::move(bridged_->lossy);
    bridged_.reset();
  }
  turn.rerender = std::exchange(rerender_, std::nullopt);
  prompt_size_ = ids_.size();
  ids_.insert(ids_.end(), completion.begin(), completion.end());
  spoken_ = true;
  turns_.push_back(turn);
  return turn;
}

Result<Rerender> Session::render_again(std::size_t known) {
  Result<jinja::Rendered> rendered = render::render_messages(context_, messages_, true);
  if (!rendered.ok()) return rendered.error();
  const std::vector<tokenizer::Piece> pieces =
      render::encode_range(context_, rendered.value(), 0, rendered.value().text.size(), options_.specials);
  Rerender out;
  out.ids = render::ids_of(pieces);
  const std::span<const TokenId> seen = std::span(ids_).first(known);
  out.broken = render::find_break(context_, seen, rendered.value(), pieces, before_ ? &*before_ : nullptr);
  out.reusable = out.broken ? out.broken->kept_tokens : known;
  if (out.broken) {
    const std::size_t at = out.broken->kept_tokens;
    explain_tokenization(context_, seen, rendered.value(), at < pieces.size() ? &pieces[at] : nullptr, *out.broken);
    // A break stays where it is for the rest of the conversation; its cause is seen only in the render it came with.
    if (broken_ && broken_->kept_tokens == at && broken_->message == out.broken->message) out.broken = broken_;
  }
  broken_ = out.broken;
  return out;
}

Status Session::add(json::Array new_messages) {
  if (!spoken_)
    return Error(ErrorCode::kInvalidArgument, "the model has not spoken yet: nothing can be added behind its turn");
  render::BridgeRequest request;
  request.prompt_ids = std::span(ids_).first(prompt_size_);
  request.completion_ids = std::span(ids_).subspan(prompt_size_);
  request.completion = &last_;
  request.messages = messages_;
  request.new_messages = new_messages;
  request.specials = options_.specials;
  Result<render::Bridged> bridged = render::bridge(context_, profile_, request);
  if (!bridged.ok()) return bridged.error();

  const std::size_t known = ids_.size();
  bridged_ = std::move(bridged).value();
  ids_ = std::move(bridged_->ids);
  messages_.push_back(render::history_message(last_, new_messages));
  if (options_.compare) {  // what the new messages change is seen against the render without them
    Result<jinja::Rendered> before = render::render_messages(context_, messages_, false);
    before_ = before.ok() ? std::optional(std::move(before).value()) : std::nullopt;
  }
  messages_.insert(messages_.end(), new_messages.begin(), new_messages.end());
  spoken_ = false;
  if (options_.compare) {
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
  return Done{};
}

}  // namespace rondo::session
