// Edits of a template that may mend a break.  fix.h tries whether they do.
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
  std::string sentence;     // such as "the condition on line 39 stays as it was while the turn was last"
  bool is_copying = false;  // the template then copies what it changed: worthwhile even for a single form of messages
};

// The condition that begins at (line, column) changed its outcome once messages followed.  Returns edits that keep it
// at `earlier`, least invasive first: an operand left out, then the whole condition replaced.
[[nodiscard]] std::vector<Candidate> condition_candidates(const Source& source, std::int32_t line, std::int32_t column,
                                                          bool earlier);
// Does the same for the condition that begins with that token.
[[nodiscard]] std::vector<Candidate> condition_candidates(const Source& source, std::size_t token, bool earlier);

// Returns edits that remove a filter or method on that line which cuts white space off text.
[[nodiscard]] std::vector<Candidate> strip_candidates(const Source& source, std::int32_t line);

// Returns edits that copy arguments given as text, for each `tojson` of the template.  What it serialises may be the
// arguments themselves, or the object with them and a name.
[[nodiscard]] std::vector<Candidate> verbatim_candidates(const Source& source);

// Returns the operands that `a + b ~ c` joins, without the first; none for other expressions.
[[nodiscard]] std::vector<TokenRange> joined_texts(const Source& source, TokenRange tag);

}  // namespace rondo::mend
