// Members of objects and parameters of calls, in any order.
#include <algorithm>

#include "grammar/schema.h"

namespace rondo::grammar {
namespace {

// Builds one rule for each set of required members already seen, group by group; other members may come between them.
class AnyOrder {
 public:
  AnyOrder(Grammar& grammar, const Members& members, NodeId separator, std::string name)
      : g_(grammar), members_(members), separator_(separator), name_(std::move(name)) {
    other_ = g_.choice(members.others);
    more_ = g_.any_number(g_.sequence({separator_, other_}));
  }

  NodeId all() {
    const std::vector<NodeId>& required = members_.required;
    if (required.empty()) return only_others();
    // The first member has no separator before it.
    std::vector<NodeId> ways{g_.sequence({other_, rest(0, 0)})};
    const std::size_t size = group_size(0);
    for (std::size_t i = 0; i < size; ++i) ways.push_back(g_.sequence({required[i], rest(0, 1U << i)}));
    return g_.choice(ways);
  }

 private:
  NodeId only_others() {
    const std::uint32_t least = members_.least;
    const std::uint32_t most = members_.most;
    if (most == 0) return least == 0 ? g_.empty() : g_.never();
    const NodeId list = g_.sequence({other_, g_.repeat(g_.sequence({separator_, other_}), least > 0 ? least - 1 : 0,
                                                       most == kUnbounded ? kUnbounded : most - 1)});
    return least == 0 ? g_.optional(list) : list;
  }

  [[nodiscard]] std::size_t group_size(std::size_t begin) const {
    return std::min(members_.tracked, members_.required.size() - begin);
  }

  // What may follow after the members in `done` were seen, of the group of required members at `begin`.
  NodeId rest(std::size_t begin, unsigned done) {
    const std::vector<NodeId>& required = members_.required;
    while (begin < required.size() && done + 1 == 1U << group_size(begin)) {
      begin += group_size(begin);
      done = 0;
    }
    if (begin >= required.size()) return more_;
    const auto found = rests_.find({begin, done});
    if (found != rests_.end()) return found->second;
    const RuleId rule = g_.declare(name_ + "-rest");
    const NodeId made = g_.reference(rule);
    rests_.emplace(std::pair(begin, done), made);
    std::vector<NodeId> ways;
    for (std::size_t i = 0; i < group_size(begin); ++i) {
      if ((done >> i & 1U) != 0) continue;
      ways.push_back(g_.sequence({separator_, required[begin + i], rest(begin, done | 1U << i)}));
    }
    g_.define(rule, g_.sequence({more_, g_.choice(ways)}));
    return made;
  }

  Grammar& g_;
  const Members& members_;
  NodeId separator_;
  std::string name_;
  NodeId other_{};
  NodeId more_{};
  std::map<std::pair<std::size_t, unsigned>, NodeId> rests_;
};

}  // namespace

NodeId in_any_order(Grammar& grammar, const Members& members, NodeId separator, const std::string& name) {
  return AnyOrder(grammar, members, separator, name).all();
}

bool counts_are_kept(const Members& members) {
  if (members.required.empty()) return true;
  return members.least <= members.required.size() &&
         (members.most == kUnbounded || (members.others.empty() && members.most >= members.required.size()));
}

}  // namespace rondo::grammar
