#include "grammar/lexer_conflicts.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "grammar/lower.h"
#include "grammar/text_pieces.h"

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostSteps = 150'000;     // of the search
constexpr std::size_t kMostAsked = 1UL << 23U;  // ... and how often states are asked in them
constexpr std::size_t kMostBits = 1UL << 28U;   // of the tables
constexpr std::size_t kLongestWords = 2048;     // characters in the markers of one text
constexpr std::uint32_t kMostCopies = 3;        // of a part that must be repeated; more are any number

using StateSet = std::vector<std::uint32_t>;  // sorted

// The automata of all lexemes.  Repetitions are read as longer ones, and excepted words as allowed: both only add texts.
class LexemeAutomata {
 public:
  struct Lexeme {
    NodeId node{};
    StateSet start;
    bool is_empty = false;  // whether the empty text is one of its texts
  };
  struct Move {
    CharSet set;
    std::uint32_t target = 0;
  };
  static constexpr std::size_t kNoLexeme = std::size_t(-1);

  explicit LexemeAutomata(const Grammar& grammar) : grammar_(grammar) {}

  // Returns the index of the lexeme `id`.
  std::size_t add(NodeId id) {
    const auto found = ids_.find(id);
    if (found != ids_.end()) return found->second;
    ids_.emplace(id, lexemes_.size());
    const std::uint32_t first = static_cast<std::uint32_t>(states_.size());
    const Node& node = grammar_.node(id);
    const std::uint32_t start = state();
    const std::uint32_t end = is_in_pieces(node) ? pieces(node, start) : part(id, start);
    states_[end].accepts = lexemes_.size();
    Lexeme made{id, closed({start}), false};
    made.is_empty = is_in_pieces(node) || accepts(made.start, lexemes_.size());
    for (std::uint32_t i = first; i < states_.size(); ++i) states_[i].lexeme = lexemes_.size();
    lexemes_.push_back(std::move(made));
    return lexemes_.size() - 1;
  }

  [[nodiscard]] const Lexeme& lexeme(std::size_t index) const { return lexemes_[index]; }
  // Returns the lexeme that the state belongs to.
  [[nodiscard]] std::size_t owner(std::uint32_t state) const { return states_[state].lexeme; }
  // Returns the node of the lexeme, or what is in it if that is a token.
  [[nodiscard]] const Node& inner(std::size_t lexeme) const {
    const Node& node = grammar_.node(lexemes_[lexeme].node);
    return node.kind == NodeKind::kToken ? grammar_.node(node.children[0]) : node;
  }
  [[nodiscard]] const std::vector<Move>& moves(std::uint32_t state) const { return states_[state].moves; }
  [[nodiscard]] std::size_t accepted(std::uint32_t state) const { return states_[state].accepts; }
  // Returns whether the node is text that is written in pieces, any number of which may follow each other.
  [[nodiscard]] static bool is_in_pieces(const Node& node) {
    return node.kind == NodeKind::kText && node.text.empty() && !text_pieces(node.words).empty();
  }
  [[nodiscard]] bool accepts(const StateSet& set, std::size_t lexeme) const {
    return std::ranges::any_of(set, [&](std::uint32_t at) { return states_[at].accepts == lexeme; });
  }
  [[nodiscard]] StateSet step(const StateSet& from, char32_t code_point) const {
    StateSet out;
    for (const std::uint32_t at : from) {
      for (const Move& move : states_[at].moves) {
        if (move.set.contains(code_point)) out.push_back(move.target);
      }
    }
    return closed(std::move(out));
  }

 private:
  struct State {
    std::vector<Move> moves;
    std::vector<std::uint32_t> free;  // states that need no character
    std::size_t accepts = kNoLexeme;
    std::size_t lexeme = kNoLexeme;
  };

  std::uint32_t state() {
    states_.emplace_back();
    return static_cast<std::uint32_t>(states_.size() - 1);
  }

  // Adds all states that need no character, and sorts.
  [[nodiscard]] StateSet closed(StateSet set) const {
    ++round_;
    seen_.resize(states_.size());
    StateSet out;
    while (!set.empty()) {
      const std::uint32_t at = set.back();
      set.pop_back();
      if (std::exchange(seen_[at], round_) == round_) continue;
      if (!states_[at].moves.empty() || states_[at].accepts != kNoLexeme) out.push_back(at);
      set.insert(set.end(), states_[at].free.begin(), states_[at].free.end());
    }
    std::ranges::sort(out);
    return out;
  }

