#include "grammar/definition.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/printing.h"
#include "grammar/emptiness.h"
#include "grammar/gbnf_reader.h"
#include "grammar/lark_reader.h"
#include "grammar/pattern.h"

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  // of a definition
constexpr std::size_t kMostParts = std::size_t{1} << 16U;   // with each repetition written out
constexpr std::size_t kMostFlat = std::size_t{1} << 13U;    // the same, of a grammar whose rules are written out

Error too_large() { return {ErrorCode::kUnsupported, "the grammar is too large to be enforced"}; }

std::size_t index_of(RuleId rule) { return static_cast<std::size_t>(rule); }

// Rewrites a grammar so that every engine takes it: it repeats nothing that may be empty, and no rule begins with itself.
class Rewriting {
 public:
  explicit Rewriting(Grammar grammar) : g_(std::move(grammar)), empty_(g_) {}

  Result<Grammar> run() {
    for (std::size_t i = 0; i < g_.rule_count(); ++i) {
      const RuleId rule{static_cast<std::uint32_t>(i)};
      g_.define(rule, without_empty_repeats(g_.body(rule)));
    }
    define_filled();
    for (std::size_t i = 0; i < g_.rule_count() && work_ <= kMostParts; ++i) {
      turn_around(RuleId{static_cast<std::uint32_t>(i)});
      define_filled();
    }
    if (work_ > kMostParts) return too_large();
    return g_.pruned();
  }

 private:
  // A repetition of what may be empty, as one of what is not: engines would repeat the empty text forever.
  NodeId without_empty_repeats(NodeId id) {
    const auto known = cleaned_.find(id);
    if (known != cleaned_.end()) return known->second;
    const Node from = g_.node(id);  // a copy, because new nodes move the others
    NodeId out = id;
    if (!from.children.empty()) {
      std::vector<NodeId> children;
      for (const NodeId child : from.children) children.push_back(without_empty_repeats(child));
      const bool is_repeat = from.kind == NodeKind::kRepeat && empty_.of(children[0]);
      out = is_repeat ? g_.repeat(filled(children[0]), 0, from.most) : g_.like(from, children);
    }
    cleaned_.emplace(id, out);
    return out;
  }

  // The texts of a node without the empty one.
  NodeId filled(NodeId id) {
    if (!empty_.of(id)) return id;
    const auto known = filled_.find(id);
    if (known != filled_.end()) return known->second;
    const NodeId out = fill(Node(g_.node(id)));
    filled_.emplace(id, out);
    return out;
  }

  NodeId fill(const Node& from) {
    std::vector<NodeId> ways;
    switch (from.kind) {
      case NodeKind::kSequence:
        for (std::size_t i = 0; i < from.children.size() && work_ <= kMostParts; ++i) {
          std::vector<NodeId> parts(from.children.begin() + static_cast<std::ptrdiff_t>(i), from.children.end());
          parts[0] = filled(parts[0]);
          work_ += parts.size();
          ways.push_back(g_.sequence(parts));
        }
        return g_.choice(ways);
      case NodeKind::kChoice:
        for (const NodeId child : from.children) ways.push_back(filled(child));
        return g_.choice(ways);
      case NodeKind::kRepeat: return g_.repeat(filled(from.children[0]), 1, from.most);
      case NodeKind::kReference: return g_.reference(filled_rule(from.rule));
      default: return g_.never();  // the others are never empty
    }
  }

  RuleId filled_rule(RuleId rule) {
    const auto [known, is_new] = filled_rules_.try_emplace(index_of(rule));
    if (is_new) {
      known->second = g_.declare(g_.name(rule));
      open_.push_back(rule);
    }
    return known->second;
  }

  void define_filled() {
    while (!open_.empty() && work_ <= kMostParts) {
      const RuleId rule = open_.back();
      open_.pop_back();
      g_.define(filled_rules_.at(index_of(rule)), filled(g_.body(rule)));
    }
  }

  // `a: a x | y` is `a: y x*`.
  void turn_around(RuleId rule) {
    const NodeId self = g_.reference(rule);
    const Node body = g_.node(g_.body(rule));
    const std::vector<NodeId> ways =
        body.kind == NodeKind::kChoice ? body.children : std::vector<NodeId>{g_.body(rule)};
    std::vector<NodeId> first;
    std::vector<NodeId> more;
    bool is_turned = false;
    for (const NodeId way : ways) {
      const Node node = g_.node(way);
      const bool begins_with_self =
          node.kind == NodeKind::kSequence && !node.children.empty() && node.children[0] == self;
      is_turned = is_turned || begins_with_self || way == self;
      if (begins_with_self) {
        const NodeId rest = g_.sequence({node.children.begin() + 1, node.children.end()});
        more.push_back(filled(rest));
      } else if (way != self) {
        first.push_back(way);
      }
    }
    if (is_turned) g_.define(rule, g_.sequence({g_.choice(first), g_.any_number(g_.choice(more))}));
  }

