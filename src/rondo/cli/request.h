// Requests to the facade, made from command line arguments.
#pragma once

#include "cli/commands.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::cli {

// Adds `template_file`, `tokenizer`, `mode` and `now` to `request`.  Fails with kInvalidArgument when neither a model nor a
// template is named.
[[nodiscard]] Status add_model(json::Object& request, const ModelArguments& arguments);

// Adds the conversation fields to `request`.
[[nodiscard]] Status add_conversation(json::Object& request, const ConversationArguments& arguments);

// The messages in the file `path`: an array, or the `messages` of an object.
[[nodiscard]] Result<json::Value> read_messages(const std::string& path);

}  // namespace rondo::cli
