// The command line: its commands, options and their meaning.  It only defines them.
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/completion_commands.h"
#include "cli/edge_commands.h"
#include "cli/handover.h"
#include "cli/help.h"
#include "cli/io.h"
#include "cli/line_commands.h"
#include "cli/network_commands.h"
#include "cli/options.h"
#include "cli/places.h"
#include "cli/usage.h"

namespace rondo::cli {
namespace {

constexpr const char* kMessagesHelp =
    "conversation: a JSON array of messages, one message, or a chat request with `messages`, `tools`, `documents`, "
    "`chat_template_kwargs`; - for standard input";

void define_render(CLI::App& app, RenderArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("render", "conversation to prompt text");
  add_model(command, arguments.model, false);
  add_conversation(command, arguments.conversation, std::string(kMessagesHelp) + " (the default)");
  command.add_flag("--spans", arguments.spans, "a table: where each part of the prompt came from");
  command.add_flag("--trace", arguments.trace,
                   "the template, with what each line wrote for whom, which conditions decided on what grounds, and "
                   "what was cut off");
  CLI::Option* mask = command.add_option("--mask", arguments.mask,
                                         "the loss mask of training, token by token (needs a tokenizer): `sampled` "
                                         "what the model would have written (the default), `content` the messages' "
                                         "own data, `turn` whole turns, `generation` what {% generation %} covers");
  mask->type_name("[PART]")->expected(0, 1)->check(is_mask_part());
  repeated_option(command, "--role", arguments.roles, "for --mask: the roles of the messages (default: assistant)")
      ->needs(mask);
  CLI::Option* html = html_option(command, arguments.html_file,
                                  "a page for the browser: the prompt coloured by owner, beside the template");
  add_color(command, arguments.color,
            "colours: `auto` when standard output is a terminal and NO_COLOR is not set; a prompt in colours has its "
            "control characters escaped");
  command.add_flag("--json", arguments.json, "print {\"text\"} as JSON; with --spans and --trace also theirs");
  command.footer(kRenderFooter);
  command.callback([&, html] {
    arguments.html = html->count() > 0;
    if (arguments.mask) {
      need_model_with_tokenizer(arguments.model, arguments.html_file);
    } else {
      need_model(arguments.model.model, arguments.model.chat_template, arguments.html_file);
    }
    chosen = [&] { return run_render(arguments); };
  });
}

void define_jinja(CLI::App& app, JinjaArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("jinja", "any template with any variables to text");
  CLI::Option* file = command.add_option("TEMPLATE", arguments.file,
                                         "a .jinja or .txt file, or a model; - for standard input (the default)");
  CLI::Option* text = command.add_option("--text", arguments.text, "the template itself");
  text->excludes(file);
  json_option(command, "--context", arguments.context, "the variables: a JSON object or a file with one");
  command.add_flag("--no-trim-blocks", arguments.no_trim_blocks, "keep the newline after a block tag");
  command.add_flag("--no-lstrip-blocks", arguments.no_lstrip_blocks, "keep white space before a block tag on its line");
  command.add_flag("--keep-trailing-newline", arguments.keep_trailing_newline, "keep a newline at the template's end");
  add_language(command, arguments.mode, arguments.now);
  command.add_flag("--json", arguments.json, "print {\"text\"} as JSON");
  command.footer(kJinjaFooter);
  command.callback([&, text] {
    arguments.has_text = text->count() > 0;
    if (arguments.file.empty()) arguments.file = "-";
    chosen = [&] { return run_jinja(arguments); };
  });
}

void define_parse(CLI::App& app, ParseArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("parse", "from what a model wrote to a message: reasoning, content, tool calls");
  CLI::Option* text =
      command.add_option("--text", arguments.text, "what the model wrote after the prompt, special tokens as text");
  CLI::Option* ids = ids_option(command, "--ids", arguments.ids, "what the model sampled after the prompt, as ids");
  ids->excludes(text);
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "FILE", "a file with what the model wrote; - for standard input (the default)", "PATH");
  add_model(command, arguments.model, false, "--model");
  add_conversation(command, arguments.conversation, "the conversation that the model answered");
  add_corrections(command, arguments.corrections);
  add_asked(command, arguments.asked);
  command
      .add_option("--reasoning", arguments.reasoning, "`split` into a field of its own, or `inline` with its markers")
      ->check(CLI::IsMember({"split", "inline"}))
      ->capture_default_str();
  command.add_flag("--partial", arguments.partial, "the text is cut off; more may follow");
  command.add_flag("--strict", arguments.strict, "fail on malformed text instead of keeping it as content");
  command
      .add_flag("--stream", arguments.stream,
                "show standard input's parts as they become certain, while it arrives; the default in a terminal")
      ->excludes(ids);
  command.add_flag("--json", arguments.json,
                   "print the message as JSON; with --stream a line for each piece, and the message last");
  command.footer(kParseFooter);
  command.callback([&, text, ids, places] {
    std::optional<std::string> file;
    if (text->count() > 0 || ids->count() > 0) file = "";
    places->hand_out(arguments.model.model, {&file}, "what the model wrote");
    arguments.file = file.value_or("-");
    if (ids->count() > 0) {
      need_model_with_tokenizer(arguments.model);
    } else {
      need_model(arguments.model.model, arguments.model.chat_template);
    }
    chosen = [&] { return run_parse(arguments); };
  });
}

void define_bridge(CLI::App& app, BridgeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("bridge", "the next prompt: the old token ids unchanged, plus only the new turn");
  add_model(command, arguments.model, true);
  add_history(command, arguments.conversation, "the messages of the prompt");
  ids_option(command, "--prompt-ids", arguments.prompt_ids, "ids of the previous prompt")->required();
  ids_option(command, "--completion-ids", arguments.completion_ids, "ids that the model sampled after it")->required();
  command
      .add_option("--new-messages", arguments.new_messages, "the messages after that completion; - for standard input")
      ->type_name("JSON|FILE")
      ->required();
  add_corrections(command, arguments.corrections);
  retention_option(command, arguments.retention, "which earlier reasoning stays (default: all)");
  json_option(command, "--sampled", arguments.sampled,
              "for --retention: the ranges [[begin, end], ...] of sampled turns in the prompt ids");
  command.add_flag("--refuse-lossy", arguments.refuse_lossy,
                   "fail if the template would write earlier turns differently once the new messages follow");
  CLI::Option* ids = command.add_flag("--ids", arguments.ids, "print the ids of the next prompt alone, on one line");
  command.add_flag("--json", arguments.json, "print {\"ids\", \"message_indices\", \"appended\"} as JSON")
      ->excludes(ids);
  command.footer(kBridgeFooter);
  command.callback([&] {
    need_model_with_tokenizer(arguments.model);
    chosen = [&] { return run_bridge(arguments); };
  });
}

void define_tokenize(CLI::App& app, TokenizeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("tokenize", "text to token ids");
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "TEXT", "the text; - for standard input (the default)", "TEXT");
  path_option(command, "--model,--tokenizer", arguments.tokenizer, "model folder, tokenizer.json, .gguf, ...");
  repeated_option(command, "--file", arguments.files, "a file with the text; - for standard input")->type_name("FILE");
  command.add_flag("--no-special", arguments.no_special, "the text of special tokens is ordinary text");
  command.add_flag("--add-special", arguments.add_special, "add what the tokenizer itself adds (BOS, EOS)");
  command.add_option("--threads", arguments.threads, "for several files (default: all cores)")
      ->check(CLI::Range(0, 256));
  CLI::Option* html = add_view(command, arguments.view, "print {\"ids\", \"offsets\"} as JSON, a line for each file");
  command.footer(
      "Examples:\n"
      "  rondo tokenize MODEL \"Hello world\" --ids\n"
      "  rondo tokenize MODEL --file a.txt --html a.html");
  command.callback([&, html, places] {
    std::optional<std::string> text;
    if (!arguments.files.empty()) text = "";
    places->hand_out(arguments.tokenizer, {&text}, "the text", Others::kTexts);
    need_tokenizer(arguments.tokenizer, arguments.view.html_file);
    arguments.has_text = text.has_value() && text != "-" && arguments.files.empty();
    arguments.text = text.value_or("");
    arguments.view.html = html->count() > 0;
    chosen = [&] { return run_tokenize(arguments); };
  });
}

