#include "cli/demo_serve.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/common_prefix.h"
#include "cli/io.h"
#include "cli/serve_parts.h"
#include "core/fields.h"
#include "core/model.h"
#include "demo/embedded.h"
#include "engine/embedded.h"
#include "gateway/service.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/server.h"
#include "spans/memory_store.h"

namespace rondo::cli {
namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::size_t kServedTurns = 4;
// A conversation in which a tool was already called, because the random model never calls one.
constexpr const char* kTools = R"([{"type": "function", "function": {"name": "lines_of", "description": "Counts lines.",
  "parameters": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}}}])";
constexpr const char* kBegin = R"([{"role": "user", "content": "How long is the main file, and what is in it?"},
  {"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function",
    "function": {"name": "lines_of", "arguments": "{\"file\": \"src/main.cpp\"}"}}]},
  {"role": "tool", "tool_call_id": "call00001", "content": "It has 120 lines."}])";

class DemoServer {
 public:
  Status start(const demo::DemoOptions& options) {
    demo::EmbeddedOptions tiny;
    tiny.cache_folder = options.cache_folder;
    tiny.fixtures = options.fixtures;
    const auto weights = options.model.empty() ? demo::tiny_model(tiny, note) : demo::weights_path(options.model);
    if (!weights.ok()) return weights.error();
    core::Source source;
    source.path = options.model.empty() ? weights.value() : options.model;
    source.cache_folder = options.cache_folder;
    auto model = core::Model::load(source);
    if (!model.ok()) return model.error();
    model_ = std::move(model).value();
    engine::EmbeddedOptions engine;
    engine.parallel = 1;
    engine.llama.threads = demo::worker_threads();
    auto embedded = engine::Embedded::load(weights.value(), engine);
    if (!embedded.ok()) return embedded.error();
    embedded_ = std::move(embedded).value();
    serving_ = embedded_->serve(loop_);
    gateway::ServiceParts parts{.models = {{.name = "demo", .model = model_, .serving = serving_.get()}},
                                .spans = &kept_,
                                .now_ms = [] { return std::int64_t{0}; },
                                .local_time = [clock = service_options().clock] { return core::local_time(clock()); },
                                .random = random_key};
    service_ = std::make_unique<gateway::Service>(loop_, std::move(parts));
    auto server = net::Server::make(loop_, {.explain = gateway::Service::explain},
                                    [this](net::Exchange exchange) { service_->handle(std::move(exchange)); });
    if (!server.ok()) return server.error();
    server_ = std::move(server).value();
    auto client = net::Client::make(loop_, {});
    if (!client.ok()) return client.error();
    client_ = std::move(client).value();
    return Done{};
  }
  ~DemoServer() {
    client_.reset();
    server_.reset();
    service_.reset();
  }
  DemoServer() = default;
  DemoServer(const DemoServer&) = delete;
  DemoServer& operator=(const DemoServer&) = delete;

  Result<json::Value> chat(const json::Value& body) {
    std::optional<Result<net::Response>> answer;
    const auto call = client_->fetch({.method = "POST",
                                      .url = server_->url() + "/v1/chat/completions",
                                      .headers = {{"content-type", "application/json"}, {"x-rondo-explain", "1"}},
                                      .body = json::to_compact(body)},
                                     [&](Result<net::Response> response) {
                                       answer = std::move(response);
                                       loop_.stop();
                                     });
    loop_.run();
    if (!answer) return Error(ErrorCode::kIo, "the server did not answer");
    if (!answer->ok()) return answer->error();
    if (answer->value().status != 200) return Error(ErrorCode::kEngine, answer->value().body);
    return json::parse(answer->value().body);
  }

  [[nodiscard]] std::string url() const { return server_->url(); }
  [[nodiscard]] const core::Model& model() const { return *model_; }

 private:
  net::Loop loop_;
  spans::MemoryStore store_;
  spans::Spans kept_{store_, spans::HashKey{}};
  std::shared_ptr<const core::Model> model_;
  std::unique_ptr<engine::Embedded> embedded_;
  std::unique_ptr<engine::Serving> serving_;
  std::unique_ptr<gateway::Service> service_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
};

std::size_t size_at(const json::Value& object, const char* name) {
  const json::Value* value = object.find(name);
  return static_cast<std::size_t>(value == nullptr ? 0 : std::max<std::int64_t>(0, value->to_int64().value_or(0)));
}

void append_ids(const json::Value& object, const char* name, Ids& ids) {
  const json::Value* list = object.find(name);
  if (list == nullptr || !list->is_array()) return;
  for (const json::Value& id : list->as_array()) ids.push_back(static_cast<std::int32_t>(id.to_int64().value_or(0)));
}

// The ids as another server would make them: the template writes everything, and nothing is known about what was
// sampled.
Result<Ids> rendered_anew(const core::Model& model, const json::Array& messages, const json::Value& tools) {
  core::Call call;
  call.has_messages = true;
  call.conversation.messages = messages;
  call.conversation.tools = tools.as_array();
  call.conversation.add_generation_prompt = true;
  auto encoded = model.encode(call);
  if (!encoded.ok()) return encoded.error();
  return std::move(encoded.value().ids);
}

}  // namespace

Result<demo::Served> serve_demo(const demo::DemoOptions& options) {
  DemoServer server;
  if (const Status started = server.start(options); !started.ok()) return started.error();
  demo::Served out{.url = server.url(), .turns = {}};
  const json::Value tools = json::parse(kTools).value();
  json::Array messages = json::parse(kBegin).value().as_array();
  Ids known;
  for (std::size_t i = 0; i < kServedTurns; ++i) {
    const auto anew = rendered_anew(server.model(), messages, tools);
    const std::size_t rerendered = anew.ok() ? common_prefix(known, anew.value()) : 0;
    const auto reply = server.chat(json::Object{{"messages", messages},
                                                {"tools", tools},
                                                {"max_tokens", 60},
                                                {"seed", static_cast<std::int64_t>(options.seed)},
                                                {"return_token_ids", true}});
    if (!reply.ok()) return reply.error();
    const json::Value& rondo = *reply.value().find("rondo");
    const json::Value& choice = reply.value().find("choices")->as_array().front();
    known.clear();
    append_ids(reply.value(), "prompt_token_ids", known);
    demo::ServedTurn turn{.how = std::string(rondo.find_string("how").value_or("")),
                          .prompt = known.size(),
                          .expected = size_at(rondo, "expected"),
                          .cached = size_at(rondo, "cached"),
                          .appended = size_at(rondo, "appended"),
                          .rerender_cached = rerendered};
    append_ids(choice, "token_ids", known);
    turn.sampled = known.size() - turn.prompt;
    messages.push_back(*choice.find("message"));
    messages.emplace_back(json::Object{{"role", "user"}, {"content", "Say more of that."}});
    out.turns.push_back(std::move(turn));
  }
  return out;
}

}  // namespace rondo::cli
