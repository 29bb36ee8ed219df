// The parts of a Format, each with the function that infers it.  Internal to analysis/.
//
// accepts.cpp       the evidence that all of them use; atoms.cpp: texts that are one unit
// header.cpp        the header, which opens a turn
// blocks.cpp        reasoning and content
// content_leads.cpp what the template writes before content only in some turns
// hidden.cpp        reasoning that no message shows, from generation prompts
// cuts.cpp          ... and from the markers that content is searched for
// instructions.cpp  reasoning and calls that the model is only told about
// call_marks.cpp    calls; envelope.cpp: calls in JSON; parameters.cpp: tagged parameters
// call_thoughts.cpp reasoning inside calls
// ids.cpp           ids that the template makes
// bare_calls.cpp    calls without arguments
// escapes.cpp       characters that are written in another way
// ends.cpp          the end of a turn
// losses.cpp        what history cannot give back
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

// Returns the common beginning of all generation prompts and all turns; "" if there is none.
[[nodiscard]] std::string find_header(const Evidence& evidence);
// Returns the turn's literals before token `end` (or before its first slot), without the header.
[[nodiscard]] std::string lead(const Turn& turn, std::size_t end, const std::string& header);
[[nodiscard]] inline std::string lead(const Turn& turn, const std::string& header) {
  return lead(turn, turn.first_slot(), header);
}

// The blocks of a turn without calls.
struct Blocks {
  std::string header;
  format::Reasoning reasoning;
  format::Content content;
  std::string plain_tail;  // the text after content.close in a plain turn
  Remarks remarks;
};
// Infers reasoning and content, as turns without calls show them.
[[nodiscard]] Blocks infer_blocks(const Evidence& evidence, const std::string& header);

// The end of a turn without calls.
struct Ending {
  std::vector<std::string> stops;
  std::vector<std::string> history_close;  // as in format::Stops
  bool is_next_turn = false;               // only the beginning of the next turn ends it
  std::optional<Turn> followed;            // an answer that a question follows
};
// Returns whether `close` ends the calls of a turn whose content follows them, so that it does not end turns.
[[nodiscard]] bool closes_calls_before_content(const Turn& turn, std::string_view close, std::string_view header);
[[nodiscard]] Ending infer_ending(const Evidence& evidence, const Blocks& blocks);

// Returns `shown` with reasoning that no message shows: a generation prompt opens it, the template searches content for
// its markers, or the template tells the model about it.  Returns `shown` unchanged if it has reasoning, or if none is
// found.
[[nodiscard]] Blocks add_hidden_reasoning(const Evidence& evidence, const Blocks& shown, const Ending& ending,
                                          const format::Calls& calls);
// Infers reasoning that the template only tells the model about; nullopt if there is none.
[[nodiscard]] std::optional<Blocks> mine_reasoning(const Evidence& evidence, const Blocks& shown);
// Returns `blocks` with what the template writes before content only in some turns: if the request has tools, if calls
// follow, or after a result.
[[nodiscard]] Blocks with_content_leads(const Evidence& evidence, Blocks blocks);
// The texts around something, such as reasoning.
struct Tags {
  std::string open;
  std::string close;
};

struct CallPart {
  format::Calls calls;
  std::vector<std::string> stops;  // stops that end a turn with calls
  Remarks remarks;
};
// Infers calls as messages show them.  `calls.present` is false if no message does.
[[nodiscard]] CallPart infer_calls(const Evidence& evidence, const Blocks& blocks, const Ending& ending);
// Returns `calls` with the ids that the template makes itself.  It writes such an id in a call and again in the call's
// result.
[[nodiscard]] format::Calls with_made_ids(const Evidence& evidence, format::Calls calls);
// Returns `calls` with what the template writes for a call without arguments, if it leaves the arguments out.
[[nodiscard]] format::Calls with_bare_calls(const Evidence& evidence, format::Calls calls);
// Returns `part` with the place of reasoning in a call's JSON, if the template writes it there.  Adds a loss if
// reasoning is only inside other texts.
[[nodiscard]] CallPart with_thoughts(const Evidence& evidence, CallPart part);
// Infers calls that no message shows, from what the template tells the model.
[[nodiscard]] CallPart mine_calls(const Evidence& evidence);

// Returns the stops of all turns: those of `ending`, those of `calls`, and those that only some settings show.
[[nodiscard]] format::Stops infer_stops(const Evidence& evidence, const Ending& ending, const CallPart& calls);

struct Lost {
  format::Trims trims;
  Remarks remarks;
};
// Finds what history cannot give back, and where white space is cut off.
[[nodiscard]] Lost find_losses(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls,
                               const format::Stops& stops, const Ending& ending);

// Infers all parts.  Fails with kLimit if a probe exceeds its limits.
[[nodiscard]] Result<std::shared_ptr<const format::Format>> infer_format(Prober& prober);

}  // namespace rondo::analysis