void define_encode(CLI::App& app, EncodeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("encode", "conversation to token ids, with the owner of every id and masks");
  add_model(command, arguments.model, true);
  add_conversation(command, arguments.conversation, std::string(kMessagesHelp) + " (the default)");
  command.add_flag("--parse-content", arguments.parse_content,
                   "the text of messages may become special tokens too, as in apply_chat_template(tokenize=True)");
  command.add_flag("--no-inline-reasoning", arguments.no_inline_reasoning,
                   "the markers of reasoning with which an assistant's content begins stay text too");
  command.add_flag("--raw-turns", arguments.raw_turns,
                   "keep assistant messages with a field `raw_ids` (ids) or `raw` (text) as they were sampled");
  retention_option(command, arguments.retention, "which earlier reasoning stays in the prompt (default: template)");
  CLI::Option* html = add_view(command, arguments.view, "print everything as JSON");
  command.footer(kEncodeFooter);
  command.callback([&, html] {
    arguments.view.html = html->count() > 0;
    need_model_with_tokenizer(arguments.model, arguments.view.html_file);
    chosen = [&] { return run_encode(arguments); };
  });
}

void define_detokenize(CLI::App& app, DetokenizeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("detokenize", "token ids to text");
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "IDS", "as --ids", "IDS|JSON|FILE");
  CLI::Option* ids = ids_option(command, "--ids", arguments.ids, "the ids (default: standard input)");
  path_option(command, "--model,--tokenizer", arguments.tokenizer, "model folder, tokenizer.json, .gguf, ...");
  command.add_flag("--skip-special", arguments.skip_special, "leave special tokens out");
  command.add_flag("--json", arguments.json, "print {\"text\"} as JSON");
  command.footer(
      "Examples:\n"
      "  rondo detokenize MODEL '[9707, 1879]'\n"
      "  rondo tokenize MODEL 'Hello world' --ids | rondo detokenize MODEL");
  command.callback([&, ids, places] {
    std::optional<std::string> given;
    if (ids->count() > 0) given = arguments.ids;
    places->hand_out(arguments.tokenizer, {&given}, "IDS", Others::kTexts);
    need_tokenizer(arguments.tokenizer);
    arguments.ids = given.value_or("-");
    chosen = [&] { return run_detokenize(arguments); };
  });
}

