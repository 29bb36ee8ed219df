#include "replay/diff.h"

#include <algorithm>
#include <utility>

#include "causes/places.h"
#include "probe/places.h"

namespace rondo::replay {
namespace {

using tokenizer::TokenId;

constexpr std::size_t kShownTokens = 16;

std::string text_of(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  const auto text = tokenizer.decode(ids, {});
  return text.ok() ? text.value() : "";
}

std::span<const TokenId> from(const std::vector<TokenId>& ids, std::size_t at) {
  return std::span(ids)
      .subspan(std::min(at, ids.size()))
      .first(std::min(kShownTokens, ids.size() - std::min(at, ids.size())));
}

void show(const PromptMaker& maker, ReplayStep& step, const std::vector<TokenId>& old_ids, RequestDiff& out) {
  const tokenizer::Tokenizer& tokenizer = *maker.parts().tokenizer;
  const std::size_t at = out.common_tokens;
  const std::vector<TokenId>& ids = step.sent().ids;
  const std::size_t begin = at - std::min(at, kShownTokens);
  out.shared_end = text_of(tokenizer, std::span(ids).subspan(begin, at - begin));
  out.before_text = text_of(tokenizer, from(old_ids, at));
  out.after_text = text_of(tokenizer, from(ids, at));
  const jinja::Rendered* rendered = traced(maker, step);
  if (rendered == nullptr) return;
  const std::size_t byte = at == 0 ? 0 : step.sent().ends[at - 1];
  out.place = causes::describe_origin(*rendered, byte);
  const text::Run* run = probe::spot_at(*rendered, byte).run;
  if (run != nullptr) out.message = render::owner(*run, rendered->origins);
}

}  // namespace

Result<RequestDiff> diff_requests(const PromptMaker& maker, chat::ApiRequest before, chat::ApiRequest after) {
  ConversationState parent;
  parent.last = make_incoming(before, 0, std::nullopt);
  Incoming& old = parent.last;
  Sheet sheet = maker.sheet(old.messages, old.tools, old.kwargs, old.now);
  auto first = maker.prompt(sheet, nullptr);
  if (!first.ok()) return first.error();
  parent.prompts[0] = std::move(first).value();

  ReplayStep step;
  step.request = make_incoming(after, 0, std::nullopt);
  step.parent = &parent;
  const Incoming& now = step.request;
  step.comparison = compare_requests({old.messages, old.marks, &old.tools, old.tool_hashes, &old.kwargs}, 0,
                                     {now.messages, now.marks, &now.tools, now.tool_hashes, &now.kwargs});
  std::size_t& next = step.comparison.appended_from;
  if (step.comparison.is_continuation && next < now.messages.size() &&
      now.messages[next].find_string("role") == "assistant") {
    parent.completion = maker.sampled(sheet, *parent.prompts[0], now.messages[next]);
    ++next;
  }
  step.sheets[0] = maker.sheet(now.messages, now.tools, now.kwargs, now.now);
  auto second = maker.prompt(*step.sheets[0], &*parent.prompts[0]);
  if (!second.ok()) return second.error();
  step.next.prompts[0] = std::move(second).value();
  // Causes are checked against the same requests with restored messages: what the client left out or respelled is put
  // back.
  Rewriter rewriter;
  Rewriter::note_first_forms(parent, now, step.comparison);
  for (const RewriteSet set : {RewriteSet::kKeepReasoning, RewriteSet::kVerbatimArguments}) {
    const auto rewritten = rewriter.rewrite(set, now, &parent);
    if (!rewritten) continue;
    auto prompt = maker.prompt(maker.sheet(rewritten->messages, rewritten->tools, now.kwargs, now.now), nullptr);
    if (prompt.ok()) step.next.prompts[static_cast<std::size_t>(set)] = std::move(prompt).value();
  }

  RequestDiff out;
  out.before_tokens = parent.prompts[0]->ids.size();
  out.answer_tokens = parent.completion.size();
  out.after_tokens = step.sent().ids.size();
  out.common_tokens = common_ids(parent.prompts[0]->ids, parent.completion, step.sent().ids);
  out.recomputed_tokens = out.after_tokens - out.common_tokens;
  out.breaks = out.common_tokens < out.before_tokens + out.answer_tokens;
  std::vector<TokenId> old_ids = parent.prompts[0]->ids;
  old_ids.insert(old_ids.end(), parent.completion.begin(), parent.completion.end());
  show(maker, step, old_ids, out);
  if (out.breaks) out.cause = CauseFinder(maker).find(step, out.common_tokens);
  out.changes = std::move(step.comparison.changes);
  return out;
}

json::Value to_json(const RequestDiff& diff) {
  json::Array changes;
  for (const Change& change : diff.changes) {
    changes.emplace_back(json::Object{{"kind", to_string(change.kind)},
                                      {"message", change.message},
                                      {"path", change.path},
                                      {"sentence", change.sentence},
                                      {"before", change.before},
                                      {"after", change.after}});
  }
  json::Object out{{"before_tokens", diff.before_tokens},
                   {"answer_tokens", diff.answer_tokens},
                   {"after_tokens", diff.after_tokens},
                   {"common_tokens", diff.common_tokens},
                   {"recomputed_tokens", diff.recomputed_tokens},
                   {"breaks", diff.breaks},
                   {"shared_end", diff.shared_end},
                   {"before_text", diff.before_text},
                   {"after_text", diff.after_text},
                   {"message", diff.message},
                   {"place", diff.place}};
  if (diff.breaks) {
    json::Object cause{{"name", diff.cause.name}, {"path", diff.cause.path}, {"sentence", diff.cause.sentence}};
    if (diff.cause.line > 0) cause.set("template_line", diff.cause.line);
    out.set("cause", std::move(cause));
  }
  out.set("changes", std::move(changes));
  return out;
}

}  // namespace rondo::replay
