// Random texts of a grammar.
//
//   const GrammarSamples samples(turn.grammar);
//   Random random(seed);
//   const std::string text = samples.draw(random);     // accepts(turn.grammar, text)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grammar/ir.h"
#include "tests/support/random_template.h"

namespace rondo::test {

class GrammarSamples {
 public:
  explicit GrammarSamples(const grammar::Grammar& grammar);

  // False if no text fits.
  [[nodiscard]] bool has_any() const;
  // A text that fits.  Behind some hundred characters it takes the shortest way to an end.
  //
  // REQUIRES: has_any().
  [[nodiscard]] std::string draw(Random& random) const;

 private:
  using Cost = std::uint32_t;
  // How many rules nest at least in what the node matches; kNone if it matches nothing.
  static constexpr Cost kNone = 1U << 30U;
  [[nodiscard]] Cost cost(grammar::NodeId id) const { return costs_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] Cost cost_of(const grammar::Node& node) const;
  struct Drawing;
  void add(Drawing& out, grammar::NodeId id, int depth) const;
  void add_choice(Drawing& out, const grammar::Node& node, int depth) const;
  void add_repeat(Drawing& out, const grammar::Node& node, int depth) const;

  grammar::Grammar grammar_;  // lowered
  std::vector<Cost> costs_;   // by node
};

}  // namespace rondo::test
