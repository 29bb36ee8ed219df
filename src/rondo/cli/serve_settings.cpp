#include "cli/serve_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/files.h"
#include "core/fields.h"
#include "json/print.h"
#include "json/value.h"
#include "remote/server_kind.h"
#include "toml/read.h"

namespace rondo::cli {
namespace {

using S = ServeSettings;
using M = ServeModel;

constexpr std::int64_t kManySeconds = 31'536'000;  // a year
constexpr std::int64_t kMany = 1'000'000;
constexpr std::string_view kVariables = "RONDO_SERVE_";

SettingOf<S> of(SettingOf<S> member) { return member; }
SettingOf<M> of_model(SettingOf<M> member) { return member; }

std::vector<ServeOption> model_options() {
  return {
      {"alias", "NAME", of_model(&M::alias), "the model's name for clients; may be repeated, and all are listed"},
      {"template", "PATH", of_model(&M::chat_template), "replaces the model's own template"},
      {"kwargs", "JSON|FILE|KEY=VALUE", of_model(&M::kwargs), "template variables for every request"},
      {"polyfill",
       "WHAT",
       of_model(&M::polyfill),
       "supply what the template lacks (system text, tools, calls, results): only if it lacks it, or always",
       0,
       0,
       {"auto", "off", "on"}},
      {"engine", "KIND", of_model(&M::engine), "the kind of server at --url (default: found out by asking it)", 0, 0,
       remote::server_names()},
      {"url", "URL", of_model(&M::urls), "an engine's address; several addresses count as one engine"},
      {"key", "SECRET", of_model(&M::key), "sent to engines as a bearer key", 0, 0, {}, true},
      {"ca", "FILE", of_model(&M::ca_file), "certificates with which engines are verified"},
      {"insecure-engines", "", of_model(&M::insecure_engines), "do not verify the engines' certificates"},
      {"parallel", "N", of_model(&M::parallel), "requests that the embedded engine runs at once", 1, 64},
      {"context", "TOKENS", of_model(&M::context), "the longest conversation; 0: what the model was trained for", 0,
       1 << 28},
      {"threads", "N", of_model(&M::threads), "threads of the embedded engine; 0: all cores but one", 0, 1024},
      {"cache-ram", "MB", of_model(&M::cache_ram_mb), "memory for conversations that were moved out of the engine", 0,
       kMany},
      {"gpu-layers", "N", of_model(&M::gpu_layers), "layers on a GPU, if the library supports one; negative: all", -1,
       10'000},
      {"flash-attention", "", of_model(&M::flash_attention), "faster on some machines, less exact on all"},
      {"cache-type",
       "TYPE",
       of_model(&M::cache_type),
       "the type of keys and values in the cache",
       0,
       0,
       {"f32", "f16", "bf16", "q8_0", "q4_0"}},
  };
}

std::vector<ServeOption> server_options() {
  return {
      {"host", "ADDRESS", of(&S::host), "the address to listen on"},
      {"port", "PORT", of(&S::port), "the port to listen on; 0: any free one", 0, 65'535},
      {"insecure", "", of(&S::insecure), "listen on an address that others can reach, without keys"},
      {"server-name", "NAME", of(&S::server_names),
       "another name for the server in requests (`Host`); may be repeated"},
      {"api-keys", "FILE", of(&S::api_keys),
       "the keys of clients; without it everybody is answered, but only on loopback addresses"},
      {"tls-cert", "FILE", of(&S::tls_cert), "HTTPS: the server's certificate with its chain, PEM"},
      {"tls-key", "FILE", of(&S::tls_key), "the certificate's key"},
      {"cors", "ORIGIN", of(&S::cors), "allow pages from this origin (scheme and host); may be repeated"},
  };
}

// What is made of requests, what is kept, and how much of everything there may be.
std::vector<ServeOption> request_options() {
  return {
      {"strict-model", "", of(&S::strict_model),
       "refuse requests for another model's name even if there is only one model"},
      {"unknown-tools",
       "WHAT",
       of(&S::unknown_tools),
       "what to do with tools that only a vendor's server can run",
       0,
       0,
       {"ignore", "error"}},
      {"media",
       "WHAT",
       of(&S::media),
       "images, audio and files: passed on or refused, or noted as left out",
       0,
       0,
       {"pass", "note"}},
      {"reasoning-events",
       "WHAT",
       of(&S::reasoning_events),
       "how Responses streams report reasoning, if the request does not say",
       0,
       0,
       {"text", "summary", "openresponses"}},
      {"retention",
       "WHAT",
       of(&S::retention),
       "which earlier reasoning stays in the prompt",
       0,
       0,
       {"all", "tool_cycle", "template"}},
      {"now", "TIME", of(&S::now), "the time that strftime_now shows, as 2026-03-14T15:09:26 (default: the clock)"},
      {"store", "WHERE", of(&S::store),
       "where turns are kept: `memory`, `sqlite:PATH` or `redis://HOST:PORT/DB` (default: a file in the state folder)"},
      {"store-max-bytes", "BYTES", of(&S::store_max_bytes),
       "the size at which the oldest sessions are forgotten; 0: no limit", 0, std::int64_t{1} << 60},
      {"store-ttl", "SECONDS", of(&S::store_ttl_s), "how long a session is kept after its last turn; 0: forever", 0,
       100 * kManySeconds},
      {"turn-ram", "MB", of(&S::turn_ram_mb), "memory for recent turns, wherever turns are kept", 0, kMany},
      {"keep-logprobs", "", of(&S::keep_logprobs),
       "keep the log probability of every sampled id for trainers, even if the client does not ask for it"},
      {"max-body", "MB", of(&S::max_body_mb), "the largest request", 1, 1024},
      {"max-bodies", "MB", of(&S::max_bodies_mb), "the size of all requests that wait for an answer; more get 503", 1,
       kMany},
      {"max-streams", "N", of(&S::max_streams), "requests that generate at once; more get 429", 1, kMany},
      {"max-tenant-streams", "N", of(&S::max_tenant_streams), "the same for each tenant; 0: no limit", 0, kMany},
      {"max-connections", "N", of(&S::max_connections), "connections that are open at once; more get 503", 1, kMany},
      {"request-timeout", "SECONDS", of(&S::request_timeout_s),
       "how long a reply may take; then 504, and what was sampled is kept; 0: forever", 0, kManySeconds},
      {"drain-timeout", "SECONDS", of(&S::drain_timeout_s), "how long running requests may take when the server ends",
       0, kManySeconds},
      {"header-timeout", "SECONDS", of(&S::header_timeout_s), "how long a client may take to send a request's head", 1,
       3600},
      {"body-timeout", "SECONDS", of(&S::body_timeout_s), "how long a client may take to send a request's body", 1,
       86'400},
      {"stall-timeout", "SECONDS", of(&S::stall_timeout_s), "how long a client may read nothing of its answer", 1,
       3600},
      {"send-buffer", "KB", of(&S::send_buffer_kb),
       "how much of a stream may wait for its client; a slower client is cut off, and its turn kept", 16, 1 << 20},
      {"workers", "N", of(&S::workers),
       "threads that read requests and make prompts; 0: as many as cores, at least two", 0, 256},
      {"loops", "N", of(&S::loops), "threads that share the connections of clients", 1, 64},
      {"log", "FORMAT", of(&S::log), "a line for each request, to standard error", 0, 0, {"text", "json", "off"}},
      {"keep-requests", "MB", of(&S::keep_requests_mb),
       "memory for the bodies of the last requests, for `/rondo/v1/log`; 0: none", 0, kMany},
      {"json", "", of(&S::json), "print the ready line as {\"url\", \"models\"}"},
  };
}

const std::vector<ServeOption>& table() {
  static const std::vector<ServeOption> kTable = [] {
    std::vector<ServeOption> all = model_options();
    for (auto* options : {server_options, request_options}) {
      for (ServeOption& option : options()) all.push_back(std::move(option));
    }
    return all;
  }();
  return kTable;
}

// Calls `use` with the member that the option sets.
template <typename Use>
auto with_member(const ServeOption& option, S& settings, M& model, const Use& use) {
  return std::visit(
      [&](const auto& setting) {
        return std::visit(
            [&](const auto& member) {
              if constexpr (std::is_same_v<std::decay_t<decltype(setting)>, SettingOf<S>>) {
                return use(settings.*member);
              } else {
                return use(model.*member);
              }
            },
            setting);
      },
      option.setting);
}

// A value before it is stored in its member: a text from the command line or the environment, or a value from a file.
struct Given {
  json::Value value;
  bool is_text = false;  // numbers and flags are given as text
};

Error wrong(const ServeOption& option, const std::string& expected) {
  return {ErrorCode::kInvalidArgument, "`" + std::string(option.name) + "` must be " + expected};
}

std::string range_text(const ServeOption& option) {
  return "a number from " + std::to_string(option.least) + " to " + std::to_string(option.most);
}

std::string choices_text(const ServeOption& option) {
  std::string text = "one of";
  for (const std::string_view choice : option.choices) text.append(" `").append(choice).append("`");
  return text;
}

std::optional<std::int64_t> integer_of(const Given& given) {
  if (!given.is_text) return given.value.to_int64();
  const std::string_view text = given.value.as_string();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status put(const ServeOption& option, std::string& to, const Given& given) {
  // Template variables may be written directly in a file.
  const bool is_object = given.value.is_object() && option.name == "kwargs";
  if (!given.value.is_string() && !is_object) return wrong(option, "a text");
  std::string text = is_object ? json::to_compact(given.value) : std::string(given.value.as_string());
  const auto& choices = option.choices;
  const bool is_choice = choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end();
  if (!is_choice && text != default_text(option))  // "" means no choice
    return wrong(option, choices_text(option));
  to = std::move(text);
  return Done{};
}

Status put(const ServeOption& option, std::vector<std::string>& to, const Given& given) {
  json::Array texts = given.value.is_array() ? given.value.as_array() : json::Array{given.value};
  to.clear();
  for (const json::Value& text : texts) {
    if (!text.is_string()) return wrong(option, "a text, or a list of texts");
    to.emplace_back(text.as_string());
  }
  return Done{};
}

Status put(const ServeOption& option, bool& to, const Given& given) {
  if (given.value.is_bool()) {
    to = given.value.as_bool();
    return Done{};
  }
  const std::string text = given.is_text ? std::string(given.value.as_string()) : "";
  if (text != "true" && text != "1" && text != "false" && text != "0") return wrong(option, "true or false");
  to = text == "true" || text == "1";
  return Done{};
}

template <typename Number>
Status put(const ServeOption& option, Number& to, const Given& given) {
  const auto number = integer_of(given);
  if (!number || *number < option.least || *number > option.most) return wrong(option, range_text(option));
  to = static_cast<Number>(*number);
  return Done{};
}

Status assign(const ServeOption& option, S& settings, M& model, const Given& given) {
  return with_member(option, settings, model, [&](auto& member) { return put(option, member, given); });
}

const ServeOption* option_of_key(std::string_view key) {
  const auto found =
      std::find_if(table().begin(), table().end(), [&](const auto& one) { return key_name(one) == key; });
  return found == table().end() ? nullptr : &*found;
}

// A settings file that was read.
class File {
 public:
  File(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}

  // The server's settings, and the defaults for models.
  Status read(S& settings, M& model) {
    auto root = toml::read(text_, path_);
    if (!root.ok()) return root.error();
    root_ = std::move(root).value();
    for (const json::Member& member : root_.as_object()) {
      if (member.key == "model") continue;
      if (const Status status = set(member, settings, model, true); !status.ok()) return status;
    }
    return Done{};
  }

  // `[[model]]`: each model begins with a copy of `model`.
  Result<std::vector<M>> models(const M& model) {
    std::vector<M> models;
    const json::Value* list = root_.find("model");
    if (list == nullptr) return models;
    if (!list->is_array()) return at(list->source().begin, "`model` must be a list of tables: [[model]]");
    for (const json::Value& entry : list->as_array()) {
      if (!entry.is_object()) return at(entry.source().begin, "`model` must be a list of tables: [[model]]");
      M& made = models.emplace_back(model);
      S unused;
      for (const json::Member& member : entry.as_object()) {
        if (member.key == "path") {
          if (!member.value.is_string()) return at(member.value.source().end, "`path` must be a text");
          made.path = member.value.as_string();
        } else if (const Status status = set(member, unused, made, false); !status.ok()) {
          return status.error();
        }
      }
    }
    return models;
  }

 private:
  [[nodiscard]] Error at(std::size_t offset, std::string sentence) const {
    return toml::at_place(Error(ErrorCode::kInvalidArgument, std::move(sentence), path_), text_, offset);
  }

  Status set(const json::Member& member, S& settings, M& model, bool is_server) const {
    const ServeOption* option = option_of_key(member.key);
    const json::SourceRange place = member.value.source();
    if (option == nullptr) return at(place.begin, "there is no setting `" + std::string(member.key) + "`");
    if (!is_server && !is_of_model(*option))
      return at(place.begin, "`" + std::string(member.key) + "` is a setting of the server, not of a model");
    const Status status = assign(*option, settings, model, {.value = member.value, .is_text = false});
    if (status.ok()) return Done{};
    return at(place.end, status.error().message);
  }

  std::string path_;
  std::string text_;
  json::Value root_{json::Object{}};
};

Given given_texts(const std::vector<std::string>& texts) {
  if (texts.size() == 1) return {.value = texts.front(), .is_text = true};
  json::Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return {.value = std::move(list), .is_text = true};
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Values from outside the file, each with its source.
struct Said {
  const ServeOption* option;
  Given given;
  std::string where;
};

std::vector<Said> said_outside(const GivenOptions& given, const Environment& environment) {
  std::vector<Said> all;
  for (const ServeOption& option : table()) {
    const std::string name = variable_name(option);
    std::optional<std::string> text = environment(name);
    if (!text) continue;
    const auto texts = takes_several(option) ? split(*text, ',') : std::vector<std::string>{*text};
    all.push_back({.option = &option, .given = given_texts(texts), .where = name});
  }
  for (const auto& [name, texts] : given.options) {
    for (const ServeOption& option : table()) {
      if (option.name == name) all.push_back({.option = &option, .given = given_texts(texts), .where = "--" + name});
    }
  }
  return all;
}

Status check(const S& settings) {
  const auto refuse = [](std::string sentence) { return Error(ErrorCode::kInvalidArgument, std::move(sentence)); };
  if (settings.tls_cert.empty() != settings.tls_key.empty()) return refuse("`tls-cert` and `tls-key` go together");
  for (const std::string& origin : settings.cors) {
    const std::size_t scheme = origin.find("://");
    if (scheme == std::string::npos || origin.find_first_of("/*?#@ ", scheme + 3) != std::string::npos)
      return refuse("`cors` takes an origin, a scheme and a host, not `" + origin + "`");
  }
  if (!settings.now.empty() && !core::parse_time(settings.now))
    return refuse("`now` is a time like 2026-03-14T15:09:26, not `" + settings.now + "`");
  constexpr std::array<std::string_view, 3> kStores = {"sqlite:", "redis://", "unix://"};
  const bool is_known =
      std::ranges::any_of(kStores, [&](std::string_view kind) { return settings.store.starts_with(kind); });
  if (!settings.store.empty() && settings.store != "memory" && !is_known)
    return refuse("`store` is `memory`, `sqlite:PATH` or `redis://HOST:PORT/DB`, not `" + settings.store + "`");
  for (const M& model : settings.models) {
    if (!model.urls.empty() && model.path.empty())
      return refuse("name the model whose template and tokenizer the engine's model has");
    if (settings.models.size() > 1 && model.path.empty()) return refuse("each [[model]] needs its `path`");
  }
  return Done{};
}

void append_value(std::string& out, const std::string& value) { out += json::to_compact(json::Value(value)); }
void append_value(std::string& out, bool value) { out += value ? "true" : "false"; }
void append_value(std::string& out, std::size_t value) { out += std::to_string(value); }
void append_value(std::string& out, int value) { out += std::to_string(value); }
void append_value(std::string& out, const std::vector<std::string>& values) {
  json::Array list;
  for (const std::string& value : values) list.emplace_back(value);
  out += json::to_compact(json::Value(std::move(list)));
}

void append_settings(std::string& out, S& settings, M& model, bool of_models) {
  for (const ServeOption& option : table()) {
    if (is_of_model(option) != of_models || option.is_secret) continue;
    out += key_name(option) + " = ";
    with_member(option, settings, model, [&](const auto& member) { append_value(out, member); });
    out += '\n';
  }
}

}  // namespace

std::span<const ServeOption> serve_options() { return table(); }

bool takes_several(const ServeOption& option) {
  S settings;
  M model;
  return with_member(option, settings, model, [](const auto& member) {
    return std::is_same_v<std::decay_t<decltype(member)>, std::vector<std::string>>;
  });
}

bool is_of_model(const ServeOption& option) { return std::holds_alternative<SettingOf<M>>(option.setting); }

std::string key_name(const ServeOption& option) {
  std::string key(option.name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string variable_name(const ServeOption& option) {
  std::string name = std::string(kVariables) + key_name(option);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

bool is_known_variable(std::string_view name) {
  if (!name.starts_with(kVariables) || name == "RONDO_SERVE_CONFIG") return true;
  return std::ranges::any_of(serve_options(), [&](const ServeOption& option) { return variable_name(option) == name; });
}

std::string default_text(const ServeOption& option) {
  S settings;
  M model;
  std::string text;
  with_member(option, settings, model, [&](const auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>) {
      text = member;
    } else if constexpr (!std::is_same_v<Member, bool> && !std::is_same_v<Member, std::vector<std::string>>) {
      text = std::to_string(member);
    }
  });
  return text;
}

std::string options_table() {
  std::string out = "| option | default | meaning |\n|---|---|---|\n";
  for (const ServeOption& option : table()) {
    std::string type(option.type);
    for (const std::string_view choice : option.choices) {
      if (choice == option.choices.front()) type.clear();
      type.append(type.empty() ? "" : "|").append(choice);
    }
    std::size_t at = 0;
    while ((at = type.find('|', at)) != std::string::npos) type.replace(at, 1, "\\|"), at += 2;
    const std::string value = default_text(option);
    out += "| `--" + std::string(option.name) + (type.empty() ? "" : " " + type) + "` | " +
           (value.empty() ? "" : "`" + value + "`") + " | " + std::string(option.help) + " |\n";
  }
  return out;
}

Result<ServeSettings> read_settings(const GivenOptions& given, const Environment& environment) {
  S settings;
  M ground;
  std::vector<M> models;
  if (!given.config_path.empty()) {
    auto text = files::read(given.config_path);
    if (!text.ok()) return text.error();
    File file(given.config_path, std::move(text).value());
    if (const Status status = file.read(settings, ground); !status.ok()) return status.error();
    auto listed = file.models(ground);
    if (!listed.ok()) return listed.error();
    models = std::move(listed).value();
  }
  if (models.empty() || !given.model.empty()) {
    models = {ground};
    models.front().path = given.model;
  }
  for (const Said& said : said_outside(given, environment)) {
    for (M& model : models) {
      if (const Status status = assign(*said.option, settings, model, said.given); !status.ok()) {
        Error error = status.error();
        error.source = said.where;
        return error;
      }
    }
  }
  settings.models = std::move(models);
  if (const Status status = check(settings); !status.ok()) return status.error();
  return settings;
}

std::string to_toml(const ServeSettings& settings) {
  S copy = settings;
  M unused;
  std::string out;
  append_settings(out, copy, unused, false);
  for (M& model : copy.models) {
    out += "\n[[model]]\npath = ";
    append_value(out, model.path);
    out += '\n';
    append_settings(out, copy, model, true);
  }
  return out;
}

}  // namespace rondo::cli
