// What a fix should reach, and what it must not change: every scenario under every setting, as the original template
// plays it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "audit/play.h"
#include "audit/scenarios.h"

namespace rondo::mend {

using audit::Played;
using audit::Sampled;
using audit::Scenario;
using audit::Setting;
using audit::Stage;
using audit::Step;
using audit::Subject;

// A scenario under a setting, as a goal.
struct Goal {
  const Setting* setting = nullptr;
  const Scenario* scenario = nullptr;
  // It concerns a form that clients or models may choose freely, or something that few templates accept.  An edit may
  // mend it, but a template that insists on one form still counts as append-only.
  bool is_form = false;
};

[[nodiscard]] bool is_about_form(const Scenario& scenario);
// Returns whether a system or developer message comes late.  Few templates accept that, and the place where it is
// written may have to change.
[[nodiscard]] bool has_late_rules(const Scenario& scenario);

// The result of a goal with one source.
struct Attempt {
  bool is_played = false;
  bool holds = false;
  // The model wrote white space beside a field, and no field of the message that a client keeps contains it: no
  // template could write it again.
  bool loses_space = false;
  std::size_t kept = 0;  // how many bytes the next prompts keep of what the model has seen, up to the first difference
  std::vector<Sampled> samples;       // as in Played
  std::vector<std::string> texts;     // as in Played
  std::vector<std::string> alones;    // as in Played
  std::vector<render::Extent> tails;  // as in Played
  std::size_t data_bytes = 0;
};

[[nodiscard]] Attempt attempt_of(const Played& played);

// Returns whether the mended template may replace the original in this case, and is not further from holding than the
// current one.  These conditions must hold:
//   - what held, holds with the same texts (except for late rules);
//   - the first prompt is the same; so is a conversation that ends with the turn, if the turn was written as it was
//     sampled;
//   - as much is kept and as much of the messages is shown, but nothing twice;
//   - what follows the turn is what followed it, and contains nothing of the turn itself.
// Text of a form that was not understood may change.
[[nodiscard]] bool is_kept(const Goal& goal, const Attempt& original, const Attempt& current, const Attempt& mended);

// How good a source is: how many goals hold (`held`), how many goals about forms hold (`formed`), and how many bytes
// the broken prompts keep (`kept`).
struct Score {
  std::size_t held = 0;
  std::size_t formed = 0;
  std::size_t kept = 0;

  // Returns whether more goals hold.
  [[nodiscard]] bool wins(const Score& other) const {
    return std::pair(held, formed) > std::pair(other.held, other.formed);
  }
  // Bytes decide only if no goal is won, because an edit that comes first is the more likely one.
  [[nodiscard]] bool is_better_than(const Score& best, const Score& now) const {
    if (wins(best) || best.wins(*this)) return wins(best);
    return !wins(now) && kept > best.kept;
  }
};

}  // namespace rondo::mend
