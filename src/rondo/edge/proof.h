// Whether an Edge template writes what a Jinja template writes, and for which kind of conversations.  Internal to edge/.
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

  // What is different for the first of `samples` for which something is: a sentence.  nullopt: nothing is.
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

// The widest kind of plain conversations that holds; nullopt if none does.
[[nodiscard]] std::optional<Kind> base_kind(Proof& proof, const EdgeTemplate& edge_template);
// How wide it is; 0 for none.
[[nodiscard]] int rank(const std::optional<Kind>& kind);

// The kind widened as far as it holds.  `losses` gets a sentence for every way in which it does not go further.
[[nodiscard]] Kind widen(Proof& proof, const EdgeTemplate& edge_template, Kind kind, std::vector<std::string>& losses);

}  // namespace rondo::edge
