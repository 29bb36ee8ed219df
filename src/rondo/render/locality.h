// Decides whether what a template writes for new turns depends on the history before them, or only on a window.
//
// Most templates write a turn from the turn itself.  Few look back (counters of calls, a system prompt that moves to
// the last turn).  Rendering the whole history is always right.  Rendering a window is right if nothing after the
// assistant's turn could have come out differently.  This is established once for each template, tools and variables,
// with full renders of a battery of histories: with and without a system message, reasoning, calls, results, several
// cycles, and constants that the template searches for in text.  In each of them
//   * no condition that was evaluated for the new turns read an older message except the first one, and no byte of the
//     new turns came from an older message;
//   * the bytes of the new turns equal those in the window's render.
// If either fails for a kind of turn, turns of this kind are rendered with their whole history.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "format/format.h"
#include "render/completion.h"

namespace rondo::render {

// Which kind of message follows which turn.
enum class Step : std::uint8_t { kUserAfterText, kResultsAfterCalls, kOther };
[[nodiscard]] Step step_of(const ParsedCompletion& completion, std::span<const json::Value> new_messages);

class Locality {
 public:
  // Proves nothing: every step needs the whole history.
  Locality() = default;

  // Makes a few hundred small renders.  `input` is the shape of messages that the template needs.
  [[nodiscard]] static Locality prove(const TurnContext& context, const TurnProfile& profile,
                                      const format::InputShape& input);

  [[nodiscard]] bool is_local(Step step) const {
    return step != Step::kOther && reasons_[static_cast<std::size_t>(step)].empty();
  }
  // Returns why a step is not local; "" if it is.
  [[nodiscard]] const std::string& reason(Step step) const { return reasons_[static_cast<std::size_t>(step)]; }

  // Returns the messages that stand for a history, with or without a system message at its beginning.
  [[nodiscard]] const json::Array& window(bool has_system) const { return windows_[has_system ? 1 : 0]; }
  // Returns what the template writes after such a turn when it is the last one.  It depends only on the kind of turn.
  [[nodiscard]] const std::string& tail_alone(Step step) const { return tails_[static_cast<std::size_t>(step)]; }
  // Returns the same for any history and anything that follows.  Returns nullptr if it depends on them, or is unknown
  // for such a turn.
  [[nodiscard]] const std::string* tail_alone(const ParsedCompletion& completion) const;
  // Returns the conversation of a window: without tools, or with one small tool, and otherwise the whole
  // conversation's.
  [[nodiscard]] const chat::Conversation& base() const { return base_; }

 private:
  // Proves locality with windows that have these tools.
  [[nodiscard]] static Locality prove_with(const TurnContext& context, const TurnProfile& profile,
                                           const format::InputShape& input, std::optional<json::Value> tools);

  std::array<std::string, 3> reasons_ = {"not examined", "not examined", "rendered with the whole history"};
  std::array<json::Array, 2> windows_;
  std::array<std::string, 2> tails_;
  std::array<bool, 2> are_tails_fixed_{};  // whether they are the same after every history of the battery
  chat::Conversation base_;
};

}  // namespace rondo::render
