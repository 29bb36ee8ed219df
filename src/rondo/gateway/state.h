// What the requests of one service share.  Private to gateway/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "apis/errors.h"
#include "apis/request.h"
#include "gateway/engine_terms.h"
#include "gateway/journal.h"
#include "gateway/metrics.h"
#include "gateway/reasoning.h"
#include "gateway/response_input.h"
#include "gateway/service.h"
#include "gateway/streams.h"
#include "gateway/threads.h"
#include "gateway/visit.h"

namespace rondo::gateway {

class CompletionRun;
class TurnRun;

inline constexpr chat::Api kResponsesApi = chat::Api::kResponses;
inline constexpr int kClientWent = 499;  // the status for a client that did not wait; for log and metrics

// Rows of the lists of sessions, cached while the sessions do not change.  Any thread.
class SessionRows {
 public:
  [[nodiscard]] std::optional<json::Value> find(const spans::Digest& scope, const spans::SessionInfo& info) const;
  void keep(const spans::Digest& scope, const spans::SessionInfo& info, json::Value row);

 private:
  struct Row {
    std::size_t turns = 0;
    std::int64_t last_ms = 0;
    json::Value row{};
  };
  mutable std::mutex mutex_;
  std::map<std::pair<spans::Digest, spans::Digest>, Row> rows_;  // by scope and session
};

struct Shared {
  Metrics metrics;
  RequestLog requests;
  SessionRows session_rows;
  std::shared_ptr<Streams> streams = std::make_shared<Streams>();
  std::atomic<bool> is_draining = false;
};

struct Service::State : std::enable_shared_from_this<Service::State> {
  State(net::Loop& on, ServiceParts of);

  // Returns the model that a request names; null if there is none.
  [[nodiscard]] const ServedModel* find_model(std::string_view name) const;

  // Runs `work` on a worker if the loop should not wait for it, then `done` on the loop.  `work` must not touch what
  // belongs to the loop.  What both hold is released on the loop.  `bytes` is roughly how much there is to read.  After
  // the service is closed, neither is called.
  void off_loop(std::size_t bytes, std::function<void()> work, std::function<void()> done);
  // Returns a ticket that allows to generate while it is held.  Returns a fault if too many requests generate, or if
  // the server is shutting down.
  [[nodiscard]] apis::Outcome<Streams::Ticket> begin_stream(const std::string& tenant);
  // Returns a timer that calls `task` once a request has had all the time that it may have.  Without such a limit it
  // never does.
  [[nodiscard]] net::Timer at_limit(const Visit& visit, std::function<void()> task) const;
  // Returns why no request can be answered; "" if requests can be answered.
  [[nodiscard]] std::string unready() const;
  // Notes, for log and metrics, that a request has its answer or that its client has gone.
  void note_answered(const net::ServerRequest& request, const Visit& visit, int status) const;
  // Starts no more work, and waits for the work that runs on workers.
  void close();

  net::Loop& loop;
  ServiceParts parts;
  std::shared_ptr<Shared> shared;
  Metrics& metrics;
  std::map<TurnRun*, std::shared_ptr<TurnRun>> running;
  std::map<CompletionRun*, std::shared_ptr<CompletionRun>> running_completions;
  std::map<void*, std::shared_ptr<void>> held;  // other running work: requests that are passed on, watches, WebSockets

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t jobs_ = 0;  // jobs that workers have or will get
  bool is_closed_ = false;
};

// Decodes a part of a path: clients write the slash in a name as %2F.  Returns `given` unchanged if the result is not
// text on one line.
[[nodiscard]] std::string word_of_path(std::string_view given);

// The next part of a path after `base`, decoded, and what follows it: "ID" and "tokens" for "BASE/ID/tokens".
//
// REQUIRES: `path` begins with `base`.
struct PathParts {
  std::string id;
  std::string below;
};
[[nodiscard]] PathParts parts_behind(std::string_view path, std::string_view base);

// Returns the number in a field of the query; nullopt if the field is not there.
[[nodiscard]] apis::Outcome<std::optional<std::int64_t>> query_number(const net::ServerRequest& http,
                                                                      std::string_view name);

// Returns the request's method; for HEAD, the method whose head it asks for.
[[nodiscard]] inline std::string_view method_of(const net::ServerRequest& request) {
  return request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
}

// Adds the header `warning` with the sentences, if there are any.  It has as many as clients take (many refuse a head of
// 16 KiB or 100 fields), then the number of the others; long sentences lose their middle.
void add_warnings(const std::vector<std::string>& sentences, net::Headers& headers);

// A finished answer, or a function that makes it on the loop.
using Answer = std::variant<net::Reply, std::function<void(net::Exchange exchange)>>;
// Makes an answer that the loop need not wait for: `make` runs on a worker.
using MakeAnswer = std::function<Answer(Service::State& state, const net::ServerRequest& request)>;
void answer_off_loop(Service::State& state, net::Exchange exchange, MakeAnswer make);

// Answers with an error in the form of the API.
void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault);
void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply json_reply(int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply fault_reply(chat::Api api, const apis::Fault& fault);

// A request of a chat API in which everything it refers to is filled in: earlier responses, conversations and
// references to items.
struct ReadRequest {
  apis::GenerateRequest request;
  const ServedModel* model = nullptr;
  ResponseInput input;           // for the Responses API
  ThreadInput thread;            // for Messages
  std::shared_ptr<Visit> visit;  // never null
  std::size_t bytes = 0;         // size of the body
  std::string passed_body;       // if the request goes to the engine's own API (passing.h)
  Streams::Ticket ticket;        // null: the turn takes a ticket itself
};
// Any thread may call this while the request does not change.
[[nodiscard]] apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api,
                                                      const net::ServerRequest& http);

