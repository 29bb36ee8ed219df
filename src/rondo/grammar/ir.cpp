#include "grammar/ir.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <unordered_set>
#include <utility>

#include "format/escapes.h"

namespace rondo::grammar {
namespace {

void mix(std::size_t& hash, std::size_t value) {
  constexpr auto kFactor = static_cast<std::size_t>(0x9E3779B97F4A7C15ULL);
  hash = (hash ^ value) * kFactor + (hash >> 29U);
}

}  // namespace

std::size_t Grammar::NodeHash::operator()(const Node& node) const {
  std::size_t hash = static_cast<std::size_t>(node.kind);
  mix(hash, std::hash<std::string>()(node.text));
  for (const CharSet::Range& range : node.set.ranges()) {
    mix(hash, range.first);
    mix(hash, range.last);
  }
  for (const NodeId child : node.children) mix(hash, static_cast<std::size_t>(child));
  for (const std::string& word : node.words) mix(hash, std::hash<std::string>()(word));
  mix(hash, node.least);
  mix(hash, node.most);
  mix(hash, static_cast<std::size_t>(node.rule));
  return hash;
}

Grammar::Grammar() {
  never_ = add({});
  Node empty;
  empty.kind = NodeKind::kSequence;
  empty_ = add(std::move(empty));
}

NodeId Grammar::add(Node node) {
  const auto found = ids_.find(node);
  if (found != ids_.end()) return found->second;
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  ids_.emplace(node, id);
  const auto has = [this](NodeId child) { return static_cast<bool>(has_reference_[static_cast<std::size_t>(child)]); };
  has_reference_.push_back(node.kind == NodeKind::kReference || std::ranges::any_of(node.children, has));
  nodes_.push_back(std::move(node));
  return id;
}

NodeId Grammar::literal(std::string_view text) {
  if (text.empty()) return empty_;
  Node made;
  made.kind = NodeKind::kLiteral;
  made.text = escapes_.empty() ? std::string(text) : format::escaped(text, escapes_);
  return add(std::move(made));
}

NodeId Grammar::chars(const CharSet& set) {
  if (set.empty()) return never_;
  CharSet rest = set;
  std::vector<NodeId> ways;
  for (const format::Escape& escape : escapes_) {
    const auto character = static_cast<char32_t>(static_cast<unsigned char>(escape.text.front()));
    if (!set.contains(character)) continue;
    rest = rest.without(CharSet::of(character));
    ways.push_back(literal(escape.text));
  }
  if (!rest.empty()) {
    Node made;
    made.kind = NodeKind::kChars;
    made.set = std::move(rest);
    ways.insert(ways.begin(), add(std::move(made)));
  }
  return choice(ways);
}

std::vector<format::Escape> Grammar::set_escapes(std::vector<format::Escape> escapes) {
  return std::exchange(escapes_, std::move(escapes));
}

// Neighbouring literals are joined before they become a node, so a long text costs no more than its length.
NodeId Grammar::sequence(const std::vector<NodeId>& parts) {
  Node made;
  made.kind = NodeKind::kSequence;
  Node joined;
  joined.kind = NodeKind::kLiteral;
  const auto end_literal = [&] {
    if (!joined.text.empty()) made.children.push_back(add(joined));
    joined.text.clear();
  };
  const auto append = [&](NodeId id) {
    if (node(id).kind == NodeKind::kLiteral) {
      joined.text += node(id).text;
    } else {
      end_literal();
      made.children.push_back(id);
    }
  };
  for (const NodeId part : parts) {
    if (part == never_) return never_;
    if (node(part).kind == NodeKind::kSequence) {
      const std::vector<NodeId> inner = node(part).children;
      for (const NodeId id : inner) append(id);
    } else {
      append(part);
    }
  }
  end_literal();
  return made.children.size() == 1 ? made.children[0] : add(std::move(made));
}

NodeId Grammar::choice(const std::vector<NodeId>& alternatives) {
  Node made;
  made.kind = NodeKind::kChoice;
  std::unordered_set<NodeId> seen;  // the children, once there are many
  const auto is_new = [&](NodeId id) {
    constexpr std::size_t kFew = 16;
    if (made.children.size() < kFew) return std::ranges::find(made.children, id) == made.children.end();
    if (seen.empty()) seen.insert(made.children.begin(), made.children.end());
    return seen.insert(id).second;
  };
  const auto append = [&](NodeId id) {
    if (id != never_ && is_new(id)) made.children.push_back(id);
  };
  for (const NodeId id : alternatives) {
    if (node(id).kind == NodeKind::kChoice) {
      for (const NodeId inner : node(id).children) append(inner);
    } else {
      append(id);
    }
  }
  if (made.children.empty()) return never_;
  return made.children.size() == 1 ? made.children[0] : add(std::move(made));
}

NodeId Grammar::repeat(NodeId item, std::uint32_t least, std::uint32_t most) {
  if (least > most) return never_;
  if (most == 0 || item == empty_) return empty_;
  if (item == never_) return least == 0 ? empty_ : never_;
  if (least == 1 && most == 1) return item;
  Node made;
  made.kind = NodeKind::kRepeat;
  made.children = {item};
  made.least = least;
  made.most = most;
  return add(std::move(made));
}

NodeId Grammar::reference(RuleId rule) {
  Node made;
  made.kind = NodeKind::kReference;
  made.rule = rule;
  return add(std::move(made));
}

NodeId Grammar::text(std::vector<std::string> markers, std::string_view closing) {
  if (!closing.empty()) markers.emplace_back(closing);
  std::sort(markers.begin(), markers.end());
  markers.erase(std::unique(markers.begin(), markers.end()), markers.end());
  std::erase(markers, "");
  Node made;
  made.kind = NodeKind::kText;
  made.words = std::move(markers);
  made.text = closing;
  return add(std::move(made));
}

NodeId Grammar::except(NodeId item, std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  // A word that needs escapes cannot be left out, because printers leave words out character by character.
  std::erase_if(words, [this](const std::string& word) { return format::escaped(word, escapes_) != word; });
  if (words.empty()) return any_number(item);
  Node made;
  made.kind = NodeKind::kExceptWord;
  made.children = {item};
  made.words = std::move(words);
  return add(std::move(made));
}

NodeId Grammar::like(const Node& other, const std::vector<NodeId>& children) {
  switch (other.kind) {
    case NodeKind::kLiteral: return literal(other.text);
    case NodeKind::kChars: return chars(other.set);
    case NodeKind::kSequence: return sequence(children);
    case NodeKind::kChoice: return choice(children);
    case NodeKind::kRepeat: return repeat(children[0], other.least, other.most);
    case NodeKind::kText: return text(other.words, other.text);
    case NodeKind::kExceptWord: return except(children[0], other.words);
    case NodeKind::kToken: return token(children[0]);
    default: return never();
  }
}

NodeId Grammar::token(NodeId item) {
  if (has_reference_[static_cast<std::size_t>(item)]) return item;
  const NodeKind kind = node(item).kind;
  if (kind == NodeKind::kNever || kind == NodeKind::kLiteral || kind == NodeKind::kToken || item == empty_) return item;
  Node made;
  made.kind = NodeKind::kToken;
  made.children = {item};
  return add(std::move(made));
}

RuleId Grammar::declare(std::string_view name) {
  rules_.push_back({std::string(name), never_});
  return RuleId{static_cast<std::uint32_t>(rules_.size() - 1)};
}

void Grammar::define(RuleId rule, NodeId body) { rules_[static_cast<std::size_t>(rule)].body = body; }

namespace {

// Returns how many of its children must match before a node can; nullopt if it never can.
std::optional<std::size_t> needed_children(const Node& node) {
  switch (node.kind) {
    case NodeKind::kNever: return std::nullopt;
    case NodeKind::kSequence: return node.children.size();
    case NodeKind::kRepeat: return node.least == 0 ? 0 : 1;
    case NodeKind::kChoice:
    case NodeKind::kToken:
    case NodeKind::kReference: return 1;  // of a reference: the body of its rule
    default: return 0;
  }
}

// The same for the empty text.
std::optional<std::size_t> needed_empty_children(const Node& node) {
  switch (node.kind) {
    case NodeKind::kLiteral:
    case NodeKind::kChars: return std::nullopt;
    case NodeKind::kText: return node.text.empty() ? std::optional<std::size_t>(0) : std::nullopt;
    case NodeKind::kExceptWord:
      return std::ranges::find(node.words, "") == node.words.end() ? std::optional<std::size_t>(0) : std::nullopt;
    default: return needed_children(node);
  }
}

}  // namespace

std::vector<bool> Grammar::productive_rules() const { return settled_rules(needed_children); }

std::vector<bool> Grammar::empty_rules() const { return settled_rules(needed_empty_children); }

// Each node counts what it still waits for, so this takes time by the number of children alone.
std::vector<bool> Grammar::settled_rules(Needs needs) const {
  std::vector<std::size_t> needed(nodes_.size());
  std::vector<std::vector<std::size_t>> parents(nodes_.size());
  std::vector<std::vector<std::size_t>> users(rules_.size());   // the nodes that refer to a rule
  std::vector<std::vector<std::size_t>> bodies(nodes_.size());  // the rules whose body a node is
  std::vector<std::size_t> open;                                // nodes that match, and whose parents do not know yet
  for (std::size_t i = 0; i < rules_.size(); ++i) bodies[static_cast<std::size_t>(rules_[i].body)].push_back(i);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const auto count = needs(nodes_[i]);
    if (!count) continue;
    needed[i] = *count;
    if (*count == 0) open.push_back(i);
    for (const NodeId child : nodes_[i].children) parents[static_cast<std::size_t>(child)].push_back(i);
    if (nodes_[i].kind == NodeKind::kReference) users[static_cast<std::size_t>(nodes_[i].rule)].push_back(i);
  }
  std::vector<bool> out(rules_.size(), false);
  const auto tell = [&](const std::vector<std::size_t>& waiting) {
    for (const std::size_t node : waiting) {
      if (needed[node] == 0) continue;
      --needed[node];
      if (needed[node] == 0) open.push_back(node);
    }
  };
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    tell(parents[at]);
    for (const std::size_t rule : bodies[at]) {
      out[rule] = true;
      tell(users[rule]);
    }
  }
  return out;
}