void define_explain(CLI::App& app, ExplainArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("explain", "how a template writes an assistant turn, and which of its lines say so");
  path_option(command, "MODEL,--model", arguments.model.model, "model folder, .gguf file or .jinja template");
  path_option(command, "--template", arguments.model.chat_template, "a chat template that replaces the model's own");
  path_option(command, "--tokenizer", arguments.model.tokenizer,
              "tokenizer whose added tokens count as special (default: that of the model, if it has one)");
  add_language(command, arguments.model.mode, arguments.model.now);
  add_polyfill(command, arguments.model.polyfill);
  kwargs_option(command, arguments.kwargs, "further template variables");
  add_corrections(command, arguments.corrections);
  CLI::Option* format = command.add_flag("--format", arguments.format, "print the format alone, as JSON to correct");
  command.add_flag("--grammar", arguments.grammar, "show the grammar of tool calls, for --tools or for an example");
  json_option(command, "--tools", arguments.tools, "tool definitions for --grammar: a JSON array or a file with one");
  command.add_flag("--capabilities", arguments.capabilities,
                   "show only which parts of a conversation the template supports");
  command.add_flag("--probes", arguments.probes, "show every probe, not only those that the parser reads differently");
  CLI::Option* html = html_option(command, arguments.html_file, "a page for the browser");
  add_color(command, arguments.color);
  command.add_flag("--json", arguments.json, "print format, origins and probes as JSON")->excludes(format);
  command.footer(kExplainFooter);
  command.callback([&, html] {
    arguments.html = html->count() > 0;
    need_model(arguments.model.model, arguments.model.chat_template, arguments.html_file);
    chosen = [&] { return run_explain(arguments); };
  });
}

