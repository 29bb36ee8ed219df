// Messages that stand for a completion in a render: same kind, same calls, none of the text.
//
// What the template writes behind a turn does not depend on the turn's text, so a placeholder serves; it also keeps
// sampled text out of the render.  Templates differ in the shapes they accept, so there is a ladder of stand-ins, the
// most faithful first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "render/completion.h"

namespace rondo::render {

// How a stand-in is made.
struct Rung {
  enum class Calls : std::uint8_t {
    kOwn,
    kOwnWithIds,  // ids are made up where neither the model nor a result gives one: some templates refuse calls without
    kOfResults,   // calls made from the results: some templates refuse results that answer no call
    kFirst,       // the first alone: some templates refuse several
    kNone,        // some templates show no calls
  };
  enum class Content : std::uint8_t {
    kOwn,    // a text if the turn has one, else none as the format has it
    kShape,  // none as the format has it
    kOther,  // the other of "" and null
    kText,   // a text, whatever the turn has
  };
  Calls calls = Calls::kOwn;
  Content content = Content::kOwn;
  bool other_arguments = false;  // text where the format says object, and the other way round
};

// The rungs that give different stand-ins for the completion; never empty.  The kind of call varies slowest: a stand-in with
// the completion's own calls is sought first.  `answers`: the new messages that may answer the turn.
[[nodiscard]] std::vector<Rung> ladder_of(const ParsedCompletion& completion, std::span<const json::Value> answers);

struct StandIn {
  json::Value message;
  std::string note;              // how it differs from the completion's own kind; "" if it does not
  bool has_other_calls = false;  // calls that are not the completion's
};
// REQUIRES: the rung is of the ladder of the same completion and answers.
[[nodiscard]] StandIn make_stand_in(const ParsedCompletion& completion, std::span<const json::Value> answers,
                                    const Rung& rung);

// One user message in place of an unknown history.
[[nodiscard]] json::Array stand_in_history();

// Sentences about tool results that do not fit the calls: out of order, missing, more than one, with an id that no call
// has.  They are rendered as given all the same.
[[nodiscard]] std::vector<std::string> result_notes(const ParsedCompletion& completion,
                                                    std::span<const json::Value> answers);

}  // namespace rondo::render
