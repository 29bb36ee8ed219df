// Chooses the sequence for a prompt, and finds what is already in it.
#include <algorithm>
#include <tuple>

#include "base/common_prefix.h"
#include "engine/batcher_work.h"

namespace rondo::engine {
namespace {

// Up to this many ids are decoded again instead of being copied or kept, and no checkpoint is made for them.
constexpr std::size_t kFewTokens = 32;

}  // namespace

std::size_t Batcher::Work::Choice::next_stop() const {
  const std::size_t begin = slot == nullptr ? 0 : slot->sequence.tokens().size();
  const auto head = heads.upper_bound(begin);
  return head == heads.end() ? ids.size() : *head;
}

Batcher::Work::Source Batcher::Work::best_source(const Choice& choice) {
  const std::string& tenant = choice.flow.request.tenant;
  Source best;
  if (choice.scores()) return best;
  for (const auto& slot : slots_) {
    if (slot->tenant != tenant || slot->sequence.tokens().empty()) continue;
    best.common = std::max(best.common, common_prefix(slot->sequence.tokens(), choice.ids));
    const std::size_t reused = reusable(loaded_.description, slot->sequence.holding(), choice.ids);
    // Among equals, prefer a sequence that nobody uses, because it need not be copied.
    if (reused > best.reusable || (reused > 0 && reused == best.reusable && best.slot->owner != nullptr)) {
      best.reusable = reused;
      best.slot = slot.get();
    }
  }
  KeptStates::Found kept = kept_.best(tenant, choice.ids);
  best.common = std::max(best.common, kept.common);
  if (kept.reusable > best.reusable) {
    best.reusable = kept.reusable;
    best.saved = std::move(kept.saved);
    best.slot = nullptr;
  }
  return best;
}

// The sequence to give up: an empty one, else the least recently used; `spared` only if it is the last.
Batcher::Work::Slot& Batcher::Work::victim(const Slot* spared) {
  Slot* chosen = nullptr;
  const auto rank = [&](const Slot& slot) {
    return std::tuple(&slot == spared, !slot.sequence.tokens().empty(), slot.last_used);
  };
  for (const auto& slot : slots_) {
    if (slot->owner == nullptr && (chosen == nullptr || rank(*slot) < rank(*chosen))) chosen = slot.get();
  }
  return *chosen;  // fewer choices are admitted than there are sequences
}

void Batcher::Work::make_room(Slot& slot) {
  if (slot.sequence.tokens().size() <= kFewTokens) return;
  if (auto saved = slot.sequence.save()) kept_.keep(slot.tenant, std::move(*saved));
}

// A free sequence that contains what the source has.
Batcher::Work::Slot& Batcher::Work::take(const Source& source, const Choice& choice) {
  if (source.slot == nullptr) {
    Slot& slot = victim(nullptr);
    make_room(slot);
    slot.sequence.clear();
    if (source.saved) (void)slot.sequence.load(*source.saved);  // a state that cannot be read is decoded again
    return slot;
  }
  Slot& from = *source.slot;
  const std::size_t size = from.sequence.tokens().size();
  const std::size_t lost = size - common_prefix(from.sequence.tokens(), choice.ids);
  if (from.owner == nullptr && lost <= std::max(kFewTokens, size / 4)) return from;
  // A sequence with much content of its own is another conversation, or a branch that may continue.  It is kept.
  Slot& slot = from.owner == nullptr && lost <= size / 2 ? from : victim(&from);
  make_room(slot);
  if (&slot == &from) return from;
  if (can_roll_back(loaded_.description, from.sequence.holding(), choice.ids)) {
    slot.sequence.share(from.sequence);
  } else if (const auto saved = from.sequence.save()) {
    (void)slot.sequence.load(*saved);
  } else {
    slot.sequence.clear();
  }
  return slot;
}

// Whether `waiting`, which finds `there` ids of its prompt now, finds more of them when `due` has been decoded.
bool Batcher::Work::will_share(const Due& due, const Choice& waiting, std::size_t there) const {
  const Choice& other = *due.choice;
  if (other.is_sampling || waiting.scores() || other.flow.request.tenant != waiting.flow.request.tenant) return false;
  const std::size_t common = common_prefix(other.ids, waiting.ids);
  if (due.begin >= common) return false;
  const std::size_t end = due.begin + due.piece.ids.size();
  const std::size_t least = common == waiting.ids.size() ? there : there + kFewTokens;
  if (goes_back(loaded_.description.memory)) return std::min(common, end) > least;
  const bool is_kept = end == other.ids.size() || other.heads.contains(end);
  return is_kept && end <= common && end > least;
}

void Batcher::Work::place(Choice& choice) {
  Flow& flow = choice.flow;
  const Source source = best_source(choice);
  Slot& slot = take(source, choice);
  slot.owner = &choice;
  slot.tenant = flow.request.tenant;
  choice.slot = &slot;
  const PromptReport report = slot.sequence.keep_prefix(choice.ids);
  status_.prompt_tokens += choice.ids.size();
  status_.reused_tokens += report.reused;
  if (loaded_.description.memory != MemoryKind::kAttention) {
    for (const std::size_t head : flow.request.shared_heads) choice.heads.insert(head);
    // The point where this prompt departs from others is likely to be a point of departure for the next one too.
    if (source.common > report.reused + kFewTokens) choice.heads.insert(source.common);
    choice.heads.erase(choice.heads.lower_bound(choice.ids.size()), choice.heads.end());
  }
  if (flow.has_started) return;
  flow.has_started = true;
  flow.outcome.usage.expected_tokens = source.common;
  flow.outcome.usage.cached_tokens = report.reused;
  flow.outcome.usage.how = report.how;
  flow.outcome.usage.reason = report.reason;
  events_.on_start(flow.ticket, {.expected_tokens = source.common, .replica = {}});
}

void Batcher::Work::keep_head(const Choice& choice) {
  const std::span<const TokenId> tokens = choice.slot->sequence.tokens();
  if (!choice.heads.contains(tokens.size()) || kept_.has(choice.slot->tenant, tokens)) return;
  if (auto saved = choice.slot->sequence.save()) kept_.keep(choice.slot->tenant, std::move(*saved));
}

}  // namespace rondo::engine