void define_diff(CLI::App& app, DiffArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("diff", "two requests of a conversation: where their prompts differ, and why");
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "A", "the earlier request: JSON with `messages`, or `input`", "JSON|FILE");
  places->add(command, "B", "the later request; - for standard input", "JSON|FILE");
  add_model(command, arguments.model, true, "--model");
  kwargs_option(command, arguments.kwargs, "template variables for both");
  add_color(command, arguments.color);
  command.add_flag("--json", arguments.json, "print the reply of the op `diff` (docs/batch.md)");
  command.footer(kDiffFooter);
  command.callback([&, places] {
    std::optional<std::string> before;
    std::optional<std::string> after;
    places->hand_out(arguments.model.model, {&before, &after}, "a request");
    if (!after) throw CLI::RequiredError(before ? "B" : "A");
    arguments.before = *before;
    arguments.after = *after;
    need_model_with_tokenizer(arguments.model);
    chosen = [&] { return run_diff(arguments); };
  });
}

void define_replay(CLI::App& app, ReplayArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("replay", "a log of requests: what a prefix cache saves, what is lost, and why");
  const auto places = std::make_shared<Places>();
  places->add_model(command);
  places->add(command, "LOG", "a file of JSON lines; - for standard input; made:agents=200,turns=20 makes one up",
              "FILE");
  add_model(command, arguments.model, true, "--model");
  kwargs_option(command, arguments.kwargs, "template variables for all");
  command.add_option("--capacity", arguments.capacity, "tokens that a cache holds")
      ->check(is_count())
      ->capture_default_str();
  command.add_option("--block", arguments.block, "tokens in a block, if a cache shares whole blocks")
      ->check(is_count())
      ->capture_default_str();
  command.add_option("--limit", arguments.limit, "stop after this many requests (default: none)");
  command.add_option("--memory", arguments.memory_mb, "megabytes for conversations that may continue")
      ->check(is_count())
      ->capture_default_str();
  CLI::Option* replicas =
      command.add_option("--replicas", arguments.replicas, "also serve the log with a fleet of this many replicas")
          ->check(CLI::Range(1, 4096));
  command.add_option("--routing", arguments.routing, "routing of a fleet")
      ->check(CLI::IsMember({"exact", "text-hash", "round-robin", "least-load", "all"}))
      ->needs(replicas)
      ->capture_default_str();
  command.add_option("--replica-capacity", arguments.replica_capacity, "tokens that each holds (default: --capacity)")
      ->needs(replicas);
  command.add_option("--concurrency", arguments.concurrency, "requests that run at once (default: 4 for each replica)")
      ->needs(replicas);
  add_color(command, arguments.color);
  command.add_flag("--json", arguments.json, "print the reply of the op `replay` (docs/batch.md)");
  command.footer(kReplayFooter);
  command.callback([&, places] {
    std::optional<std::string> log;
    places->hand_out(arguments.model.model, {&log}, "LOG");
    if (!log) throw CLI::RequiredError("LOG");
    arguments.log = *log;
    need_model_with_tokenizer(arguments.model);
    chosen = [&] { return run_replay(arguments); };
  });
}