namespace {

// Copies everything that is reachable and can match.
class Pruner {
 public:
  Pruner(const Grammar& from, Grammar& to) : from_(from), to_(to), productive_(from.productive_rules()) {
    rules_.resize(from.rule_count());
    is_declared_.resize(from.rule_count());
    nodes_.resize(from.node_count());
    is_copied_.resize(from.node_count());
  }

  void run() {
    to_.set_root(rule(from_.root()));
    while (!open_.empty()) {
      const RuleId id = open_.back();
      open_.pop_back();
      to_.define(rules_[static_cast<std::size_t>(id)], node(from_.body(id)));
    }
  }

 private:
  RuleId rule(RuleId id) {
    const auto at = static_cast<std::size_t>(id);
    if (!is_declared_[at]) {
      is_declared_[at] = true;
      rules_[at] = to_.declare(from_.name(id));
      open_.push_back(id);
    }
    return rules_[at];
  }

  // The recursion ends: nodes form no cycles except through rules.  It is as deep as the input is nested.
  NodeId node(NodeId id) {
    const auto at = static_cast<std::size_t>(id);
    if (!is_copied_[at]) {
      nodes_[at] = copy(from_.node(id));
      is_copied_[at] = true;
    }
    return nodes_[at];
  }

  NodeId copy(const Node& node_from) {
    if (node_from.kind == NodeKind::kReference) {
      const bool is_productive = productive_[static_cast<std::size_t>(node_from.rule)];
      return is_productive ? to_.reference(rule(node_from.rule)) : to_.never();
    }
    std::vector<NodeId> children;
    for (const NodeId child : node_from.children) children.push_back(node(child));
    return to_.like(node_from, children);
  }

  const Grammar& from_;
  Grammar& to_;
  std::vector<bool> productive_;
  std::vector<RuleId> rules_;
  std::vector<bool> is_declared_;
  std::vector<NodeId> nodes_;
  std::vector<bool> is_copied_;
  std::vector<RuleId> open_;
};

}  // namespace

Grammar Grammar::pruned() const {
  Grammar out;
  Pruner(*this, out).run();
  return out;
}

}  // namespace rondo::grammar