  Grammar g_;
  Emptiness empty_;
  std::unordered_map<NodeId, NodeId> cleaned_;
  std::unordered_map<NodeId, NodeId> filled_;
  std::unordered_map<std::size_t, RuleId> filled_rules_;
  std::vector<RuleId> open_;  // rules whose filled twin has no body yet
  std::size_t work_ = 0;
};

// Finds a rule that refers to itself before it has read a character.
class LeftRecursion {
 public:
  explicit LeftRecursion(const Grammar& grammar) : g_(grammar), empty_(grammar), state_(grammar.rule_count()) {}

  // Goes along the rules with a stack of its own, because there may be thousands.
  std::optional<RuleId> find() {
    struct Visit {
      RuleId rule{};
      std::vector<RuleId> next;
    };
    for (std::size_t i = 0; i < state_.size(); ++i) {
      if (state_[i] != State::kNew) continue;
      std::vector<Visit> path;
      const auto enter = [&](RuleId rule) {
        state_[index_of(rule)] = State::kOpen;
        path.push_back({rule, firsts(rule)});
      };
      enter(RuleId{static_cast<std::uint32_t>(i)});
      while (!path.empty()) {
        if (path.back().next.empty()) {
          state_[index_of(path.back().rule)] = State::kDone;
          path.pop_back();
          continue;
        }
        const RuleId next = path.back().next.back();
        path.back().next.pop_back();
        if (state_[index_of(next)] == State::kOpen) return next;
        if (state_[index_of(next)] == State::kNew) enter(next);
      }
    }
    return std::nullopt;
  }

 private:
  enum class State : std::uint8_t { kNew, kOpen, kDone };

  // The rules with which the texts of a rule may begin.
  std::vector<RuleId> firsts(RuleId rule) {
    seen_.clear();
    std::vector<RuleId> out;
    collect(g_.body(rule), out);
    return out;
  }

  void collect(NodeId id, std::vector<RuleId>& out) {
    if (!seen_.insert(id).second) return;
    const Node& node = g_.node(id);
    if (node.kind == NodeKind::kReference) out.push_back(node.rule);
    for (const NodeId child : node.children) {
      collect(child, out);
      if (node.kind == NodeKind::kSequence && !empty_.of(child)) break;
    }
  }

  const Grammar& g_;
  Emptiness empty_;
  std::vector<State> state_;
  std::unordered_set<NodeId> seen_;
};

// Counts the parts of a grammar with its repetitions written out, and its rules too if `through_rules`.
class Size {
 public:
  Size(const Grammar& grammar, bool through_rules) : g_(grammar), through_rules_(through_rules) {}

  static constexpr std::size_t kEndless = kMostParts + 1;  // or more than anybody wants

  std::size_t of(NodeId id) {
    constexpr int kDeepest = 1000;                                  // further in, it counts as endless
    const auto [known, is_new] = sizes_.try_emplace(id, kEndless);  // so does a rule in itself
    if (!is_new || depth_ > kDeepest) return known->second;
    ++depth_;
    const std::size_t size = std::min(count(g_.node(id)), kEndless);
    --depth_;
    return sizes_[id] = size;
  }

 private:
  std::size_t count(const Node& node) {
    if (node.kind == NodeKind::kLiteral) return node.text.size();
    if (node.kind == NodeKind::kChars) return 1;
    if (node.kind == NodeKind::kReference) return through_rules_ ? of(g_.body(node.rule)) : 1;
    std::size_t size = 0;
    for (const NodeId child : node.children) size = std::min(size + of(child), kEndless);
    if (node.kind != NodeKind::kRepeat) return size;
    const std::uint32_t times = node.most == kUnbounded ? node.least + 1 : node.most;
    return size * std::max<std::size_t>(times, 1);
  }

  const Grammar& g_;
  bool through_rules_;
  int depth_ = 0;
  std::unordered_map<NodeId, std::size_t> sizes_;
};

