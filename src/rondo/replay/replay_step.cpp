#include "replay/replay_step.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/utf8.h"
#include "causes/find.h"
#include "causes/places.h"
#include "probe/places.h"
#include "render/join.h"
#include "render/turn.h"

namespace rondo::replay {
namespace {

using tokenizer::TokenId;

constexpr std::size_t kMostKnown = 256;
constexpr int kFindTimes = 3;

// Changes after which a bridge cannot continue: it keeps what was there, and the client wants something else.
bool blocks_bridge(const Change& change) {
  switch (change.kind) {
    case ChangeKind::kReasoningLeftOut:
    case ChangeKind::kArgumentsRespelled:
    case ChangeKind::kCallIdsChanged:
    case ChangeKind::kContentRespelled: return false;
    default: return true;
  }
}

// Whether the rewrite `set` of this request undoes the change.
bool is_undone(const ReplayStep& step, RewriteSet set, const Change& change) {
  if (set != RewriteSet::kAll) return false;
  if (change.kind == ChangeKind::kToolsReordered) return true;
  if (change.kind != ChangeKind::kVolatileHeader && change.kind != ChangeKind::kDate) return false;
  const auto& sheet = step.sheets[static_cast<std::size_t>(set)];
  const auto index = static_cast<std::size_t>(change.message);
  if (!sheet || index >= step.parent->instructions.size()) return false;
  return chat::content_text(PromptMaker::messages_of(*sheet)[index]) ==
         chat::content_text(step.parent->instructions[index]);
}

// What the template writes after the turn of message `index`, with which the ids `before` end.
std::optional<std::vector<TokenId>> ids_behind(const PromptMaker& maker, const jinja::Rendered& rendered,
                                               std::int32_t index, const std::vector<TokenId>& before) {
  const tokenizer::Tokenizer& tokenizer = *maker.parts().tokenizer;
  const std::optional<render::Extent> data = render::data_extent(rendered, index);
  if (!data) return std::nullopt;
  const std::string_view text = rendered.text.bytes();
  const std::string_view own = text.substr(data->end, render::tail_end(rendered, index, data->end) - data->end);
  const auto marker = render::closing_marker(tokenizer, own);
  std::size_t at = data->end;
  if (marker) {
    at += marker->end;
  } else {
    // No token ends the turn, so the answer may contain some of the template's tail.
    constexpr std::size_t kLastIds = 32;
    const auto last = tokenizer.decode(std::span(before).last(std::min(kLastIds, before.size())), {});
    if (last.ok()) at += render::overlap(tokenizer, last.value(), own);
  }
  std::vector<TokenId> out;
  for (const tokenizer::Piece& piece : render::encode_behind(tokenizer, before, text.substr(at), nullptr))
    out.push_back(piece.id);
  // Some models stop with the token that opens the next turn.
  if (!out.empty() && out.front() == before.back() && tokenizer.is_added(out.front())) out.erase(out.begin());
  return out;
}

std::vector<TokenId> joined(const std::vector<TokenId>& head, const std::vector<TokenId>& tail) {
  std::vector<TokenId> out;
  out.reserve(head.size() + tail.size());
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), tail.begin(), tail.end());
  return out;
}

std::string without_digits(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
  }
  return out;
}

// The change that touches the differing byte; nullptr if the client changed nothing there.
const Change* change_at(const ReplayStep& step, const jinja::Rendered& rendered, const text::Run* run,
                        std::int32_t owner) {
  const text::PathId path = run == nullptr ? text::PathId::kNone : run->path();
  const std::int32_t source = path == text::PathId::kNone ? text::kNoMessage : rendered.origins.paths.message(path);
  const bool is_tools = path != text::PathId::kNone && rendered.origins.paths.root(path) == "tools";
  const Change* earlier = nullptr;
  for (const Change& change : step.comparison.changes) {
    const bool is_of_tools = change.kind == ChangeKind::kToolsReordered || change.kind == ChangeKind::kToolsChanged;
    if (is_of_tools && (is_tools || (owner == text::kNoMessage && source == text::kNoMessage))) return &change;
    if (change.message < 0) continue;
    if (change.message == source || change.message == owner) return &change;
    // Added and removed messages move all that follow.
    const bool is_structural = change.kind >= ChangeKind::kMessageEdited;
    if (is_structural && (owner < 0 || change.message <= owner)) earlier = &change;
  }
  return earlier;
}

