// Options that several commands have: one name, one help text and one check for each.  Internal to cli/.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "cli/commands.h"

namespace rondo::cli {

CLI::Option* path_option(CLI::App& command, const char* name, std::string& value, const char* help);
CLI::Option* json_option(CLI::App& command, const char* name, std::string& value, const std::string& help);
CLI::Option* ids_option(CLI::App& command, const char* name, std::string& value, const std::string& help);

// --kwargs.
void kwargs_option(CLI::App& command, std::string& value, const std::string& help);

// An option that takes one value each time, so that a positional argument after it is not taken for a second value.
CLI::Option* repeated_option(CLI::App& command, const char* name, std::vector<std::string>& values,
                             const std::string& help);

// --html with the file left out for standard output.
CLI::Option* html_option(CLI::App& command, std::string& file, const std::string& help);

// --retention; `default_help` says which is the default.
void retention_option(CLI::App& command, std::string& value, const std::string& help);

CLI::Option* mode_option(CLI::App& command, std::string& value, const std::string& help);
void time_option(CLI::App& command, std::string& value, const std::string& help);
void add_language(CLI::App& command, std::string& mode, std::string& now);
void add_polyfill(CLI::App& command, std::string& polyfill);
void add_color(CLI::App& command, std::string& color,
               const std::string& help = "colours: `auto` when standard output is a terminal and NO_COLOR is not set");

// MODEL, --template, --tokenizer, and how the template is run.
void add_model(CLI::App& command, ModelArguments& model, bool needs_tokenizer, const char* name = "MODEL,--model");

// Adds the options for everything in a prompt except its end.
void add_history(CLI::App& command, ConversationArguments& conversation, const std::string& messages_help);

// Adds the options of add_history(), and those for the end of the prompt.
void add_conversation(CLI::App& command, ConversationArguments& conversation, const std::string& messages_help);

void add_corrections(CLI::App& command, std::string& corrections);

// Adds what the model is asked for: --tool-choice, --schema, --text-answer, --answer-grammar, --no-parallel.
void add_asked(CLI::App& command, AskedArguments& arguments);

// How tokens are shown.  Returns the option --html.
CLI::Option* add_view(CLI::App& command, TokenView& view, const std::string& json_help);

// A whole number from 1 on.
[[nodiscard]] CLI::Validator is_count();

// What is learned, for the loss masks of training.
[[nodiscard]] CLI::Validator is_mask_part();

// Throws CLI::ValidationError if there is no model whose tokenizer could be taken.  `html_file` is as in need_model().
void need_tokenizer(const std::string& model, const std::string& html_file = "");

// Throws CLI::ValidationError if there is neither a model nor a template.  `html_file` is the value of a html_option(),
// which may have taken the model for itself.
void need_model(const std::string& model, const std::string& chat_template, const std::string& html_file = "");

// Also throws if neither the model nor an option names a tokenizer.
void need_model_with_tokenizer(const ModelArguments& model, const std::string& html_file = "");

}  // namespace rondo::cli
