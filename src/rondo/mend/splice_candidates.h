// Edits of a template that make a prompt go on as a splice says.  Whether they do is found out by trying (fix.h).
#pragma once

#include <vector>

#include "audit/source_blocks.h"
#include "mend/candidates.h"
#include "mend/splices.h"

namespace rondo::mend {

// What the edits are made from.  `step` was rendered by `source`'s template.  The references must outlive it.
struct SpliceContext {
  const Source& source;
  const SourceBlocks& blocks;
  const jinja::Template& chat_template;
  const format::Format& format;
  const chat::Conversation& base;  // bos and eos
  const audit::Step& step;
};

// In each place where the splice may be made, with each condition that may belong to it; the plainest first.
[[nodiscard]] std::vector<Candidate> splice_candidates(const SpliceContext& context, const Splice& splice);

}  // namespace rondo::mend
