#include "gateway/service.h"

#include <doctest/doctest.h>

#include "gateway/engine_terms.h"
#include "json/parse.h"

namespace rondo::gateway {
namespace {

TEST_CASE("what HTTP refuses is an error of the API, and the server's own fault from 500 on") {
  const auto type_of = [](int status) {
    const net::Reply reply = Service::explain("/v1/models", status, "so it is");
    CHECK(reply.status == status);
    CHECK(reply.headers.find("content-type") == "application/json");
    const json::Value body = json::parse(reply.body).value();
    const json::Value* error = body.find("error");
    REQUIRE(error != nullptr);
    CHECK(error->find_string("message") == "so it is");
    return std::string(error->find_string("type").value_or(""));
  };
  for (const int status : {400, 404, 408, 413, 431, 499}) CHECK(type_of(status) == "invalid_request_error");
  for (const int status : {500, 502, 503}) CHECK(type_of(status) == "server_error");
}

TEST_CASE("bug: the engine's closed connection read as if it were the client's own") {
  const auto told = [](const char* message) {
    return fault_of_engine(chat::Api::kChat, Error(ErrorCode::kEngine, message), {}, 0).message;
  };
  CHECK(told("read: the connection was closed") == "the engine failed: read: the connection was closed");
  CHECK(told("the engine is on fire") == "the engine is on fire");
}

}  // namespace
}  // namespace rondo::gateway
