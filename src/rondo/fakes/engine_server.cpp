#include "fakes/engine_server.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <utility>

#include "fakes/dialect.h"
#include "fakes/generation.h"
#include "fakes/memory.h"
#include "json/parse.h"
#include "net/server.h"

namespace rondo::fakes {
namespace {

constexpr std::array<std::pair<Fault::Kind, std::string_view>, 8> kFaults = {{
    {Fault::Kind::kNone, "none"},
    {Fault::Kind::kError500, "error500"},
    {Fault::Kind::kError503, "error503"},
    {Fault::Kind::kSlowStart, "slow-start"},
    {Fault::Kind::kSlowTokens, "slow-tokens"},
    {Fault::Kind::kDie, "die"},
    {Fault::Kind::kGarbage, "garbage"},
    {Fault::Kind::kHang, "hang"},
}};
constexpr double kSlotSimilarity = 0.1;
constexpr std::size_t kPage = 16;  // of vLLM

bool read_count(std::string_view& text, std::size_t& out) {
  const std::string_view part = text.substr(0, text.find(':'));
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return error == std::errc() && end == part.data() + part.size() && out > 0;
}

}  // namespace

std::string_view to_string(Fault::Kind kind) {
  for (const auto& [candidate, name] : kFaults) {
    if (candidate == kind) return name;
  }
  return "";
}

Result<Fault> read_fault(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  std::string_view rest = text.substr(std::min(name.size() + 1, text.size()));
  Fault fault;
  const auto* const found =
      std::find_if(kFaults.begin(), kFaults.end(), [&](const auto& one) { return one.second == name; });
  if (found == kFaults.end()) {
    std::string names;
    for (const auto& [kind, known] : kFaults) names += (names.empty() ? "" : ", ") + std::string(known);
    return Error(ErrorCode::kInvalidArgument, "`" + std::string(name) + "` is not a fault; expected one of " + names);
  }
  fault.kind = found->first;
  const bool is_read =
      (rest.empty() || read_count(rest, fault.first)) && (rest.empty() || read_count(rest, fault.count));
  if (!is_read || !rest.empty()) {
    return Error(ErrorCode::kInvalidArgument, "`" + std::string(text) + "`: FIRST and COUNT must be numbers from 1 on");
  }
  return fault;
}

struct EngineServer::Impl : std::enable_shared_from_this<EngineServer::Impl> {
  struct Waiting {
    net::Exchange exchange;
    Task task;
  };

  Impl(net::Loop& on, EngineOptions wanted);

  [[nodiscard]] Status listen();
  void close();
  [[nodiscard]] net::Reply record() const;
  void handle(net::Exchange exchange);
  void run(net::Exchange exchange, Task task);
  [[nodiscard]] bool try_run(net::Exchange& exchange, Task& task);
  [[nodiscard]] bool place(Running& running);
  void ended(Generation& generation, std::size_t number);
  void abort(const std::vector<std::string>& ids);
  [[nodiscard]] Fault next_fault();

