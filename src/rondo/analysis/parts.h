// The parts of a Format, each with the function that infers it.  Internal to analysis/.
//
// accepts.cpp      the evidence that all of them use
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

// The losses and notes about a part.  Nothing is added twice.
struct Remarks {
  std::vector<format::Loss> losses;
  std::vector<std::string> notes;

  void lose(std::string what, std::string meaning, std::int32_t line = 0);
  void note(std::string sentence);
  void add(const Remarks& more);
};

// Returns the common beginning of all generation prompts and all turns.
[[nodiscard]] std::string find_header(const Evidence& evidence);
// Returns the turn's literals before token `end`, or before its first slot, without the header.
[[nodiscard]] std::string lead(const Turn& turn, std::size_t end, const std::string& header);
[[nodiscard]] inline std::string lead(const Turn& turn, const std::string& header) {
  return lead(turn, turn.first_slot(), header);
}

// The blocks of a turn without calls.
struct Blocks {
  std::string header;
  format::Reasoning reasoning;
  format::Content content;
  std::string plain_tail;  // what follows the content of a plain turn, after content.close
  Remarks remarks;
};
[[nodiscard]] Blocks infer_blocks(const Evidence& evidence, const std::string& header);

// What ends a turn without calls.
struct Ending {
  std::vector<std::string> stops;
  std::vector<std::string> history_close;  // as in format::Stops
  bool is_next_turn = false;               // only the beginning of the next turn ends it
  std::optional<Turn> followed;            // an answer that a question follows
};
[[nodiscard]] Ending infer_ending(const Evidence& evidence, const Blocks& blocks);

// Returns `shown` with reasoning that no message shows: a generation prompt opens it, the template searches content for
// its markers, or the template tells the model about it.
[[nodiscard]] Blocks add_hidden_reasoning(const Evidence& evidence, const Blocks& shown, const Ending& ending,
                                          const format::Calls& calls);
[[nodiscard]] std::optional<Blocks> mine_reasoning(const Evidence& evidence, const Blocks& shown);
// The texts around something.
struct Tags {
  std::string open;
  std::string close;
};

struct CallPart {
  format::Calls calls;
  std::vector<std::string> stops;  // stops that end a turn with calls
  Remarks remarks;
};
[[nodiscard]] CallPart infer_calls(const Evidence& evidence, const Blocks& blocks, const Ending& ending);
// Returns `calls` with the ids that the template makes itself: it writes an id in a call and again in the call's
// result.
[[nodiscard]] format::Calls with_made_ids(const Evidence& evidence, format::Calls calls);
// Infers calls that no message shows.
[[nodiscard]] CallPart mine_calls(const Evidence& evidence);

[[nodiscard]] format::Stops infer_stops(const Evidence& evidence, const Ending& ending, const CallPart& calls);

struct Lost {
  format::Trims trims;
  Remarks remarks;
};
[[nodiscard]] Lost find_losses(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls,
                               const format::Stops& stops, const Ending& ending);

// Infers all parts.  Fails with kLimit if a probe exceeds its limits.
[[nodiscard]] Result<std::shared_ptr<const format::Format>> infer_format(Prober& prober);

}  // namespace rondo::analysis
