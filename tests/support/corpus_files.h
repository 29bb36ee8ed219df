// Where the test corpus is, and how its packed files are read.
//
// There are two of the same form: the larger one beside the checkout (../shared/corpus), and the small one that
// tools/corpus/corpus.py --small makes of pinned packages and tests/corpus.  $RONDO_CORPUS names the small one, and wins.
#pragma once

#include <string>
#include <vector>

namespace rondo::test {

// The folder; "" if there is none.  What tests say then is kNoCorpus.
[[nodiscard]] std::string corpus_folder();
// True if it is the small one.
[[nodiscard]] bool is_small_corpus();
// The folder of its unpacked models; "" if they have not been unpacked.
[[nodiscard]] std::string corpus_models();

inline constexpr char kNoCorpus[] = "skipped: RONDO_CORPUS is not set (./dev test sets it)";

// What `command` prints.
[[nodiscard]] std::string output_of(const std::string& command);
// The lines of an .xz file that are not empty; none if it is not there.
[[nodiscard]] std::vector<std::string> read_xz_lines(const std::string& path);

}  // namespace rondo::test
