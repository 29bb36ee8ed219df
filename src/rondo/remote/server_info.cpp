#include "remote/server_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "json/parse.h"
#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

using engine::Grammar;

constexpr std::size_t kVllmBlock = 16;

std::size_t size_in(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  const auto number = found == nullptr ? std::nullopt : found->to_int64();
  return number && *number > 0 ? static_cast<std::size_t>(*number) : 0;
}

std::string last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return std::string(path.substr(path.rfind('/') + 1));
}

// Answers arrive in turn, and each may lead to the next question.
class Asking final : public Probe {
 public:
  Asking(net::Client& client, std::string url, std::function<void(Result<ServerInfo>)> done, net::Milliseconds patience)
      : client_(client), done_(std::move(done)), patience_(patience) {
    while (url.ends_with('/')) url.pop_back();
    info_.url = std::move(url);
    constexpr std::array kPaths = {"/props", "/server_info", "/version"};
    for (std::size_t i = 0; i < kPaths.size(); ++i) {
      first_[i].call = ask("GET", kPaths[i], "", [this, i](Result<net::Response> response) {
        first_[i].response = std::move(response);
        if (std::ranges::all_of(first_, [](const First& each) { return each.response.has_value(); })) decide();
      });
    }
  }

 private:
  struct First {
    std::unique_ptr<net::Call> call;
    std::optional<Result<net::Response>> response;
  };

  std::unique_ptr<net::Call> ask(const char* method, const std::string& path, std::string body,
                                 std::function<void(Result<net::Response>)> done) {
    net::Request request{.method = method, .url = info_.url + path, .body = std::move(body)};
    if (!request.body.empty()) request.headers.set("Content-Type", "application/json");
    net::Timeouts timeouts;
    timeouts.connect = timeouts.first_byte = timeouts.idle = timeouts.whole = patience_;
    request.timeouts = timeouts;
    return client_.fetch(std::move(request), std::move(done));
  }

  // The JSON object in an answer, if it is one.
  static std::optional<json::Value> object_of(const Result<net::Response>& response) {
    if (!response.ok() || response.value().status != 200) return std::nullopt;
    auto body = json::parse(response.value().body);
    if (!body.ok() || !body.value().is_object()) return std::nullopt;
    return std::move(body).value();
  }

  void decide() {
    const auto props = object_of(*first_[0].response);
    if (props && (props->find("total_slots") != nullptr || props->find("default_generation_settings") != nullptr))
      return read_props(*props);
    const auto about = object_of(*first_[1].response);
    if (about && (about->find("max_total_num_tokens") != nullptr || about->find("model_path") != nullptr))
      return read_server_info(*about);
    const auto version = object_of(*first_[2].response);
    if (version && version->find_string("version")) return begin_vllm(std::string(*version->find_string("version")));
    finish(why_unknown());
  }

  // Nobody answers, a key is missing, or it is another kind of server.
  Error why_unknown() const {
    for (const First& each : first_) {
      if (!each.response->ok()) return each.response->error();
    }
    for (const First& each : first_) {
      const int status = each.response->value().status;
      if (status != 401 && status != 403) continue;
      Error out(ErrorCode::kEngine, "the server answers with status " + std::to_string(status), info_.url);
      out.hint = "it asks for a key, or refuses the one that it was sent";
      return out;
    }
    std::string statuses;
    for (const First& each : first_)
      statuses += (statuses.empty() ? "" : ", ") + std::to_string(each.response->value().status);
    return {ErrorCode::kEngine,
            "no server that is known: `/props`, `/server_info` and `/version` were answered with " + statuses,
            info_.url};
  }

  void read_props(const json::Value& props) {
    info_.kind = ServerKind::kLlamaServer;
    info_.path = "/completion";
    info_.version = props.find_string("build_info").value_or("");
    info_.model = props.find_string("model_alias").value_or("");
    if (info_.model.empty()) info_.model = last_part(props.find_string("model_path").value_or(""));
    if (const json::Value* settings = props.find("default_generation_settings"))
      info_.context_tokens = size_in(*settings, "n_ctx");
    if (info_.context_tokens == 0) info_.context_tokens = size_in(props, "n_ctx");
    info_.parallel = size_in(props, "total_slots");
    info_.cache_tokens = info_.context_tokens * info_.parallel;
    info_.notes.emplace_back("it ends at the model's own end tokens; other stop ids are watched for from outside");
    info_.notes.emplace_back("its slots are shared by all tenants");
    finish(std::move(info_));
  }

  void read_server_info(const json::Value& about) {
    info_.kind = ServerKind::kSglang;
    info_.path = "/generate";
    info_.version = about.find_string("version").value_or("");
    info_.model = about.find_string("served_model_name").value_or("");
    if (info_.model.empty()) info_.model = last_part(about.find_string("model_path").value_or(""));
    info_.context_tokens = size_in(about, "context_length");
    if (info_.context_tokens == 0) info_.context_tokens = size_in(about, "max_req_input_len");
    info_.parallel = size_in(about, "max_running_requests");
    info_.cache_tokens = size_in(about, "max_total_num_tokens");
    info_.block = std::max<std::size_t>(size_in(about, "page_size"), 1);
    finish(std::move(info_));
  }

