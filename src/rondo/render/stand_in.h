// Messages that stand for a completion in a render: same kind, same calls, none of the text.
//
// What the template writes behind a turn does not depend on the turn's text, so a placeholder serves; it also keeps
// sampled text out of the render.  Templates differ in the shapes they accept, so there is a ladder of stand-ins, the
// most faithful first.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/completion.h"

namespace rondo::render {

struct StandIn {
  json::Value message;
  std::string note;              // how it differs from the completion's own kind; "" if it does not
  bool has_other_calls = false;  // calls that are not the completion's
};

// The stand-ins are numbered from 0; made one by one, since the first mostly serves.  `new_messages` are its answers().
inline constexpr std::size_t kStandIns = 40;
// nullopt if number `step` is not different from an earlier one.  REQUIRES: step < kStandIns.
[[nodiscard]] std::optional<StandIn> make_stand_in(const ParsedCompletion& completion,
                                                   std::span<const json::Value> new_messages, std::size_t step);

// One user message in place of an unknown history.
[[nodiscard]] json::Array stand_in_history();

// Those of `new_messages` that may answer the turn: up to the next turn of an assistant.
[[nodiscard]] std::span<const json::Value> answers(const json::Array& new_messages);

// Sentences about tool results that do not fit the calls: out of order, missing, more than one, with an id that no call
// has.  They are rendered as given all the same.
[[nodiscard]] std::vector<std::string> result_notes(const ParsedCompletion& completion,
                                                    std::span<const json::Value> new_messages);

}  // namespace rondo::render