  std::uint32_t on(std::uint32_t from, const CharSet& set) {
    const std::uint32_t to = state();
    states_[from].moves.push_back({set, to});
    return to;
  }

  // One piece of a text.
  std::uint32_t pieces(const Node& node, std::uint32_t from) {
    const std::uint32_t end = state();
    for (const TextPiece& piece : text_pieces(node.words)) {
      std::uint32_t at = from;
      for (const char32_t one : piece.begun) at = on(at, CharSet::of(one));
      if (!piece.begun.empty()) join(at, end);
      join(on(at, piece.next), end);
    }
    return end;
  }

  // Adds a part of a lexeme behind the state `from`.  Returns the state behind it.
  std::uint32_t part(NodeId id, std::uint32_t from) {
    const Node& node = grammar_.node(id);
    switch (node.kind) {
      case NodeKind::kLiteral:
        for (const char32_t one : code_points(node.text)) from = on(from, CharSet::of(one));
        return from;
      case NodeKind::kChars: return on(from, node.set);
      case NodeKind::kToken: return part(node.children[0], from);
      case NodeKind::kSequence:
        for (const NodeId child : node.children) from = part(child, from);
        return from;
      case NodeKind::kChoice: {
        const std::uint32_t end = state();
        for (const NodeId child : node.children) join(part(child, from_free(from)), end);
        return end;
      }
      case NodeKind::kRepeat: return repeated(node.children[0], node.least, node.most, from);
      case NodeKind::kExceptWord: return repeated(node.children[0], 0, kUnbounded, from);
      case NodeKind::kText: return text(node, from);
      default: return state();
    }
  }
  std::uint32_t from_free(std::uint32_t from) {
    const std::uint32_t to = state();
    join(from, to);
    return to;
  }
  void join(std::uint32_t from, std::uint32_t to) { states_[from].free.push_back(to); }

  std::uint32_t repeated(NodeId item, std::uint32_t least, std::uint32_t most, std::uint32_t from) {
    for (std::uint32_t i = 0; i < std::min(least, kMostCopies); ++i) from = part(item, from);
    if (most == least && least <= kMostCopies) return from;
    if (most <= kMostCopies) {
      const std::uint32_t end = state();
      join(from, end);
      for (std::uint32_t i = least; i < most; ++i) {
        from = part(item, from);
        join(from, end);
      }
      return end;
    }
    const std::uint32_t loop = from_free(from);
    join(part(item, loop), loop);
    return from_free(loop);
  }

  // Returns whether a marker ends where `read` does.
  static bool ends_marker(const std::vector<std::u32string>& markers, const std::u32string& read) {
    return std::ranges::any_of(markers, [&](const std::u32string& one) { return !one.empty() && read.ends_with(one); });
  }
  // Returns the longest end of `read` with which a marker begins.
  static std::u32string begun_in(const std::vector<std::u32string>& markers, std::u32string read) {
    const auto begins = [&](const std::u32string& marker) { return marker.starts_with(read); };
    while (!read.empty() && std::ranges::none_of(markers, begins)) read.erase(0, 1);
    return read;
  }

  // Text up to its first marker: its states are the beginnings of markers.
  std::uint32_t text(const Node& node, std::uint32_t from) {
    std::vector<std::u32string> markers;
    std::set<char32_t> letters;
    std::size_t size = 0;
    for (const std::string& word : node.words) {
      markers.push_back(code_points(word));
      letters.insert(markers.back().begin(), markers.back().end());
      size += markers.back().size();
    }
    const std::u32string closing = code_points(node.text);
    const std::uint32_t end = state();
    if (size > kLongestWords) {  // any text
      states_[from].moves.push_back({CharSet::all(), from});
      join(from, end);
      return end;
    }
    CharSet others;
    for (const char32_t one : letters) others.add(one, one);
    others = others.complement();
    std::map<std::u32string, std::uint32_t> known{{U"", from_free(from)}};
    std::vector<std::u32string> open{U""};
    while (!open.empty()) {
      const std::u32string begun = open.back();
      open.pop_back();
      const std::uint32_t at = known.at(begun);
      if (closing.empty()) join(at, end);
      states_[at].moves.push_back({others, known.at(U"")});
      for (const char32_t one : letters) {
        const std::u32string read = begun + one;
        const bool is_over = ends_marker(markers, read);
        if (is_over && !closing.empty() && read.ends_with(closing))
          states_[at].moves.push_back({CharSet::of(one), end});
        if (is_over) continue;
        const auto [next, is_new] = known.try_emplace(begun_in(markers, read), 0);
        if (is_new) {
          next->second = state();
          open.push_back(next->first);
        }
        states_[at].moves.push_back({CharSet::of(one), next->second});
      }
    }
    return end;
  }

