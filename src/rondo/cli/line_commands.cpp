#include "cli/line_commands.h"

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cli/options.h"
#include "cli/places.h"

namespace rondo::cli {
namespace {

void define_batch(CLI::App& app, BatchArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("batch", "many requests in one process: a JSON object per line in, a reply per line out");
  command.add_option("--threads", arguments.threads, "answer this many requests at once; replies stay in order")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command.footer(
      "Example:\n"
      "  echo '{\"op\": \"tokenize\", \"tokenizer\": \"MODEL\", \"text\": \"Hi\"}' | rondo batch\n"
      "The requests are described in docs/batch.md.");
  command.callback([&] { chosen = [&] { return run_batch(arguments); }; });
}

void define_mask(CLI::App& app, MaskArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("mask", "conversations, one per line, to token ids and loss masks for training");
  ModelArguments& model = arguments.model;
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "FILE", "as --input", "FILE");
  path_option(command, "--model", model.model, "model folder or .gguf file");
  const CLI::Option* input =
      command
          .add_option("--input", arguments.input,
                      "lines of JSON, each an array of messages or an object with `messages` and perhaps `tools`, "
                      "`documents`, `kwargs` and `id`; - for standard input")
          ->type_name("FILE")
          ->capture_default_str();
  command.add_option("-o,--output", arguments.output, "where the lines go; - for standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_option("--template", model.chat_template, "chat template in place of the model's own")->type_name("PATH");
  command.add_option("--tokenizer", model.tokenizer, "tokenizer: a file or folder (default: that of --model)")
      ->type_name("PATH");
  add_language(command, model.mode, model.now);
  add_polyfill(command, model.polyfill);
  command.add_option("--field", arguments.field, "the member of an object that holds its messages")
      ->type_name("NAME")
      ->capture_default_str();
  kwargs_option(command, arguments.kwargs, "further template variables of every line");
  command
      .add_option("--mask", arguments.part,
                  "what is learned: `sampled` what the model would have written, `content` the messages' own data, "
                  "`turn` whole turns, `generation` what {% generation %} covers")
      ->type_name("PART")
      ->check(is_mask_part())
      ->capture_default_str();
  command
      .add_option(
          "--role", arguments.roles,
          "the roles whose messages are learned (default: assistant); may be repeated; a message with `weight` 0, or "
          "with `training` or `train` false, is left out")
      ->allow_extra_args(false);
  command.add_flag("--text", arguments.text, "also write the prompt's text");
  command.add_flag("--owners", arguments.owners, "also write the message that each id belongs to");
  command.add_option("--threads", arguments.threads, "lines at once (default: as many as the machine has cores)")
      ->check(CLI::Range(1, 256));
  command.add_option("--html", arguments.html_file, "a page with the first lines, what is learned in colour")
      ->type_name("FILE");
  command.add_option("--samples", arguments.samples, "how many lines the page of --html shows")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.footer(
      "A line that cannot be read becomes a line with `error`, and the other lines continue; the exit status is then "
      "1.\n"
      "Example:\n"
      "  rondo mask MODEL chats.jsonl --output masks.jsonl --html samples.html");
  command.callback([&, places, input] {
    std::optional<std::string> file;
    if (input->count() > 0) file = arguments.input;
    ModelArguments& named = arguments.model;
    places->hand_out(named.model, {&file}, "FILE");
    // What stands alone is the model, also one that is not there.
    if (named.model.empty() && named.chat_template.empty() && file && input->count() == 0)
      named.model = *std::exchange(file, std::nullopt);
    arguments.input = file.value_or(arguments.input);
    need_model_with_tokenizer(arguments.model);
    chosen = [&] { return run_mask(arguments); };
  });
}

}  // namespace

void define_line_commands(CLI::App& app, MaskArguments& mask, BatchArguments& batch, std::function<int()>& chosen) {
  define_mask(app, mask, chosen);
  define_batch(app, batch, chosen);
}

}  // namespace rondo::cli
