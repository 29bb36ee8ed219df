// Makes requests of the line protocol from command line arguments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "json/value.h"
#include "protocol/service.h"
#include "rondo/result.h"

namespace rondo::cli {

// Adds `template_file`, `tokenizer`, `mode` and `now` to `request`.
//
// REQUIRES: a model or a template is named.
void add_model(json::Object& request, const ModelArguments& arguments);

// A positional argument besides the model; it has a value already if an option gave it.
using OtherPlace = std::optional<std::string>*;

// Distributes positional arguments.  If no option names a model, the model is the first argument that names a folder, a
// .gguf or a tokenizer file, or else the first .jinja file.  If there is no such argument, and there are more arguments
// than `others` want, the model is the first argument that names nothing that exists.  For `kTexts`, it is the first
// that names something that exists.  If there is none, it is the first argument.  The remaining arguments go to those
// of `others` that have no value, in order.  Returns false if one is left over.
enum class Others : std::uint8_t { kFiles, kTexts };
[[nodiscard]] bool put_in_place(std::vector<std::string> by_place, std::string& model,
                                const std::vector<OtherPlace>& others, Others kind);

// Adds the conversation fields to `request`.
[[nodiscard]] Status add_conversation(json::Object& request, const ConversationArguments& arguments);

// Adds what the model is asked for.  The conversation must already be in `request`; fails if a named tool is not one of
// its tools.
[[nodiscard]] Status add_asked(json::Object& request, const AskedArguments& arguments);

// Fails if a call is required and there is no tool that could be called.
[[nodiscard]] Status check_required(const json::Object& request, const AskedArguments& arguments);

// Sets `field` to `argument`, which is JSON or a file with it; "" leaves the field out.  `option` names the argument in
// messages.
[[nodiscard]] Status add_json(json::Object& request, std::string_view field, const std::string& argument,
                              const std::string& option);

// Runs a request about the template of --model with the tokenizer of the same model, if it has one and no other is
// named: the added tokens then show which texts are special tokens.
[[nodiscard]] Result<json::Value> run_with_vocabulary(const protocol::Service& service, const json::Value& request,
                                                      const ModelArguments& arguments,
                                                      const protocol::RunOptions& options = {});

// Runs an operation of an audit (`check`, `fix`) on one of the models.  Sets the model in `request`, which already has
// the operation and its other fields.
[[nodiscard]] Result<json::Value> run_audit(const protocol::Service& service, json::Object request,
                                            const CheckArguments& arguments, const std::string& model,
                                            const protocol::RunOptions& options);

// Sets `kwargs` to an object_argument(), if there is one.
[[nodiscard]] Status add_kwargs(json::Object& request, const std::string& argument);

// Reads the new messages of a bridge: an array, the `messages` of an object, or a file with either.  `option` is as in
// add_json().
[[nodiscard]] Result<json::Value> read_messages(const std::string& argument, const std::string& option);

// Returns the text of a reply's field, "" if it has none.
[[nodiscard]] std::string text_of(const json::Value& object, std::string_view field);

}  // namespace rondo::cli
