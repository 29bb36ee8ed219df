// Explains a Format: for each of its texts, the template lines that wrote it, and all probes.
//
//   auto explanation = analysis::explain(*chat_template, {});
//   for (const analysis::FieldOrigin& origin : explanation.value().origins)
//     print(origin.field, origin.text, origin.pieces.front().place.line);
//
// Slower than analyse(), with the same Format.  For people; no other code uses it.
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
  // Line and byte column of the first byte, from 1.  For a string constant, those of its beginning.  Line 0 means that
  // the text was computed, such as a counter or indentation.
  text::Literal place;
};

// One text of a Format.
struct FieldOrigin {
  std::string field;  // its path in the JSON of the Format: "calls.call_open", "calls.pieces[1].text", "stops.tool[0]"
  std::string text;
  std::vector<OriginPiece> pieces;  // in order; joined, they are `text`; none if no probe shows it
};

// A part of a probe's turn: template text, or a value of the probe message.
struct ProbePart {
  // "" for template text; otherwise "reasoning", "content", "name", "id", "index", "key" or "arguments".
  std::string slot;
  std::string text;
  text::Literal place;  // for template text
};

struct ProbeRecord {
  std::string name;         // such as "content, 2 calls; thinking on; with a tool result behind it"
  bool is_refused = false;  // the template refused it, or wrote nothing of the message
  std::string refusal;      // the template's error
  bool is_message = false;  // false for a probe that asks only for a generation prompt
  // The message had another shape than Format::input says: reasoning in another place, or arguments of another type.
  bool is_other_shape = false;
  std::vector<ProbePart> parts;  // the assistant's turn, in order
};

struct Explanation {
  std::shared_ptr<const format::Format> format;
  std::vector<FieldOrigin> origins;  // in the order of Format::to_string(); empty texts are left out
  std::vector<ProbeRecord> probes;   // in the order in which they were rendered
};

// Analyses the template and explains the result.  Fails as analyse() does.
[[nodiscard]] Result<Explanation> explain(const jinja::Template& chat_template, const Options& options);

}  // namespace rondo::analysis
