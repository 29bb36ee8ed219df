#include "cli/serve_parts.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/files.h"
#include "cli/engine_probe.h"
#include "cli/io.h"
#include "demo/embedded.h"
#include "model/gguf.h"
#include "spans/open_store.h"

namespace rondo::cli {
namespace {

namespace fs = std::filesystem;

template <std::size_t kSize>
std::array<std::uint8_t, kSize> random_bytes() {
  static_assert(kSize <= 256, "so few bytes come whole");
  std::array<std::uint8_t, kSize> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(kSize)) std::abort();  // keys could be guessed
  return bytes;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string name_of(const ServeModel& settings, const std::string& path) {
  if (settings.path.empty()) return "tiny";
  fs::path file(path);
  if (!file.has_filename()) file = file.parent_path();
  return file.extension() == ".gguf" ? file.stem().string() : file.filename().string();
}

// The path of the weights: the model's, or those of the small random model.
Result<std::string> weights_of(const ServeModel& settings) {
  if (!settings.path.empty()) return demo::weights_path(settings.path);
  demo::EmbeddedOptions options;
  options.cache_folder = cache_folder();
  options.fixtures = environment("RONDO_FIXTURES");
  return demo::tiny_model(options, note);
}

Status make_embedded(const ServeModel& settings, const std::string& weights, ServeEngine& out) {
  if (const auto checked = model::read_gguf(weights); !checked.ok()) return checked.error();
  engine::EmbeddedOptions options;
  options.parallel = settings.parallel;
  options.kept_bytes = settings.cache_ram_mb << 20U;
  options.llama.context_tokens = settings.context;
  options.llama.gpu_layers = settings.gpu_layers;
  options.llama.flash_attention = settings.flash_attention;
  options.llama.cache_type = settings.cache_type;
  options.llama.threads = settings.threads > 0 ? static_cast<int>(settings.threads) : demo::worker_threads();
  auto embedded = engine::Embedded::load(weights, options);
  if (!embedded.ok()) return embedded.error();
  out.embedded = std::move(embedded).value();
  return Done{};
}

Status make_fleet(const ServeModel& settings, std::size_t streams, net::Loop& loop, ServeEngine& out) {
  auto client = client_of(settings, streams, loop);
  if (!client.ok()) return client.error();
  out.client = std::move(client).value();
  std::vector<remote::ServerInfo> servers;
  for (auto& one : probe_engines(loop, *out.client, settings.urls)) {
    if (!one.ok()) return one.error();
    if (!settings.engine.empty() && remote::to_string(one.value().kind) != settings.engine) {
      return Error(ErrorCode::kInvalidArgument,
                   "it is " + std::string(remote::to_string(one.value().kind)) + ", not " + settings.engine,
                   one.value().url);
    }
    servers.push_back(std::move(one).value());
  }
  out.fleet = std::make_unique<remote::Fleet>(loop, *out.client, std::move(servers), remote::FleetOptions{});
  return Done{};
}

// The default file for turns; "" if there is no place for it.
Result<std::string> default_store() {
  std::string folder = environment("XDG_STATE_HOME");
  if (folder.empty() && !environment("HOME").empty()) folder = files::join(environment("HOME"), ".local/state");
  if (folder.empty()) return std::string();
  folder = files::join(folder, "rondo");
  if (const Status made = files::make_folder(folder); !made.ok()) return made.error();
  // What people and models said must stay private.
  std::error_code ignored;
  fs::permissions(folder, fs::perms::owner_all, ignored);
  return files::join(folder, "turns.sqlite");
}

}  // namespace

Result<std::unique_ptr<net::Client>> client_of(const ServeModel& settings, std::size_t streams, net::Loop& loop) {
  return engine_client(loop, {.key = settings.key,
                              .ca_file = settings.ca_file,
                              .insecure = settings.insecure_engines,
                              .connections = streams});
}

std::int64_t now_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

std::array<std::uint8_t, 12> random_key() { return random_bytes<12>(); }

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

Result<ServeEngine> make_engine(const ServeModel& settings, std::size_t streams, net::Loop& loop) {
  ServeEngine out;
  const bool is_remote = !settings.urls.empty();
  const Result<std::string> weights = is_remote ? Result<std::string>(settings.path) : weights_of(settings);
  if (!weights.ok()) return weights.error();
  core::Source source;
  source.path = settings.path.empty() ? weights.value() : settings.path;
  if (!settings.chat_template.empty()) source.chat_template = settings.chat_template;
  source.cache_folder = cache_folder();
  source.polyfill = core::polyfill_named(settings.polyfill).value_or(core::Polyfill::kOff);
  auto model = core::Model::load(source);
  if (!model.ok()) return model.error();
  if (model.value()->template_text(false).empty()) {
    source.chat_template = core::Loader::kAutomatic;
    model = core::Model::load(source);
    if (!model.ok()) return model.error();
    note("rondo: the model brings no chat template; " + model.value()->template_reason() + "\n");
  }
  out.model = std::move(model).value();
  out.aliases = settings.alias;
  if (out.aliases.empty()) out.aliases = {name_of(settings, source.path)};
  out.name = out.aliases.front();
  out.aliases.erase(out.aliases.begin());
  if (!settings.kwargs.empty()) {
    auto kwargs = object_argument(settings.kwargs, "--kwargs");
    if (!kwargs.ok()) return kwargs.error();
    out.kwargs = kwargs.value().as_object();
  }
  const Status made =
      is_remote ? make_fleet(settings, streams, loop, out) : make_embedded(settings, weights.value(), out);
  if (!made.ok()) return made.error();
  return out;
}

Result<ServeStore> make_store(const ServeSettings& settings) {
  constexpr std::string_view kSqlite = "sqlite:";
  ServeStore out;
  std::string named = settings.store;
  if (named.empty()) {
    auto path = default_store();
    if (!path.ok()) return path.error();
    if (path.value().empty()) note("turns are kept in memory: there is no folder for state\n");
    named = path.value().empty() ? "memory" : std::string(kSqlite) + path.value();
  }
  auto opened = spans::open_store(named, random_bytes<16>());
  if (!opened.ok()) return opened.error();
  if (named.starts_with(kSqlite)) out.path = named.substr(kSqlite.size());
  out.store = std::move(opened.value().store);
  out.spans = std::make_unique<spans::Spans>(*out.store, opened.value().secret, settings.turn_ram_mb << 20U);
  return out;
}

Status ServeKeys::load() {
  std::error_code failed;
  const fs::perms perms = fs::status(path_, failed).permissions();
  if (!failed && (perms & fs::perms::others_write) != fs::perms::none)
    return Error(ErrorCode::kInvalidArgument, "anybody on this machine may write it, and so add keys", path_);
  auto text = files::read(path_);
  if (!text.ok()) return text.error();
  auto ring = keys::KeyRing::read(text.value(), path_);
  if (!ring.ok()) return ring.error();
  auto made = std::make_shared<const keys::KeyRing>(std::move(ring).value());
  const std::lock_guard lock(mutex_);
  ring_ = std::move(made);
  return Done{};
}

std::optional<std::string> ServeKeys::tenant_of(std::string_view secret) const {
  std::shared_ptr<const keys::KeyRing> ring;
  {
    const std::lock_guard lock(mutex_);
    ring = ring_;
  }
  return ring->tenant_of(secret);
}

std::size_t ServeKeys::size() const {
  const std::lock_guard lock(mutex_);
  return ring_->size();
}

Result<std::string> add_key(const std::string& path, const std::string& name) {
  std::string before;
  if (files::exists(path)) {
    auto text = files::read(path);
    if (!text.ok()) return text.error();
    before = std::move(text).value();
    if (const auto ring = keys::KeyRing::read(before, path); !ring.ok()) return ring.error();
  }
  auto key = keys::make_key(name);
  if (!key.ok()) return key.error();
  const std::string line = (before.empty() || before.ends_with('\n') ? "" : "\n") + key.value().line;
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool is_written = file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  const bool is_closed = file >= 0 && ::close(file) == 0;
  if (!is_written || !is_closed) return Error(ErrorCode::kIo, "the key cannot be written", path);
  return std::move(key).value().secret;
}

void raise_file_limit(std::size_t files) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files) return;
  const rlim_t wanted = std::min<rlim_t>(files, limit.rlim_max);
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && wanted >= files) return;
  note("the system allows " + std::to_string(wanted) + " open files, and all connections would need " +
       std::to_string(files) + "\n");
}

}  // namespace rondo::cli
