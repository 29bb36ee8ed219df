#include "spans/planner.h"

namespace rondo::spans {
namespace {

std::size_t bytes_of(const Turn& turn) {
  std::size_t out = sizeof(Turn) + turn.prompt.size() * (sizeof(TokenId) + 5) + turn.completion.size() * 8;
  for (const std::string& message : turn.messages) out += message.size() + sizeof(std::string);
  return out + turn.message.size() + turn.context.size() + turn.facts.size();
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