  const Grammar& grammar_;
  std::vector<State> states_;
  std::vector<Lexeme> lexemes_;
  std::map<NodeId, std::size_t> ids_;
  mutable std::vector<std::size_t> seen_;  // by state: the last round of closed() that came to it
  mutable std::size_t round_ = 0;
};

using Bits = std::vector<std::uint64_t>;

// Adds `more` to `to`.  Returns whether that changed it.
bool unite(Bits& to, const Bits& more) {
  bool changed = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::uint64_t before = to[i];
    to[i] |= more[i];
    changed = changed || to[i] != before;
  }
  return changed;
}

// Where lexemes stand in a grammar, and which may follow each place.
class LexemePlaces {
 public:
  LexemePlaces(const Grammar& grammar, LexemeAutomata& automata) : grammar_(grammar), automata_(automata) {
    first_leaf_.assign(grammar.node_count(), 0);
    reach();
    for (std::size_t i = 0; i < grammar.node_count(); ++i) {
      const Node& node = grammar.node(NodeId{static_cast<std::uint32_t>(i)});
      first_leaf_[i] = leaves_.size();
      if (!is_composed_[i]) continue;
      for (const NodeId child : node.children) leaves_.push_back(lexeme_of(child));
    }
    first_rule_leaf_ = leaves_.size();
    for (std::size_t i = 0; i < grammar.rule_count(); ++i) leaves_.push_back(lexeme_of(grammar.body(rule(i))));
    words_ = leaves_.size() / 64 + 1;
  }

  [[nodiscard]] bool is_too_large() const {
    return (grammar_.node_count() * 2 + leaves_.size()) * leaves_.size() > kMostBits;
  }

  void compute() {
    const std::size_t nodes = grammar_.node_count();
    nullable_.assign(nodes, false);
    first_.assign(nodes, Bits(words_));
    behind_node_.assign(nodes, Bits(words_));
    behind_.assign(leaves_.size(), Bits(words_));
    while (compute_first()) {}
    while (compute_behind()) {}
  }

  [[nodiscard]] std::size_t size() const { return leaves_.size(); }
  [[nodiscard]] std::size_t lexeme(std::size_t leaf) const { return leaves_[leaf]; }
  [[nodiscard]] const Bits& behind(std::size_t leaf) const { return behind_[leaf]; }
  [[nodiscard]] Bits start() const { return first_of(grammar_.body(grammar_.root()), rule_leaf(grammar_.root())); }

 private:
  static RuleId rule(std::size_t index) { return RuleId{static_cast<std::uint32_t>(index)}; }
  // Finds the nodes outside of lexemes.
  void reach() {
    is_composed_.assign(grammar_.node_count(), false);
    std::vector<NodeId> open;
    for (std::size_t i = 0; i < grammar_.rule_count(); ++i) open.push_back(grammar_.body(rule(i)));
    while (!open.empty()) {
      const auto at = static_cast<std::size_t>(open.back());
      open.pop_back();
      const Node& node = grammar_.node(NodeId{static_cast<std::uint32_t>(at)});
      if (is_composed_[at] || is_lexeme(node)) continue;
      is_composed_[at] = true;
      open.insert(open.end(), node.children.begin(), node.children.end());
    }
  }
  std::size_t lexeme_of(NodeId id) {
    return is_lexeme(grammar_.node(id)) ? automata_.add(id) : LexemeAutomata::kNoLexeme;
  }
  [[nodiscard]] std::size_t rule_leaf(RuleId id) const { return first_rule_leaf_ + static_cast<std::size_t>(id); }
  [[nodiscard]] Bits first_of(NodeId id, std::size_t leaf) const {
    if (leaves_[leaf] == LexemeAutomata::kNoLexeme) return first_[static_cast<std::size_t>(id)];
    Bits out(words_);
    out[leaf / 64] |= 1ULL << (leaf % 64);
    return out;
  }
  [[nodiscard]] bool is_nullable(NodeId id, std::size_t leaf) const {
    return leaves_[leaf] == LexemeAutomata::kNoLexeme ? nullable_[static_cast<std::size_t>(id)]
                                                      : automata_.lexeme(leaves_[leaf]).is_empty;
  }

