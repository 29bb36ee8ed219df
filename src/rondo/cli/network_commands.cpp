#include "cli/network_commands.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "cli/help.h"
#include "cli/io.h"
#include "cli/serve_settings.h"

namespace rondo::cli {

#ifndef RONDO_HAVE_NET

void define_network_commands(CLI::App& app, NetworkArguments& /*arguments*/, std::function<int()>& chosen) {
  for (const char* name : {"serve", "engines", "fake-engine"}) {
    CLI::App& command = *app.add_subcommand(name, "not in this build")->group("")->prefix_command();
    command.callback(
        [&chosen,
         text = "this rondo has no server in it, so `" + std::string(name) +
                "` is missing: install rondo[engine] with pip, or build rondo from its source with ./dev build"] {
          chosen = [text] { return report({ErrorCode::kUnsupported, text}); };
        });
  }
}

#else
namespace {

void define_fake_engine(CLI::App& app, FakeEngineArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command =
      *app.add_subcommand("fake-engine", "a server that answers like an inference server, without a model");
  command.add_option("KIND", arguments.kind, "the kind of server")
      ->check(CLI::IsMember({"vllm", "sglang", "llama-server"}))
      ->required();
  command.add_option("--host", arguments.host, "the address to listen on")->capture_default_str();
  command.add_option("--port", arguments.port, "0: any free one")->check(CLI::Range(0, 65'535))->capture_default_str();
  command.add_option("--name", arguments.name, "the name of its model")->type_name("NAME")->capture_default_str();
  command.add_option("--script", arguments.script, "what to sample after which ids: JSON or a file with it")
      ->type_name("JSON|FILE");
  command.add_option("--fault", arguments.fault, "a fault in some requests")->type_name("KIND[:FIRST[:COUNT]]");
  command.add_option("--context", arguments.context, "tokens of a prompt and its completion")->capture_default_str();
  command.add_option("--slots", arguments.slots, "for llama-server: requests that run at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--cut", arguments.cut_bytes, "write streams in pieces of this many bytes; 0: event by event")
      ->type_name("BYTES")
      ->capture_default_str();
  command.add_option("--delay", arguments.delay_ms, "milliseconds before each token")
      ->check(CLI::Range(0, 60'000))
      ->capture_default_str();
  command.add_option("--generate", arguments.generate, "for vllm: the route for ids is `on`, `forbidden` or `missing`")
      ->check(CLI::IsMember({"on", "forbidden", "missing"}))
      ->capture_default_str();
  command.add_flag("--cached-tokens", arguments.cached_tokens, "for vllm: report how much of a prompt was cached");
  command.add_flag("--incremental", arguments.incremental, "for sglang: chunks of a stream have only new ids");
  command.add_flag("--json", arguments.json, "print the address as {\"url\"}");
  command.footer(kFakeEngineFooter);
  command.callback([&] { chosen = [&] { return run_fake_engine(arguments); }; });
}

void define_engines(CLI::App& app, EnginesArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("engines", "what kinds of inference servers answer at addresses");
  command.add_option("URL", arguments.urls, "addresses of servers")->required();
  command.add_option("--key", arguments.key, "sent as a bearer key")->envname("RONDO_ENGINE_KEY");
  command.add_option("--ca", arguments.ca_file, "certificates with which servers are verified")->type_name("FILE");
  command.add_flag("--insecure", arguments.insecure, "do not verify the servers' certificates");
  command.add_option("--timeout", arguments.timeout_ms, "milliseconds to wait for an address")
      ->check(CLI::Range(1, 600'000))
      ->capture_default_str();
  command.add_flag("--json", arguments.json, "print {\"engines\": [...]}");
  command.footer(kEnginesFooter);
  command.callback([&] { chosen = [&] { return run_engines(arguments); }; });
}

// Defines an option for every setting of the table.  Values are kept as text, and read later together with those from
// other sources.
void define_settings(CLI::App& command, GivenOptions& given) {
  for (const ServeOption& option : serve_options()) {
    const std::string name(option.name);
    const std::string help(option.help);
    const auto take = [&given, name](std::vector<std::string> texts) {
      given.options.emplace_back(name, std::move(texts));
    };
    if (option.type.empty()) {
      command.add_flag_callback("--" + name, [take] { take({"true"}); }, help);
      continue;
    }
    CLI::Option* made = nullptr;
    if (takes_several(option)) {
      made = command.add_option_function<std::vector<std::string>>("--" + name, take, help)->allow_extra_args(false);
    } else {
      made = command.add_option_function<std::string>(
          "--" + name, [take](const std::string& text) { take({text}); }, help);
    }
    std::string choices;  // in braces, as CLI11 shows them for other options
    for (const std::string_view choice : option.choices) choices += (choices.empty() ? "{" : ",") + std::string(choice);
    made->type_name(choices.empty() ? std::string(option.type) : choices + "}");
    if (const std::string value = default_text(option); !value.empty()) made->default_str(value);
  }
}

void define_serve(CLI::App& app, ServeArguments& arguments, std::function<int()>& chosen) {
  CLI::App& command = *app.add_subcommand("serve", "an HTTP server for chat clients that keeps what the model sampled");
  command.add_option("MODEL,--model", arguments.given.model, "a .gguf file, or a folder; none: a small random model")
      ->type_name("PATH");
  command.add_option("--config", arguments.given.config_path, "a file with these settings, and with several models")
      ->envname("RONDO_SERVE_CONFIG")
      ->type_name("FILE");
  command.add_flag("--check-config", arguments.check, "print the resulting settings, and end");
  command
      .add_option("--add-key", arguments.new_key, "add a key for NAME to the file of --api-keys, and print its secret")
      ->type_name("NAME");
  define_settings(command, arguments.given);
  command.footer(kServeFooter);
  command.callback([&] { chosen = [&] { return run_serve(arguments); }; });
}

}  // namespace

void define_network_commands(CLI::App& app, NetworkArguments& arguments, std::function<int()>& chosen) {
  define_serve(app, arguments.serve, chosen);
  define_engines(app, arguments.engines, chosen);
  define_fake_engine(app, arguments.fake_engine, chosen);
}

#endif

}  // namespace rondo::cli
