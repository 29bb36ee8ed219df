// Edits of a template that may mend a break.  Whether they do is found out by trying (fix.h).
#pragma once

#include <string>
#include <vector>

#include "audit/source.h"
#include "audit/source_blocks.h"
#include "text/origins.h"

namespace rondo::mend {

using audit::Edit;
using audit::quote;
using audit::Source;
using audit::SourceBlocks;
using audit::SourceToken;
using audit::TokenRange;

struct Candidate {
  std::vector<Edit> edits;
  std::string sentence;     // "the condition on line 39 stays as it was while the turn was last"
  bool is_copying = false;  // it makes the template copy what it changed: worth making for a single form of messages
};

// The condition that begins at (line, column) went another way once messages followed: edits that keep it at `earlier`,
// least invasive first (an operand left out, then the whole condition replaced).
[[nodiscard]] std::vector<Candidate> condition_candidates(const Source& source, std::int32_t line, std::int32_t column,
                                                          bool earlier);
// The same, of the condition that begins with that token.
[[nodiscard]] std::vector<Candidate> condition_candidates(const Source& source, std::size_t token, bool earlier);

// A filter or method on that line cuts white space off text: edits without it.  `column` 0: any on the line.
[[nodiscard]] std::vector<Candidate> strip_candidates(const Source& source, std::int32_t line);

// Arguments go through `tojson`: edits that copy arguments given as text.  For each `tojson` of the template; what is
// serialised may be the arguments themselves, or the object that holds them with a name.
[[nodiscard]] std::vector<Candidate> verbatim_candidates(const Source& source);

// What `a + b ~ c` joins, but for the first; nothing for other expressions.
[[nodiscard]] std::vector<TokenRange> joined_texts(const Source& source, TokenRange tag);

}  // namespace rondo::mend