FoundCause from_change(const Change& change) {
  return {std::string(to_string(change.kind)), change.path, change.sentence, change.before, change.after, 0};
}

// Whether more of the last prompt and its answer would have stayed if the client had kept everything in this request
// and those before.  It counts from the end of the prompt, because prompts differ in length.
bool remedy_helps(const ReplayStep& step, RewriteSet set, std::size_t kept) {
  const auto index = static_cast<std::size_t>(set);
  const ConversationState& parent = *step.parent;
  if (!step.next.prompts[index] && !parent.prompts[index]) return false;
  const std::vector<TokenId>& before = parent.prompt(index).ids;
  const std::size_t kept_then = common_ids(before, parent.completion, step.next.prompt(index).ids);
  return kept_then + parent.prompts[0]->ids.size() > kept + before.size();
}

// Some of `text` from byte `at`, in whole characters.
std::string shown_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kShown = 40;
  return std::string(utf8::head(text.substr(std::min(at, text.size())), kShown));
}

// The beginning of the reasoning, which is searched for in a prompt.
std::string_view beginning_of(std::string_view reasoning) {
  constexpr std::size_t kEnough = 24;
  return reasoning.substr(std::min(reasoning.find_first_not_of(" \t\r\n"), reasoning.size()), kEnough);
}

// The parts of the answer, each of which may have another cause.
std::string parts_of(const json::Value& answer) {
  std::string out;
  if (answer.find(tmpl::reasoning_field(answer)) != nullptr) out += 'r';
  if (!chat::content_text(answer).empty()) out += 'c';
  if (answer.find("tool_calls") != nullptr) out += 't';
  return out;
}

}  // namespace

std::size_t common_ids(const std::vector<TokenId>& prompt, const std::vector<TokenId>& completion,
                       const std::vector<TokenId>& ids) {
  const auto first = std::ranges::mismatch(prompt, ids);
  if (first.in1 != prompt.end()) return static_cast<std::size_t>(first.in1 - prompt.begin());
  const auto second = std::mismatch(completion.begin(), completion.end(), first.in2, ids.end());
  return prompt.size() + static_cast<std::size_t>(second.first - completion.begin());
}

const jinja::Rendered* traced(const PromptMaker& maker, ReplayStep& step) {
  if (!step.traced) {
    auto rendered = maker.trace(*step.sheets[0], true);
    if (!rendered.ok()) return nullptr;
    step.traced = std::move(rendered).value();
  }
  return &*step.traced;
}

std::optional<std::vector<TokenId>> bridged_ids(const PromptMaker& maker, ReplayStep& step, RewriteSet set,
                                                std::size_t bridge) {
  if (step.parent == nullptr || step.parent->completion.empty() || !step.comparison.is_continuation)
    return std::nullopt;
  for (const Change& change : step.comparison.changes) {
    if (blocks_bridge(change) && !is_undone(step, set, change)) return std::nullopt;
  }
  const ConversationState& parent = *step.parent;
  const Prompt& before = parent.prompt(static_cast<std::size_t>(set));
  const Prompt& now = step.next.prompt(static_cast<std::size_t>(set));
  const std::size_t full = before.ids.size() + parent.completion.size();
  const bool breaks = common_ids(before.ids, parent.completion, now.ids) < full;
  if (!breaks && !parent.bridged[bridge]) return std::nullopt;
  std::vector<TokenId> out = joined(parent.bridged[bridge] ? *parent.bridged[bridge] : before.ids, parent.completion);
  if (!breaks) {
    out.insert(out.end(), now.ids.begin() + static_cast<std::ptrdiff_t>(full), now.ids.end());
    return out;
  }
  std::optional<jinja::Rendered> other;
  const jinja::Rendered* rendered = nullptr;
  const auto& sheet = step.sheets[static_cast<std::size_t>(set)];
  if (set == RewriteSet::kNone || !sheet) {
    rendered = traced(maker, step);
  } else if (auto made = maker.trace(*sheet, true); made.ok()) {
    rendered = &other.emplace(std::move(made).value());
  }
  if (rendered == nullptr || step.comparison.appended_from == 0) return std::nullopt;
  const auto answer = static_cast<std::int32_t>(step.comparison.appended_from) - 1;
  const auto behind = ids_behind(maker, *rendered, answer, out);
  if (!behind) return std::nullopt;
  out.insert(out.end(), behind->begin(), behind->end());
  return out;
}

