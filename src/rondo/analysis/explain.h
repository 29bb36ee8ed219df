// Why a Format says what it says: for each of its texts the template lines that wrote it, and the probes themselves.
//
//   auto explanation = analysis::explain(*chat_template, {});
//   for (const analysis::FieldOrigin& origin : explanation.value().origins)
//     print(origin.field, origin.text, origin.pieces.front().place.line);
//
// Slower than analyse() and with the same Format.  For people; nothing else reads it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "text/origins.h"

namespace rondo::analysis {

// Consecutive bytes that one place of the template wrote.
struct OriginPiece {
  std::string text;
  // Line and byte column, from 1, of the first byte; of a string constant, of its beginning.  Line 0: no text of the
  // template, but computed (a counter, indentation).
  text::Literal place;
};

// One text of a Format.
struct FieldOrigin {
  std::string field;  // its path in the JSON of the Format: "calls.call_open", "calls.pieces[1].text", "stops.tool[0]"
  std::string text;
  std::vector<OriginPiece> pieces;  // together they are `text`; empty if no probe shows it
};

// A part of a probe's turn: template text, or what the probe message held.
struct ProbePart {
  std::string slot;  // "" for text of the template; "reasoning", "content", "name", "id", "index", "key", "arguments"
  std::string text;
  text::Literal place;  // of template text
};

struct ProbeRecord {
  std::string name;         // "content, 2 calls; thinking on; with a tool result behind it"
  bool is_refused = false;  // the template refused it, or wrote nothing of the message
  std::string refusal;      // why: what the template said
  bool is_message = false;  // not so of what asks for a generation prompt alone
  // The message had another shape than Format::input says (reasoning in another place, arguments as another type).
  bool is_other_shape = false;
  std::vector<ProbePart> parts;  // the assistant's turn, in order
};

struct Explanation {
  std::shared_ptr<const format::Format> format;
  std::vector<FieldOrigin> origins;  // in the order of Format::to_string(); empty texts are left out
  std::vector<ProbeRecord> probes;   // in the order of asking
};

// Fails like analyse().
[[nodiscard]] Result<Explanation> explain(const jinja::Template& chat_template, const Options& options);

}  // namespace rondo::analysis
