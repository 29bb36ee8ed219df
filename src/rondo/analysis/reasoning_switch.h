// Finds what turns the reasoning of a template's model on and off: which of the template's variables, and with which
// values.
//
// Small renders show this.  A variable is a switch if the prompt opens reasoning, or describes its markers, with one of
// its values but not with another.  No variable name is known in advance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "format/format.h"
#include "json/members.h"
#include "json/value.h"

namespace rondo::analysis {

struct ReasoningSwitch {
  bool has_reasoning = false;  // the format has markers for reasoning
  // What the prompt asks for if no variable is set.
  enum class State : std::uint8_t {
    kFree,    // the model may reason: the prompt says nothing
    kOpen,    // the prompt opens the reasoning
    kClosed,  // the prompt opens and closes it
  };
  State usual = State::kFree;
  std::optional<json::Member> on;   // the variable that turns it on
  std::optional<json::Member> off;  // the variable that turns it off
  bool is_usually_on = false;       // what `on` does is the default
  bool is_usually_off = false;
  // The variable that takes an effort in words; "" if there is none.
  std::string effort;
  std::vector<std::string> efforts;  // the efforts that it knows, least first
  bool takes_any_effort = false;     // it writes any value that it gets
  std::string budget;                // the variable that takes a number of tokens; "" if there is none
};

// Returns the effort words of the public APIs, least first.
[[nodiscard]] const std::vector<std::string>& effort_words();

// Finds the switch.  `format` belongs to the same template and options.  Never fails: what no render shows is left out.
[[nodiscard]] ReasoningSwitch find_reasoning_switch(const jinja::Template& chat_template, const Options& options,
                                                    const format::Format& format);

}  // namespace rondo::analysis
