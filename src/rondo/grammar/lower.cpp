#include "grammar/lower.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace rondo::grammar {
namespace {

// Longer words (in bytes) are not excepted, because the rules for a word nest as deep as it is long.
constexpr std::size_t kLongestWord = 512;

// Searches for several words at once (Aho and Corasick).
class WordAutomaton {
 public:
  static constexpr std::size_t kStart = 0;

  explicit WordAutomaton(const std::vector<std::string>& words) {
    states_.emplace_back();
    for (std::size_t i = 0; i < words.size(); ++i) insert(code_points(words[i]), i);
    link();
  }

  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] const CharSet& alphabet() const { return alphabet_; }
  [[nodiscard]] std::size_t next(std::size_t state, char32_t code_point) const {
    while (true) {
      const auto found = states_[state].next.find(code_point);
      if (found != states_[state].next.end()) return found->second;
      if (state == kStart) return kStart;
      state = states_[state].fallback;
    }
  }
  // Returns whether any word ends at the state, or `word` in particular.
  [[nodiscard]] bool ends_word(std::size_t state) const { return !states_[state].words.empty(); }
  [[nodiscard]] bool ends(std::size_t state, std::size_t word) const {
    const auto& words = states_[state].words;
    return std::find(words.begin(), words.end(), word) != words.end();
  }

 private:
  struct State {
    std::map<char32_t, std::size_t> next;
    std::size_t fallback = kStart;
    std::vector<std::size_t> words;
  };

  void insert(const std::u32string& word, std::size_t index) {
    std::size_t at = kStart;
    for (const char32_t code_point : word) {
      alphabet_.add(code_point, code_point);
      const auto [found, is_new] = states_[at].next.emplace(code_point, states_.size());
      const std::size_t target = found->second;
      if (is_new) states_.emplace_back();
      at = target;
    }
    states_[at].words.push_back(index);
  }

  // Sets the fallback of each state, breadth first, and lets a state end all words that its fallback ends.
  void link() {
    std::queue<std::size_t> open;
    for (const auto& [code_point, state] : states_[kStart].next) open.push(state);
    while (!open.empty()) {
      const std::size_t at = open.front();
      open.pop();
      const auto& inherited = states_[states_[at].fallback].words;
      states_[at].words.insert(states_[at].words.end(), inherited.begin(), inherited.end());
      for (const auto& [code_point, state] : states_[at].next) {
        states_[state].fallback = next(states_[at].fallback, code_point);
        open.push(state);
      }
    }
  }

  std::vector<State> states_;
  CharSet alphabet_;
};

class Lowering {
 public:
  // Without `split` everything is lowered.  Otherwise only these lexemes are, and each of their characters becomes a
  // lexeme of its own.
  Lowering(const Grammar& from, Grammar& to, const std::set<NodeId>* split = nullptr)
      : from_(from), to_(to), split_(split) {}

  void run() {
    for (std::size_t i = 0; i < from_.rule_count(); ++i)
      rules_.push_back(to_.declare(from_.name(RuleId{static_cast<std::uint32_t>(i)})));
    for (std::size_t i = 0; i < from_.rule_count(); ++i)
      to_.define(rules_[i], node(from_.body(RuleId{static_cast<std::uint32_t>(i)})));
    to_.set_root(rules_[static_cast<std::size_t>(from_.root())]);
  }

 private:
  NodeId node(NodeId id) {
    if (split_ != nullptr && !in_split_ && is_lexeme(from_.node(id))) return lexeme(id);
    auto& done = in_split_ ? done_in_split_ : done_;
    const auto found = done.find(id);
    if (found != done.end()) return found->second;
    const NodeId made = lower(from_.node(id));
    done.emplace(id, made);
    return made;
  }

  NodeId lexeme(NodeId id) {
    if (!split_->contains(id)) return copied(id);
    in_split_ = true;
    const NodeId made = node(id);
    in_split_ = false;
    return made;
  }

  NodeId copied(NodeId id) {
    const Node& from = from_.node(id);
    std::vector<NodeId> children;
    for (const NodeId child : from.children) children.push_back(copied(child));
    return to_.like(from, children);
  }

  NodeId characters(const CharSet& set) { return in_split_ ? to_.token(to_.chars(set)) : to_.chars(set); }

  NodeId literal(const std::string& text) {
    if (!in_split_) return to_.literal(text);
    std::vector<NodeId> parts;
    for (const char32_t one : code_points(text)) parts.push_back(characters(CharSet::of(one)));
    return to_.sequence(parts);
  }

  NodeId lower(const Node& from) {
    std::vector<NodeId> children;
    for (const NodeId child : from.children) children.push_back(node(child));
    switch (from.kind) {
      case NodeKind::kLiteral: return literal(from.text);
      case NodeKind::kChars: return characters(from.set);
      case NodeKind::kRepeat: return repeat(children[0], from.least, from.most);
      case NodeKind::kReference: return to_.reference(rules_[static_cast<std::size_t>(from.rule)]);
      case NodeKind::kText: return text(from);
      case NodeKind::kExceptWord: return except(children[0], from.words);
      case NodeKind::kToken: return children[0];
      default: return to_.like(from, children);
    }
  }

