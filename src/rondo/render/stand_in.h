// Stand-ins for a completion in a render: messages of the same kind with the same calls, but without the sampled text.
//
// What the template writes after a turn does not depend on the turn's text, so a placeholder is enough.  It also keeps
// sampled text out of the render.  Templates accept different shapes of messages, so there is a ladder of stand-ins,
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
    // An id is made up for each call that has none from the model or a result: some templates refuse calls without ids.
    kOwnWithIds,
    kOfResults,  // calls are made from the results: some templates refuse results that answer no call
    kFirst,      // only the first call: some templates refuse several
    kNone,       // no calls: some templates do not show calls
  };
  enum class Content : std::uint8_t {
    kOwn,    // a text if the turn has one, otherwise no text in the form that the format prefers
    kShape,  // no text, in the form that the format prefers
    kOther,  // no text, in the other form: "" instead of null, or null instead of ""
    kText,   // a text, even if the turn has none
  };
  Calls calls = Calls::kOwn;
  Content content = Content::kOwn;
  bool other_arguments = false;  // arguments as text if the format says object, and as an object if it says text
};

// Returns the rungs that give different stand-ins for the completion; at least one.  The kind of calls varies slowest,
// so that a stand-in with the completion's own calls is tried first.  `answers` are the new messages that may answer
// the turn.
[[nodiscard]] std::vector<Rung> ladder_of(const ParsedCompletion& completion, std::span<const json::Value> answers);

struct StandIn {
  json::Value message;
  std::string note;              // a sentence: how it differs from the completion's kind; "" if it does not
  bool has_other_calls = false;  // whether it has calls that the completion does not have
};
// Makes the stand-in of a rung.
//
// REQUIRES: ladder_of() returned the rung for the same completion and answers.
[[nodiscard]] StandIn make_stand_in(const ParsedCompletion& completion, std::span<const json::Value> answers,
                                    const Rung& rung);

// Returns one user message in place of an unknown history.
[[nodiscard]] json::Array stand_in_history();

// Returns sentences about tool results that do not fit the calls: out of order, missing, repeated, or with an id that
// no call has.  Such results are still rendered.
[[nodiscard]] std::vector<std::string> result_notes(const ParsedCompletion& completion,
                                                    std::span<const json::Value> answers);

}  // namespace rondo::render
