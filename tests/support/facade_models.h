// Models for the tests of facade/: made through the public headers, as a user makes them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "rondo/model.h"
#include "tests/support/own_folder.h"

namespace rondo::testing {

// A folder with a template of its own markers and a tokenizer that has them as tokens.
inline constexpr const char* kFolder = RONDO_SOURCE_DIR "/tests/golden/batch/model";

inline constexpr const char* kTools = R"([{"type": "function", "function": {"name": "add", "parameters": {
    "type": "object", "properties": {"a": {"type": "number"}, "city": {"type": "string"}}}}}])";

using Ids = std::vector<std::int32_t>;

inline Model model_of(const Result<Model>& loaded) {
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  return loaded.value();
}

inline Model tiny_model() { return model_of(Model::load(kFolder)); }

// The tokenizer of the folder with a template of the test's own.
inline Model model_with(const std::string& chat_template) {
  const OwnFolder folder("template");
  return model_of(Model::load(folder.file("own.jinja", chat_template), kFolder));
}

inline Chat user_chat(const std::string& content = "Hi") {
  Chat chat;
  chat.messages = R"([{"role": "user", "content": ")" + content + "\"}]";
  return chat;
}

inline Ids tokens(const Model& model, const std::string& text) { return model.tokenize(text).value(); }

}  // namespace rondo::testing
