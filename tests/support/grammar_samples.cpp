#include "tests/support/grammar_samples.h"

#include <algorithm>
#include <ranges>

#include "base/utf8.h"
#include "grammar/lower.h"

namespace rondo::test {
namespace {

using grammar::CharSet;
using grammar::Grammar;
using grammar::Node;
using grammar::NodeId;
using grammar::NodeKind;
using grammar::RuleId;

constexpr std::size_t kManyBytes = 300;
constexpr int kDeep = 400;
// What texts are made of where any character may stand: signs of every syntax, and few of them twice in a row.
constexpr std::u32string_view kUsual = U"abcxyzNT 01{}[]()\"'<>/=:,.;\n-|#\\&_\u00c9\u65e5";

// A character of the set: mostly a usual one.
char32_t character_of(const CharSet& set, Random& random) {
  if (!random.one_in(5)) {
    for (int i = 0; i < 12; ++i) {
      const char32_t one = kUsual[random.below(kUsual.size())];
      if (set.contains(one)) return one;
    }
  }
  const std::vector<CharSet::Range>& ranges = set.ranges();
  const CharSet::Range& range = ranges[random.below(ranges.size())];
  constexpr char32_t kSpread = 60;
  return range.first + static_cast<char32_t>(random.below(std::min<char32_t>(range.last - range.first, kSpread) + 1));
}

}  // namespace

struct GrammarSamples::Drawing {
  Random& random;
  std::string text;
};

GrammarSamples::GrammarSamples(const Grammar& grammar)
    : grammar_(grammar::lowered(grammar)), costs_(grammar_.node_count(), kNone) {
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      const Cost now = cost_of(grammar_.node(NodeId{static_cast<std::uint32_t>(i)}));
      changes = changes || now < costs_[i];
      costs_[i] = std::min(costs_[i], now);
    }
  }
}

bool GrammarSamples::has_any() const { return cost(grammar_.body(grammar_.root())) < kNone; }

std::string GrammarSamples::draw(Random& random) const {
  Drawing out{random, ""};
  add(out, grammar_.body(grammar_.root()), 0);
  return std::move(out.text);
}

GrammarSamples::Cost GrammarSamples::cost_of(const Node& node) const {
  const auto of = [this](NodeId child) { return cost(child); };
  switch (node.kind) {
    case NodeKind::kLiteral:
    case NodeKind::kChars: return 0;
    case NodeKind::kSequence:
      return node.children.empty() ? 0 : std::ranges::max(node.children | std::views::transform(of));
    case NodeKind::kChoice: return std::ranges::min(node.children | std::views::transform(of));
    case NodeKind::kRepeat: return node.least == 0 ? 0 : cost(node.children[0]);
    case NodeKind::kReference: return std::min(kNone, cost(grammar_.body(node.rule)) + 1);
    default: return kNone;  // lowered() leaves no others
  }
}

void GrammarSamples::add(Drawing& out, NodeId id, int depth) const {
  const Node& node = grammar_.node(id);
  switch (node.kind) {
    case NodeKind::kLiteral: out.text += node.text; break;
    case NodeKind::kChars: utf8::append(out.text, character_of(node.set, out.random)); break;
    case NodeKind::kSequence:
      for (const NodeId child : node.children) add(out, child, depth);
      break;
    case NodeKind::kChoice: add_choice(out, node, depth); break;
    case NodeKind::kRepeat: add_repeat(out, node, depth); break;
    case NodeKind::kReference: add(out, grammar_.body(node.rule), depth + 1); break;
    default: break;
  }
}

void GrammarSamples::add_choice(Drawing& out, const Node& node, int depth) const {
  std::vector<NodeId> ways;
  Cost least = kNone;
  for (const NodeId child : node.children) least = std::min(least, cost(child));
  const bool hurries = depth > kDeep || out.text.size() > kManyBytes;
  for (const NodeId child : node.children) {
    const Cost own = cost(child);
    if (hurries ? own == least : own < kNone) ways.push_back(child);
  }
  add(out, ways[out.random.below(ways.size())], depth);
}

void GrammarSamples::add_repeat(Drawing& out, const Node& node, int depth) const {
  std::uint32_t count = node.least;
  const bool may_grow = cost(node.children[0]) < kNone && depth <= kDeep && out.text.size() <= kManyBytes;
  while (may_grow && count < node.most && !out.random.one_in(2)) ++count;
  for (std::uint32_t i = 0; i < count; ++i) add(out, node.children[0], depth);
}

}  // namespace rondo::test
