#include "replay/replay_fleets.h"

#include <algorithm>
#include <numeric>

namespace rondo::replay {

ReplayFleets::ReplayFleets(const ReplayOptions& options) {
  for (const cache::Routing routing : options.routings) {
    for (const bool is_bridge : {false, true}) {
      Entry& entry = entries_.emplace_back(Entry{cache::Fleet(options.fleet, routing), is_bridge, {}});
      entry.out.routing = routing;
      entry.out.lane = is_bridge ? "bridge" : "as-sent";
    }
  }
}

std::span<const tokenizer::TokenId> ReplayFleets::ids_of(const Entry& entry, const ConversationState& state) {
  if (entry.is_bridge && state.bridged[0]) return *state.bridged[0];
  return state.prompts[0]->ids;
}

void ReplayFleets::serve(ConversationState& next, const Incoming& request, const ConversationState* parent) {
  next.places.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const std::span<const tokenizer::TokenId> ids = ids_of(entry, next);
    cache::Fleet::Query query{.ids = ids, .text = next.prompts[0]->text, .affinity = request.name};
    if (parent != nullptr) query.parent = parent->places[i];
    const cache::Fleet::Served served = entry.fleet.serve(query);
    entry.out.prompt_tokens += ids.size();
    entry.out.hit_tokens += served.hit;
    if (query.parent && query.parent->replica != served.place.replica) ++entry.out.moved;
    next.places.push_back(served.place);
  }
}

void ReplayFleets::add_answer(const ConversationState& state, bool is_late) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const std::span<const tokenizer::TokenId> prompt = ids_of(entries_[i], state);
    std::vector<tokenizer::TokenId> ids(prompt.begin(), prompt.end());
    ids.insert(ids.end(), state.completion.begin(), state.completion.end());
    entries_[i].fleet.add(state.places[i], ids, is_late ? prompt.size() : 0);
  }
}

std::vector<ReplayFleet> ReplayFleets::report() const {
  std::vector<ReplayFleet> out;
  for (const Entry& entry : entries_) {
    ReplayFleet& fleet = out.emplace_back(entry.out);
    const std::vector<std::uint64_t>& computed = entry.fleet.computed();
    const std::uint64_t all = std::accumulate(computed.begin(), computed.end(), std::uint64_t{0});
    if (all > 0)
      fleet.busiest_share = static_cast<double>(*std::ranges::max_element(computed)) / static_cast<double>(all);
  }
  return out;
}

}  // namespace rondo::replay