// Makes the fault for content that is not text, where token ids have to carry it.
[[nodiscard]] apis::Fault not_text(const std::string& media);

// The parts of a request whose body did not come over HTTP.
struct RequestParts {
  std::string_view text;
  apis::HeaderLookup headers;
  std::shared_ptr<Visit> visit;
  std::span<const std::string_view> left_out{};  // keys of the body that do not belong to the request
  const ResponseRecord* nearby = nullptr;        // a response that no store has
  bool is_told = false;                          // the reply is sent as events, whatever the body says
  std::vector<std::int32_t> places{};            // as in apis::PlacedItems, if the items were put into the body before
};
[[nodiscard]] apis::Outcome<ReadRequest> read_parts(Service::State& state, chat::Api api, const RequestParts& parts);
// Keeps the request for `/rondo/v1/log`, if requests are kept.  Any thread.
void keep_request(Service::State& state, const RequestParts& parts);
[[nodiscard]] RequestParts parts_of(const net::ServerRequest& http);

// Reads a request that generates on a worker, then runs it on the loop.  Answers with the fault if it may not run,
// cannot be read, or is not read in time.
template <typename Request>
void read_then_run(Service::State& state, chat::Api api, net::Exchange exchange,
                   std::function<apis::Outcome<Request>(const net::ServerRequest& http)> read,
                   std::function<void(Request request, Streams::Ticket ticket, net::Exchange exchange)> run) {
  struct Reading {
    net::Exchange exchange;
    std::optional<apis::Outcome<Request>> read;
    net::Timer limit{};
    bool is_late = false;
  };
  auto ticket = state.begin_stream(visit_of(exchange.request())->tenant);
  if (!ticket.ok()) return answer_fault(exchange, api, ticket.fault());
  const std::size_t bytes = exchange.request().body.size();
  const std::shared_ptr<Visit> visit = visit_of(exchange.request());
  visit->asked = state.loop.now();
  auto reading = std::make_shared<Reading>(Reading{.exchange = std::move(exchange), .read = std::nullopt});
  reading->limit = state.at_limit(*visit, [weak = std::weak_ptr(reading), api] {
    const auto late_one = weak.lock();
    if (!late_one) return;
    late_one->is_late = true;
    answer_fault(late_one->exchange, api, late());
  });
  state.off_loop(
      bytes,
      [reading, read = std::move(read)] { reading->read.emplace(read(std::as_const(reading->exchange).request())); },
      [reading, api, ticket = std::move(ticket.value()), run = std::move(run)] {
        reading->limit.cancel();
        if (reading->is_late) return;
        reading->exchange.request().body = {};
        if (!reading->read->ok()) return answer_fault(reading->exchange, api, reading->read->fault());
        run(std::move(reading->read->value()), ticket, std::move(reading->exchange));
      });
}

// The conversation that the request asks to continue, and the wishes that it does not express.
struct AskedCall {
  core::Call call;
  ReasoningPlan reasoning;
};
[[nodiscard]] AskedCall call_of(const Service::State& state, const ServedModel& model,
                                const apis::GenerateRequest& request);

// Returns a fault if something of the messages is silently missing from the prompt: a message whose role the template
// does not know (core/roles.h), or the calls of a message that is continued.
[[nodiscard]] std::optional<apis::Fault> unwritten(const ServedModel& model, const apis::GenerateRequest& request,
                                                   const spans::Plan& plan);

}  // namespace rondo::gateway
