// Templates for models that bring none: small files of our own (share/templates).  One is chosen by name, by the
// special tokens of a vocabulary, or by the architecture that a GGUF file names.  index.json lists them; to add a
// family, add a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

struct Family {
  std::string name;
  std::string_view source;  // the text of the template
  std::string reason;       // a sentence: why it was chosen ("its vocabulary has ...")
};

[[nodiscard]] std::vector<std::string> family_names();
// Returns the family with that name; nullopt if there is none.
[[nodiscard]] std::optional<Family> family_named(std::string_view name);
// Chooses a family: the one with the most special tokens, among those whose tokens are all in the vocabulary; otherwise
// the one of the architecture; otherwise the plainest.  `vocabulary` may be null, `architecture` empty.
[[nodiscard]] Family family_for(const tokenizer::Tokenizer* vocabulary, std::string_view architecture);
// Returns the architecture that the GGUF file at `path` names; "" for other files.
[[nodiscard]] std::string architecture_of(const std::string& path);

}  // namespace rondo::core
