// What the requests of one service share.  Private to gateway/.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "apis/errors.h"
#include "apis/request.h"
#include "gateway/service.h"

namespace rondo::gateway {

class TurnRun;

// A stored reply of the Responses API.
struct StoredResponse {
  json::Array input;   // its items, those of the responses before it included
  json::Array output;  // items
  json::Value body;
};

// The last replies of the Responses API; the oldest go first.
class ResponseLog {
 public:
  static constexpr std::size_t kMost = 10'000;
  void keep(const std::string& id, StoredResponse response);
  [[nodiscard]] const StoredResponse* find(const std::string& id) const;
  bool erase(const std::string& id);

 private:
  struct Entry {
    std::string id;
    StoredResponse response;
  };
  std::list<Entry> entries_;  // the latest first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_id_;
};

struct Counters {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::map<std::string, std::uint64_t> by_way;  // render, bridge, raw-turns
};

// What a list says of a session, as long as it stays so.
struct SessionRow {
  std::size_t turns = 0;
  std::int64_t last_ms = 0;
  json::Value row{};
};

struct Service::State : std::enable_shared_from_this<Service::State> {
  State(net::Loop& on, ServiceParts of) : loop(on), parts(std::move(of)) {}

  // The model that a request names; null where there is none.
  [[nodiscard]] const ServedModel* find_model(std::string_view name) const;

  net::Loop& loop;
  ServiceParts parts;
  ResponseLog responses;
  Counters counters;
  std::map<std::pair<spans::Digest, spans::Digest>, SessionRow> session_rows;  // by scope and session
  std::map<TurnRun*, std::shared_ptr<TurnRun>> running;
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

// Answers with an error as the API has them.
void answer_fault(net::Exchange& exchange, chat::Api api, const apis::Fault& fault);
void answer_json(net::Exchange& exchange, int status, const json::Value& body, net::Headers headers = {});

// A request of a chat API with what it stands for put in: earlier responses and references to items.
struct ReadRequest {
  apis::GenerateRequest request;
  json::Array input;  // items, of the Responses API
  const ServedModel* model = nullptr;
};
[[nodiscard]] apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api,
                                                      const net::ServerRequest& http);

// The conversation that the request asks to go on with.
[[nodiscard]] core::Call call_of(const ServedModel& model, const apis::GenerateRequest& request);

}  // namespace rondo::gateway
