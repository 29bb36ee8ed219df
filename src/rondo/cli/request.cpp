#include "cli/request.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/printing.h"
#include "chat/conversation.h"
#include "cli/io.h"
#include "core/grammar.h"

namespace rondo::cli {
namespace {

// `messages`: the body of a chat request, or the array itself, or a file that contains either.
Status add_any_messages(json::Object& request, const std::string& argument, const std::string& option) {
  auto content = json_argument(argument, option);
  if (!content.ok()) return content.error();
  const json::Value* messages = content.value().find("messages");
  if (messages == nullptr) {
    const bool is_message = content.value().find("role") != nullptr;
    json::Value given = std::move(content).value();
    request.set("messages", is_message ? json::Value(json::Array{std::move(given)}) : std::move(given));
    return Done{};
  }
  request.set("messages", *messages);
  // The other fields of a chat request that affect its prompt.
  for (const auto& [field, name] : {std::pair{"tools", "tools"}, std::pair{"documents", "documents"},
                                    std::pair{"chat_template_kwargs", "kwargs"}}) {
    const json::Value* value = content.value().find(field);
    if (value != nullptr && !value->is_null()) request.set(name, *value);
  }
  return Done{};
}

// The grammar in `file` for the text of the answer.
Status add_answer_grammar(json::Object& request, const std::string& file) {
  auto definition = files::read(file);
  if (!definition.ok()) return definition.error();
  auto schema = core::text_schema("", definition.value());
  if (!schema.ok()) {
    Error error = schema.error();
    error.source = file;
    return error;
  }
  request.set("response_schema", std::move(schema).value());
  request.set("response_text", true);
  return Done{};
}

// Names the option in an error of JSON that stands in the option itself: it is wrong usage.
Status blamed(Status status, const std::string& argument, const std::string& option) {
  if (status.ok() || !is_inline_json(argument)) return status;
  Error error = status.error();
  error.source = option;
  return error;
}

// The same, and checks them under the name `what`.  Templates print nothing for a role that is missing, so that nobody
// would see the mistake.
Status add_messages(json::Object& request, const std::string& argument, const std::string& option,
                    const std::string& what) {
  if (Status status = add_any_messages(request, argument, option); !status.ok()) return status;
  return blamed(chat::check_messages(*request.find("messages"), what), argument, option);
}

// Checks the form of a field that an option may give.
Status check_form(std::string_view field, const json::Value& value) {
  if (field == "tools" || field == "documents") return chat::check_objects(value, std::string(field));
  const bool is_schema = field == "response_schema" && value.is_bool();
  if (is_schema || value.is_object() || (field != "response_schema" && field != "corrections")) return Done{};
  return Error(ErrorCode::kInvalidArgument,
               "`" + std::string(field) + "` must be an object, found " + std::string(json::describe(value.kind())));
}

bool names_model(const std::string& path) {
  if (path.empty() || !files::exists(path)) return false;
  if (files::is_folder(path)) return true;
  const auto ends_with = [&](std::string_view suffix) { return path.ends_with(suffix); };
  return std::ranges::any_of(std::array{".gguf", "tokenizer.json", ".model", ".tiktoken", "tekken.json"}, ends_with);
}

bool names_template(const std::string& path) { return path.ends_with(".jinja") && files::exists(path); }

// Whether one of the tools is called so; any is, for "".
bool has_tool(const json::Object& request, const std::string& wanted) {
  const json::Value* tools = request.find("tools");
  if (tools == nullptr || !tools->is_array()) return false;
  return std::ranges::any_of(tools->as_array(), [&](const json::Value& tool) {
    const json::Value* function = tool.find("function");
    const std::string name = text_of(function == nullptr ? tool : *function, "name");
    return !name.empty() && (wanted.empty() || name == wanted);
  });
}

}  // namespace

bool put_in_place(std::vector<std::string> by_place, std::string& model, const std::vector<OtherPlace>& others,
                  Others kind) {
  std::vector<OtherPlace> wanted;
  std::ranges::copy_if(others, std::back_inserter(wanted), [](OtherPlace other) { return !*other; });
  if (model.empty()) {
    auto place = std::ranges::find_if(by_place, names_model);
    if (place == by_place.end()) place = std::ranges::find_if(by_place, names_template);
    if (place == by_place.end() && by_place.size() > wanted.size()) {
      const bool exists = kind == Others::kTexts;
      place = std::ranges::find_if(by_place, [&](const std::string& path) { return files::exists(path) == exists; });
      if (place == by_place.end()) place = by_place.begin();
    }
    if (place != by_place.end()) {
      model = std::move(*place);
      by_place.erase(place);
    }
  }
  if (by_place.size() > wanted.size()) return false;
  for (std::size_t i = 0; i < by_place.size(); ++i) *wanted[i] = std::move(by_place[i]);
  return true;
}

void add_model(json::Object& request, const ModelArguments& arguments) {
  const std::string& chat_template = arguments.chat_template.empty() ? arguments.model : arguments.chat_template;
  request.set("template_file", chat_template);
  const std::string& tokenizer = arguments.tokenizer;
  if (!tokenizer.empty()) request.set("tokenizer", tokenizer);
  // The vocabulary shows which template fits.
  if (tokenizer.empty() && chat_template == "auto" && !arguments.model.empty())
    request.set("tokenizer", arguments.model);
  request.set("mode", arguments.mode);
  if (arguments.polyfill != "off") request.set("polyfill", arguments.polyfill);
  if (!arguments.now.empty()) request.set("now", arguments.now);
}

Status add_asked(json::Object& request, const AskedArguments& arguments) {
  const std::string& choice = arguments.tool_choice;
  const bool is_named = choice != "auto" && choice != "none" && choice != "required";
  if (is_named) {
    if (!has_tool(request, choice)) {
      const std::string hint = request.find("tools") == nullptr ? ": give --tools" : "";
      return Error(ErrorCode::kInvalidArgument, "no tool has the name `" + printing::excerpt(choice) + "`" + hint);
    }
    request.set("tool_choice", json::Object{{std::string("name"), json::Value(choice)}});
  } else {
    request.set("tool_choice", choice);
  }
  if (arguments.no_parallel) request.set("parallel_tool_calls", false);
  if (!arguments.answer_grammar.empty()) return add_answer_grammar(request, arguments.answer_grammar);
  if (arguments.text_answer) request.set("response_text", true);
  return add_json(request, "response_schema", arguments.schema, "--schema");
}

Status check_required(const json::Object& request, const AskedArguments& arguments) {
  if (arguments.tool_choice != "required" || has_tool(request, "")) return Done{};
  return Error(ErrorCode::kInvalidArgument, "--tool-choice required needs a tool with a name: give --tools");
}

Status add_json(json::Object& request, std::string_view field, const std::string& argument, const std::string& option) {
  if (argument.empty()) return Done{};
  auto value = json_argument(argument, option);
  if (!value.ok()) return value.error();
  if (Status status = blamed(check_form(field, value.value()), argument, option); !status.ok()) return status;
  request.set(field, std::move(value).value());
  return Done{};
}

Result<json::Value> run_with_vocabulary(const protocol::Service& service, const json::Value& request,
                                        const ModelArguments& arguments, const protocol::RunOptions& options) {
  if (!arguments.tokenizer.empty() || arguments.model.empty()) return service.run(request, options);
  json::Value with_tokenizer = request;
  with_tokenizer.as_object().set("tokenizer", arguments.model);
  auto reply = service.run(with_tokenizer, options);
  const bool is_damaged = !reply.ok() && reply.error().code == ErrorCode::kTokenizer;
  if (reply.ok() || (!is_damaged && reply.error().code != ErrorCode::kNotFound)) return reply;
  // A template alone has no tokenizer.  A model with an unreadable tokenizer deserves a note.
  if (is_damaged && (files::is_folder(arguments.model) || arguments.model.ends_with(".gguf")))
    note("rondo: goes on without a tokenizer: " + reply.error().to_string() + "\n");
  return service.run(request, options);
}

Status add_conversation(json::Object& request, const ConversationArguments& arguments) {
  if (!arguments.messages.empty()) {
    if (Status status = add_messages(request, arguments.messages, "--messages", "messages"); !status.ok())
      return status;
  }
  if (!arguments.texts.empty()) {
    json::Value* messages = request.find("messages");
    if (messages == nullptr) messages = &request.set("messages", json::Array{});
    for (const std::string& text : arguments.texts) {
      if (Status status = check_utf8(text, "--message"); !status.ok()) return status;
      if (messages->is_array()) messages->as_array().emplace_back(json::Object{{"role", "user"}, {"content", text}});
    }
  }
  if (Status status = add_json(request, "tools", arguments.tools, "--tools"); !status.ok()) return status;
  if (Status status = add_json(request, "documents", arguments.documents, "--documents"); !status.ok()) return status;
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return status;
  const bool continues = !arguments.continue_final.empty();
  if (continues) request.set("continue_final_message", arguments.continue_final);
  request.set("add_generation_prompt", !arguments.no_generation_prompt && !continues);
  return Done{};
}

Status add_kwargs(json::Object& request, const std::string& argument) {
  if (argument.empty()) return Done{};
  auto value = object_argument(argument, "--kwargs");
  if (!value.ok()) return value.error();
  json::Value* known = request.find("kwargs");
  if (known == nullptr || !known->is_object() || !value.value().is_object()) {
    request.set("kwargs", std::move(value).value());
    return Done{};
  }
  for (const json::Member& member : value.value().as_object()) known->as_object().set(member.key, member.value);
  return Done{};
}

Result<json::Value> read_messages(const std::string& argument, const std::string& option) {
  json::Object request;
  if (Status status = add_messages(request, argument, option, "new_messages"); !status.ok()) return status.error();
  return *request.find("messages");
}

Result<json::Value> run_audit(const protocol::Service& service, json::Object request, const CheckArguments& arguments,
                              const std::string& model, const protocol::RunOptions& options) {
  request.set("model", model);
  ModelArguments of_model;
  of_model.model = model;
  of_model.chat_template = arguments.chat_template;
  of_model.tokenizer = arguments.tokenizer;
  of_model.mode = arguments.mode;
  of_model.now = arguments.now;
  of_model.polyfill = arguments.polyfill;
  add_model(request, of_model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return status.error();
  return run_with_vocabulary(service, json::Value(std::move(request)), of_model, options);
}

std::string text_of(const json::Value& object, std::string_view field) {
  return std::string(object.find_string(field).value_or(""));
}

}  // namespace rondo::cli
