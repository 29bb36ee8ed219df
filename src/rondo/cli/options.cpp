#include "cli/options.h"

#include "base/files.h"
#include "core/fields.h"

namespace rondo::cli {
namespace {

constexpr const char* kModelHelp = "model folder (tokenizer.json, chat_template.jinja, ...) or .gguf file";

CLI::Validator is_time() {
  return {[](std::string& text) {
            if (core::parse_time(text)) return std::string();
            return "expected a time such as 2026-03-14T15:09:26, found `" + text + "`";
          },
          ""};
}

// Whether a value of --kwargs can be one, so that a forgotten `=` is not read as the name of a file.
CLI::Validator is_kwargs() {
  return {[](std::string& text) {
            const bool is_json = text.starts_with('{') || text.starts_with('[');
            if (is_json || text.find('=') != std::string::npos || text == "-" || files::exists(text))
              return std::string();
            return "expected KEY=VALUE, a JSON object or a file with one; there is no file `" + text + "`";
          },
          ""};
}

[[noreturn]] void fail_without(std::string message, const std::string& html_file) {
  if (!html_file.empty()) message += "; `" + html_file + "` was read as the FILE of --html";
  throw CLI::ValidationError(message, CLI::ExitCodes::ValidationError);
}

}  // namespace

CLI::Option* path_option(CLI::App& command, const char* name, std::string& value, const char* help) {
  return command.add_option(name, value, help)->type_name("PATH");
}

CLI::Option* json_option(CLI::App& command, const char* name, std::string& value, const std::string& help) {
  return command.add_option(name, value, help)->type_name("JSON|FILE");
}

CLI::Option* ids_option(CLI::App& command, const char* name, std::string& value, const std::string& help) {
  return command
      .add_option(name, value,
                  help + ": numbers, a JSON array, what another command printed, or a file; - for standard input")
      ->type_name("IDS|JSON|FILE");
}

void kwargs_option(CLI::App& command, std::string& value, const std::string& help) {
  command
      .add_option(
          "--kwargs", value,
          help + ": KEY=VALUE, such as enable_thinking=false, may be repeated; or a JSON object, or a file with one")
      ->type_name("KEY=VALUE|JSON|FILE")
      ->check(is_kwargs())
      ->multi_option_policy(CLI::MultiOptionPolicy::Join);
}

CLI::Option* repeated_option(CLI::App& command, const char* name, std::vector<std::string>& values,
                             const std::string& help) {
  return command.add_option(name, values, help + "; may be repeated")->allow_extra_args(false);
}

CLI::Option* html_option(CLI::App& command, std::string& file, const std::string& help) {
  return command.add_option("--html", file, help + "; without FILE on standard output")
      ->type_name("[FILE]")
      ->expected(0, 1);
}

void retention_option(CLI::App& command, std::string& value, const std::string& help) {
  command.add_option("--retention", value, help)
      ->type_name("POLICY")
      ->check(CLI::IsMember(
          {"all", "template", "tool_cycle", "preserve_all_thinking", "preserve_thinking_between_tool_calls"}));
}

CLI::Option* mode_option(CLI::App& command, std::string& value, const std::string& help) {
  return command.add_option("--mode", value, help)->check(CLI::IsMember({"strict", "lenient"}));
}

void time_option(CLI::App& command, std::string& value, const std::string& help) {
  command.add_option("--now", value, help)->type_name("TIME")->check(is_time());
}

void add_language(CLI::App& command, std::string& mode, std::string& now) {
  mode_option(command, mode,
              "template language: `strict` as transformers runs it, `lenient` also allows what some vendors' "
              "templates need")
      ->capture_default_str();
  time_option(command, now, "the time that strftime_now shows, as 2026-03-14T15:09:26 (default: the clock)");
}

void add_polyfill(CLI::App& command, std::string& polyfill) {
  command
      .add_option(
          "--polyfill", polyfill,
          "supply what the template lacks (system text, tools, calls, results): `auto` if it lacks it, `on` always")
      ->check(CLI::IsMember({"off", "auto", "on"}))
      ->capture_default_str();
}

void add_color(CLI::App& command, std::string& color, const std::string& help) {
  command.add_option("--color", color, help)->check(CLI::IsMember({"auto", "always", "never"}))->capture_default_str();
}

void add_model(CLI::App& command, ModelArguments& model, bool needs_tokenizer, const char* name) {
  path_option(command, name, model.model, kModelHelp);
  path_option(command, "--template", model.chat_template,
              "chat template: a .jinja file, or a folder or .gguf with one; the name of one of the model's, if it "
              "brings several; `auto` or a family's name: one of rondo's own");
  path_option(command, "--tokenizer", model.tokenizer,
              needs_tokenizer ? "tokenizer: a file or folder (default: that of --model)"
                              : "tokenizer: a file or folder whose special tokens the template may use");
  add_language(command, model.mode, model.now);
  add_polyfill(command, model.polyfill);
}

void add_history(CLI::App& command, ConversationArguments& conversation, const std::string& messages_help) {
  json_option(command, "--messages", conversation.messages, messages_help);
  repeated_option(command, "-m,--message", conversation.texts, "a user message, added to the end")->type_name("TEXT");
  json_option(command, "--tools", conversation.tools, "tool definitions: a JSON array or a file with one");
  json_option(command, "--documents", conversation.documents, "documents: a JSON array or a file with one");
  kwargs_option(command, conversation.kwargs, "further template variables");
}

void add_conversation(CLI::App& command, ConversationArguments& conversation, const std::string& messages_help) {
  add_history(command, conversation, messages_help);
  command.add_flag("--no-generation-prompt", conversation.no_generation_prompt,
                   "do not open the turn that the model is to write");
  command
      .add_flag(
          "--continue{content}", conversation.continue_final,
          "the last message is the beginning of what the model writes; --continue=FIELD: it continues in that field "
          "(reasoning_content, tool_calls)")
      ->type_name("");
}

void add_corrections(CLI::App& command, std::string& corrections) {
  json_option(command, "--correct", corrections,
              "corrections of the inferred format: a JSON object, such as what "
              "`rondo explain --format` prints, or a file with one");
}

void add_asked(CLI::App& command, AskedArguments& arguments) {
  command.add_option("--tool-choice", arguments.tool_choice, "auto, none, required, or the name of one tool")
      ->capture_default_str();
  CLI::Option* schema =
      json_option(command, "--schema", arguments.schema, "the JSON schema of the answer: JSON or a file with it");
  command.add_flag("--text-answer", arguments.text_answer, "the answer is the text of that schema's string, not JSON");
  path_option(command, "--answer-grammar", arguments.answer_grammar,
              "a file with the grammar of the answer, in GBNF (EBNF) or Lark")
      ->excludes(schema);
  command.add_flag("--no-parallel", arguments.no_parallel, "one tool call at most");
}

CLI::Option* add_view(CLI::App& command, TokenView& view, const std::string& json_help) {
  CLI::Option* ids = command.add_flag("--ids", view.ids, "print the ids alone, on one line");
  CLI::Option* count = command.add_flag("--count", view.count, "print how many there are");
  CLI::Option* offsets = command.add_flag("--offsets", view.offsets, "a table with the bytes that each id stands for");
  CLI::Option* html = html_option(command, view.html_file, "a page for the browser");
  CLI::Option* as_json = command.add_flag("--json", view.json, json_help);
  for (CLI::Option* one : {ids, count, offsets, html, as_json}) {
    for (CLI::Option* other : {ids, count, offsets, html, as_json}) {
      if (one != other) one->excludes(other);
    }
  }
  add_color(
      command, view.color,
      "colours: `auto` when standard output is a terminal and NO_COLOR is not set; the text then stands as it is, "
      "token by token, without colours in a table");
  return html;
}

CLI::Validator is_count() {
  return {[](std::string& text) {
            const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
            if (is_number && text.find_first_not_of('0') != std::string::npos) return std::string();
            return "expected a whole number, at least 1, found `" + text + "`";
          },
          ""};
}

CLI::Validator is_mask_part() { return CLI::IsMember({"sampled", "content", "turn", "generation"}); }

void need_tokenizer(const std::string& model, const std::string& html_file) {
  if (model.empty()) fail_without("name a model, by place or with --model", html_file);
}

void need_model(const std::string& model, const std::string& chat_template, const std::string& html_file) {
  if (model.empty() && chat_template.empty())
    fail_without("name a model, by place or with --model, or a template with --template", html_file);
}

void need_model_with_tokenizer(const ModelArguments& model, const std::string& html_file) {
  need_model(model.model, model.chat_template, html_file);
  if (model.model.empty() && model.tokenizer.empty())
    fail_without("a template alone has no tokenizer: name a model, or a tokenizer with --tokenizer", html_file);
}

}  // namespace rondo::cli
