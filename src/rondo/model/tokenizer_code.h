// What the Python file beside a rank file says about its tokenizer.  Rank files hold no pattern; the models that ship them
// ship a tokenization_*.py, which assigns it.  Nothing is run: string literals are read where they are assigned.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::model {

struct TokenizerCode {
  std::optional<std::string> pattern;  // of the first assignment to a name such as `pat_str`
  bool nfc = false;                    // the text is brought into NFC first
};

[[nodiscard]] TokenizerCode read_tokenizer_code(std::string_view python);

}  // namespace rondo::model