  bool compute_first() {
    bool changed = false;
    for (std::size_t i = 0; i < grammar_.node_count(); ++i) {
      const Node& node = grammar_.node(NodeId{static_cast<std::uint32_t>(i)});
      if (!is_composed_[i]) continue;
      bool is_empty = node.kind == NodeKind::kSequence || (node.kind == NodeKind::kRepeat && node.least == 0);
      if (node.kind == NodeKind::kReference) {
        const NodeId body = grammar_.body(node.rule);
        changed = unite(first_[i], first_of(body, rule_leaf(node.rule))) || changed;
        is_empty = is_nullable(body, rule_leaf(node.rule));
      }
      for (std::size_t k = 0; k < node.children.size(); ++k) {
        const std::size_t leaf = first_leaf_[i] + k;
        const bool may_begin = node.kind != NodeKind::kSequence || is_empty;
        if (may_begin) changed = unite(first_[i], first_of(node.children[k], leaf)) || changed;
        const bool child_is_empty = is_nullable(node.children[k], leaf);
        is_empty = node.kind == NodeKind::kSequence ? is_empty && child_is_empty : is_empty || child_is_empty;
      }
      if (is_empty && !nullable_[i]) nullable_[i] = changed = true;
    }
    return changed;
  }

  bool add_behind(NodeId id, std::size_t leaf, const Bits& more) {
    return unite(
        leaves_[leaf] == LexemeAutomata::kNoLexeme ? behind_node_[static_cast<std::size_t>(id)] : behind_[leaf], more);
  }

  bool compute_behind() {
    bool changed = false;
    for (std::size_t i = grammar_.node_count(); i-- > 0;) {
      const Node& node = grammar_.node(NodeId{static_cast<std::uint32_t>(i)});
      if (!is_composed_[i]) continue;
      Bits after = behind_node_[i];
      if (node.kind == NodeKind::kReference)
        changed = add_behind(grammar_.body(node.rule), rule_leaf(node.rule), after) || changed;
      if (node.kind == NodeKind::kRepeat && node.most > 1) (void)unite(after, first_[i]);
      for (std::size_t k = node.children.size(); k-- > 0;) {
        const std::size_t leaf = first_leaf_[i] + k;
        changed = add_behind(node.children[k], leaf, after) || changed;
        if (LexemeAutomata::is_in_pieces(grammar_.node(node.children[k])))
          changed = add_behind(node.children[k], leaf, first_of(node.children[k], leaf)) || changed;
        if (node.kind != NodeKind::kSequence) continue;
        if (!is_nullable(node.children[k], leaf)) after.assign(words_, 0);
        (void)unite(after, first_of(node.children[k], leaf));
      }
    }
    return changed;
  }

  const Grammar& grammar_;
  LexemeAutomata& automata_;
  std::vector<std::size_t> leaves_;      // their lexemes; kNoLexeme for places of other nodes
  std::vector<std::size_t> first_leaf_;  // by node: the place of its first child
  std::size_t first_rule_leaf_ = 0;
  std::size_t words_ = 0;
  std::vector<bool> is_composed_;
  std::vector<bool> nullable_;
  std::vector<Bits> first_, behind_node_, behind_;
};

class ConflictSearch {
 public:
  explicit ConflictSearch(const Grammar& grammar)
      : grammar_(grammar), automata_(grammar), places_(grammar, automata_) {}

  std::set<NodeId> run() {
    if (places_.is_too_large()) return {};
    places_.compute();
    std::set<Bits> groups{places_.start()};
    for (std::size_t leaf = 0; leaf < places_.size(); ++leaf) groups.insert(places_.behind(leaf));
    for (const Bits& group : groups) search(group);
    return std::move(found_);
  }

