// What the requests of one service share.  Private to gateway/.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "apis/errors.h"
#include "apis/request.h"
#include "gateway/journal.h"
#include "gateway/metrics.h"
#include "gateway/reasoning.h"
#include "gateway/service.h"
#include "gateway/streams.h"
#include "gateway/visit.h"

namespace rondo::gateway {

class CompletionRun;
class Passing;
class TurnRun;

// A stored reply of the Responses API.
struct StoredResponse {
  json::Array input;   // its items, those of the responses before it included
  json::Array output;  // items
  json::Value body;
};

// The last replies of the Responses API; the oldest go first.  A tenant finds its own alone.  Any thread.
class ResponseLog {
 public:
  static constexpr std::size_t kMost = 10'000;
  void keep(const std::string& tenant, const std::string& id, StoredResponse response);
  // Null where there is none.
  [[nodiscard]] std::shared_ptr<const StoredResponse> find(const std::string& tenant, const std::string& id) const;
  bool erase(const std::string& tenant, const std::string& id);

 private:
  struct Entry {
    std::string name;  // of tenant and id
    std::shared_ptr<const StoredResponse> response;
  };
  bool erase_named(const std::string& name);

  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // the latest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
};

// What lists say of sessions, as long as these stay as they are.  Any thread may call any member.
class SessionRows {
 public:
  static constexpr std::size_t kMost = 4096;
  using Name = std::pair<spans::Digest, spans::Digest>;  // of the scope and the session

  // Null where the session is not known in this state.
  [[nodiscard]] json::Value find(const Name& name, std::size_t turns, std::int64_t last_ms) const;
  void keep(const Name& name, std::size_t turns, std::int64_t last_ms, json::Value row);

 private:
  struct Row {
    std::size_t turns = 0;
    std::int64_t last_ms = 0;
    json::Value row{};
  };
  mutable std::mutex mutex_;
  std::map<Name, Row> rows_;
};

struct Shared {
  ResponseLog responses;
  SessionRows session_rows;
  Metrics metrics;
  RequestLog requests;
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
  // No more work begins; what runs on workers is waited for.
  void close();

  net::Loop& loop;
  ServiceParts parts;
  std::shared_ptr<Shared> shared;
  ResponseLog& responses;
  Metrics& metrics;
  std::map<TurnRun*, std::shared_ptr<TurnRun>> running;
  std::map<CompletionRun*, std::shared_ptr<CompletionRun>> running_completions;
  std::map<Passing*, std::shared_ptr<Passing>> passing;

 private:
  std::mutex mutex_;
  std::condition_variable idle_;
  std::size_t jobs_ = 0;  // that workers have, or are to get
  bool is_closed_ = false;
};

// The parameter of an address's query; "" where it is absent.
[[nodiscard]] std::string_view query_value(std::string_view query, std::string_view name);

// The next part of a path behind `base`, and what is below it: "ID" and "tokens" of "BASE/ID/tokens".
// REQUIRES: `path` begins with `base`.
struct PathParts {
  std::string id;
  std::string below;
};
[[nodiscard]] PathParts parts_behind(std::string_view path, std::string_view base);

// A sentence as the value of the header `warning`.
[[nodiscard]] std::string warning_field(std::string_view sentence);

// Answers of which the loop need not wait for the making: `make` runs on a worker.
using MakeReply = std::function<net::Reply(Service::State& state, const net::ServerRequest& request)>;
void answer_off_loop(Service::State& state, net::Exchange exchange, MakeReply make);

// Answers with an error as the API has them.
void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault);
void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply json_reply(int status, const json::Value& body, net::Headers headers = {});
[[nodiscard]] net::Reply fault_reply(chat::Api api, const apis::Fault& fault);

// A request of a chat API with what it stands for put in: earlier responses and references to items.
struct ReadRequest {
  apis::GenerateRequest request;
  json::Array input;  // items, of the Responses API
  const ServedModel* model = nullptr;
  std::shared_ptr<Visit> visit;  // never null
  std::size_t bytes = 0;         // of the body
  std::string passed_body;  // where it is for the engine's own API (passing.h), with the engine's name of the model
  Streams::Ticket ticket;   // null: the turn asks for one itself
};
// Any thread, as long as the request stays as it is.
[[nodiscard]] apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api,
                                                      const net::ServerRequest& http);

// The conversation that the request asks to go on with, and what of its wishes is not in it.
struct AskedCall {
  core::Call call;
  ReasoningPlan reasoning;
};
[[nodiscard]] AskedCall call_of(const ServedModel& model, const apis::GenerateRequest& request);

}  // namespace rondo::gateway
