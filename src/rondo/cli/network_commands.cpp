#include "cli/network_commands.h"

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/help.h"

namespace rondo::cli {
namespace {

void define_fake_engine(CLI::App& app, FakeEngineArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("fake-engine", "a server that answers as an inference server does, without a model");
  command.add_option("KIND", arguments.kind, "which one")
      ->check(CLI::IsMember({"vllm", "sglang", "llama-server"}))
      ->required();
  command.add_option("--host", arguments.host, "the address it listens on")->capture_default_str();
  command.add_option("--port", arguments.port, "0: any free one")->capture_default_str();
  command.add_option("--name", arguments.name, "what it calls its model")->type_name("NAME")->capture_default_str();
  command.add_option("--script", arguments.script, "what it samples behind which ids: JSON or a file with it")
      ->type_name("JSON|FILE");
  command.add_option("--fault", arguments.fault, "what goes wrong with some requests")
      ->type_name("KIND[:FIRST[:COUNT]]");
  command.add_option("--context", arguments.context, "tokens of a prompt and its completion")->capture_default_str();
  command.add_option("--slots", arguments.slots, "of llama-server: requests that run at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cut", arguments.cut_bytes, "streams are written in pieces of so many bytes; 0: event by event")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--delay", arguments.delay_ms, "milliseconds before each token")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  command.add_option("--generate", arguments.generate, "of vllm: the route for ids is `on`, `forbidden` or `missing`")
      ->check(CLI::IsMember({"on", "forbidden", "missing"}))
      ->capture_default_str();
  command.add_flag("--cached-tokens", arguments.cached_tokens, "of vllm: tell how much of a prompt was cached");
  command.add_flag("--incremental", arguments.incremental, "of sglang: chunks of a stream hold new ids only");
  command.add_flag("--json", arguments.json, "print the address as {\"url\"}");
  command.footer(kFakeEngineFooter);
  command.callback([&] { chosen = [&] { return run_fake_engine(arguments); }; });
}

void define_engines(CLI::App& app, EnginesArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("engines", "what kinds of inference servers answer at addresses");
  command.add_option("URL", arguments.urls, "addresses of servers")->required();
  command.add_option("--key", arguments.key, "sent as a bearer key")->envname("RONDO_ENGINE_KEY");
  command.add_option("--ca", arguments.ca_file, "certificates that servers' are verified with")->type_name("FILE");
  command.add_flag("--insecure", arguments.insecure, "servers' certificates are not verified");
  command.add_option("--timeout", arguments.timeout_ms, "milliseconds that are waited for an address")
      ->check(CLI::Range(1, 600'000))
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "print {\"engines\": [...]}");
  command.footer(kEnginesFooter);
  command.callback([&] { chosen = [&] { return run_engines(arguments); }; });
}

void define_serve(CLI::App& app, ServeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("serve", "an HTTP server for chat clients that keeps what the model sampled");
  command.add_option("MODEL", arguments.model, "a .gguf file, or a folder; none: a small random model");
  command.add_option("--url", arguments.urls, "an engine's address; several are one engine")->type_name("URL");
  command.add_option("--engine", arguments.engine, "what answers there; found out by asking")
      ->check(CLI::IsMember({"vllm", "sglang", "llama-server"}));
  command.add_option("--key", arguments.key, "sent to engines as a bearer key")->envname("RONDO_ENGINE_KEY");
  command.add_option("--ca", arguments.ca_file, "certificates that engines' are verified with")->type_name("FILE");
  command.add_flag("--insecure-engines", arguments.insecure_engines, "engines' certificates are not verified");
  command.add_option("--host", arguments.host, "the address it listens on")->capture_default_str();
  command.add_option("--port", arguments.port, "0: any free one")->capture_default_str();
  command.add_flag("--insecure", arguments.insecure, "listen on an address that others reach");
  command.add_option("--alias", arguments.alias, "the model's name for clients")->type_name("NAME");
  command.add_option("--template", arguments.chat_template, "replaces the model's own")->type_name("PATH");
  command.add_option("--kwargs", arguments.kwargs, "template variables of every request")
      ->type_name("JSON|FILE|KEY=VALUE");
  command.add_option("--retention", arguments.retention, "what of earlier reasoning stays in the prompt")
      ->check(CLI::IsMember({"all", "tool_cycle", "template"}))
      ->capture_default_str();
  command.add_option("--store", arguments.store, "where turns are kept")
      ->type_name("memory|sqlite:PATH|redis://HOST:PORT/DB")
      ->capture_default_str();
  command.add_option("--store-max-mb", arguments.store_max_mb, "the oldest sessions go beyond it; 0: no bound");
  command.add_option("--store-ttl", arguments.store_ttl_s,
                     "seconds behind its last turn that a session is kept; 0: for ever");
  command.add_option("--parallel", arguments.parallel, "requests that the embedded engine runs at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--context", arguments.context, "tokens of a conversation; 0: what the model was trained for");
  command.add_option("--threads", arguments.threads, "of the embedded engine; 0: all cores but one");
  command.add_option("--cache-ram", arguments.cache_ram_mb, "MiB for conversations that had to make room")
      ->capture_default_str();
  command.add_option("--gpu-layers", arguments.gpu_layers, "layers on a GPU, where the library has one; negative: all");
  command.add_flag("--flash-attention", arguments.flash_attention, "faster on some machines, less exact on all");
  command.add_option("--cache-type", arguments.cache_type, "of keys and values")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "q8_0", "q4_0"}))
      ->capture_default_str();
  command.add_option("--max-body", arguments.max_body_mb, "MiB of a request")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--max-streams", arguments.max_streams, "connections at once")->capture_default_str();
  command.add_option("--drain-timeout", arguments.drain_timeout_s, "seconds for running requests when it ends")
      ->capture_default_str();
  command.add_flag("--strict-model", arguments.strict_model, "refuse names of other models");
  command.add_flag("--json", arguments.json, "print the ready line as {\"url\", \"models\"}");
  command.footer(kServeFooter);
  command.callback([&] { chosen = [&] { return run_serve(arguments); }; });
}

}  // namespace

void define_network_commands(CLI::App& app, NetworkArguments& arguments, std::function<int()>& chosen) {
  define_serve(app, arguments.serve, chosen);
  define_engines(app, arguments.engines, chosen);
  define_fake_engine(app, arguments.fake_engine, chosen);
}

}  // namespace rondo::cli
