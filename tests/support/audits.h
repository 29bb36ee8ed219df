// Audits of the corpus' rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/check.h"
#include "tests/support/corpus.h"

namespace rondo::test {

// Of the row's own template with its tokenizer, where the corpus has that; nullopt if there is no such row, or its model
// folder has not been unpacked.  Fails the test where the audit fails.
[[nodiscard]] std::optional<report::Report> audit_of(const Corpus& corpus, const std::string& row,
                                                     std::vector<std::string> scenarios = {}, json::Object kwargs = {});

// What an audit gets of the row, with `source` for its template and without a tokenizer.  Fails as compiling it does.
[[nodiscard]] Result<audit::Input> input_of(const CorpusRow& row, const std::string& source);
// Of the row's template alone, without a tokenizer.
[[nodiscard]] Result<report::Report> audit_of_template(const Corpus& corpus, const CorpusRow& row);

}  // namespace rondo::test