  // ---- Text up to a marker: one rule per state of the automaton.

  NodeId text(const Node& from) {
    const WordAutomaton automaton(from.words);
    const auto closing =
        static_cast<std::size_t>(std::find(from.words.begin(), from.words.end(), from.text) - from.words.begin());
    std::vector<RuleId> states;
    for (std::size_t i = 0; i < automaton.size(); ++i)
      states.push_back(to_.declare(i == 0 ? "text" : "text-" + std::to_string(i)));
    for (std::size_t i = 0; i < automaton.size(); ++i) {
      if (automaton.ends_word(i)) continue;  // this state is never entered
      std::map<std::size_t, CharSet> moves;
      for (const CharSet::Range& range : automaton.alphabet().ranges()) {
        for (char32_t c = range.first; c <= range.last; ++c) moves[automaton.next(i, c)].add(c, c);
      }
      CharSet& others = moves[WordAutomaton::kStart];
      others = others.united(automaton.alphabet().complement());
      std::vector<NodeId> ways;
      if (from.text.empty()) ways.push_back(to_.empty());
      for (const auto& [target, set] : moves) {
        if (!automaton.ends_word(target)) {
          ways.push_back(to_.sequence({characters(set), to_.reference(states[target])}));
        } else if (automaton.ends(target, closing)) {
          ways.push_back(characters(set));
        }
      }
      to_.define(states[i], to_.choice(ways));
    }
    return to_.reference(states[WordAutomaton::kStart]);
  }

  // ---- Any text but some words: one rule per prefix of a word.

  NodeId except(NodeId item, const std::vector<std::string>& words) {
    CharSet set;
    std::vector<NodeId> escapes;
    const Node items = to_.node(item);
    for (const NodeId way : items.kind == NodeKind::kChoice ? items.children : std::vector<NodeId>{item}) {
      const Node& one = to_.node(way);
      const Node& plain = one.kind == NodeKind::kToken ? to_.node(one.children[0]) : one;
      if (plain.kind == NodeKind::kChars) {
        set = set.united(plain.set);
      } else {
        escapes.push_back(way);
      }
    }
    std::vector<std::u32string> sorted;
    for (const std::string& word : words) {
      if (word.size() <= kLongestWord) sorted.push_back(code_points(word));
    }
    if (sorted.empty()) return to_.any_number(item);
    std::sort(sorted.begin(), sorted.end());
    return except_from(sorted, 0, sorted.size(), 0, {set, escapes, to_.any_number(item)});
  }

  struct Characters {
    CharSet set;
    std::vector<NodeId> escapes;
    NodeId rest{};
  };

  // What may follow the first `depth` characters, which the words [begin, end) have in common.
  NodeId except_from(const std::vector<std::u32string>& words, std::size_t begin, std::size_t end, std::size_t depth,
                     const Characters& others) {
    const RuleId rule = to_.declare("other-name");
    std::vector<NodeId> ways;
    if (words[begin].size() > depth) ways.push_back(to_.empty());
    while (begin < end && words[begin].size() == depth) ++begin;
    CharSet taken;
    while (begin < end) {
      const char32_t next = words[begin][depth];
      std::size_t stop = begin;
      while (stop < end && words[stop][depth] == next) ++stop;
      taken.add(next, next);
      const NodeId rest = except_from(words, begin, stop, depth + 1, others);
      ways.push_back(to_.sequence({characters(CharSet::of(next)), rest}));
      begin = stop;
    }
    ways.push_back(to_.sequence({characters(others.set.without(taken)), others.rest}));
    for (const NodeId escape : others.escapes) ways.push_back(to_.sequence({escape, others.rest}));
    to_.define(rule, to_.choice(ways));
    return to_.reference(rule);
  }

  // ---- Long repetitions, written as numbers in base kLongestRepeat.

  NodeId repeat(NodeId item, std::uint32_t least, std::uint32_t most) {
    if (most == kUnbounded) {
      if (least <= kLongestRepeat) return to_.repeat(item, least, most);
      return to_.sequence({exactly(item, least), to_.any_number(item)});
    }
    if (most <= kLongestRepeat) return to_.repeat(item, least, most);
    return to_.sequence({exactly(item, least), at_most(item, most - least)});
  }

  NodeId block(NodeId item) {
    const RuleId rule = to_.declare("block");
    to_.define(rule, to_.repeat(item, kLongestRepeat, kLongestRepeat));
    return to_.reference(rule);
  }