void define_check(CLI::App& app, CheckArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand(
      "check", "what breaks the prefix, loses data or surprises in a chat template, with lines, causes and remedies");
  command
      .add_option("MODEL,--model", arguments.models,
                  "model folders, .gguf files or .jinja templates (these need --tokenizer to be checked by tokens)")
      ->type_name("PATH");
  path_option(command, "--template", arguments.chat_template,
              "a chat template that replaces each model's own; also without a model");
  path_option(command, "--tokenizer", arguments.tokenizer, "tokenizer: a file or folder (default: that of the model)");
  add_language(command, arguments.mode, arguments.now);
  kwargs_option(command, arguments.kwargs, "template variables that every setting has");
  add_polyfill(command, arguments.polyfill);
  CLI::Option* fix =
      command.add_flag("--fix", arguments.fix,
                       "mend the template: print a diff that makes it append-only, and the cases that then hold");
  repeated_option(command, "--scenario", arguments.scenarios, "only this scenario")->type_name("NAME")->excludes(fix);
  command
      .add_option(
          "--fail-on", arguments.fail_on,
          "exit with 1 if there is a finding of this level, or a worse one: `note`, `warning`, `error`; `never`")
      ->check(CLI::IsMember({"note", "warning", "error", "never"}))
      ->excludes(fix)
      ->capture_default_str();
  command
      .add_flag("--marks", arguments.marks,
                "with --fix: put {% generation %} marks around what the model samples, even if there are none")
      ->needs(fix);
  command
      .add_option("--output", arguments.output,
                  "with --fix: write the mended template to this file; - in place of the diff")
      ->type_name("FILE")
      ->needs(fix);
  command.add_flag("--all", arguments.all, "also show rows of other settings that match the default")->excludes(fix);
  add_color(command, arguments.color);
  command.add_flag("--json", arguments.json, "print the report as JSON; for several models {\"reports\": [...]}");
  command
      .add_option(
          "--html", arguments.html_file,
          "also write a page for the browser: the table, what differs, findings beside the template; - in place "
          "of the table")
      ->type_name("FILE")
      ->excludes(fix);
  command.add_option("--sarif", arguments.sarif_file, "also write the findings in SARIF 2.1.0")
      ->type_name("FILE")
      ->excludes(fix);
  command
      .add_option("--junit", arguments.junit_file,
                  "also write cases and findings as test results; findings that reach --fail-on fail")
      ->type_name("FILE")
      ->excludes(fix);
  command.footer(kCheckFooter);
  command.callback([&] {
    need_model(arguments.models.empty() ? "" : arguments.models.front(), arguments.chat_template, arguments.html_file);
    chosen = [&] { return run_check(arguments); };
  });
}

void define_test(CLI::App& app, TestArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("test", "the tests of a template, which its author writes in YAML or JSON");
  command
      .add_option("SUITE", arguments.items,
                  "files with tests, - for standard input; a model before them is the one to test")
      ->required();
  path_option(command, "--model", arguments.model.model,
              "model folder, .gguf file or .jinja template (default: what the suite names)");
  path_option(command, "--template", arguments.model.chat_template, "a chat template that replaces the model's own");
  path_option(command, "--tokenizer", arguments.model.tokenizer, "tokenizer: a file or folder (default: the model's)");
  arguments.model.mode.clear();
  mode_option(command, arguments.model.mode, "template language (default: what the suite says, else `lenient`)");
  time_option(command, arguments.model.now, "the time that strftime_now shows in cases that set none");
  add_polyfill(command, arguments.model.polyfill);
  command.add_option("--filter", arguments.filter, "only cases whose names contain this")->type_name("TEXT");
  add_color(command, arguments.color);
  command.add_flag("--json", arguments.json, "print the reply of the op `test` (docs/batch.md)");
  command.footer(kTestFooter);
  command.callback([&] { chosen = [&] { return run_test(arguments); }; });
}

void define_grammar(CLI::App& app, GrammarArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand(
      "grammar", "a grammar of what the model may write: tool calls or an answer that fit their schemas");
  add_model(command, arguments.model, false);
  add_conversation(command, arguments.conversation, "the conversation that the model answers");
  command.add_option("--format", arguments.format, "the language: of llama.cpp, xgrammar or llguidance")
      ->check(CLI::IsMember({"gbnf", "structural_tag", "lark"}))
      ->capture_default_str();
  add_asked(command, arguments.asked);
  add_corrections(command, arguments.corrections);
  CLI::Option* json =
      command.add_flag("--json", arguments.json, "print grammar, triggers and warnings as one JSON object");
  command.add_flag("--llama-server", arguments.llama_server, "print what llama-server takes beside a prompt, as JSON")
      ->excludes(json);
  command.footer(kGrammarFooter);
  command.callback([&] {
    need_model(arguments.model.model, arguments.model.chat_template);
    if (arguments.llama_server && arguments.format != "gbnf")
      throw CLI::ValidationError("--llama-server", "goes with --format gbnf alone");
    chosen = [&] { return run_grammar(arguments); };
  });
}

void define_chat(CLI::App& app, ChatArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("chat", "talk to a model on the embedded engine");
  path_option(command, "MODEL,--model", arguments.model,
              "a .gguf file (default: a small random model that talks nonsense)");
  path_option(command, "--template", arguments.chat_template, "a chat template that replaces the model's own");
  add_polyfill(command, arguments.polyfill);
  command.add_option("--system", arguments.system, "a system message")->type_name("TEXT");
  command.add_option("--max-tokens", arguments.max_tokens, "at most this many tokens per turn")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--temperature", arguments.temperature, "0 takes the likeliest token")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  command.add_option("--seed", arguments.seed, "of the sampler")->capture_default_str();
  command.add_flag("--json", arguments.json, "print one JSON object per turn");
  command.footer("Example:\n  rondo chat model.gguf --system \"Be brief.\"");
  command.callback([&] { chosen = [&] { return run_chat(arguments); }; });
}

