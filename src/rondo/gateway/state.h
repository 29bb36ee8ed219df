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
#include "gateway/journal.h"
#include "gateway/metrics.h"
#include "gateway/reasoning.h"
#include "gateway/response_input.h"
#include "gateway/service.h"
#include "gateway/streams.h"
#include "gateway/visit.h"

namespace rondo::gateway {

class CompletionRun;
class TurnRun;

inline constexpr chat::Api kResponsesApi = chat::Api::kResponses;
inline constexpr int kClientWent = 499;  // the status of a request whose client did not wait, for log and metrics

// What lists say of sessions, as long as these stay so.  Any thread.
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

  // The model that a request names; null where there is none.
  [[nodiscard]] const ServedModel* find_model(std::string_view name) const;

  // Does `work` where the loop need not wait for it, then `done` on the loop.  `work` must not touch what is the loop's;
  // what both hold is let go of on the loop.  `bytes`: how much there is to read, about.  Neither is called any more once
  // the service is closed.
  void off_loop(std::size_t bytes, std::function<void()> work, std::function<void()> done);
  // Leave to generate, held as long as that lasts; a fault where too many do, or the server is about to end.
  [[nodiscard]] apis::Outcome<Streams::Ticket> begin_stream(const std::string& tenant);
  // Why no request can be answered; "" if they can.
  [[nodiscard]] std::string unready() const;
  // For log and metrics: a request has its answer, or its client went.
  void note_answered(const net::ServerRequest& request, const Visit& visit, int status) const;
  // No more work begins; what runs on workers is waited for.
  void close();

  net::Loop& loop;
  ServiceParts parts;
  std::shared_ptr<Shared> shared;
  Metrics& metrics;
  std::map<TurnRun*, std::shared_ptr<TurnRun>> running;
  std::map<CompletionRun*, std::shared_ptr<CompletionRun>> running_completions;
  std::map<void*, std::shared_ptr<void>> held;  // what else runs: requests that are passed on, watches, WebSockets

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t jobs_ = 0;  // that workers have, or are to get
  bool is_closed_ = false;
};

// A part of a path as it was meant: clients write the slash of a name as %2F.  As it is where that is no text of
// one line.
[[nodiscard]] std::string word_of_path(std::string_view given);

// The next part of a path behind `base`, decoded, and what is below it: "ID" and "tokens" of "BASE/ID/tokens".
// REQUIRES: `path` begins with `base`.
struct PathParts {
  std::string id;
  std::string below;
};
[[nodiscard]] PathParts parts_behind(std::string_view path, std::string_view base);

// The request's method; of a HEAD that of the answer it wants the head of.
[[nodiscard]] inline std::string_view method_of(const net::ServerRequest& request) {
  return request.method == "HEAD" ? std::string_view("GET") : std::string_view(request.method);
}

// A sentence as the value of the header `warning`.
[[nodiscard]] std::string warning_field(std::string_view sentence);

// An answer that is there, or what makes it on the loop.
using Answer = std::variant<net::Reply, std::function<void(net::Exchange exchange)>>;
// Answers of which the loop need not wait for the making: `make` runs on a worker.
using MakeAnswer = std::function<Answer(Service::State& state, const net::ServerRequest& request)>;
void answer_off_loop(Service::State& state, net::Exchange exchange, MakeAnswer make);

// Answers with an error as the API has them.
void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault);
void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply json_reply(int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply fault_reply(chat::Api api, const apis::Fault& fault);

// A request of a chat API with what it stands for put in: earlier responses, conversations and references to items.
struct ReadRequest {
  apis::GenerateRequest request;
  const ServedModel* model = nullptr;
  ResponseInput input;           // of the Responses API
  std::shared_ptr<Visit> visit;  // never null
  std::size_t bytes = 0;         // of the body
  std::string passed_body;       // where it is for the engine's own API (passing.h)
  Streams::Ticket ticket;        // null: the turn asks for one itself
};
// Any thread, as long as the request stays as it is.
[[nodiscard]] apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api,
                                                      const net::ServerRequest& http);

// The same of a body that came some other way.
struct RequestParts {
  std::string_view text;
  apis::HeaderLookup headers;
  std::shared_ptr<Visit> visit;
  std::span<const std::string_view> left_out{};  // keys of the body that are not the request's
  const ResponseRecord* nearby = nullptr;        // a response that no store has
  bool is_told = false;                          // the reply is told as events, whatever the body says
};
[[nodiscard]] apis::Outcome<ReadRequest> read_parts(Service::State& state, chat::Api api, const RequestParts& parts);
// For `/rondo/v1/log`, if requests are kept.  Any thread.
void keep_request(Service::State& state, const RequestParts& parts);
[[nodiscard]] RequestParts parts_of(const net::ServerRequest& http);

// Reads a request that generates on a worker, then runs it on the loop; answers where it may not run, or can't be read.
template <typename Request>
void read_then_run(Service::State& state, chat::Api api, net::Exchange exchange,
                   std::function<apis::Outcome<Request>(const net::ServerRequest& http)> read,
                   std::function<void(Request request, Streams::Ticket ticket, net::Exchange exchange)> run) {
  struct Reading {
    net::Exchange exchange;
    std::optional<apis::Outcome<Request>> read;
  };
  auto ticket = state.begin_stream(visit_of(exchange.request())->tenant);
  if (!ticket.ok()) return answer_fault(exchange, api, ticket.fault());
  const std::size_t bytes = exchange.request().body.size();
  auto reading = std::make_shared<Reading>(Reading{.exchange = std::move(exchange), .read = std::nullopt});
  state.off_loop(
      bytes,
      [reading, read = std::move(read)] { reading->read.emplace(read(std::as_const(reading->exchange).request())); },
      [reading, api, ticket = std::move(ticket.value()), run = std::move(run)] {
        reading->exchange.request().body = {};
        if (!reading->read->ok()) return answer_fault(reading->exchange, api, reading->read->fault());
        run(std::move(reading->read->value()), ticket, std::move(reading->exchange));
      });
}

// The conversation that the request asks to go on with, and what of its wishes is not in it.
struct AskedCall {
  core::Call call;
  ReasoningPlan reasoning;
};
[[nodiscard]] AskedCall call_of(const ServedModel& model, const apis::GenerateRequest& request);

// A message that is missing from the prompt without a word, because the template does not know its role (core/roles.h).
// `owners`: as spans::Plan's.
[[nodiscard]] std::optional<apis::Fault> unwritten_role(const ServedModel& model, const apis::GenerateRequest& request,
                                                        std::span<const std::int32_t> owners);

}  // namespace rondo::gateway