  NodeId block_of(NodeId item) {
    const auto found = blocks_.find(item);
    if (found != blocks_.end()) return found->second;
    const NodeId made = block(item);
    blocks_.emplace(item, made);
    return made;
  }

  NodeId exactly(NodeId item, std::uint32_t count) {
    if (count <= kLongestRepeat) return to_.repeat(item, count, count);
    return to_.sequence({exactly(block_of(item), count / kLongestRepeat),
                         to_.repeat(item, count % kLongestRepeat, count % kLongestRepeat)});
  }

  // Whole blocks, then less than a block, so that each count has exactly one derivation.
  NodeId at_most(NodeId item, std::uint32_t count) {
    if (count <= kLongestRepeat) return to_.repeat(item, 0, count);
    const std::uint32_t blocks = count / kLongestRepeat;
    const NodeId below = to_.sequence({at_most(block_of(item), blocks - 1), to_.repeat(item, 0, kLongestRepeat - 1)});
    const NodeId last = to_.sequence({exactly(block_of(item), blocks), to_.repeat(item, 0, count % kLongestRepeat)});
    return to_.choice({below, last});
  }

  const Grammar& from_;
  Grammar& to_;
  const std::set<NodeId>* split_;
  bool in_split_ = false;
  std::vector<RuleId> rules_;
  std::map<NodeId, NodeId> done_;
  std::map<NodeId, NodeId> done_in_split_;
  std::map<NodeId, NodeId> blocks_;
};

// Gives each part that is used more than once a rule of its own, so the printed text is as small as the graph.
class Outlining {
 public:
  Outlining(const Grammar& from, Grammar& to) : from_(from), to_(to), uses_(from.node_count(), 0) {}

  void run() {
    for (std::size_t i = 0; i < from_.rule_count(); ++i) {
      const RuleId rule{static_cast<std::uint32_t>(i)};
      rules_.push_back(to_.declare(from_.name(rule)));
      ++uses_[static_cast<std::size_t>(from_.body(rule))];
    }
    for (std::size_t i = 0; i < from_.node_count(); ++i) {
      const Node& node = from_.node(NodeId{static_cast<std::uint32_t>(i)});
      const bool repeats = node.kind == NodeKind::kRepeat && node.most > 1;
      for (const NodeId child : node.children) uses_[static_cast<std::size_t>(child)] += repeats ? 2 : 1;
    }
    for (std::size_t i = 0; i < from_.rule_count(); ++i)
      to_.define(rules_[i], copied(from_.node(from_.body(RuleId{static_cast<std::uint32_t>(i)}))));
    to_.set_root(rules_[static_cast<std::size_t>(from_.root())]);
  }

 private:
  [[nodiscard]] bool is_outlined(NodeId id) const {
    const Node& node = from_.node(id);
    const bool is_small = node.kind == NodeKind::kLiteral || node.kind == NodeKind::kChars ||
                          node.kind == NodeKind::kReference || node.kind == NodeKind::kNever || node.children.empty();
    if (is_small || uses_[static_cast<std::size_t>(id)] < 2) return false;
    const bool is_simple_repeat =
        node.kind == NodeKind::kRepeat && from_.node(node.children[0]).kind == NodeKind::kReference && node.most < 2;
    return !is_simple_repeat;
  }

  NodeId node(NodeId id) {
    const auto found = done_.find(id);
    if (found != done_.end()) return found->second;
    NodeId made{};
    if (is_outlined(id)) {
      const RuleId rule = to_.declare("part");
      made = to_.reference(rule);
      done_.emplace(id, made);
      to_.define(rule, copied(from_.node(id)));
    } else {
      made = copied(from_.node(id));
      done_.emplace(id, made);
    }
    return made;
  }

  NodeId copied(const Node& from) {
    if (from.kind == NodeKind::kReference) return to_.reference(rules_[static_cast<std::size_t>(from.rule)]);
    std::vector<NodeId> children;
    for (const NodeId child : from.children) children.push_back(node(child));
    return to_.like(from, children);
  }

  const Grammar& from_;
  Grammar& to_;
  std::vector<std::uint32_t> uses_;
  std::vector<RuleId> rules_;
  std::map<NodeId, NodeId> done_;
};

}  // namespace

bool is_lexeme(const Node& node) {
  return node.kind == NodeKind::kLiteral || node.kind == NodeKind::kToken || node.kind == NodeKind::kExceptWord ||
         node.kind == NodeKind::kChars || node.kind == NodeKind::kText || node.kind == NodeKind::kNever;
}

Grammar with_split_lexemes(const Grammar& grammar, const std::set<NodeId>& lexemes) {
  Grammar out;
  Lowering(grammar, out, &lexemes).run();
  return out.pruned();
}

Grammar lowered(const Grammar& grammar) {
  Grammar plain;
  Lowering(grammar, plain).run();
  Grammar out;
  Outlining(plain, out).run();
  return out.pruned();
}

}  // namespace rondo::grammar