FoundCause CauseFinder::find(ReplayStep& step, std::size_t kept) {
  const jinja::Rendered* rendered = traced(maker_, step);
  if (rendered == nullptr) return {"template: rewritten", "", "the template fails when it is traced", "", "", 0};
  const Prompt& prompt = step.sent();
  const std::size_t byte = kept == 0 ? 0 : prompt.ends[kept - 1];
  const text::Run* run = probe::spot_at(*rendered, byte).run;
  const std::int32_t owner = run == nullptr ? text::kNoMessage : render::owner(*run, rendered->origins);
  if (is_retokenized(step, kept))
    return {"retokenized", causes::describe_origin(*rendered, byte), "the same text becomes other tokens", "", "", 0};
  const Change* change = change_at(step, *rendered, run, owner);
  if (change != nullptr && is_for_certain(step, *change, kept)) return from_change(*change);
  if (remedy_helps(step, RewriteSet::kStableDate, kept) && maker_.reads_clock())
    return {"clock", "", "the template writes the time of the request into the prompt", "", "", 0};
  for (const Change& other : step.comparison.changes) {
    if (other.kind == ChangeKind::kVariablesChanged) return from_change(other);
  }
  return in_template(step, kept, run);
}

// Whether more would have stayed if the client had sent the message as it was before.
bool CauseFinder::undoing_helps(const ReplayStep& step, const Change& change, std::size_t kept) const {
  const Incoming& before = step.parent->last;
  const Incoming& now = step.request;
  const auto index = static_cast<std::size_t>(change.message);
  const auto known = std::ranges::find(before.marks, now.marks[index].loose, &MessageMark::loose);
  if (known == before.marks.end()) return true;
  json::Array messages = now.messages;
  messages[index] = before.messages[static_cast<std::size_t>(known - before.marks.begin())];
  const auto prompt = maker_.prompt(maker_.sheet(messages, now.tools, now.kwargs, now.now), &step.sent());
  return !prompt.ok() || common_ids(step.parent->prompts[0]->ids, step.parent->completion, prompt.value().ids) > kept;
}

// Whether the change is the cause, and not something that the template would have done anyway.
bool CauseFinder::is_for_certain(const ReplayStep& step, const Change& change, std::size_t kept) const {
  if (change.kind == ChangeKind::kContentRespelled || change.kind == ChangeKind::kCallIdsChanged)
    return undoing_helps(step, change, kept);
  if (change.kind == ChangeKind::kArgumentsRespelled) return remedy_helps(step, RewriteSet::kVerbatimArguments, kept);
  if (change.kind != ChangeKind::kReasoningLeftOut) return true;
  if (remedy_helps(step, RewriteSet::kKeepReasoning, kept)) return true;
  // The template may trim the reasoning.  If it shows any, the client is the one that left it out.
  const auto& prompt = step.next.prompts[static_cast<std::size_t>(RewriteSet::kKeepReasoning)];
  const std::string_view text = beginning_of(change.before);
  return prompt && !text.empty() && prompt->text.find(text) != std::string::npos &&
         step.sent().text.find(text) == std::string::npos;
}

// Whether both continue with the same text in different tokens.
bool CauseFinder::is_retokenized(const ReplayStep& step, std::size_t kept) const {
  constexpr std::size_t kCompared = 16;
  const std::vector<TokenId> old_ids = joined(step.parent->prompts[0]->ids, step.parent->completion);
  const std::size_t count = std::min(kCompared, old_ids.size() - kept);
  const auto text = maker_.parts().tokenizer->decode(std::span(old_ids).subspan(kept, count), {});
  const Prompt& prompt = step.sent();
  const std::size_t byte = kept == 0 ? 0 : prompt.ends[kept - 1];
  return text.ok() && !text.value().empty() && std::string_view(prompt.text).substr(byte).starts_with(text.value());
}

