#include "base/shared_text.h"
#include "spans/planner.h"

namespace rondo::spans {
namespace {

// The allocator's overhead for a block, and the cache's own for each turn.
constexpr std::size_t kOfBlock = 16;
constexpr std::size_t kOfEntry = 256;

std::size_t heap_of(const std::string& text) {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : text.capacity() + kOfBlock;
}

template <typename T>
std::size_t heap_of(const std::vector<T>& list) {
  return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + kOfBlock;
}

template <typename T>
std::size_t heap_of(const SharedRow<T>& row) {
  return row.empty() ? 0 : heap_of(row.get()) + sizeof(std::vector<T>) + 2 * kOfBlock;
}

std::size_t heap_of(const SharedText& text) {
  return text.get().empty() ? 0 : heap_of(text.get()) + sizeof(std::string) + kOfBlock;
}

// Roughly how much memory it takes.  What it shares with other turns is counted for each of them, as it may outlive them.
std::size_t bytes_of(const Turn& turn) {
  std::size_t out = sizeof(Turn) + kOfEntry + heap_of(turn.prompt) + heap_of(turn.owners) + heap_of(turn.sampled) +
                    heap_of(turn.messages) + heap_of(turn.reasoned) + heap_of(turn.completion) +
                    heap_of(turn.logprobs) + heap_of(turn.notes);
  for (const SharedText& text : turn.messages) out += heap_of(text);
  for (const std::string& text : turn.notes) out += heap_of(text);
  return out + heap_of(turn.message) + heap_of(turn.context) + heap_of(turn.facts);
}

}  // namespace

std::shared_ptr<const Turn> TurnCache::find(const Digest& turn) {
  const std::scoped_lock lock(mutex_);
  const auto found = by_turn_.find(turn);
  if (found == by_turn_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->whole;
}

void TurnCache::add(const Digest& turn, std::shared_ptr<const Turn> whole) {
  const std::size_t bytes = bytes_of(*whole);
  const std::scoped_lock lock(mutex_);
  if (by_turn_.contains(turn) || bytes > max_bytes_) return;
  entries_.push_front({turn, std::move(whole), bytes});
  by_turn_[turn] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > max_bytes_) {
    bytes_ -= entries_.back().bytes;
    by_turn_.erase(entries_.back().turn);
    entries_.pop_back();
  }
}

void TurnCache::clear() {
  const std::scoped_lock lock(mutex_);
  by_turn_.clear();
  entries_.clear();
  bytes_ = 0;
}

Result<std::shared_ptr<const Turn>> load_turn(Store& store, TurnCache& cache, const Scope& scope, const Digest& turn) {
  if (auto known = cache.find(turn)) return known;
  const auto stored = store.lineage(scope.id(), turn);
  if (!stored.ok()) return stored.error();
  std::vector<Record> lineage;
  for (const std::string& bytes : stored.value()) {
    Result<Record> record = decode_record(bytes);
    if (!record.ok()) return std::shared_ptr<const Turn>();
    lineage.push_back(std::move(record).value());
  }
  Result<Turn> whole = assemble(lineage);
  if (!whole.ok()) return std::shared_ptr<const Turn>();
  auto out = std::make_shared<const Turn>(std::move(whole).value());
  cache.add(turn, out);
  return std::shared_ptr<const Turn>(std::move(out));
}

}  // namespace rondo::spans
