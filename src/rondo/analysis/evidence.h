// What the probes of all message shapes have shown about a template.  Made once, then only read.  Internal to
// analysis/.
#pragma once

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/probe.h"
#include "format/format.h"
#include "format/units.h"

namespace rondo::analysis {

// Which parts a probe's message has: reasoning, content, and how many calls.
struct Parts {
  bool reasoning = false;
  bool content = false;
  std::size_t calls = 0;
  auto operator<=>(const Parts&) const = default;
};

// Returns whether the turn has its content, or its reasoning, inside the JSON of its first call.
[[nodiscard]] bool is_in_call(const Turn& turn, SlotKind kind);
// Makes a message with these parts.  Each of its calls has one parameter.
[[nodiscard]] ProbeMessage message_of(const Parts& parts);

// A turn that shows all of its parts, and the setting of the probe that showed it.
struct Variant {
  Turn turn;
  ProbeSetting setting;
};
using Variants = std::map<Parts, Variant>;

// The prompt that asks for an answer under a setting of thinking.
struct Prompt {
  std::string thinking;
  Written written;
};

struct Evidence {
  Prober& prober;            // for probes that only one part needs
  Shape shape;               // of the probes' messages
  format::InputShape input;  // the same shape, as the template reads it
  bool shows_calls = false;
  std::vector<Prompt> prompts;
  Variants variants;
  std::vector<std::string> atoms;  // as Format::atoms

  [[nodiscard]] bool shows_reasoning() const { return !input.reasoning_field.empty() || !input.reasoning_part.empty(); }
  // Returns the variant of the first of these parts that has one; nullptr if none has.
  template <typename... More>
  [[nodiscard]] const Variant* find(const Parts& parts, const More&... more) const {
    const auto found = variants.find(parts);
    if (found != variants.end()) return &found->second;
    if constexpr (sizeof...(more) > 0) return find(more...);
    return nullptr;
  }
  [[nodiscard]] std::optional<Turn> ask(const ProbeMessage& message, const ProbeSetting& setting) const {
    return prober.turn(shape, message, setting);
  }
  [[nodiscard]] std::vector<std::size_t> boundaries(std::string_view text) const {
    return format::unit_boundaries(text, atoms);
  }
};

// Renders the probes of all shapes.  Parts that no probe shows have no variant.
[[nodiscard]] Evidence gather_evidence(Prober& prober);
// Returns string constants of the template that units would cut or could not tell apart: brackets that do not pair
// (`]~b]`), and markers without brackets (`%%done`).
[[nodiscard]] std::vector<std::string> find_atoms(const Prober& prober, const Variants& variants);

// Returns the first `most` of `words` that may be the name of a field or type, and that the chat APIs do not have.
[[nodiscard]] std::vector<std::string> names_in(const std::vector<std::string>& words, std::size_t most);

// Return the text without this prefix; the text without white space at its end; whether the text contains `part`,
// unless `part` is empty.
[[nodiscard]] inline std::string without_prefix(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}
[[nodiscard]] inline std::string trimmed_end(const std::string& text) {
  return text.substr(0, text.find_last_not_of(" \n\t\r") + 1);
}
[[nodiscard]] inline bool contains(const std::string& text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string::npos;
}

// Return where the first unit of a text ends, and where its last one begins.  `cuts` are the boundaries of its units;
// both are 0 for an empty text.
[[nodiscard]] inline std::size_t first_unit_end(const std::vector<std::size_t>& cuts) {
  return cuts[std::min<std::size_t>(1, cuts.size() - 1)];
}
[[nodiscard]] inline std::size_t last_unit_begin(const std::vector<std::size_t>& cuts) {
  return cuts.size() > 1 ? cuts[cuts.size() - 2] : 0;
}

}  // namespace rondo::analysis