  void begin_vllm(std::string version) {
    info_.kind = ServerKind::kVllm;
    info_.version = std::move(version);
    info_.block = kVllmBlock;
    next_ = ask("GET", "/v1/models", "", [this](const Result<net::Response>& response) { read_models(response); });
  }

  void read_models(const Result<net::Response>& response) {
    const auto body = object_of(response);
    const json::Value* data = body ? body->find("data") : nullptr;
    if (data == nullptr || !data->is_array() || data->as_array().empty()) {
      return finish(response.ok() ? Error(ErrorCode::kEngine,
                                          "`/v1/models` was answered with status " +
                                              std::to_string(response.value().status) + " and names no model",
                                          info_.url)
                                  : response.error());
    }
    const json::Value& model = data->as_array()[0];
    info_.model = model.find_string("id").value_or("");
    info_.context_tokens = size_in(model, "max_model_len");
    // A bad request means that the address exists.  Forbidden means that it is switched off.
    auto settled = [this](const Result<net::Response>& answer) { read_generate(answer); };
    next_ = ask("POST", "/inference/v1/generate", "{}", std::move(settled));
  }

  void read_generate(const Result<net::Response>& response) {
    if (!response.ok()) return finish(response.error());
    const int status = response.value().status;
    const bool is_open = status == 200 || status == 400 || status == 422;
    info_.path = is_open ? "/inference/v1/generate" : "/v1/completions";
    if (status == 403)
      info_.notes.emplace_back(
          "`/inference/v1/generate` is switched off (--enable-scale-out); `/v1/completions` serves");
    info_.notes.emplace_back("it says how much of a prompt was cached only with --enable-prompt-tokens-details");
    next_ = ask("GET", "/metrics", "", [this](const Result<net::Response>& answer) {
      if (answer.ok() && answer.value().status == 200) read_metrics(answer.value().body);
      finish(std::move(info_));
    });
  }

  // The cache size is only in the metrics, as labels of one of them.
  void read_metrics(std::string_view text) {
    constexpr std::string_view kName = "vllm:cache_config_info{";
    const std::size_t begin = text.find(kName);
    if (begin == std::string_view::npos) return;
    const std::string_view labels = text.substr(begin, text.find('\n', begin) - begin);
    const std::size_t block = label_in(labels, "block_size");
    if (block > 0) info_.block = block;
    info_.cache_tokens = label_in(labels, "num_gpu_blocks") * info_.block;
  }

  static std::size_t label_in(std::string_view labels, std::string_view name) {
    const std::string begin = std::string(name) + "=\"";
    const std::size_t at = labels.find(begin);
    std::size_t value = 0;
    if (at == std::string_view::npos) return value;
    const std::string_view text = labels.substr(at + begin.size());
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  void finish(Result<ServerInfo> found) {
    const auto done = std::exchange(done_, nullptr);
    done(std::move(found));  // may destroy this
  }

  net::Client& client_;
  std::function<void(Result<ServerInfo>)> done_;
  net::Milliseconds patience_;
  ServerInfo info_;
  std::array<First, 3> first_;
  std::unique_ptr<net::Call> next_;
};

}  // namespace

const KindRow& row_of(ServerKind kind) { return *std::ranges::find(kServerKinds, kind, &KindRow::kind); }

std::string_view to_string(ServerKind kind) { return row_of(kind).name; }

std::vector<std::string_view> server_names() {
  std::vector<std::string_view> names;
  for (const KindRow& row : kServerKinds) names.push_back(row.name);
  return names;
}

engine::Capabilities capabilities_of(const ServerInfo& info) {
  const KindRow& row = row_of(info.kind);
  engine::Capabilities out;
  out.name = info.model;
  out.context_tokens = info.context_tokens;
  out.parallel = std::max<std::size_t>(info.parallel, 1);
  out.tells_cached_tokens = row.tells_cached_tokens;
  out.tells_prompt_logprobs = row.tells_prompt_logprobs;
  out.grammars = {Grammar::Dialect::kGbnf, Grammar::Dialect::kJsonSchema};
  if (row.reads_tags) {
    out.grammars.push_back(Grammar::Dialect::kStructuralTag);
    out.grammars.push_back(Grammar::Dialect::kRegex);
  }
  return out;
}

json::Value to_json(const ServerInfo& info) {
  json::Array grammars;
  for (const Grammar::Dialect dialect : capabilities_of(info).grammars)
    grammars.emplace_back(engine::to_string(dialect));
  json::Array notes;
  for (const std::string& note : info.notes) notes.emplace_back(note);
  json::Object out{{"url", info.url},
                   {"kind", to_string(info.kind)},
                   {"version", info.version},
                   {"model", info.model},
                   {"path", info.path}};
  const auto set = [&out](const char* key, std::size_t value) { out.set(key, value == 0 ? json::Value() : value); };
  set("context_tokens", info.context_tokens);
  set("parallel", info.parallel);
  set("cache_tokens", info.cache_tokens);
  set("block", info.block);
  out.set("grammars", std::move(grammars));
  out.set("notes", std::move(notes));
  return out;
}

std::unique_ptr<Probe> probe(net::Client& client, std::string url, std::function<void(Result<ServerInfo>)> done,
                             net::Milliseconds patience) {
  return std::make_unique<Asking>(client, std::move(url), std::move(done), patience);
}

}  // namespace rondo::remote