 private:
  using Followers = std::map<std::size_t, std::set<std::size_t>>;  // by lexeme: the places behind it

  static std::vector<std::size_t> members(const Bits& bits) {
    std::vector<std::size_t> out;
    for (std::size_t word = 0; word < bits.size(); ++word) {
      for (std::uint64_t rest = bits[word]; rest != 0; rest &= rest - 1)
        out.push_back(word * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
    }
    return out;
  }

  // Looks at the lexemes that may stand at one place together.
  void search(const Bits& group) {
    Followers followers;
    std::set<std::uint32_t> begin;
    for (const std::size_t leaf : members(group)) {
      const StateSet& start = automata_.lexeme(places_.lexeme(leaf)).start;
      begin.insert(start.begin(), start.end());
      const std::vector<std::size_t> behind = members(places_.behind(leaf));
      followers[places_.lexeme(leaf)].insert(behind.begin(), behind.end());
    }
    std::set<StateSet> seen;
    std::vector<StateSet> open{{begin.begin(), begin.end()}};
    while (!open.empty()) {
      const StateSet at = std::move(open.back());
      open.pop_back();
      if (at.empty() || !seen.insert(at).second) continue;
      look_behind(at, followers);
      const std::set<char32_t> characters = telling_characters(at, {});
      if (is_too_much(at.size() * characters.size())) return;
      for (const char32_t one : characters) open.push_back(automata_.step(at, one));
    }
  }

  // Counts a step that asks `asked` times where a state goes on.
  [[nodiscard]] bool is_too_much(std::size_t asked) {
    asked_ += asked;
    return ++steps_ > kMostSteps || asked_ > kMostAsked;
  }

  // One character of each kind that the states tell apart.
  [[nodiscard]] std::set<char32_t> telling_characters(const StateSet& states, const StateSet& more) const {
    std::set<char32_t> out;
    for (const StateSet* set : {&states, &more}) {
      for (const std::uint32_t at : *set) {
        for (const LexemeAutomata::Move& move : automata_.moves(at)) {
          for (const CharSet::Range& range : move.set.ranges()) {
            out.insert(range.first);
            if (range.last < kLastCodePoint) out.insert(range.last + 1);
          }
        }
      }
    }
    return out;
  }

  // Looks at what may follow the lexemes that end at the states `at`, but that the lexer takes as more of a lexeme.
  void look_behind(const StateSet& at, const Followers& followers) {
    std::set<std::size_t> ended;
    std::set<std::size_t> next;
    for (const std::uint32_t state : at) {
      const std::size_t lexeme = automata_.accepted(state);
      if (lexeme == LexemeAutomata::kNoLexeme || !followers.contains(lexeme)) continue;
      ended.insert(lexeme);
      next.insert(followers.at(lexeme).begin(), followers.at(lexeme).end());
    }
    for (const std::size_t place : next) {
      // Another piece behind a piece: the marker that goes on there is what ends the text.
      const std::size_t follower = places_.lexeme(place);
      if (ended.contains(follower) && LexemeAutomata::is_in_pieces(grammar_.node(automata_.lexeme(follower).node)))
        continue;
      const StateSet& start = automata_.lexeme(places_.lexeme(place)).start;
      const std::set<char32_t> characters = telling_characters(at, start);
      if (is_too_much((at.size() + start.size()) * characters.size())) return;
      if (shares_first_byte(at, start)) note(at);
      for (const char32_t one : characters) {
        const StateSet on = automata_.step(at, one);
        if (!differs(on, ended, start, automata_.step(start, one))) continue;
        const bool is_split = std::ranges::any_of(ended, [this](std::size_t lexeme) { return is_character(lexeme); });
        if (is_split || !is_absorbed(on, place)) note(on);
      }
    }
  }

  // Whether the lexeme is one character of a lexeme that was split.
  [[nodiscard]] bool is_character(std::size_t lexeme) const {
    return grammar_.node(automata_.lexeme(lexeme).node).kind == NodeKind::kToken && is_single(lexeme);
  }
  [[nodiscard]] bool is_single(std::size_t lexeme) const {
    const Node& inner = automata_.inner(lexeme);
    return inner.kind == NodeKind::kChars || (inner.kind == NodeKind::kLiteral && code_points(inner.text).size() == 1);
  }

  // The lexemes of the states go on.
  void note(const StateSet& states) {
    for (const std::uint32_t state : states) {
      const std::size_t lexeme = automata_.owner(state);
      if (!is_single(lexeme)) found_.insert(automata_.lexeme(lexeme).node);
    }
  }

  // Whether the lexer goes on to the states `on` with a character that leads from `start`, the beginning of what follows
  // the lexemes `ended`, to `other`, and cannot read what comes then.  White space that both pass over changes nothing.
  [[nodiscard]] bool differs(const StateSet& on, const std::set<std::size_t>& ended, const StateSet& start,
                             const StateSet& other) const {
    if (on.empty() || other.empty() || std::ranges::includes(on, other)) return false;
    const bool is_passed =
        other == start && std::ranges::all_of(ended, [&](std::size_t lexeme) { return automata_.accepts(on, lexeme); });
    return !is_passed;
  }

  // Whether text up to a marker, which the lexer reads on, ends where the texts that begin at `place` end too.
  bool is_absorbed(const StateSet& on, std::size_t place) {
    std::size_t last = LexemeAutomata::kNoLexeme;
    for (const std::uint32_t state : on) {
      const std::size_t lexeme = automata_.owner(state);
      if (lexeme == std::exchange(last, lexeme) || automata_.inner(lexeme).text.empty() ||
          automata_.inner(lexeme).kind != NodeKind::kText)
        continue;
      const auto [found, is_new] = absorbed_.try_emplace({lexeme, place}, false);
      if (is_new) found->second = comes_to(place, automata_.inner(lexeme));
      if (found->second) return true;
    }
    return false;
  }

  // Whether a lexeme that ends as `text` does may stand at `place` or behind it, before any other marker of `text`.
  [[nodiscard]] bool comes_to(std::size_t place, const Node& text) const {
    std::set<std::size_t> seen{place};
    std::vector<std::size_t> open{place};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      const std::string& last = last_text(automata_.lexeme(places_.lexeme(at)).node);
      if (last.ends_with(text.text)) return true;
      if (std::ranges::any_of(text.words, [&last](const std::string& word) { return last.find(word) != word.npos; }))
        continue;
      for (const std::size_t next : members(places_.behind(at))) {
        if (seen.insert(next).second) open.push_back(next);
      }
    }
    return false;
  }