// Runs the search of causes/find.h over the messages as the template got them.
FoundCause CauseFinder::search(ReplayStep& step, std::size_t kept) const {
  FoundCause out{"template: " + std::string(causes::to_string(causes::CauseKind::kCondition)), "", "", "", "", 0};
  const PromptMaker::Parts& parts = maker_.parts();
  const jinja::Rendered& again = *step.traced;
  const chat::Conversation base = maker_.base_of(*step.sheets[0]);
  const Incoming& last = step.parent->last;
  const Sheet before = maker_.sheet(step.parent->asked(), last.tools, last.kwargs, last.now);
  const std::vector<TokenId>& prompt_ids = step.parent->prompts[0]->ids;
  const std::vector<TokenId>& sampled = step.parent->completion;
  const Prompt& prompt = step.sent();
  const auto completion = render::text_behind(*parts.tokenizer, prompt_ids, sampled);
  if (!completion.ok()) return out;
  const std::size_t stop = maker_.ends_turn(sampled) ? parts.tokenizer->token_bytes(sampled.back()).size() : 0;
  std::optional<probe::Extent> parted;
  if (kept < prompt.ids.size()) {
    const TokenId seen = kept < prompt_ids.size() ? prompt_ids[kept] : sampled[kept - prompt_ids.size()];
    const tokenizer::Piece now{prompt.ids[kept], kept == 0 ? 0 : prompt.ends[kept - 1], prompt.ends[kept]};
    parted = causes::parted_tokens(*parts.tokenizer, seen, now);
  }
  auto found = causes::find_cause(causes::Exchange{.chat_template = *parts.chat_template,
                                                   .base = base,
                                                   .options = parts.apply,
                                                   .format = parts.format,
                                                   .before = PromptMaker::messages_of(before),
                                                   .completion = completion.value(),
                                                   .stop_size = std::min(stop, completion.value().size()),
                                                   .after = PromptMaker::messages_of(*step.sheets[0]),
                                                   .again = again,
                                                   .parted_tokens = parted});
  if (!found.ok()) return out;
  causes::Cause& cause = found.value().cause;
  const std::string seen = step.parent->prompts[0]->text + completion.value();
  out.name = "template: " + std::string(causes::to_string(cause.kind));
  const json::Array& sent = step.request.messages;
  out.path = maker_.sent_place(
      cause.path.empty() ? causes::describe_origin(again, found.value().at) : std::move(cause.path), sent);
  out.sentence = std::move(cause.sentence);
  out.before = shown_at(seen, found.value().at);
  out.after = shown_at(again.text.bytes(), found.value().at);
  out.line = cause.place.line;
  return out;
}

FoundCause CauseFinder::in_template(ReplayStep& step, std::size_t kept, const text::Run* run) {
  const jinja::Rendered& rendered = *step.traced;
  std::string key = std::to_string(run == nullptr ? -1 : static_cast<int>(run->kind)) + " ";
  const bool is_literal = run != nullptr && run->kind == text::RunKind::kLiteral;
  key += is_literal       ? std::to_string(run->origin)
         : run == nullptr ? ""
                          : without_digits(rendered.origins.paths.to_string(run->path()));
  key += kept < step.parent->prompts[0]->ids.size() ? " p" : " c";
  if (step.comparison.appended_from > 0) key += parts_of(step.request.messages[step.comparison.appended_from - 1]);
  const auto known = std::ranges::find(known_, key, &std::pair<std::string, Known>::first);
  if (known != known_.end() && known->second.found >= kFindTimes) return known->second.cause;
  FoundCause out = search(step, kept);
  if (known != known_.end()) {
    ++known->second.found;
  } else if (known_.size() < kMostKnown) {
    known_.push_back({key, {out, 1}});
  }
  return out;
}

}  // namespace rondo::replay
