// Requests of the line protocol, made from command line arguments.
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

// Adds `template_file`, `tokenizer`, `mode` and `now` to `request`.  Fails with kInvalidArgument when neither a model nor a
// template is named.
[[nodiscard]] Status add_model(json::Object& request, const ModelArguments& arguments);

// Hands out what was given by place.  Where no option named a model, the first that names a folder, a .gguf or a tokenizer's file is it,
// else the first of several; what is left is `other`.  False if something is left over, also because an option has said it.
[[nodiscard]] bool put_in_place(std::vector<std::string> by_place, std::string& model,
                                std::optional<std::string>& other);

// Adds the conversation fields to `request`.
[[nodiscard]] Status add_conversation(json::Object& request, const ConversationArguments& arguments);

// Adds what was asked of the model.
[[nodiscard]] Status add_asked(json::Object& request, const AskedArguments& arguments);

// Sets `field` to what `argument` says, which is JSON or a file with it; "" leaves the field out.  `option` is how it is
// called in messages.
[[nodiscard]] Status add_json(json::Object& request, std::string_view field, const std::string& argument,
                              const std::string& option);

// Runs a request whose template is that of --model with the tokenizer of the same model, if it has one and no other is
// named: its added tokens say what a special token is.
[[nodiscard]] Result<json::Value> run_with_vocabulary(const protocol::Service& service, const json::Value& request,
                                                      const ModelArguments& arguments,
                                                      const protocol::RunOptions& options = {});

// Runs an op of an audit (`check`, `fix`) on one of the models: that of the request, whose op and further fields are set.
[[nodiscard]] Result<json::Value> run_audit(const protocol::Service& service, json::Object request,
                                            const CheckArguments& arguments, const std::string& model,
                                            const protocol::RunOptions& options);

// Sets `kwargs` to an object_argument(), if there is one.
[[nodiscard]] Status add_kwargs(json::Object& request, const std::string& argument);

// Messages: an array, or the `messages` of an object, or a file with either.  `option` as of add_json().
[[nodiscard]] Result<json::Value> read_messages(const std::string& argument, const std::string& option);

// Of a reply: the text of a field, "" if it has none; whether a field is true.
[[nodiscard]] std::string text_of(const json::Value& object, std::string_view field);
[[nodiscard]] bool is_true(const json::Value& object, std::string_view field);

}  // namespace rondo::cli