std::size_t size_by_rules(const Grammar& grammar) {
  Size size(grammar, false);
  std::size_t out = 0;
  for (std::size_t i = 0; i < grammar.rule_count() && out < Size::kEndless; ++i)
    out += size.of(grammar.body(RuleId{static_cast<std::uint32_t>(i)}));
  return out;
}

Result<Grammar> read(std::string_view syntax, std::string_view definition, std::vector<std::string>& notes) {
  if (syntax == "gbnf") return read_gbnf(definition);
  if (syntax == "lark") return read_lark(definition, notes);
  if (syntax != "regex")
    return Error(ErrorCode::kInvalidArgument,
                 "a grammar is in `gbnf`, `lark` or `regex`, not in `" + printing::excerpt(syntax) + "`");
  // The pattern must be valid by itself: inside the group below, `a)(b` would be.
  if (Status valid = check_pattern(definition); !valid.ok()) return valid.error();
  Grammar out;
  auto content = pattern_content(Speller(out, Spelling::bare()), "^(?:" + std::string(definition) + ")$");
  if (!content.ok()) return content.error();
  const RuleId root = out.declare("root");
  out.define(root, content.value());
  out.set_root(root);
  return out;
}

// Copies a grammar as a speller writes its characters.
class Spelled {
 public:
  Spelled(const Speller& speller, const Grammar& from)
      : speller_(speller),
        from_(from),
        to_(speller.grammar()),
        is_flat_(Size(from, true).of(from.body(from.root())) <= kMostFlat) {}

  NodeId run() {
    const NodeId out = is_flat_ ? node(from_.body(from_.root())) : reference(from_.root());
    while (!open_.empty()) {
      const RuleId rule = open_.back();
      open_.pop_back();
      to_.define(rules_.at(index_of(rule)), node(from_.body(rule)));
    }
    return out;
  }

 private:
  NodeId node(NodeId id) {
    const auto known = nodes_.find(id);
    if (known != nodes_.end()) return known->second;
    const NodeId out = copy(from_.node(id));
    nodes_.emplace(id, out);
    return out;
  }

  NodeId copy(const Node& node_from) {
    if (node_from.kind == NodeKind::kLiteral) return speller_.content(node_from.text);
    if (node_from.kind == NodeKind::kChars) return speller_.character(node_from.set);
    if (node_from.kind == NodeKind::kReference)
      return is_flat_ ? node(from_.body(node_from.rule)) : reference(node_from.rule);
    std::vector<NodeId> children;
    for (const NodeId child : node_from.children) children.push_back(node(child));
    return to_.like(node_from, children);
  }

  NodeId reference(RuleId rule) {
    const auto [known, is_new] = rules_.try_emplace(index_of(rule));
    if (is_new) {
      known->second = to_.declare(from_.name(rule));
      open_.push_back(rule);
    }
    return to_.reference(known->second);
  }

  const Speller& speller_;
  const Grammar& from_;
  Grammar& to_;
  bool is_flat_;  // rules are written out, so that the text can be one lexeme
  std::unordered_map<NodeId, NodeId> nodes_;
  std::unordered_map<std::size_t, RuleId> rules_;
  std::vector<RuleId> open_;
};

}  // namespace

std::string_view syntax_of(std::string_view definition) {
  return definition.find("::=") != std::string_view::npos ? "gbnf" : "lark";
}

Result<Grammar> read_definition(std::string_view syntax, std::string_view definition, std::vector<std::string>* notes) {
  if (definition.size() > kMostBytes) return too_large();
  std::vector<std::string> ignored;
  auto grammar = read(syntax, definition, notes == nullptr ? ignored : *notes);
  if (!grammar.ok()) return grammar.error();
  if (size_by_rules(grammar.value()) > kMostParts) return too_large();
  auto out = Rewriting(grammar.value().pruned()).run();
  if (!out.ok()) return out.error();
  if (const auto rule = LeftRecursion(out.value()).find())
    return Error(ErrorCode::kUnsupported,
                 "the grammar's rule `" + out.value().name(*rule) + "` begins with itself, which is not enforced");
  if (size_by_rules(out.value()) > kMostParts) return too_large();
  return out;
}

json::Value schema_of(std::string_view syntax, std::string_view definition) {
  const json::Object grammar{{"syntax", syntax}, {"definition", definition}};
  return json::Object{{"type", "string"}, {std::string(kGrammarKeyword), grammar}};
}

NodeId spelled(const Speller& speller, const Grammar& definition) { return Spelled(speller, definition).run(); }

}  // namespace rondo::grammar
