// rondo serve: the gateway between clients that send messages and an engine that takes token ids.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/workers.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/serve_parts.h"
#include "cli/serve_settings.h"
#include "core/fields.h"
#include "engine/relay.h"
#include "json/print.h"
#include "net/server.h"
#include "pages/serve_page.h"

namespace rondo::cli {
namespace {

constexpr net::Milliseconds kDrainStep{20};
constexpr net::Milliseconds kWatchStep{200};
constexpr net::Milliseconds kLastStep{5000};  // for engines to stop, and for cut-off turns to be kept

// An event loop with everything that answers on it.  The first loop is the gateway's own; each other has a thread.
struct Front {
  explicit Front(net::Loop& on) : loop(on) {}
  explicit Front(std::unique_ptr<net::Loop> made) : own(std::move(made)), loop(*own) {}

  std::unique_ptr<net::Loop> own;
  net::Loop& loop;
  std::vector<std::unique_ptr<engine::Serving>> servings;  // the engines as seen from this loop
  std::vector<std::unique_ptr<net::Client>> clients;       // for their chat APIs, on loops other than the first
  std::unique_ptr<gateway::Service> service;
  std::unique_ptr<net::Server> server;
  std::thread thread;
};

// What the first loop knows about engines, for the others.
struct EngineStates {
  std::mutex mutex;
  std::vector<bool> up;
  std::vector<gateway::Gauge> gauges;
  std::vector<std::string> urls;  // of engines that are servers; otherwise ""
};

// All parts of a running gateway, in the order in which they are made.
struct Gateway {
  ServeSettings settings;
  net::Loop loop;
  std::vector<ServeEngine> engines;
  ServeStore store;
  std::unique_ptr<ServeKeys> keys;
  std::unique_ptr<Workers> workers;
  EngineStates states;
  std::vector<std::unique_ptr<Front>> fronts;
  net::Timer expiry;
  net::Timer watch;
  net::Timer drain;
  std::size_t undrained = 0;  // fronts that still have requests
  bool is_ending = false;
  bool is_cut = false;  // what still ran at the end of the time was told to end
};

void write_log(std::string_view line) { std::fwrite(line.data(), 1, line.size(), stderr); }

gateway::ServiceOptions service_options_of(const ServeSettings& settings) {
  gateway::ServiceOptions options;
  options.strict_model = settings.strict_model;
  options.refuse_unknown_tools = settings.unknown_tools == "error";
  if (settings.media == "note") options.media = apis::Media::kNote;
  using Events = apis::ReasoningEvents;
  options.reasoning_events = settings.reasoning_events == "summary"         ? Events::kSummary
                             : settings.reasoning_events == "openresponses" ? Events::kOpenResponses
                                                                            : Events::kText;
  options.origins = settings.cors;
  // If anybody may use any host name, keys protect the server instead: a page that gets here through its own host name
  // has no key.
  const bool any_name = settings.insecure || (!settings.api_keys.empty() && !is_loopback(settings.host));
  if (!any_name) options.hosts = {"localhost", "127.0.0.1", "[::1]", settings.host};
  if (!any_name || !settings.server_names.empty())
    options.hosts.insert(options.hosts.end(), settings.server_names.begin(), settings.server_names.end());
  if (settings.retention == "template") options.retention = render::Retention::kTemplate;
  if (settings.retention == "tool_cycle") options.retention = render::Retention::kToolCycle;
  options.streams = settings.max_streams;
  options.streams_of_tenant = settings.max_tenant_streams;
  options.request_time = net::Milliseconds(settings.request_timeout_s * 1000);
  options.keep_logprobs = settings.keep_logprobs;
  options.kept_request_bytes = settings.keep_requests_mb << 20U;
  using Log = gateway::ServiceOptions::Log;
  options.log = settings.log == "text" ? Log::kText : settings.log == "json" ? Log::kJson : Log::kNone;
  options.version = RONDO_VERSION;
  return options;
}

// Embedded engines are always up.  Of the servers, one must be.
bool is_up(const ServeEngine& engine) {
  if (!engine.fleet) return true;
  for (std::size_t i = 0; i < engine.fleet->size(); ++i) {
    if (!engine.fleet->report(i).is_out) return true;
  }
  return false;
}

// In bytes; 0 if there is no file.
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

// The engine as seen from a loop.  Only the first loop talks to servers, because it knows what each of them holds.
engine::Serving* serving_on(Front& front, const ServeEngine& engine, Gateway& out) {
  if (engine.embedded) return front.servings.emplace_back(engine.embedded->serve(front.loop)).get();
  if (&front.loop == &out.loop) return engine.fleet.get();
  return front.servings.emplace_back(std::make_unique<engine::Relay>(*engine.fleet, out.loop, front.loop)).get();
}

// The address for requests that cannot be turned into token ids: the first server that is up.
std::string address_of(const ServeEngine& engine) {
  for (std::size_t i = 0; i < engine.fleet->size(); ++i) {
    if (const remote::Fleet::Report report = engine.fleet->report(i); !report.is_out) return report.url;
  }
  return engine.fleet->report(0).url;
}

// The chat API of an engine that is a server, as seen from a loop with its own client.
Result<gateway::Upstream> upstream_on(Front& front, std::size_t index, Gateway& out) {
  const ServeEngine& engine = out.engines[index];
  if (!engine.fleet) return gateway::Upstream{};
  gateway::Upstream upstream{.client = engine.client.get(), .url = {}, .model = engine.fleet->capabilities().name};
  if (&front.loop == &out.loop) {
    upstream.url = [&engine] { return address_of(engine); };
    return upstream;
  }
  auto client = client_of(out.settings.models[index], out.settings.max_streams, front.loop);
  if (!client.ok()) return client.error();
  upstream.client = front.clients.emplace_back(std::move(client).value()).get();
  upstream.url = [&out, index] {
    const std::lock_guard lock(out.states.mutex);
    return out.states.urls[index];
  };
  return upstream;
}

Status make_service(Gateway& out, Front& front, const std::shared_ptr<gateway::Shared>& shared) {
  const bool is_first = &front.loop == &out.loop;
  gateway::ServiceParts parts;
  for (std::size_t i = 0; i < out.engines.size(); ++i) {
    const ServeEngine& engine = out.engines[i];
    auto upstream = upstream_on(front, i, out);
    if (!upstream.ok()) return upstream.error();
    parts.models.push_back({.name = engine.name,
                            .model = engine.model,
                            .serving = serving_on(front, engine, out),
                            .kwargs = engine.kwargs,
                            .created_s = now_ms() / 1000,
                            .upstream = std::move(upstream).value(),
                            .aliases = engine.aliases});
    parts.models.back().is_up = [&out, i, is_first] {
      if (is_first) return is_up(out.engines[i]);
      const std::lock_guard lock(out.states.mutex);
      return static_cast<bool>(out.states.up[i]);
    };
  }
  parts.gauges = [&out, is_first] {
    if (is_first) return gauges_of(out);
    const std::lock_guard lock(out.states.mutex);
    return out.states.gauges;
  };
  parts.spans = out.store.spans.get();
  parts.now_ms = now_ms;
  parts.local_time = [fixed = core::parse_time(out.settings.now), clock = service_options().clock] {
    return fixed ? *fixed : core::local_time(clock());
  };
  parts.random = random_key;
  parts.options = service_options_of(out.settings);
  parts.page = pages::serve_page;
  if (out.keys) parts.tenant_of = [keys = out.keys.get()](std::string_view secret) { return keys->tenant_of(secret); };
  parts.log = write_log;
  parts.workers = out.workers.get();
  parts.shared = shared;
  front.service = std::make_unique<gateway::Service>(front.loop, std::move(parts));
  return Done{};
}

struct Certificate {
  std::string chain_pem;
  std::string key_pem;
};

Result<Certificate> read_certificate(const ServeSettings& settings) {
  auto chain = files::read(settings.tls_cert);
  if (!chain.ok()) return chain.error();
  auto key = files::read(settings.tls_key);
  if (!key.ok()) return key.error();
  return Certificate{.chain_pem = std::move(chain).value(), .key_pem = std::move(key).value()};
}

Result<net::ServerOptions> server_options_of(const ServeSettings& settings) {
  const auto seconds = [](std::size_t count) { return net::Milliseconds(count * 1000); };
  net::ServerOptions options;
  options.host = settings.host;
  options.port = static_cast<std::uint16_t>(settings.port);
  options.body_bytes = settings.max_body_mb << 20U;
  options.bodies_bytes = std::max<std::size_t>(1, (settings.max_bodies_mb << 20U) / settings.loops);
  options.buffered_bytes = settings.send_buffer_kb << 10U;
  options.connections = std::max<std::size_t>(1, settings.max_connections / settings.loops);
  options.head = seconds(settings.header_timeout_s);
  options.body = seconds(settings.body_timeout_s);
  options.stall = seconds(settings.stall_timeout_s);
  options.explain = gateway::Service::explain;
  if (!settings.tls_cert.empty()) {
    auto certificate = read_certificate(settings);
    if (!certificate.ok()) return certificate.error();
    options.certificate_pem = std::move(certificate.value().chain_pem);
    options.key_pem = std::move(certificate.value().key_pem);
  }
  return options;
}

Status make_server(const net::ServerOptions& common, Front& front) {
  net::ServerOptions options = common;
  gateway::Service& service = *front.service;
  options.admit = [&service](net::ServerRequest& request) { return service.admit(request); };
  options.answered = [&service](const net::ServerRequest& request, const net::Answered& answered) {
    service.answered(request, answered);
  };
  auto server = net::Server::make(front.loop, std::move(options),
                                  [&service](net::Exchange exchange) { service.handle(std::move(exchange)); });
  if (!server.ok()) return server.error();
  front.server = std::move(server).value();
  return Done{};
}

Status make_fronts(Gateway& out) {
  auto options = server_options_of(out.settings);
  if (!options.ok()) return options.error();
  if (out.settings.loops > 1) {
    // Another program could use a port that several sockets may share.  So check that the port is free before sharing
    // it.
    const auto free = net::Server::make(out.loop, options.value(), [](const net::Exchange&) {});
    if (!free.ok()) return free.error();
    options.value().port = free.value()->port();
    options.value().reuse_port = true;
  }
  const auto shared = gateway::Service::share();
  for (std::size_t i = 0; i < out.settings.loops; ++i) {
    Front& front = *out.fronts.emplace_back(i == 0 ? std::make_unique<Front>(out.loop)
                                                   : std::make_unique<Front>(std::make_unique<net::Loop>()));
    if (const Status made = make_service(out, front, shared); !made.ok()) return made;
    if (const Status made = make_server(options.value(), front); !made.ok()) return made;
  }
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
  const std::size_t threads = std::max(2U, std::thread::hardware_concurrency());
  out.workers = std::make_unique<Workers>(settings.workers > 0 ? settings.workers : threads);
  return make_fronts(out);
}

// Periodically tells the other loops what the first one knows about engines.
void watch_engines(Gateway& gateway) {
  std::vector<bool> up;
  for (const ServeEngine& engine : gateway.engines) up.push_back(is_up(engine));
  std::vector<std::string> urls;
  for (const ServeEngine& engine : gateway.engines) urls.push_back(engine.fleet ? address_of(engine) : "");
  std::vector<gateway::Gauge> gauges = gauges_of(gateway);
  const std::lock_guard lock(gateway.states.mutex);
  gateway.states.urls = std::move(urls);
  gateway.states.up = std::move(up);
  gateway.states.gauges = std::move(gauges);
  gateway.watch = gateway.loop.after(kWatchStep, [&gateway] { watch_engines(gateway); });
}

// Every minute, forgets what is too old or too much.
void expire(Gateway& gateway, const spans::Bounds& bounds) {
  // A worker waits for the disk, not the loop.
  gateway.workers->run(Workers::Size::kLarge,
                       [&store = *gateway.store.store, bounds] { (void)store.expire(now_ms(), bounds); });
  gateway.expiry = gateway.loop.after(std::chrono::minutes(1), [&gateway, bounds] { expire(gateway, bounds); });
}

// Once their engines have stopped, cut-off replies are kept as turns.
void finish(Gateway& gateway, net::Time end) {
  if (gateway.fronts.front()->service->running() == 0 || gateway.loop.now() >= end) return gateway.loop.stop();
  gateway.drain = gateway.loop.after(kDrainStep, [&gateway, end] { finish(gateway, end); });
}

// Waits for requests that generate, while new ones are told that the server is about to end.  Those that take too long
// are answered that it ends.  Then it waits for all.
void drain(Gateway& gateway, net::Time end) {
  const auto left = std::chrono::duration_cast<net::Milliseconds>(end - gateway.loop.now());
  const bool is_running = gateway.fronts.front()->service->running() > 0;
  if (is_running && left.count() > 0) {
    gateway.drain = gateway.loop.after(std::min(kDrainStep, left), [&gateway, end] { drain(gateway, end); });
    return;
  }
  if (is_running && !std::exchange(gateway.is_cut, true)) {
    for (const auto& front : gateway.fronts) front->loop.post([&front = *front] { front.service->cut(); });
    return drain(gateway, gateway.loop.now() + kLastStep);
  }
  gateway.undrained = gateway.fronts.size();
  for (const auto& front : gateway.fronts) {
    front->loop.post([&gateway, &front = *front, left] {
      front.server->drain(std::max(left, net::Milliseconds(0)), [&gateway](std::size_t) {
        gateway.loop.post([&gateway] {
          if (--gateway.undrained == 0) finish(gateway, gateway.loop.now() + kLastStep);
        });
      });
    });
  }
}

// Reads the certificate again, for connections that begin later.
void renew_certificate(Gateway& gateway) {
  const auto read = read_certificate(gateway.settings);
  if (!read.ok()) return (void)report(read.error());
  for (const auto& front : gateway.fronts) {
    front->loop.post([&front = *front, certificate = read.value(), is_first = front->own == nullptr] {
      const Status renewed = front.server->renew_certificate(certificate.chain_pem, certificate.key_pem);
      if (!is_first) return;  // the others got the same signal
      if (!renewed.ok()) return (void)report(renewed.error());
      note("the certificate was read again\n");
    });
  }
}

void on_signal(Gateway& gateway, int signal) {
  if (signal == SIGHUP) {
    if (!gateway.settings.tls_cert.empty()) renew_certificate(gateway);
    if (!gateway.keys) return;
    const Status loaded = gateway.keys->load();
    if (!loaded.ok()) (void)report(loaded.error());
    if (loaded.ok()) note("keys: " + std::to_string(gateway.keys->size()) + "\n");
    return;
  }
  if (gateway.is_ending) return gateway.loop.stop();  // requested twice
  gateway.is_ending = true;
  gateway.fronts.front()->service->drain();
  drain(gateway, gateway.loop.now() + std::chrono::seconds(gateway.settings.drain_timeout_s));
}

// What the program prints when it is ready.
std::string ready_line(const Gateway& gateway) {
  const std::string url = gateway.fronts.front()->server->url();
  json::Array names;
  std::string listed;
  for (const ServeEngine& engine : gateway.engines) {
    names.emplace_back(engine.name);
    listed += (listed.empty() ? "" : ", ") + engine.name;
  }
  return gateway.settings.json ? json::to_compact(json::Object{{"url", url}, {"models", std::move(names)}})
                               : "rondo: serving " + listed + " on " + url;
}

void end(Gateway& gateway) {
  for (const auto& front : gateway.fronts) {
    if (front->own) front->loop.stop();
    if (front->thread.joinable()) front->thread.join();
  }
  for (const auto& front : gateway.fronts) {
    front->server.reset();
    front->service.reset();
  }
  // The other loops may have left work for the engines of the first one.
  gateway.loop.post([&gateway] { gateway.loop.stop(); });
  gateway.loop.run();
  gateway.fronts.clear();
}

int run_gateway(Gateway& gateway) {
  if (const Status made = make_gateway(gateway); !made.ok()) return report(made.error());
  const std::vector<int> signals = {SIGINT, SIGTERM, SIGHUP};
  const auto taken = gateway.loop.on_signals(signals, [&](int signal) { on_signal(gateway, signal); });
  if (!taken.ok()) return report(taken.error());
  expire(gateway, {.ttl_ms = static_cast<std::int64_t>(gateway.settings.store_ttl_s) * 1000,
                   .max_bytes = gateway.settings.store_max_bytes});
  if (gateway.fronts.size() > 1) watch_engines(gateway);
  for (const auto& front : gateway.fronts) {
    if (front->own) front->thread = std::thread([&front = *front] { front.loop.run(); });
  }
  const bool is_told = print(ready_line(gateway) + "\n");
  if (is_told) gateway.loop.run();
  end(gateway);
  return is_told ? kSuccess : kFailure;
}

}  // namespace

int run_serve(const ServeArguments& arguments) {
#ifdef __GLIBC__
  // A long prompt passes through blocks of several hundred kilobytes.  Returning them to the system each time would
  // cost more than all work on them, so the allocator keeps them.
  (void)::mallopt(M_MMAP_THRESHOLD, 32 << 20);
  (void)::mallopt(M_TRIM_THRESHOLD, 128 << 20);
#endif
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr && name == "RONDO_SERVE_KEY")
      value = std::getenv("RONDO_ENGINE_KEY");  // the same variable as for `rondo engines`
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  auto settings = read_settings(arguments.given, environment);
  if (!settings.ok()) return refuse(settings.error());
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    const std::string name(assignment.substr(0, assignment.find('=')));
    if (!is_known_variable(name)) note("rondo: warning: the variable " + name + " is no setting, and is ignored\n");
  }
  if (!arguments.new_key.empty()) {
    if (settings.value().api_keys.empty())
      return refuse(Error(ErrorCode::kInvalidArgument, "--add-key needs --api-keys FILE"));
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
  Gateway gateway;
  gateway.settings = std::move(settings).value();
  return run_gateway(gateway);
}

}  // namespace rondo::cli
