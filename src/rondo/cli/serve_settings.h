// The settings of `rondo serve` in one table.  They are set on the command line (`--max-body 8`), in the environment
// (`RONDO_SERVE_MAX_BODY=8`, several values separated by commas) and in a file (`max_body = 8`).  The command line
// overrides the environment, which overrides the file.
//
//   auto settings = read_settings({.options = {{"port", {"0"}}}, .config_path = "serve.toml"}, environment);
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "rondo/result.h"

namespace rondo::cli {

// A model that is served, and its engine.
struct ServeModel {
  std::string path;  // "": the small random model
  std::vector<std::string> alias;
  std::string chat_template;
  std::string kwargs;
  std::string polyfill = "auto";
  std::string engine;             // "", or a name in remote/server_kind.h
  std::vector<std::string> urls;  // empty: the embedded engine
  std::string key;
  std::string ca_file;
  bool insecure_engines = false;
  std::size_t parallel = 4;
  std::size_t context = 0;
  std::size_t threads = 0;
  std::size_t cache_ram_mb = 2048;
  int gpu_layers = 0;
  bool flash_attention = false;
  std::string cache_type = "f16";
};

struct ServeSettings {
  std::vector<ServeModel> models;  // at least one

  std::string host = "127.0.0.1";
  std::size_t port = 8080;
  bool insecure = false;
  std::vector<std::string> server_names;
  std::string api_keys;
  std::string tls_cert;
  std::string tls_key;
  std::vector<std::string> cors;
  bool strict_model = false;
  std::string unknown_tools = "ignore";
  std::string media = "pass";
  std::string reasoning_events = "text";
  std::string retention = "all";
  std::string now;    // "": the clock
  std::string store;  // "": a file in the state folder
  std::size_t store_max_bytes = 0;
  std::size_t store_ttl_s = 0;
  std::size_t turn_ram_mb = 64;
  std::size_t max_body_mb = 64;
  std::size_t max_bodies_mb = 2048;
  std::size_t max_streams = 1024;
  std::size_t max_tenant_streams = 0;
  std::size_t max_connections = 4096;
  std::size_t request_timeout_s = 600;
  std::size_t drain_timeout_s = 30;
  std::size_t header_timeout_s = 15;
  std::size_t body_timeout_s = 300;
  std::size_t stall_timeout_s = 60;
  std::size_t send_buffer_kb = 4096;
  std::size_t workers = 0;
  std::size_t loops = 1;
  std::string log = "text";
  bool keep_logprobs = false;
  std::size_t keep_requests_mb = 0;
  bool json = false;
};

// A member that an option sets.
template <typename Settings>
using SettingOf = std::variant<std::string Settings::*, std::vector<std::string> Settings::*, bool Settings::*,
                               std::size_t Settings::*, int Settings::*>;
using Setting = std::variant<SettingOf<ServeSettings>, SettingOf<ServeModel>>;

struct ServeOption {
  std::string_view name;  // as on the command line, without dashes
  std::string_view type;  // the kind of its value there; "" for a flag
  Setting setting;
  std::string_view help;
  std::int64_t least = 0;  // for numbers
  std::int64_t most = 0;
  std::vector<std::string_view> choices{};  // for texts; empty: any text
  bool is_secret = false;                   // never shown
};
[[nodiscard]] std::span<const ServeOption> serve_options();

// Returns the default of an option for people; "" if there is none.
[[nodiscard]] std::string default_text(const ServeOption& option);
// Return "RONDO_SERVE_MAX_BODY" and "max_body".
[[nodiscard]] std::string variable_name(const ServeOption& option);
[[nodiscard]] std::string key_name(const ServeOption& option);
// Returns false for a variable that is named like a setting but is not one: its name is mistyped.
[[nodiscard]] bool is_known_variable(std::string_view name);
// Returns whether it belongs to a model instead of the server.
[[nodiscard]] bool is_of_model(const ServeOption& option);
// Returns whether it may be given several times.
[[nodiscard]] bool takes_several(const ServeOption& option);
// Returns the options as rows of a Markdown table, for docs/gateway.md.
[[nodiscard]] std::string options_table();

// The options on the command line, as texts; "true" for a flag.
struct GivenOptions {
  std::vector<std::pair<std::string, std::vector<std::string>>> options;
  std::string model;  // "": none
  std::string config_path;
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// Fails with kInvalidArgument for an option that is unknown, of the wrong type or out of range.  The error's source is
// the option, the variable, or the file with line and column.
[[nodiscard]] Result<ServeSettings> read_settings(const GivenOptions& given, const Environment& environment);

// Returns the settings as a file with the same meaning, without secrets.
[[nodiscard]] std::string to_toml(const ServeSettings& settings);

}  // namespace rondo::cli