  // The text with which a lexeme always ends.
  [[nodiscard]] const std::string& last_text(NodeId id) const {
    const Node& node = grammar_.node(id);
    const bool has_parts = node.kind == NodeKind::kSequence || node.kind == NodeKind::kToken;
    return has_parts && !node.children.empty() ? last_text(node.children.back()) : node.text;
  }

  // The lexer reads bytes: a character of which only the first byte fits is no better than one that fits.
  [[nodiscard]] bool shares_first_byte(const StateSet& at, const StateSet& start) const {
    CharSet on;
    CharSet other;
    for (const std::uint32_t state : at) {
      for (const LexemeAutomata::Move& move : automata_.moves(state)) on = on.united(move.set);
    }
    for (const std::uint32_t state : start) {
      for (const LexemeAutomata::Move& move : automata_.moves(state)) other = other.united(move.set);
    }
    return (first_bytes(on) & first_bytes(other.without(on))).any();
  }

  // The first bytes of the characters that have more than one.
  static std::bitset<256> first_bytes(const CharSet& set) {
    std::bitset<256> out;
    for (const CharSet::Range& range : set.ranges()) {
      if (range.last < 0x80) continue;
      const auto byte = [](char32_t one) {
        std::string text;
        utf8::append(text, one);
        return static_cast<unsigned char>(text.front());
      };
      for (unsigned i = byte(std::max<char32_t>(range.first, 0x80)); i <= byte(range.last); ++i) out.set(i);
    }
    return out;
  }

  const Grammar& grammar_;
  LexemeAutomata automata_;
  LexemePlaces places_;
  std::map<std::pair<std::size_t, std::size_t>, bool> absorbed_;
  std::set<NodeId> found_;
  std::size_t steps_ = 0;
  std::size_t asked_ = 0;  // how often a state was asked where it goes on with a character
};

}  // namespace

std::set<NodeId> lexer_conflicts(const Grammar& grammar) { return ConflictSearch(grammar).run(); }

}  // namespace rondo::grammar
