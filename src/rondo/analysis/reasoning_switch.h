// What turns the reasoning of a template's model on and off: which of the template's own variables, and which values of them.
//
// Found out by small renders: a variable is a switch if one of its values makes the prompt open reasoning, or tell of its marks,
// and another one does not.  No variable is known in advance by the name that a family of models gives it.
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
  bool has_reasoning = false;  // the format has marks of it
  // Whether a model is asked to reason where nothing is set.
  enum class State : std::uint8_t {
    kFree,    // it may: the prompt says nothing
    kOpen,    // the prompt has begun it
    kClosed,  // the prompt has ended it
  };
  State usual = State::kFree;
  std::optional<json::Member> on;   // the variable that turns it on
  std::optional<json::Member> off;  // the one that turns it off
  bool is_usually_on = false;       // what `on` does is done where nothing is set
  bool is_usually_off = false;
  // The variable that takes an effort, in words; "" where none does.
  std::string effort;
  std::vector<std::string> efforts;  // those that it knows, the least first
  bool takes_any_effort = false;     // it writes what it is told
  std::string budget;                // the variable that takes a number of tokens; "" where none does
};

// The words of the public APIs, the least first.
[[nodiscard]] const std::vector<std::string>& effort_words();

// `format`: of the same template and options.  Never fails: what no render shows is not there.
[[nodiscard]] ReasoningSwitch find_reasoning_switch(const jinja::Template& chat_template, const Options& options,
                                                    const format::Format& format);

}  // namespace rondo::analysis
