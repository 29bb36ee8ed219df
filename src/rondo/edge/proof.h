// Tests for which kind of conversations an Edge template writes what a Jinja template writes.  Internal to edge/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edge/edge_template.h"
#include "edge/kind.h"
#include "edge/renders.h"
#include "edge/samples.h"

namespace rondo::edge {

class Proof {
 public:
  explicit Proof(const Renders& renders) : renders_(renders) {}

  // Returns a sentence about the first of `samples` for which the two differ; nullopt if they agree on all.
  [[nodiscard]] std::optional<std::string> refute(const EdgeTemplate& edge_template,
                                                  const std::vector<Sample>& samples);
  [[nodiscard]] std::optional<std::string> refute(const EdgeTemplate& edge_template, const Kind& kind,
                                                  const SampleParts& parts = {});

  [[nodiscard]] std::size_t compared() const { return compared_; }
  [[nodiscard]] const Renders& renders() const { return renders_; }

 private:
  const Renders& renders_;
  std::size_t compared_ = 0;
};

// Returns the widest kind of plain conversations on which they agree; nullopt if there is none.
[[nodiscard]] std::optional<Kind> base_kind(Proof& proof, const EdgeTemplate& edge_template);
// Returns how wide a kind is; 0 for none.
[[nodiscard]] int rank(const std::optional<Kind>& kind);

// Widens the kind as far as they agree.  Adds to `losses` a sentence for every way in which it cannot be widened.
[[nodiscard]] Kind widen(Proof& proof, const EdgeTemplate& edge_template, Kind kind, std::vector<std::string>& losses);

}  // namespace rondo::edge
