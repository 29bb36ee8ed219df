// The parts of a Format, each with the function that infers it from what it needs.  Internal to analysis/.
//
// accepts.cpp      the evidence that all of them have
// header.cpp       what opens a turn            blocks.cpp      reasoning and content
// call_marks.cpp   calls                        ids.cpp         ids that the template makes
// ends.cpp         what ends a turn             losses.cpp      what history cannot give back
// escapes.cpp      what is written in another way
// hidden.cpp       reasoning that no message shows, from what asks for an answer; cuts.cpp   and from what content is searched for
// instructions.cpp reasoning and calls that are only told to the model
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/evidence.h"

namespace rondo::analysis {

// What there is to say of a part.  Nothing is said twice.
struct Remarks {
  std::vector<format::Loss> losses;
  std::vector<std::string> notes;

  void lose(std::string what, std::string meaning, std::int32_t line = 0);
  void note(std::string sentence);
  void add(const Remarks& more);
};

// What all generation prompts and all turns begin with.
[[nodiscard]] std::string find_header(const Evidence& evidence);
// The turn's literals before token `end`, or before its first slot, without the header.
[[nodiscard]] std::string lead(const Turn& turn, std::size_t end, const std::string& header);
[[nodiscard]] inline std::string lead(const Turn& turn, const std::string& header) {
  return lead(turn, turn.first_slot(), header);
}

// The blocks of a turn without calls.
struct Blocks {
  std::string header;
  format::Reasoning reasoning;
  format::Content content;
  std::string plain_tail;  // what follows the content of a plain turn, behind content.close
  Remarks remarks;
};
[[nodiscard]] Blocks infer_blocks(const Evidence& evidence, const std::string& header);

// What ends a turn without calls.
struct Ending {
  std::vector<std::string> stops;
  std::vector<std::string> history_close;  // as in format::Stops
  bool is_next_turn = false;               // nothing but the begin of the next turn does
  std::optional<Turn> followed;            // an answer before a question
};
[[nodiscard]] Ending infer_ending(const Evidence& evidence, const Blocks& blocks);

// `shown` with reasoning that no message shows: what asks for an answer opens it, content is searched for its marks, or
// the model is told of it.
[[nodiscard]] Blocks add_hidden_reasoning(const Evidence& evidence, const Blocks& shown, const Ending& ending,
                                          const format::Calls& calls);
[[nodiscard]] std::optional<Blocks> mine_reasoning(const Evidence& evidence, const Blocks& shown);
// Around something.
struct Tags {
  std::string open;
  std::string close;
};

struct CallPart {
  format::Calls calls;
  std::vector<std::string> stops;  // that end a turn with calls
  Remarks remarks;
};
[[nodiscard]] CallPart infer_calls(const Evidence& evidence, const Blocks& blocks, const Ending& ending);
// `calls` with the id that the template makes itself: what it writes in a call and again in the call's result.
[[nodiscard]] format::Calls with_made_ids(const Evidence& evidence, format::Calls calls);
// Calls that no message shows.
[[nodiscard]] CallPart mine_calls(const Evidence& evidence);

[[nodiscard]] format::Stops infer_stops(const Evidence& evidence, const Ending& ending, const CallPart& calls);

struct Lost {
  format::Trims trims;
  Remarks remarks;
};
[[nodiscard]] Lost find_losses(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls,
                               const format::Stops& stops, const Ending& ending);

// All of them.  Fails with kLimit when a probe ran out of its limits.
[[nodiscard]] Result<std::shared_ptr<const format::Format>> infer_format(Prober& prober);

}  // namespace rondo::analysis
