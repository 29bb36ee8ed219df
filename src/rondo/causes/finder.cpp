#include "causes/finder.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "jinja/reading/outline.h"

namespace rondo::causes {

std::string quoted_start(std::string_view text) {
  constexpr std::size_t kShown = 32;
  return text::quoted(utf8::head(text, kShown));
}

Finder::Finder(const Event& event)
    : event_(event),
      template_(event.chat_template),
      outline_(event.chat_template.outline()),
      format_(event.format),
      seen_(event.seen()),
      index_(static_cast<std::int32_t>(event.history.size())),
      again_(event.again) {}

Found Finder::run() {
  Found out;
  if (again_ == nullptr) {
    out.cause = refused();
    out.cause.message = index_;
    return out;
  }
  const std::string& again = again_->text.bytes();
  at_ = utf8::boundary(seen_, static_cast<std::size_t>(std::ranges::mismatch(seen_, again).in1 - seen_.begin()));
  const std::optional<probe::Extent>& parted = event_.parted_tokens;
  // The ids differ although the texts agree beyond the differing tokens, so only the tokenization changed.
  const bool same_text = at_ >= seen_.size() || (parted && parted->end <= at_);
  if (same_text) at_ = parted ? parted->begin : 0;
  out.in_prompt = at_ < event_.prompt.text.size();
  out.at = at_;
  out.cause = same_text ? retokenized() : out.in_prompt ? of_prompt() : of_turn();
  if (out.cause.message < 0) out.cause.message = index_;
  return out;
}

Cause Finder::refused() const {
  const Error& error = *event_.refusal;
  return make(CauseKind::kRefused, {error.line, error.column},
              "the template refuses the next prompt: " + error.message);
}

Cause Finder::retokenized() const {
  return make(CauseKind::kRetokenized, here(), "the same text becomes other tokens at " + quoted_start(seen_rest()));
}

Cause Finder::make(CauseKind kind, const text::Literal& literal, std::string sentence, std::string path) const {
  Cause cause;
  cause.kind = kind;
  cause.place = place_of(template_, literal);
  cause.sentence = std::move(sentence);
  cause.path = std::move(path);
  return cause;
}

Cause Finder::of_flip(CauseKind kind, const jinja::Decision& flip, const std::string& what, std::string path) const {
  const text::Literal literal{flip.line, flip.column};
  const std::string_view was = flip.outcome ? "false" : "true";
  const std::string_view now = flip.outcome ? "true" : "false";
  return make(
      kind, literal,
      what + ": " + in_words(place_of(template_, literal)) + " was " + std::string(was) + ", now " + std::string(now),
      std::move(path));
}

std::string Finder::message_path(std::string_view field) const {
  return "messages[" + std::to_string(index_) + "]" + (field.empty() ? "" : "." + std::string(field));
}

std::string Finder::reasoning_path(std::int32_t message) const {
  const std::string& field = format_.input.reasoning_field;
  return "messages[" + std::to_string(message) + "]." + (field.empty() ? "reasoning_content" : field);
}

// If the turn was written as sampled while it was the last message, something after it caused the break.
bool Finder::held_alone() const {
  return event_.alone && event_.alone->text.bytes().starts_with(std::string_view(seen_).substr(0, at_ + 1));
}

bool Finder::is_rewritten() const {
  const probe::Spot then = probe::spot_at(*event_.alone, at_);
  const probe::Spot now = probe::spot_at(*again_, at_);
  if (then.run == nullptr || now.run == nullptr) return false;
  const bool are_literals = then.run->kind == text::RunKind::kLiteral && now.run->kind == text::RunKind::kLiteral;
  const std::vector<std::string>& texts = template_.literal_texts();
  return are_literals && texts[then.run->origin] == texts[now.run->origin] &&
         then.run->source_offset + (at_ - then.begin) == now.run->source_offset + (at_ - now.begin);
}

Regions Finder::shown_regions() const { return find_regions(*again_, format_, index_, {0, again_->text.size()}); }

std::size_t Finder::calls_begin() const {
  std::size_t begin = std::string::npos;
  for (const probe::Extent& call : event_.sampled.regions.calls) begin = std::min(begin, call.begin);
  return begin;
}

const json::Value* Finder::kept_calls() const {
  const json::Value* calls = event_.kept.find("tool_calls");
  return calls != nullptr && calls->is_array() && !calls->as_array().empty() ? calls : nullptr;
}

probe::Extent parted_tokens(const tokenizer::Tokenizer& tokenizer, tokenizer::TokenId seen,
                            const tokenizer::Piece& again) {
  constexpr std::size_t kLooksAhead = 16;
  // A tokenizer decides on text that follows a token, so a difference shortly after it may be the cause.  A control
  // token ends such influence.
  const std::size_t end = std::max<std::size_t>(again.end, again.begin + tokenizer.token_bytes(seen).size());
  const bool is_control = tokenizer.is_added(seen) || tokenizer.is_added(again.id);
  return {again.begin, end + (is_control ? 0 : kLooksAhead)};
}

Found find_cause(const Event& event) { return Finder(event).run(); }

Result<Found> find_cause(const Exchange& exchange) {
  tmpl::ReadyConversation messages(exchange.base, exchange.before);
  const auto render = [&](bool add_generation_prompt) {
    return messages.render(exchange.chat_template, add_generation_prompt, exchange.options);
  };
  const Result<jinja::Rendered> prompt = render(true);
  if (!prompt.ok()) return prompt.error();
  const bool has_turn = exchange.after.size() > exchange.before.size();
  const json::Value kept = has_turn ? exchange.after[exchange.before.size()] : json::Value();
  std::optional<jinja::Rendered> alone;
  if (has_turn) {
    messages.push(kept);
    if (Result<jinja::Rendered> rendered = render(false); rendered.ok()) alone = std::move(rendered).value();
    messages.shrink(exchange.before.size());
  }
  const Sampled sampled =
      read_sampled(exchange.format, prompt.value().text.bytes(), exchange.completion, exchange.stop_size);
  return find_cause(Event{.chat_template = exchange.chat_template,
                          .format = *exchange.format,
                          .history = exchange.before,
                          .prompt = prompt.value(),
                          .render_bare = [&] { return render(false); },
                          .sampled = sampled,
                          .kept = kept,
                          .alone = alone ? &*alone : nullptr,
                          .again = &exchange.again,
                          .refusal = nullptr,
                          .parted_tokens = exchange.parted_tokens});
}

}  // namespace rondo::causes
