// A model that runs in milliseconds: random weights behind the vocabulary of tests/golden/batch/model, whose template has
// markers of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/tiny_model.h"
#include "tests/support/own_folder.h"

namespace rondo::testing {

// The folder with that template and tokenizer, without weights.
inline constexpr const char* kSmallFolder = RONDO_SOURCE_DIR "/tests/golden/batch/model";

// The bytes of a GGUF file that is the vocabulary and nothing more.  The words, which are ASCII letters, and what they begin
// with become tokens too.
[[nodiscard]] std::string small_vocabulary(const std::vector<std::string>& words = {});

// Whether this build can run a model.  Says that the test is skipped where it can't.
[[nodiscard]] bool has_engine();

// Writes a model with that vocabulary, and tokens behind it, into `folder`; "" is no template.  Returns its path, and fails
// the test if it can't be made.  REQUIRES: has_engine().
std::string small_model(const OwnFolder& folder, const std::string& name, const std::string& chat_template,
                        const std::vector<engine::ExtraToken>& more_tokens = {});

// The template of kSmallFolder.
[[nodiscard]] std::string small_template();

}  // namespace rondo::testing
