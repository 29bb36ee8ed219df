// What a fix is to reach, and what it must not touch: every scenario under every setting, as the original template plays it.
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

// A scenario under a setting, as something to be reached.
struct Goal {
  const Setting* setting = nullptr;
  const Scenario* scenario = nullptr;
  // It is about the form in which clients send, or models spell, what may be said in several, or about what few templates
  // take: it is mended where an edit does that, but a template that holds to one form is append-only all the same.
  bool is_form = false;
};

[[nodiscard]] bool is_about_form(const Scenario& scenario);
// Whether a system or developer message comes late: few templates take that, and where it is written may have to change.
[[nodiscard]] bool has_late_rules(const Scenario& scenario);

// What became of a goal under one source.
struct Attempt {
  bool is_played = false;
  bool holds = false;
  // White space that the model wrote beside a field is in no field of the message that a client keeps: no template could
  // write it again.
  bool loses_space = false;
  std::size_t kept = 0;               // bytes of what the model has seen, up to where a next prompt differs from that
  std::vector<Sampled> samples;       // see Played
  std::vector<std::string> texts;     // the same
  std::vector<std::string> alones;    // the same
  std::vector<render::Extent> tails;  // the same
  std::size_t data_bytes = 0;
};

[[nodiscard]] Attempt attempt_of(const Played& played);

// Whether the mended template may take the place of the original in this case, and is not further from holding than what
// there is:
//   - what held, holds with the same texts (but for late rules);
//   - the first prompt is the same, and a conversation that ends with the turn, where the turn was written as it was sampled;
//   - as much is kept, and as much of the messages is shown, but nothing twice;
//   - what follows the turn is what followed it, and nothing of the turn itself.
// What was written of a form that was not understood is free.
[[nodiscard]] bool is_kept(const Goal& goal, const Attempt& original, const Attempt& current, const Attempt& mended);

// How far a source is: goals that hold, those about forms, and bytes that are kept of what breaks.
struct Score {
  std::size_t held = 0;
  std::size_t formed = 0;
  std::size_t kept = 0;

  // More goals hold.
  [[nodiscard]] bool wins(const Score& other) const {
    return std::pair(held, formed) > std::pair(other.held, other.formed);
  }
  // Bytes count only where no goal is won: an edit that stands first is the likelier one.
  [[nodiscard]] bool is_better_than(const Score& best, const Score& now) const {
    if (wins(best) || best.wins(*this)) return wins(best);
    return !wins(now) && kept > best.kept;
  }
};

}  // namespace rondo::mend
