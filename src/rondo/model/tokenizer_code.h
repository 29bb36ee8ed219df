// Reads the Python file beside a rank file, for what it says about its tokenizer.  Rank files have no pattern.  The
// models that use them come with a tokenization_*.py, which assigns it.  The file is not run: string literals are read
// at their assignments.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::model {

struct TokenizerCode {
  std::optional<std::string> pattern;  // the first assignment to a name such as `pat_str`
  bool nfc = false;                    // the text is first normalised to NFC
};

[[nodiscard]] TokenizerCode read_tokenizer_code(std::string_view python);

}  // namespace rondo::model
