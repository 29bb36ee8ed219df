#include "tokenizer/merge_queue.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace rondo::tokenizer {
namespace {

using Candidate = MergeQueue::Candidate;

// Whether `a` is taken after `b`.
bool is_after(const Candidate& a, const Candidate& b) { return a.rank != b.rank ? a.rank > b.rank : a.left > b.left; }

}  // namespace

void MergeQueue::clear() {
  if (lists_.empty()) lists_.resize(64);
  if (++round_ == 0) {
    std::ranges::fill(lists_, List{});
    round_ = 1;
  }
  nodes_.clear();
  ranks_.clear();
  batch_.clear();
  late_.clear();
  list_count_ = 0;
  free_ = kNobody;
  at_ = 0;
  batch_rank_ = 0;
}

MergeQueue::List& MergeQueue::list_of(std::uint32_t rank) {
  std::size_t at = (rank * std::size_t{0x9E3779B1}) & (lists_.size() - 1);
  while (lists_[at].round == round_ && lists_[at].rank != rank) at = (at + 1) & (lists_.size() - 1);
  return lists_[at];
}

void MergeQueue::grow() {
  const std::vector<List> old = std::exchange(lists_, std::vector<List>(lists_.size() * 2));
  for (const List& list : old) {
    if (list.round == round_) list_of(list.rank) = list;
  }
}

// REQUIRES: clear() was called.
void MergeQueue::push(const Candidate& candidate) {
  if (candidate.rank <= batch_rank_) {
    late_.push_back(candidate);
    std::ranges::push_heap(late_, is_after);
    return;
  }
  std::uint32_t node = free_;
  if (node == kNobody) {
    node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({candidate, kNobody});
  } else {
    free_ = nodes_[node].next;
    nodes_[node] = {candidate, kNobody};
  }
  List* list = &list_of(candidate.rank);
  if (list->round == round_ && list->first != kNobody) {
    nodes_[list->last].next = node;
    list->last = node;
    return;
  }
  if (list->round != round_ && ++list_count_ * 2 > lists_.size()) {
    grow();
    list = &list_of(candidate.rank);
  }
  *list = {candidate.rank, round_, node, node};
  ranks_.push_back(candidate.rank);
  std::ranges::push_heap(ranks_, std::greater<>());
}

// Makes the list of the lowest rank the batch.
bool MergeQueue::next_batch() {
  batch_.clear();
  at_ = 0;
  if (ranks_.empty()) return false;
  std::ranges::pop_heap(ranks_, std::greater<>());
  batch_rank_ = ranks_.back();
  ranks_.pop_back();
  List& list = list_of(batch_rank_);
  for (std::uint32_t node = list.first; node != kNobody; node = nodes_[node].next) {
    batch_.push_back(nodes_[node].candidate);
  }
  nodes_[list.last].next = free_;
  free_ = list.first;
  list.first = kNobody;
  const auto is_right = [](const Candidate& a, const Candidate& b) { return a.left < b.left; };
  if (!std::ranges::is_sorted(batch_, is_right)) std::ranges::sort(batch_, is_right);
  return true;
}

bool MergeQueue::pop(Candidate& next) {
  if (at_ == batch_.size() && late_.empty() && !next_batch()) return false;
  if (late_.empty() || (at_ < batch_.size() && !is_after(batch_[at_], late_.front()))) {
    next = batch_[at_++];
    return true;
  }
  std::ranges::pop_heap(late_, is_after);
  next = late_.back();
  late_.pop_back();
  return true;
}

}  // namespace rondo::tokenizer
