#include "audit/blame.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "causes/find.h"
#include "causes/places.h"

namespace rondo::audit {
namespace {

constexpr std::size_t kShownBefore = 40;
constexpr std::size_t kShownBehind = 60;
constexpr std::size_t kShownTokens = 12;

std::string shown_from(std::string_view text, std::size_t at) {
  return std::string(utf8::head(text.substr(std::min(at, text.size())), kShownBehind));
}

// How many ids the next prompt shares with what the model has seen, and the tokens around the point where they part.
std::optional<probe::Extent> compare_tokens(const AuditContext& context, const Step& step, report::Break& out) {
  const std::size_t prompt = step.prompt_ids.size();
  const std::size_t total = prompt + step.completion_ids.size();
  const auto id = [&](std::size_t i) { return i < prompt ? step.prompt_ids[i] : step.completion_ids[i - prompt]; };
  std::size_t kept = 0;
  while (kept < total && kept < step.pieces.size() && step.pieces[kept].id == id(kept)) ++kept;
  std::optional<probe::Extent> parted;
  if (kept < total && kept < step.pieces.size())
    parted = causes::parted_tokens(context.tokenizer, id(kept), step.pieces[kept]);
  if (!context.has_tokenizer) return parted;
  out.kept_tokens = kept;
  out.lost_tokens = total - kept;
  const auto view = [&](tokenizer::TokenId token) {
    return report::TokenView{token, std::string(context.tokenizer.token_bytes(token))};
  };
  for (std::size_t i = kept - std::min(kept, kShownTokens); i < kept; ++i) out.tokens.before.push_back(view(id(i)));
  for (std::size_t i = kept; i < std::min(total, kept + kShownTokens); ++i) out.tokens.kept.push_back(view(id(i)));
  for (std::size_t i = kept; i < std::min(step.pieces.size(), kept + kShownTokens); ++i)
    out.tokens.rerendered.push_back(view(step.pieces[i].id));
  return parted;
}

}  // namespace

report::Break find_break(const Stage& stage, const Played& played) {
  const AuditContext context = stage.context(played.with_tools);
  const Step& step = *played.broken;
  report::Break out;
  // Reads the completion as every other command does, whatever is known about how it was made.
  causes::Sampled sampled = causes::read_sampled(context.format, step.prompt.text.bytes(), step.sampled.text,
                                                 step.sampled.text.size() - step.sampled.stop_begin);
  sampled.is_cut = step.sampled.is_cut;
  causes::Event event{.chat_template = context.chat_template,
                      .format = *context.format,
                      .history = step.history,
                      .prompt = step.prompt,
                      .render_bare = [&] { return render::render_messages(context.turn(), step.history, false); },
                      .sampled = sampled,
                      .kept = step.kept,
                      .alone = step.alone ? &*step.alone : nullptr,
                      .again = step.again ? &*step.again : nullptr,
                      .refusal = step.refusal ? &*step.refusal : nullptr,
                      .parted_tokens = {}};
  if (!step.again) {
    if (context.has_tokenizer) out.lost_tokens = step.prompt_ids.size() + step.completion_ids.size();
    out.cause = causes::find_cause(event).cause;
    return out;
  }
  event.parted_tokens = compare_tokens(context, step, out);
  causes::Found found = causes::find_cause(event);
  const std::string seen = event.seen();
  out.in_prompt = found.in_prompt;
  out.before = utf8::tail(std::string_view(seen).substr(0, found.at), kShownBefore);
  out.kept = shown_from(seen, found.at);
  out.rerendered = shown_from(step.again->text.bytes(), found.at);
  out.field = causes::describe_origin(*step.again, found.at);
  out.cause = std::move(found.cause);
  return out;
}

}  // namespace rondo::audit
