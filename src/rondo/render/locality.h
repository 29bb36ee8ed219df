// Whether what a template writes for new turns depends on the history before them, or only on a window.
//
// Most templates write a turn from the turn itself, and few look back (counters of calls, a system prompt that moves to
// the last turn).  Rendering the whole history is always right; rendering a window is right where nothing behind the
// assistant's turn could have come out otherwise.  That is established once for each template, tools and variables:
//   * in full renders over a battery of histories (with and without system message, reasoning, calls, results, several
//     cycles, constants that the template looks for in text), no condition that was evaluated for the new turns read an
//     older message but the first, and no byte of theirs came from one;
//   * in each of them the bytes are those of the window's render.
// A kind of turn for which either fails is rendered with its whole history.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "format/format.h"
#include "render/completion.h"

namespace rondo::render {

// What follows what.
enum class Step : std::uint8_t { kUserAfterText, kResultsAfterCalls, kOther };
[[nodiscard]] Step step_of(const ParsedCompletion& completion, std::span<const json::Value> new_messages);

class Locality {
 public:
  // Nothing is local.
  Locality() = default;

  // A few hundred small renders.  `input`: the shape of messages that the template wants.
  [[nodiscard]] static Locality prove(const TurnContext& context, const TurnProfile& profile,
                                      const format::InputShape& input);

  [[nodiscard]] bool is_local(Step step) const {
    return step != Step::kOther && reasons_[static_cast<std::size_t>(step)].empty();
  }
  // Why it is not; "" if it is.
  [[nodiscard]] const std::string& reason(Step step) const { return reasons_[static_cast<std::size_t>(step)]; }

  // The messages that stand for a history with, or without, a system message at its head.
  [[nodiscard]] const json::Array& window(bool has_system) const { return windows_[has_system ? 1 : 0]; }
  // What the template writes behind such a turn when it is last; depends on the kind of turn alone.
  [[nodiscard]] const std::string& tail_alone(Step step) const { return tails_[static_cast<std::size_t>(step)]; }
  // The same behind any history, whatever follows; nullptr where it depends on that, or is not known of such a turn.
  [[nodiscard]] const std::string* tail_alone(const ParsedCompletion& completion) const;
  // The conversation of a window: as the whole one, but without tools, or with one small tool.
  [[nodiscard]] const chat::Conversation& base() const { return base_; }

 private:
  // With windows that have these tools.
  [[nodiscard]] static Locality prove_with(const TurnContext& context, const TurnProfile& profile,
                                           const format::InputShape& input, std::optional<json::Value> tools);

  std::array<std::string, 3> reasons_ = {"not examined", "not examined", "rendered with the whole history"};
  std::array<json::Array, 2> windows_;
  std::array<std::string, 2> tails_;
  std::array<bool, 2> are_tails_fixed_{};  // behind every history of the battery
  chat::Conversation base_;
};

}  // namespace rondo::render
