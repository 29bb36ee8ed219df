#include "cache/fleet.h"

#include <algorithm>
#include <utility>

namespace rondo::cache {

Fleet::Fleet(const FleetOptions& options, Routing routing)
    : options_(options), router_({.routing = routing}), computed_(options.replicas) {
  for (std::size_t i = 0; i < options.replicas; ++i)
    router_.add({.capacity = options.capacity, .block = options.block});
}

Fleet::Served Fleet::serve(const Query& query) {
  if (query.parent) finish(query.parent->request);
  const std::size_t at_once = options_.at_once();
  while (running_.size() >= at_once) {
    finish(first_);
    running_.pop_front();
    ++first_;
  }
  const std::size_t waiting = std::max<std::size_t>(at_once / 4, 1);
  if (running_.size() >= waiting) {
    if (auto& ticket = running_[running_.size() - waiting]) router_.progress(*ticket, {});
  }
  const Router::Ask ask{.ids = query.ids, .affinity = query.affinity, .text = query.text};
  const auto choice = router_.choose(ask);
  Served out;
  out.place = {choice->replica, first_ + running_.size()};
  Router::Ticket ticket = router_.begin(choice->replica, ask);
  // The last id is always computed, because the engine samples from its result.
  const std::size_t known = std::min(ticket.expected, query.ids.empty() ? 0 : query.ids.size() - 1);
  out.hit = known - known % options_.block;
  computed_[choice->replica] += query.ids.size() - out.hit;
  running_.emplace_back(std::move(ticket));
  return out;
}

void Fleet::finish(std::uint64_t request) {
  if (request < first_ || request - first_ >= running_.size()) return;
  auto& ticket = running_[static_cast<std::size_t>(request - first_)];
  if (ticket) router_.drop(*std::exchange(ticket, std::nullopt));
}

void Fleet::add(const Place& place, std::span<const TokenId> ids, std::size_t known) {
  if (known > 0 && router_.expected(place.replica, {}, ids) < known) return;
  router_.note(place.replica, {}, ids);
}

}  // namespace rondo::cache
