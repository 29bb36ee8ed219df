// Edits of a template that make a prompt continue as a splice says.  fix.h tries whether they do.
#pragma once

#include <vector>

#include "audit/source_blocks.h"
#include "mend/candidates.h"
#include "mend/splices.h"

namespace rondo::mend {

// The basis of the edits.  The template of `source` rendered `step`.  The references must outlive it.
struct SpliceContext {
  const Source& source;
  const SourceBlocks& blocks;
  const jinja::Template& chat_template;
  const format::Format& format;
  const chat::Conversation& base;  // bos and eos
  const audit::Step& step;
};

// Returns edits for each place where the splice may be made, with each condition that may belong to it; simplest first.
[[nodiscard]] std::vector<Candidate> splice_candidates(const SpliceContext& context, const Splice& splice);

}  // namespace rondo::mend