  net::Loop& loop;
  EngineOptions options;
  Model model;
  BlockMemory blocks;
  SlotMemory slots;
  std::unique_ptr<DialectAnswers> answers;
  std::unique_ptr<net::Server> server;
  std::vector<std::shared_ptr<Generation>> running;
  std::deque<Waiting> waiting;  // requests waiting for a slot
  std::vector<Logged> log;
  std::size_t first_logged = 0;  // of the requests so far
  Fault fault;
  std::size_t requests = 0;
  std::size_t epoch = 0;  // of the memory: what began before a stop is not kept
};

EngineServer::Impl::Impl(net::Loop& on, EngineOptions wanted)
    : loop(on),
      options(std::move(wanted)),
      model(options.model),
      blocks(options.dialect == Dialect::kVllm ? kPage : 1, options.cache_tokens),
      slots(std::max<std::size_t>(1, options.slots), kSlotSimilarity) {
  switch (options.dialect) {
    case Dialect::kVllm: answers = vllm_answers(options, model); break;
    case Dialect::kSglang: answers = sglang_answers(options, model); break;
    case Dialect::kLlamaServer: answers = llama_server_answers(options, model, slots); break;
  }
}

Status EngineServer::Impl::listen() {
  net::ServerOptions listening;
  listening.host = options.host;
  listening.port = options.port;
  auto made =
      net::Server::make(loop, std::move(listening), [this](net::Exchange exchange) { handle(std::move(exchange)); });
  if (!made.ok()) return made.error();
  server = std::move(made).value();
  options.port = server->port();
  return Done{};
}

void EngineServer::Impl::close() {
  ++epoch;
  server.reset();  // first: an exchange without a connection answers nothing
  waiting.clear();
  running.clear();
  blocks.flush();
  slots = SlotMemory(slots.size(), kSlotSimilarity);
}

// No real server has this: the requests for ids so far.
net::Reply EngineServer::Impl::record() const {
  const auto ids_of = [](const Ids& ids) {
    json::Array out;
    for (const TokenId id : ids) out.emplace_back(static_cast<std::int64_t>(id));
    return json::Value(std::move(out));
  };
  json::Array requests_made;
  for (const Logged& one : log) {
    json::Array completions;
    for (const Ids& ids : one.completions) completions.push_back(ids_of(ids));
    requests_made.push_back(json::Object{{"path", one.path},
                                         {"prompt", ids_of(one.prompt)},
                                         {"completions", std::move(completions)},
                                         {"cached", one.cached},
                                         {"aborted", one.was_aborted},
                                         {"body", one.body}});
  }
  return json_reply(200, json::Object{{"requests", std::move(requests_made)}});
}

void EngineServer::Impl::handle(net::Exchange exchange) {
  const net::ServerRequest& request = exchange.request();
  if (request.method == "GET" && request.path == "/record") return exchange.reply(record());
  json::Value body = json::Object{};
  if (!request.body.empty()) {
    auto parsed = json::parse(request.body);
    if (!parsed.ok() || !parsed.value().is_object()) {
      return exchange.reply(answers->error(400, "the body must be a JSON object"));
    }
    body = std::move(parsed).value();
  }
  if (request.method == "POST") {
    if (const auto ids = answers->aborts(request.path, body)) {
      abort(*ids);
      return exchange.reply(200, {}, "");
    }
  }
  if (answers->flushes(request.path)) {
    blocks.flush();
    return exchange.reply(200, {}, "Cache flushed.\n");
  }
  std::variant<Task, net::Reply> read = answers->read(request, body);
  if (auto* reply = std::get_if<net::Reply>(&read)) return exchange.reply(std::move(*reply));
  run(std::move(exchange), std::move(std::get<Task>(read)));
}

Fault EngineServer::Impl::next_fault() {
  ++requests;
  const bool is_hit = requests >= fault.first && requests - fault.first < fault.count;
  return is_hit ? fault : Fault{};
}

void EngineServer::Impl::run(net::Exchange exchange, Task task) {
  task.fault = next_fault();
  const bool is_500 = task.fault.kind == Fault::Kind::kError500;
  if (is_500 || task.fault.kind == Fault::Kind::kError503) {
    log.push_back({task.path, task.body, task.prompt, 0, {}, task.salt, std::nullopt});
    return exchange.reply(answers->error(is_500 ? 500 : 503, "the engine is out of order"));
  }
  // A new request must not overtake those that wait, even if a slot is free for it.
  if (!waiting.empty() || !try_run(exchange, task)) waiting.push_back({std::move(exchange), std::move(task)});
}

// Finds out how much of the prompt is known; false if there is no free slot.
bool EngineServer::Impl::place(Running& of) {
  if (options.dialect == Dialect::kLlamaServer) {
    const auto taken = slots.take(of.task.prompt, of.task.uses_cache, of.task.slot);
    if (!taken) return false;
    of.slot = taken->slot;
    of.cached = taken->known;
    return true;
  }
  of.cached = of.task.uses_cache ? blocks.known(of.task.prompt, of.task.salt) : 0;
  // The prompt is kept from its beginning on, so that equal prompts that run at the same time share it.
  blocks.keep(of.task.prompt, of.task.salt);
  return true;
}

bool EngineServer::Impl::try_run(net::Exchange& exchange, Task& task) {
  Running of;
  of.task = task;
  if (!place(of)) return false;
  // Completions are made in advance and sent id by id.  Each choice has a seed of its own, or all would be equal.
  for (std::size_t i = 0; i < of.task.choices; ++i) {
    Asked asked = of.task.asked;
    if (i > 0) asked.seed = asked.seed.value_or(0) + i;
    of.choices.push_back({model.complete(of.task.prompt, asked), 0, {}});
  }
  log.push_back({of.task.path, of.task.body, of.task.prompt, of.cached, {}, of.task.salt, std::nullopt});
  if (options.dialect == Dialect::kLlamaServer) log.back().slot = of.slot;
  const std::size_t number = first_logged + log.size() - 1;
  const auto generation =
      std::make_shared<Generation>(loop, std::move(exchange), *answers, std::move(of), options,
                                   [weak = weak_from_this(), number, began = epoch](Generation& over) {
                                     const auto self = weak.lock();
                                     if (self && self->epoch == began) self->ended(over, number);
                                   });
  running.push_back(generation);
  generation->start();
  return true;
}

void EngineServer::Impl::ended(Generation& generation, std::size_t number) {
  const Running& of = generation.running();
  Ids computed = of.task.prompt;
  Logged* logged = number >= first_logged ? &log[number - first_logged] : nullptr;
  if (logged != nullptr) logged->was_aborted = generation.was_aborted();
  for (const Choice& choice : of.choices) {
    const auto end = choice.completion.ids.begin() + static_cast<std::ptrdiff_t>(choice.sent);
    if (logged != nullptr) logged->completions.emplace_back(choice.completion.ids.begin(), end);
    // The last sampled id has not been computed.
    computed = of.task.prompt;
    if (choice.sent > 1) computed.insert(computed.end(), choice.completion.ids.begin(), end - 1);
    if (options.dialect != Dialect::kLlamaServer) blocks.keep(computed, of.task.salt);
  }
  if (options.dialect == Dialect::kLlamaServer) slots.release(of.slot, std::move(computed));
  std::erase_if(running, [&](const auto& one) { return one.get() == &generation; });
  while (!waiting.empty() && try_run(waiting.front().exchange, waiting.front().task)) waiting.pop_front();
}

void EngineServer::Impl::abort(const std::vector<std::string>& ids) {
  // The loop goes over a copy, because a generation that is aborted leaves the list.
  for (const auto& generation : std::vector(running)) {
    const std::string& id = generation->running().task.id;
    const bool is_meant =
        std::any_of(ids.begin(), ids.end(), [&](const std::string& one) { return one == "*" || one == id; });
    if (is_meant) generation->abort();
  }
}

Result<std::unique_ptr<EngineServer>> EngineServer::make(net::Loop& loop, EngineOptions options) {
  auto impl = std::make_shared<Impl>(loop, std::move(options));
  if (const Status status = impl->listen(); !status.ok()) return status.error();
  return std::make_unique<EngineServer>(std::move(impl));
}

EngineServer::EngineServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
EngineServer::~EngineServer() { impl_->close(); }

std::string EngineServer::url() const { return impl_->server ? impl_->server->url() : ""; }
std::uint16_t EngineServer::port() const { return impl_->options.port; }
const std::vector<Logged>& EngineServer::log() const { return impl_->log; }

void EngineServer::clear_log() {
  impl_->first_logged += impl_->log.size();
  impl_->log.clear();
}

void EngineServer::set_fault(Fault fault) {
  impl_->fault = fault;
  impl_->requests = 0;
}

void EngineServer::flush() {
  impl_->blocks.flush();
  impl_->slots.flush();
}

void EngineServer::stop() { impl_->close(); }
Status EngineServer::start() { return impl_->server ? Status(Done{}) : impl_->listen(); }

}  // namespace rondo::fakes
