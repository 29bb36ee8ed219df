// What the requests of one service share.  Private to gateway/.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "apis/errors.h"
#include "apis/request.h"
#include "gateway/response_input.h"
#include "gateway/service.h"

namespace rondo::gateway {

class TurnRun;

inline constexpr chat::Api kResponsesApi = chat::Api::kResponses;

struct Counters {
  std::uint64_t requests = 0;
  std::uint64_t failed = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t cached_tokens = 0;
  std::uint64_t completion_tokens = 0;
  std::map<std::string, std::uint64_t> by_way;  // render, bridge, raw-turns
};

struct Service::State : std::enable_shared_from_this<Service::State> {
  State(net::Loop& on, ServiceParts of) : loop(on), parts(std::move(of)) {}

  // The model that a request names; null where there is none.
  [[nodiscard]] const ServedModel* find_model(std::string_view name) const;

  net::Loop& loop;
  ServiceParts parts;
  Counters counters;
  std::map<TurnRun*, std::shared_ptr<TurnRun>> running;
  std::map<void*, std::shared_ptr<void>> watches;  // of responses in the background, and WebSockets
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

// Whose the request is.
[[nodiscard]] std::string tenant_of(const net::ServerRequest& http);

// A request of a chat API with what it stands for put in: earlier responses, conversations and references to items.
struct ReadRequest {
  apis::GenerateRequest request;
  const ServedModel* model = nullptr;
  std::string tenant;
  ResponseInput input;  // of the Responses API
};
[[nodiscard]] apis::Outcome<ReadRequest> read_request(Service::State& state, chat::Api api,
                                                      const net::ServerRequest& http);

// The same of a body that is read already.  `nearby` knows responses that no store has.
struct RequestParts {
  json::Value body;
  apis::HeaderLookup headers;
  std::string tenant;
  ResponseLookup nearby{};
};
[[nodiscard]] apis::Outcome<ReadRequest> read_parts(Service::State& state, chat::Api api, RequestParts parts);

// The conversation that the request asks to go on with.
[[nodiscard]] core::Call call_of(const ServedModel& model, const apis::GenerateRequest& request);

}  // namespace rondo::gateway
