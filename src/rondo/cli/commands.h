// The subcommands: for each, a struct with its arguments, and a function that runs it.
//
// main.cpp fills the structs.  The functions turn them into requests of the line protocol (protocol/service.h) and
// print the replies.  Each returns the exit status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/serve_settings.h"

namespace rondo::cli {

// Where the template and the tokenizer come from.
struct ModelArguments {
  std::string model;  // a folder or a .gguf: both template and tokenizer
  std::string chat_template;
  std::string tokenizer;
  std::string mode = "lenient";
  std::string polyfill = "off";  // "off", "auto" or "on"
  std::string now;
};

// The conversation that a prompt is made from.  A file may be "-" for standard input.
struct ConversationArguments {
  std::string messages;            // file: an array, or an object with `messages` and perhaps `tools`
  std::vector<std::string> texts;  // user messages given on the command line
  std::string tools;
  std::string documents;
  std::string kwargs;
  bool no_generation_prompt = false;
  std::string continue_final;  // the field of the last message to continue; "": none
};

struct RenderArguments {
  ModelArguments model;
  ConversationArguments conversation;
  bool spans = false;
  bool trace = false;
  std::optional<std::string> mask;  // the part that is learned; "": the default
  std::vector<std::string> roles;   // of the mask; empty: the default
  bool html = false;
  std::string html_file;       // "" or "-": standard output
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct JinjaArguments {
  std::string file;  // the template; "-" for standard input
  std::string text;  // the same, given on the command line
  bool has_text = false;
  std::string context;
  bool no_trim_blocks = false;
  bool no_lstrip_blocks = false;
  bool keep_trailing_newline = false;
  std::string mode = "lenient";
  std::string now;
  bool json = false;
};

// What a request asks of the model.
struct AskedArguments {
  std::string tool_choice = "auto";  // "auto", "none", "required" or a tool's name
  std::string schema;                // for the answer
  bool text_answer = false;          // the answer is the text of the schema's string
  std::string answer_grammar;        // a file with the grammar of the answer
  bool no_parallel = false;
};

struct ParseArguments {
  ModelArguments model;
  ConversationArguments conversation;
  AskedArguments asked;
  std::string corrections;          // to the inferred format: a JSON object or a file with one
  std::string file;                 // what the model wrote; "-" for standard input
  std::string text;                 // the same, given on the command line
  std::string ids;                  // the same, as token ids; "" if text is given
  std::string reasoning = "split";  // or "inline"
  bool partial = false;
  bool strict = false;
  bool stream = false;  // parse standard input while it arrives
  bool json = false;
};

struct GrammarArguments {
  ModelArguments model;
  ConversationArguments conversation;
  AskedArguments asked;
  std::string format = "gbnf";
  std::string corrections;  // as for parse
  bool json = false;
  bool llama_server = false;
};

struct BridgeArguments {
  ModelArguments model;
  ConversationArguments conversation;
  std::string corrections;
  std::string prompt_ids;
  std::string completion_ids;
  std::string new_messages;
  std::string retention;
  std::string sampled;
  bool refuse_lossy = false;
  bool ids = false;
  bool json = false;
};

// How tokens are shown.
struct TokenView {
  bool ids = false;
  bool count = false;
  bool offsets = false;
  bool html = false;
  std::string html_file;       // "" or "-": standard output
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct TokenizeArguments {
  std::string tokenizer;
  std::vector<std::string> files;
  std::string text;
  bool has_text = false;
  bool no_special = false;
  bool add_special = false;
  int threads = 0;  // 0: as many as the machine has cores
  TokenView view;
};

struct EncodeArguments {
  ModelArguments model;
  ConversationArguments conversation;
  bool parse_content = false;
  bool no_inline_reasoning = false;
  bool raw_turns = false;
  std::string retention;
  TokenView view;
};

struct DetokenizeArguments {
  std::string tokenizer;
  std::string ids;
  bool skip_special = false;
  bool json = false;
};

struct ExplainArguments {
  ModelArguments model;
  std::string kwargs;
  std::string corrections;
  std::string tools;
  bool format = false;
  bool probes = false;
  bool capabilities = false;
  bool grammar = false;
  bool html = false;
  std::string html_file;       // "" or "-": standard output
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct DiffArguments {
  ModelArguments model;
  std::string before;
  std::string after;
  std::string kwargs;
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct ReplayArguments {
  ModelArguments model;
  std::string log;  // "-": standard input; "made:agents=200,turns=20": a made-up log
  std::size_t replicas = 0;
  std::string routing = "exact";     // a rule of cache/router.h, or "all"
  std::size_t replica_capacity = 0;  // in tokens; 0: as `capacity`
  std::size_t concurrency = 0;       // in requests; 0: four for each replica
  std::string kwargs;
  std::size_t capacity = std::size_t{1} << 22U;  // tokens
  std::size_t block = 16;
  std::size_t limit = 0;  // in requests; 0: all
  std::size_t memory_mb = 1024;
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct CheckArguments {
  std::vector<std::string> models;  // folders, .gguf files, .jinja files
  std::string chat_template;        // replaces each model's own; "": none does
  std::string tokenizer;
  std::string mode = "lenient";
  std::string now;
  std::string kwargs;
  std::string polyfill = "off";        // "off", "auto" or "on"
  std::vector<std::string> scenarios;  // empty: all
  std::string fail_on = "error";       // "note", "warning", "error" or "never"
  std::string color = "auto";          // "auto", "always" or "never"
  bool all = false;                    // also rows of settings that equal the default's
  std::string html_file;               // for these three: "": none, "-": standard output
  std::string sarif_file;
  std::string junit_file;
  bool fix = false;    // the mended template instead of the report
  bool marks = false;  // also generation marks
  std::string output;  // file for the mended template; "": none
  bool json = false;
};

struct TestArguments {
  ModelArguments model;  // overrides what the suite names
  // Suites; the first is the model if it does not name a suite and another item follows.
  std::vector<std::string> items;
  std::string filter;
  std::string color = "auto";  // "auto", "always" or "never"
  bool json = false;
};

struct BatchArguments {
  int threads = 1;
};

struct ChatArguments {
  std::string model;
  std::string chat_template;
  std::string polyfill = "off";  // "off", "auto" or "on"
  std::string system;
  int max_tokens = 512;
  double temperature = 0.0;
  std::uint64_t seed = 0;
  bool json = false;
};

struct DemoArguments {
  std::string model;
  std::string corpus;
  std::string gemma;
  std::uint64_t seed = 0;
  bool json = false;
};

struct EnginesArguments {
  std::vector<std::string> urls;
  std::string key;
  std::string ca_file;
  bool insecure = false;
  std::size_t timeout_ms = 10'000;
  bool json = false;
};

struct FakeEngineArguments {
  std::string kind;  // "vllm", "sglang" or "llama-server"
  std::string host = "127.0.0.1";
  int port = 0;
  std::string name = "fake-model";
  std::string script;
  std::string fault;
  std::size_t context = 4096;
  std::size_t slots = 4;
  std::size_t cut_bytes = 0;
  int delay_ms = 0;
  std::string generate = "forbidden";  // "on", "forbidden" or "missing"
  bool cached_tokens = false;
  bool incremental = false;
  bool json = false;
};

struct ServeArguments {
  GivenOptions given;
  std::string new_key;  // a name: adds a key and exits
  bool check = false;   // prints the settings and exits
};

[[nodiscard]] int run_render(const RenderArguments& arguments);
[[nodiscard]] int run_jinja(const JinjaArguments& arguments);
[[nodiscard]] int run_parse(const ParseArguments& arguments);
[[nodiscard]] int run_grammar(const GrammarArguments& arguments);
[[nodiscard]] int run_bridge(const BridgeArguments& arguments);
[[nodiscard]] int run_tokenize(const TokenizeArguments& arguments);
[[nodiscard]] int run_encode(const EncodeArguments& arguments);
[[nodiscard]] int run_detokenize(const DetokenizeArguments& arguments);
[[nodiscard]] int run_explain(const ExplainArguments& arguments);
[[nodiscard]] int run_diff(const DiffArguments& arguments);
[[nodiscard]] int run_replay(const ReplayArguments& arguments);
[[nodiscard]] int run_check(const CheckArguments& arguments);
[[nodiscard]] int run_fix(const CheckArguments& arguments);
[[nodiscard]] int run_test(const TestArguments& arguments);
[[nodiscard]] int run_batch(const BatchArguments& arguments);
[[nodiscard]] int run_chat(const ChatArguments& arguments);
[[nodiscard]] int run_demo(const DemoArguments& arguments);
[[nodiscard]] int run_serve(const ServeArguments& arguments);             // only if rondo has a network
[[nodiscard]] int run_engines(const EnginesArguments& arguments);         // only if rondo has a network
[[nodiscard]] int run_fake_engine(const FakeEngineArguments& arguments);  // only if rondo has a network

}  // namespace rondo::cli
