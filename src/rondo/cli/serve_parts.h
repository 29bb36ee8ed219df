// The parts of a running gateway: models with their engines, the store, keys, certificates.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/serve_settings.h"
#include "core/model.h"
#include "engine/embedded.h"
#include "gateway/service.h"
#include "keys/keys.h"
#include "net/client.h"
#include "net/loop.h"
#include "remote/fleet.h"
#include "spans/spans.h"
#include "spans/store.h"

namespace rondo::cli {

// Milliseconds since 1970.
[[nodiscard]] std::int64_t now_ms();
// Returns unpredictable bytes.  Any thread.
[[nodiscard]] std::array<std::uint8_t, 12> random_key();

// A model and what runs it: the embedded engine, or servers.
struct ServeEngine {
  std::string name;
  std::vector<std::string> aliases;
  std::shared_ptr<const core::Model> model;
  json::Object kwargs;
  std::unique_ptr<engine::Embedded> embedded;
  std::unique_ptr<net::Client> client;   // belongs to the loop on which it was made
  std::unique_ptr<remote::Fleet> fleet;  // belongs to the same loop; null for the embedded engine
};
// Makes a client for a model's servers.  Each running request has its own connection.
[[nodiscard]] Result<std::unique_ptr<net::Client>> client_of(const ServeModel& settings, std::size_t streams,
                                                             net::Loop& loop);
// Asks servers what they are, and runs the loop meanwhile.  `streams` is how many requests may run at once.
[[nodiscard]] Result<ServeEngine> make_engine(const ServeModel& settings, std::size_t streams, net::Loop& loop);

// The store of turns, and the secret with which they are found.
struct ServeStore {
  std::unique_ptr<spans::Store> store;
  std::unique_ptr<spans::Spans> spans;
  std::string path;  // "": in memory
};
[[nodiscard]] Result<ServeStore> make_store(const ServeSettings& settings);

// The file of keys, which may be read again while it is in use.
class ServeKeys {
 public:
  explicit ServeKeys(std::string path) : path_(std::move(path)) {}
  // Reads the file.  If that fails, the previous keys stay.
  [[nodiscard]] Status load();
  // Any thread.
  [[nodiscard]] std::optional<std::string> tenant_of(std::string_view secret) const;
  [[nodiscard]] std::size_t size() const;

 private:
  std::string path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const keys::KeyRing> ring_ = std::make_shared<keys::KeyRing>();
};
// Adds a key to the file, which is made if it is missing.  Returns the secret.
[[nodiscard]] Result<std::string> add_key(const std::string& path, const std::string& name);

[[nodiscard]] bool is_loopback(const std::string& host);
// Raises the limit of open files to what the server needs, if the system allows it.  Prints the limit if it stays
// lower.
void raise_file_limit(std::size_t files);

}  // namespace rondo::cli
