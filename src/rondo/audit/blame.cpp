#include "audit/blame.h"

#include <algorithm>
#include <utility>

#include "audit/blamer.h"
#include "base/utf8.h"
#include "render/explain.h"

namespace rondo::audit {
namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && utf8::is_continuation(text[at]);
}

// Some of `text` from byte `at` on, whole characters.
std::string shown_from(const std::string& text, std::size_t at, std::size_t most) {
  if (at >= text.size()) return "";
  std::size_t end = std::min(text.size(), at + most);
  while (end > at && is_inside_character(text, end)) --end;
  return text.substr(at, end - at);
}

std::string shown_before(const std::string& text, std::size_t at, std::size_t most) {
  std::size_t begin = at > most ? at - most : 0;
  while (begin < at && is_inside_character(text, begin)) ++begin;
  return text.substr(begin, at - begin);
}

constexpr std::size_t kShownBefore = 40;
constexpr std::size_t kShownBehind = 60;
constexpr std::size_t kShownTokens = 12;

}  // namespace

std::string quoted_start(std::string_view text) {
  constexpr std::size_t kShown = 32;
  return text::quoted(shown_from(std::string(text.substr(0, 2 * kShown)), 0, kShown));
}

Blamer::Blamer(const Stage& stage, const Scenario& scenario, const Played& played)
    : context_(stage.context(played.with_tools)),
      outline_(stage.subject().outline),
      template_(context_.chat_template),
      format_(*context_.format),
      scenario_(scenario),
      turn_(scenario.turns[played.turn]),
      step_(*played.broken),
      seen_(step_.seen()),
      index_(static_cast<std::int32_t>(step_.history.size())) {}

Break Blamer::run() {
  Break out;
  const std::size_t old_size = step_.prompt_ids.size() + step_.completion_ids.size();
  if (!step_.again) {
    if (context_.has_tokenizer) out.lost_tokens = old_size;
    out.cause = refused();
    out.cause.message = index_;
    return out;
  }
  again_ = &*step_.again;
  find_difference(out);
  out.in_prompt = at_ < step_.prompt.text.size();
  const bool same_text = at_ >= seen_.size();
  if (same_text) at_ = retokenized_at_;
  out.before = shown_before(seen_, at_, kShownBefore);
  out.kept = shown_from(seen_, at_, kShownBehind);
  out.rerendered = shown_from(again_->text.bytes(), at_, kShownBehind);
  out.field = render::describe_origin(*again_, at_);
  out.cause = same_text ? retokenized() : out.in_prompt ? of_prompt() : of_turn();
  if (out.cause.message < 0) out.cause.message = index_;
  return out;
}

void Blamer::find_difference(Break& out) {
  const std::string& again = again_->text.bytes();
  const auto differing = std::mismatch(seen_.begin(), seen_.end(), again.begin(), again.end());
  at_ = static_cast<std::size_t>(differing.first - seen_.begin());
  while (at_ > 0 && is_inside_character(seen_, at_)) --at_;
  const std::size_t prompt = step_.prompt_ids.size();
  const std::size_t total = prompt + step_.completion_ids.size();
  const auto id = [&](std::size_t i) { return i < prompt ? step_.prompt_ids[i] : step_.completion_ids[i - prompt]; };
  std::size_t kept = 0;
  while (kept < total && kept < step_.pieces.size() && step_.pieces[kept].id == id(kept)) ++kept;
  if (kept < step_.pieces.size()) retokenized_at_ = step_.pieces[kept].begin;
  if (!context_.has_tokenizer) return;
  out.kept_tokens = kept;
  out.lost_tokens = total - kept;
  const auto view = [&](tokenizer::TokenId token) {
    return TokenView{token, std::string(context_.tokenizer.token_bytes(token))};
  };
  for (std::size_t i = kept - std::min(kept, kShownTokens); i < kept; ++i) out.tokens.before.push_back(view(id(i)));
  for (std::size_t i = kept; i < std::min(total, kept + kShownTokens); ++i) out.tokens.kept.push_back(view(id(i)));
  for (std::size_t i = kept; i < std::min(step_.pieces.size(), kept + kShownTokens); ++i)
    out.tokens.rerendered.push_back(view(step_.pieces[i].id));
}

Cause Blamer::refused() const {
  const Error& error = *step_.refusal;
  return make(CauseKind::kRefused, {error.line, error.column},
              "the template refuses the next prompt: " + error.message);
}

Cause Blamer::retokenized() {
  return make(CauseKind::kRetokenized, here(), "the same text becomes other tokens at " + quoted_start(seen_rest()));
}

Cause Blamer::make(CauseKind kind, const text::Literal& literal, std::string sentence, std::string path) const {
  Cause cause;
  cause.kind = kind;
  cause.place = place_of(template_, literal);
  cause.sentence = std::move(sentence);
  cause.path = std::move(path);
  return cause;
}

Cause Blamer::of_flip(CauseKind kind, const jinja::Decision& flip, const std::string& what, std::string path) const {
  const text::Literal literal{flip.line, flip.column};
  const std::string_view was = flip.outcome ? "false" : "true";
  const std::string_view now = flip.outcome ? "true" : "false";
  return make(
      kind, literal,
      what + ": " + in_words(place_of(template_, literal)) + " was " + std::string(was) + ", now " + std::string(now),
      std::move(path));
}

std::string Blamer::message_path(std::string_view field) const {
  return "messages[" + std::to_string(index_) + "]" + (field.empty() ? "" : "." + std::string(field));
}

std::string Blamer::reasoning_path(std::int32_t message) const {
  const std::string& field = format_.input.reasoning_field;
  return "messages[" + std::to_string(message) + "]." + (field.empty() ? "reasoning_content" : field);
}

bool Blamer::held_alone() const {
  return step_.alone && step_.alone->text.bytes().starts_with(std::string_view(seen_).substr(0, at_ + 1));
}

Regions Blamer::shown_regions() const { return find_regions(*again_, format_, index_, {0, again_->text.size()}); }

std::size_t Blamer::calls_begin() const {
  std::size_t begin = std::string::npos;
  for (const render::Extent& call : step_.sampled.regions.calls) begin = std::min(begin, call.begin);
  return begin;
}

const json::Value* Blamer::kept_calls() const {
  const json::Value* calls = step_.kept.find("tool_calls");
  return calls != nullptr && calls->is_array() && !calls->as_array().empty() ? calls : nullptr;
}

Break find_break(const Stage& stage, const Scenario& scenario, const Played& played) {
  return Blamer(stage, scenario, played).run();
}

}  // namespace rondo::audit
