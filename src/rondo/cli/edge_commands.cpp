#include "cli/edge_commands.h"

#include <CLI/CLI.hpp>

#include "cli/help.h"
#include "cli/options.h"

namespace rondo::cli {
namespace {

void add_file(CLI::App& command, EdgeArguments& arguments) {
  command.add_option("FILE", arguments.file, "a processed_chat_template.json, or a folder with one")->required();
}

void add_output(CLI::App& command, EdgeArguments& arguments, const char* help) {
  command.add_option("-o,--output", arguments.output, help)->type_name("FILE");
}

void define_export(CLI::App& edge, EdgeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *edge.add_subcommand("export", "a model's template as Edge JSON, and for which conversations it writes the same");
  command.add_option("MODEL,--model", arguments.model.model, "model folder, .gguf file or .jinja template")
      ->type_name("PATH");
  command
      .add_option("--template", arguments.model.chat_template,
                  "in place of the model's own: a .jinja file, a folder with one, or an Edge JSON file")
      ->type_name("PATH");
  mode_option(command, arguments.model.mode,
              "what to compare with: `strict` as transformers renders, `lenient` with messages in the form that the "
              "template needs")
      ->capture_default_str();
  time_option(command, arguments.model.now, "the time that strftime_now shows, as 2026-03-14T15:09:26");
  kwargs_option(command, arguments.kwargs, "template variables that are fixed");
  command.add_option("--model-path", arguments.model_path, "the name of the model in the file (default: MODEL)")
      ->type_name("TEXT");
  command.add_flag("--no-prebuilt", arguments.no_prebuilt,
                   "read the model's own template even if there is one made in advance");
  add_output(
      command, arguments,
      "write the template there, or into that folder as processed_chat_template.json; a name that ends with / is a "
      "folder, which is made");
  command.add_flag("--json", arguments.json, "print {\"lossless\", \"loses\", \"template\", ...}");
  command.footer(kEdgeExportFooter);
  command.callback([&] {
    need_model(arguments.model.model, arguments.model.chat_template);
    chosen = [&] { return run_edge_export(arguments); };
  });
}

}  // namespace

void define_edge_commands(CLI::App& app, EdgeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& edge =
      *app.add_subcommand("edge", "the JSON templates of TensorRT Edge-LLM: export, import, validate, format");
  edge.require_subcommand(1, 1);
  edge.footer(kEdgeFooter);
  define_export(edge, arguments, chosen);

  CLI::App& import = *edge.add_subcommand("import", "an Edge JSON file as a Jinja template that writes the same");
  add_file(import, arguments);
  add_output(import, arguments, "write the template there");
  import.add_flag("--json", arguments.json, "print {\"template\"}");
  import.footer(kEdgeImportFooter);
  import.callback([&] { chosen = [&] { return run_edge_import(arguments); }; });

  CLI::App& validate = *edge.add_subcommand("validate", "what is wrong with an Edge JSON file, and where");
  add_file(validate, arguments);
  validate.add_flag("--json", arguments.json, "print {\"valid\", \"findings\": [...]}");
  validate.footer("Exit status: 0 if the file is a template, 1 if it is not.");
  validate.callback([&] { chosen = [&] { return run_edge_validate(arguments); }; });

  CLI::App& format = *edge.add_subcommand("format", "the prompts that the runtime would make from a file of requests");
  add_file(format, arguments);
  format
      .add_option("REQUESTS", arguments.requests,
                  "an object with `requests` and flags, or one conversation with `messages`: JSON or a file; - for "
                  "standard input")
      ->type_name("JSON|FILE")
      ->required();
  format.add_flag("--json", arguments.json, "print an array with {\"system\", \"complete\"} for each request");
  format.footer(kEdgeFormatFooter);
  format.callback([&] { chosen = [&] { return run_edge_format(arguments); }; });
}

}  // namespace rondo::cli
