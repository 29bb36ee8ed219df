// Templates for models that bring none: small files of our own (share/templates), chosen by name, by the special tokens of a
// vocabulary or by the architecture that a GGUF file names.  Which family has which is in index.json; adding one is adding a file.
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
  std::string_view source;  // of the template
  std::string reason;       // why it was chosen: "its vocabulary has ..."
};

[[nodiscard]] std::vector<std::string> family_names();
// nullopt: there is no such name.
[[nodiscard]] std::optional<Family> family_named(std::string_view name);
// Of the families whose tokens the vocabulary has all, the one with the most; else one of the architecture; else the plainest.
// `vocabulary` may be null, `architecture` empty.
[[nodiscard]] Family family_for(const tokenizer::Tokenizer* vocabulary, std::string_view architecture);
// What the GGUF file at `path` names; "" for other files.
[[nodiscard]] std::string architecture_of(const std::string& path);

}  // namespace rondo::core