void define_demo(CLI::App& app, DemoArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand(
      "demo", "an agent holds a conversation on the embedded engine; a table shows what bridging saves");
  path_option(command, "MODEL,--model", arguments.model,
              "a .gguf file (default: a small random model, made on the spot)");
  path_option(command, "--corpus", arguments.corpus, "folder with templates and tokenizers for the table of families");
  command
      .add_option("--gemma", arguments.gemma,
                  "also timing and reuse on plain text with these base weights (./dev demo --gemma)")
      ->type_name("FILE.gguf");
  command.add_option("--seed", arguments.seed, "of the sampler")->capture_default_str();
  command.add_flag("--json", arguments.json, "print the tables as one JSON object");
  command.footer(kDemoFooter);
  command.callback([&] { chosen = [&] { return run_demo(arguments); }; });
}

struct AllArguments {
  RenderArguments render;
  JinjaArguments jinja;
  ParseArguments parse;
  GrammarArguments grammar;
  BridgeArguments bridge;
  TokenizeArguments tokenize;
  EncodeArguments encode;
  DetokenizeArguments detokenize;
  ExplainArguments explain;
  ChatArguments chat;
  DiffArguments diff;
  ReplayArguments replay;
  CheckArguments check;
  TestArguments test;
  BatchArguments batch;
  MaskArguments mask;
  EdgeArguments edge;
  DemoArguments demo;
  NetworkArguments network;
  std::string shell;  // for completion
};

int run(int argc, char** argv) {
  CLI::App app(kAbout, "rondo");
  app.footer(kExamples);
  app.set_version_flag("--version", RONDO_VERSION);
  app.require_subcommand(0, 1);
  // The service reads the environment.  This option sets the same for one run.
  app.add_flag_callback(
      "--no-cache", [] { ::setenv("RONDO_TOKENIZER_CACHE", "off", 1); },
      "neither read nor keep tokenizers in the cache folder; before the command");
  AllArguments arguments;
  std::function<int()> chosen;
  define_render(app, arguments.render, chosen);
  define_jinja(app, arguments.jinja, chosen);
  define_parse(app, arguments.parse, chosen);
  define_grammar(app, arguments.grammar, chosen);
  define_bridge(app, arguments.bridge, chosen);
  define_tokenize(app, arguments.tokenize, chosen);
  define_encode(app, arguments.encode, chosen);
  define_detokenize(app, arguments.detokenize, chosen);
  define_explain(app, arguments.explain, chosen);
  define_check(app, arguments.check, chosen);
  define_test(app, arguments.test, chosen);
  define_chat(app, arguments.chat, chosen);
  define_diff(app, arguments.diff, chosen);
  define_replay(app, arguments.replay, chosen);
  define_line_commands(app, arguments.mask, arguments.batch, chosen);
  define_edge_commands(app, arguments.edge, chosen);
  define_demo(app, arguments.demo, chosen);
  define_network_commands(app, arguments.network, chosen);
  define_completion_command(app, arguments.shell, chosen);
  define_help_command(app, chosen);
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) { return usage_message(*failed, error); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream complaint;
    const int status = app.exit(error, help, complaint);
    note(complaint.str());
    if (status != 0) return kUsage;
    return print(help.str()) ? kSuccess : kFailure;
  }
  if (!chosen) {
    note(app.help());
    return kUsage;
  }
  return chosen();
}

}  // namespace
}  // namespace rondo::cli

int main(int argc, char** argv) {
  rondo::cli::hold_standard_descriptors();
  try {
    rondo::cli::hand_over(argv);
    return rondo::cli::run(argc, argv);
  } catch (const std::exception& exception) {
    rondo::cli::note(std::string("rondo: a fault in rondo: ") + exception.what() + "\n");
    return rondo::cli::kFailure;
  }
}
