// rondo serve: the gateway between clients that send messages and an engine that takes token ids.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/engine_probe.h"
#include "cli/io.h"
#include "core/model.h"
#include "demo/embedded.h"
#include "engine/embedded.h"
#include "gateway/service.h"
#include "json/print.h"
#include "model/gguf.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/server.h"
#include "remote/fleet.h"
#include "spans/open_store.h"
#include "spans/spans.h"

namespace rondo::cli {
namespace {

namespace fs = std::filesystem;

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Of the system in one call: std::random_device asks the processor for four bytes at a time, which takes it 10 us each.
template <std::size_t kSize>
std::array<std::uint8_t, kSize> random_bytes() {
  std::array<std::uint8_t, kSize> bytes;
  if (::getentropy(bytes.data(), bytes.size()) != 0) std::abort();  // fails for more than 256 bytes alone
  return bytes;
}

// Everything that a running gateway is made of, in the order in which it is made.
struct Gateway {
  net::Loop loop;
  std::shared_ptr<const core::Model> model;
  std::string name;
  std::unique_ptr<engine::Embedded> embedded;
  std::unique_ptr<net::Client> client;
  std::unique_ptr<engine::Serving> serving;
  std::unique_ptr<spans::Store> store;
  std::unique_ptr<spans::Spans> kept;
  std::unique_ptr<gateway::Service> service;
  std::unique_ptr<net::Server> server;
  net::Timer expiry;
};

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

std::string name_of(const ServeArguments& arguments, const std::string& path) {
  if (!arguments.alias.empty()) return arguments.alias;
  if (arguments.model.empty()) return "tiny";
  fs::path file(path);
  if (!file.has_filename()) file = file.parent_path();
  return file.extension() == ".gguf" ? file.stem().string() : file.filename().string();
}

// The path of the weights: the model's, or those of the small random model.
Result<std::string> weights_of(const ServeArguments& arguments) {
  if (!arguments.model.empty()) return demo::weights_path(arguments.model);
  demo::EmbeddedOptions options;
  options.cache_folder = cache_folder();
  return demo::tiny_model(options, note);
}

Status make_embedded(const ServeArguments& arguments, Gateway& out, const std::string& weights) {
  if (const auto checked = model::read_gguf(weights); !checked.ok()) return checked.error();
  engine::EmbeddedOptions options;
  options.parallel = arguments.parallel;
  options.kept_bytes = arguments.cache_ram_mb << 20U;
  options.llama.context_tokens = arguments.context;
  options.llama.gpu_layers = arguments.gpu_layers;
  options.llama.flash_attention = arguments.flash_attention;
  options.llama.cache_type = arguments.cache_type;
  options.llama.threads = arguments.threads > 0 ? arguments.threads : demo::worker_threads();
  auto embedded = engine::Embedded::load(weights, options);
  if (!embedded.ok()) return embedded.error();
  out.embedded = std::move(embedded).value();
  out.serving = out.embedded->serve(out.loop);
  return Done{};
}

Status make_fleet(const ServeArguments& arguments, Gateway& out) {
  auto client = engine_client(out.loop, {arguments.key, arguments.ca_file, arguments.insecure_engines});
  if (!client.ok()) return client.error();
  out.client = std::move(client).value();
  std::vector<remote::ServerInfo> servers;
  for (auto& one : probe_engines(out.loop, *out.client, arguments.urls)) {
    if (!one.ok()) return one.error();
    if (!arguments.engine.empty() && remote::to_string(one.value().kind) != arguments.engine) {
      return Error(ErrorCode::kInvalidArgument,
                   "it is " + std::string(remote::to_string(one.value().kind)) + ", not " + arguments.engine,
                   one.value().url);
    }
    servers.push_back(std::move(one).value());
  }
  out.serving = std::make_unique<remote::Fleet>(out.loop, *out.client, std::move(servers), remote::FleetOptions{});
  return Done{};
}

Status make_store(const ServeArguments& arguments, Gateway& out) {
  auto opened = spans::open_store(arguments.store, random_bytes<16>());
  if (!opened.ok()) return opened.error();
  out.store = std::move(opened.value().store);
  out.kept = std::make_unique<spans::Spans>(*out.store, opened.value().secret);
  return Done{};
}

Status make_gateway(const ServeArguments& arguments, Gateway& out) {
  const bool is_remote = !arguments.urls.empty();
  if (is_remote && arguments.model.empty())
    return Error(ErrorCode::kInvalidArgument, "name the model whose template and tokenizer the engine's model has");
  if (!is_loopback(arguments.host) && !arguments.insecure) {
    return Error(ErrorCode::kInvalidArgument,
                 "anybody could use " + arguments.host + ": say --insecure if that is meant");
  }
  Result<std::string> weights = is_remote ? Result<std::string>(arguments.model) : weights_of(arguments);
  if (!weights.ok()) return weights.error();
  core::Source source;
  source.path = arguments.model.empty() ? weights.value() : arguments.model;
  if (!arguments.chat_template.empty()) source.chat_template = arguments.chat_template;
  source.cache_folder = cache_folder();
  auto model = core::Model::load(source);
  if (!model.ok()) return model.error();
  out.model = std::move(model).value();
  out.name = name_of(arguments, source.path);
  if (const Status made = is_remote ? make_fleet(arguments, out) : make_embedded(arguments, out, weights.value());
      !made.ok())
    return made;
  if (const Status made = make_store(arguments, out); !made.ok()) return made;

  gateway::ServedModel served{.name = out.name, .model = out.model, .serving = out.serving.get()};
  served.created_s = now_ms() / 1000;
  if (!arguments.kwargs.empty()) {
    auto kwargs = object_argument(arguments.kwargs, "--kwargs");
    if (!kwargs.ok()) return kwargs.error();
    served.kwargs = kwargs.value().as_object();
  }
  gateway::ServiceOptions options;
  options.strict_model = arguments.strict_model;
  if (!arguments.insecure) options.hosts = {"localhost", "127.0.0.1", "[::1]", arguments.host};
  if (arguments.retention == "template") options.retention = render::Retention::kTemplate;
  if (arguments.retention == "tool_cycle") options.retention = render::Retention::kToolCycle;
  out.service = std::make_unique<gateway::Service>(out.loop, gateway::ServiceParts{.models = {std::move(served)},
                                                                                   .spans = out.kept.get(),
                                                                                   .now_ms = now_ms,
                                                                                   .random = random_bytes<12>,
                                                                                   .options = options});
  auto server = net::Server::make(out.loop,
                                  {.host = arguments.host,
                                   .port = arguments.port,
                                   .body_bytes = arguments.max_body_mb << 20U,
                                   .connections = arguments.max_streams,
                                   .explain = gateway::Service::explain},
                                  [&out](net::Exchange exchange) { out.service->handle(std::move(exchange)); });
  if (!server.ok()) return server.error();
  out.server = std::move(server).value();
  return Done{};
}

// Forgets what is too old or too much, each minute.
void expire(Gateway& gateway, const spans::Bounds& bounds) {
  (void)gateway.store->expire(now_ms(), bounds);
  gateway.expiry = gateway.loop.after(std::chrono::minutes(1), [&gateway, bounds] { expire(gateway, bounds); });
}

}  // namespace

int run_serve(const ServeArguments& arguments) {
#ifdef __GLIBC__
  // A long prompt comes and goes in pieces of some hundred kilobytes: they are not given back to the system each time, which
  // would cost more than all that is done with them.
  (void)::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)::mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  Gateway gateway;
  if (const Status made = make_gateway(arguments, gateway); !made.ok()) return report(made.error());
  const std::vector<int> signals = {SIGINT, SIGTERM};
  const auto stop = [&](int) {
    gateway.server->drain(net::Milliseconds(arguments.drain_timeout_s * 1000),
                          [&](std::size_t) { gateway.loop.stop(); });
  };
  if (const Status status = gateway.loop.on_signals(signals, stop); !status.ok()) return report(status.error());
  expire(gateway, {.ttl_ms = static_cast<std::int64_t>(arguments.store_ttl_s) * 1000,
                   .max_bytes = arguments.store_max_mb << 20U});
  const std::string url = gateway.server->url();
  const std::string line =
      arguments.json ? json::to_compact(json::Object{{"url", url}, {"models", json::Array{json::Value(gateway.name)}}})
                     : "rondo: serving " + gateway.name + " on " + url;
  if (!print(line + "\n")) return kFailure;
  gateway.loop.run();
  gateway.service.reset();
  gateway.server.reset();
  return kSuccess;
}

}  // namespace rondo::cli
