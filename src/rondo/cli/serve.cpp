// rondo serve: the gateway between clients that send messages and an engine that takes token ids.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/workers.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/serve_parts.h"
#include "cli/serve_settings.h"
#include "json/print.h"
#include "net/server.h"

namespace rondo::cli {
namespace {

constexpr net::Milliseconds kDrainStep{20};

// Everything that a running gateway is made of, in the order in which it is made.
struct Gateway {
  ServeSettings settings;
  net::Loop loop;
  std::vector<ServeEngine> engines;
  ServeStore store;
  std::unique_ptr<ServeKeys> keys;
  std::unique_ptr<Workers> workers;
  std::vector<std::unique_ptr<engine::Serving>> servings;  // of embedded engines, on the loop
  std::unique_ptr<gateway::Service> service;
  std::unique_ptr<net::Server> server;
  net::Timer expiry;
  net::Timer drain;
  bool is_ending = false;
};

void write_log(std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); }

gateway::ServiceOptions service_options_of(const ServeSettings& settings) {
  gateway::ServiceOptions options;
  options.strict_model = settings.strict_model;
  options.refuse_unknown_tools = settings.unknown_tools == "error";
  options.origins = settings.cors;
  // Where anybody may ask by any name, keys stand in for names: a page that a name of its own leads here has none.
  const bool any_name = settings.insecure || (!settings.api_keys.empty() && !is_loopback(settings.host));
  if (!any_name) options.hosts = {"localhost", "127.0.0.1", "[::1]", settings.host};
  if (!any_name || !settings.server_names.empty())
    options.hosts.insert(options.hosts.end(), settings.server_names.begin(), settings.server_names.end());
  if (settings.retention == "template") options.retention = render::Retention::kTemplate;
  if (settings.retention == "tool_cycle") options.retention = render::Retention::kToolCycle;
  options.streams = settings.max_streams;
  options.streams_of_tenant = settings.max_tenant_streams;
  options.request_time = net::Milliseconds(settings.request_timeout_s * 1000);
  options.kept_request_bytes = settings.keep_requests_mb << 20U;
  using Log = gateway::ServiceOptions::Log;
  options.log = settings.log == "text" ? Log::kText : settings.log == "json" ? Log::kJson : Log::kNone;
  options.version = RONDO_VERSION;
  return options;
}

// Embedded engines are always there; of servers one must be.
bool is_up(const ServeEngine& engine) {
  if (!engine.fleet) return true;
  for (std::size_t i = 0; i < engine.fleet->size(); ++i) {
    if (!engine.fleet->report(i).is_out) return true;
  }
  return false;
}

// In bytes; 0 where there is none.
double file_size(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0.0 : static_cast<double>(size);
}

std::vector<gateway::Gauge> gauges_of(const Gateway& gateway) {
  std::vector<gateway::Gauge> gauges;
  if (!gateway.store.path.empty()) {
    double bytes = 0;
    for (const char* end : {"", "-wal"}) bytes += file_size(gateway.store.path + end);
    gauges.push_back({.name = "rondo_store_bytes", .help = "Size of the file that turns are kept in.", .value = bytes});
  }
  std::vector<gateway::Gauge> up;
  std::vector<gateway::Gauge> running;
  std::vector<gateway::Gauge> waiting;
  for (const ServeEngine& engine : gateway.engines) {
    if (engine.embedded) {
      const engine::EmbeddedStatus status = engine.embedded->status();
      running.push_back({.name = "rondo_engine_running",
                         .help = "Choices that the embedded engine samples.",
                         .labels = {{"model", engine.name}},
                         .value = static_cast<double>(status.running)});
      waiting.push_back({.name = "rondo_engine_waiting",
                         .help = "Choices that wait for the embedded engine.",
                         .labels = {{"model", engine.name}},
                         .value = static_cast<double>(status.waiting)});
    }
    for (std::size_t i = 0; engine.fleet && i < engine.fleet->size(); ++i) {
      const remote::Fleet::Report report = engine.fleet->report(i);
      up.push_back({.name = "rondo_engine_up",
                    .help = "Whether requests are sent to an engine.",
                    .labels = {{"model", engine.name}, {"engine", report.url}},
                    .value = report.is_out ? 0.0 : 1.0});
    }
  }
  for (auto* list : {&up, &running, &waiting}) gauges.insert(gauges.end(), list->begin(), list->end());
  return gauges;
}

Status make_engines(Gateway& out) {
  std::set<std::string> names;
  for (const ServeModel& settings : out.settings.models) {
    auto engine = make_engine(settings, out.settings.max_streams, out.loop);
    if (!engine.ok()) return engine.error();
    std::vector<std::string> own = engine.value().aliases;
    own.push_back(engine.value().name);
    for (const std::string& name : own) {
      if (!names.insert(name).second)
        return Error(ErrorCode::kInvalidArgument, "two models are called `" + name + "`: give one an `alias`");
    }
    out.engines.push_back(std::move(engine).value());
  }
  return Done{};
}

// Where an engine that is a server answers the chat APIs itself, if it does.
gateway::Upstream upstream_of(const ServeEngine& engine) {
  if (!engine.fleet) return {};
  const auto url = [&engine] {
    for (std::size_t i = 0; i < engine.fleet->size(); ++i) {
      if (const remote::Fleet::Report report = engine.fleet->report(i); !report.is_out) return report.url;
    }
    return engine.fleet->report(0).url;
  };
  return {.client = engine.client.get(), .url = url, .model = engine.fleet->capabilities().name};
}

void make_service(Gateway& out) {
  gateway::ServiceParts parts;
  for (const ServeEngine& engine : out.engines) {
    engine::Serving* serving = engine.fleet.get();
    if (engine.embedded) serving = out.servings.emplace_back(engine.embedded->serve(out.loop)).get();
    parts.models.push_back({.name = engine.name,
                            .model = engine.model,
                            .serving = serving,
                            .kwargs = engine.kwargs,
                            .created_s = now_ms() / 1000,
                            .upstream = upstream_of(engine),
                            .aliases = engine.aliases,
                            .is_up = [&engine] { return is_up(engine); }});
  }
  parts.spans = out.store.spans.get();
  parts.now_ms = now_ms;
  parts.random = random_key;
  parts.options = service_options_of(out.settings);
  if (out.keys) parts.tenant_of = [keys = out.keys.get()](std::string_view secret) { return keys->tenant_of(secret); };
  parts.log = write_log;
  parts.gauges = [&out] { return gauges_of(out); };
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  out.workers = std::make_unique<Workers>(out.settings.workers > 0 ? out.settings.workers : threads);
  parts.workers = out.workers.get();
  out.service = std::make_unique<gateway::Service>(out.loop, std::move(parts));
}

Status make_server(Gateway& out) {
  const ServeSettings& settings = out.settings;
  const auto seconds = [](std::size_t count) { return net::Milliseconds(count * 1000); };
  net::ServerOptions options;
  options.host = settings.host;
  options.port = static_cast<std::uint16_t>(settings.port);
  options.body_bytes = settings.max_body_mb << 20U;
  options.buffered_bytes = settings.send_buffer_kb << 10U;
  options.connections = settings.max_connections;
  options.head = seconds(settings.header_timeout_s);
  options.body = seconds(settings.body_timeout_s);
  options.stall = seconds(settings.stall_timeout_s);
  options.admit = [&out](net::ServerRequest& request) { return out.service->admit(request); };
  options.answered = [&out](const net::ServerRequest& request, const net::Answered& answered) {
    out.service->answered(request, answered);
  };
  options.explain = gateway::Service::explain;
  if (!settings.tls_cert.empty()) {
    auto certificate = files::read(settings.tls_cert);
    if (!certificate.ok()) return certificate.error();
    auto key = files::read(settings.tls_key);
    if (!key.ok()) return key.error();
    options.certificate_pem = std::move(certificate).value();
    options.key_pem = std::move(key).value();
  }
  auto server = net::Server::make(out.loop, std::move(options),
                                  [&out](net::Exchange exchange) { out.service->handle(std::move(exchange)); });
  if (!server.ok()) return server.error();
  out.server = std::move(server).value();
  return Done{};
}

Status make_gateway(Gateway& out) {
  const ServeSettings& settings = out.settings;
  if (!is_loopback(settings.host) && !settings.insecure && settings.api_keys.empty()) {
    return Error(ErrorCode::kInvalidArgument,
                 "anybody could use " + settings.host + ": name --api-keys, or say --insecure if that is meant");
  }
  if (!settings.api_keys.empty()) {
    out.keys = std::make_unique<ServeKeys>(settings.api_keys);
    if (const Status loaded = out.keys->load(); !loaded.ok()) return loaded;
    if (out.keys->size() == 0) note("there is no key in " + settings.api_keys + ": nobody can use this server\n");
  }
  constexpr std::size_t kOwnFiles = 256;  // models, the store, the log
  raise_file_limit(settings.max_connections + settings.max_streams + kOwnFiles);
  if (const Status made = make_engines(out); !made.ok()) return made;
  auto store = make_store(settings);
  if (!store.ok()) return store.error();
  out.store = std::move(store).value();
  make_service(out);
  return make_server(out);
}

// Forgets what is too old or too much, each minute.
void expire(Gateway& gateway, const spans::Bounds& bounds) {
  (void)gateway.store.store->expire(now_ms(), bounds);
  gateway.expiry = gateway.loop.after(std::chrono::minutes(1), [&gateway, bounds] { expire(gateway, bounds); });
}

// Waits for requests that generate, while others are still told that the server is about to end; then for all.
void drain(Gateway& gateway, net::Time end) {
  const auto left = std::chrono::duration_cast<net::Milliseconds>(end - gateway.loop.now());
  if (gateway.service->running() > 0 && left.count() > 0) {
    gateway.drain = gateway.loop.after(std::min(kDrainStep, left), [&gateway, end] { drain(gateway, end); });
    return;
  }
  gateway.server->drain(std::max(left, net::Milliseconds(0)), [&gateway](std::size_t) { gateway.loop.stop(); });
}

void on_signal(Gateway& gateway, int signal) {
  if (signal == SIGHUP) {
    if (!gateway.keys) return;
    const Status loaded = gateway.keys->load();
    if (!loaded.ok()) (void)report(loaded.error());
    if (loaded.ok()) note("keys: " + std::to_string(gateway.keys->size()) + "\n");
    return;
  }
  if (gateway.is_ending) return gateway.loop.stop();  // said twice
  gateway.is_ending = true;
  gateway.service->drain();
  drain(gateway, gateway.loop.now() + std::chrono::seconds(gateway.settings.drain_timeout_s));
}

int run_gateway(Gateway& gateway) {
  if (const Status made = make_gateway(gateway); !made.ok()) return report(made.error());
  const std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP};
  const auto taken = gateway.loop.on_signals(signals, [&](int signal) { on_signal(gateway, signal); });
  if (!taken.ok()) return report(taken.error());
  expire(gateway, {.ttl_ms = static_cast<std::int64_t>(gateway.settings.store_ttl_s) * 1000,
                   .max_bytes = gateway.settings.store_max_mb << 20U});
  const std::string url = gateway.server->url();
  json::Array names;
  std::string listed;
  for (const ServeEngine& engine : gateway.engines) {
    names.emplace_back(engine.name);
    listed += (listed.empty() ? "" : ", ") + engine.name;
  }
  const std::string line = gateway.settings.json
                               ? json::to_compact(json::Object{{"url", url}, {"models", std::move(names)}})
                               : "rondo: serving " + listed + " on " + url;
  if (!print(line + "\n")) return kFailure;
  gateway.loop.run();
  gateway.server.reset();
  gateway.service.reset();
  return kSuccess;
}

}  // namespace

int run_serve(const ServeArguments& arguments) {
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr && name == "RONDO_SERVE_KEY")
      value = std::getenv("RONDO_ENGINE_KEY");  // as of `rondo engines`
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  auto settings = read_settings(arguments.given, environment);
  if (!settings.ok()) {
    (void)report(settings.error());
    return kUsage;
  }
  if (!arguments.new_key.empty()) {
    if (settings.value().api_keys.empty()) {
      (void)report(Error(ErrorCode::kInvalidArgument, "--add-key needs --api-keys FILE"));
      return kUsage;
    }
    const auto secret = add_key(settings.value().api_keys, arguments.new_key);
    if (!secret.ok()) return report(secret.error());
    return print(secret.value() + "\n") ? kSuccess : kFailure;
  }
  if (arguments.check) {
    if (!settings.value().api_keys.empty()) {
      if (const Status keys = ServeKeys(settings.value().api_keys).load(); !keys.ok()) return report(keys.error());
    }
    return print(to_toml(settings.value())) ? kSuccess : kFailure;
  }
  Gateway gateway{.settings = std::move(settings).value()};
  return run_gateway(gateway);
}

}  // namespace rondo::cli
