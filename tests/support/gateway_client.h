// What tests of a gateway share: a client that waits for its answer, a clock that stands still, keys that repeat.
#pragma once

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/service.h"
#include "json/parse.h"
#include "net/client.h"
#include "net/loop.h"

namespace rondo::testing {

struct Answer {
  int status = 0;
  net::Headers headers;
  std::string body;
  [[nodiscard]] json::Value json() const {
    auto parsed = json::parse(body);
    REQUIRE_MESSAGE(parsed.ok(), body);
    return std::move(parsed).value();
  }
  [[nodiscard]] std::string header(std::string_view name) const { return std::string(headers.find(name).value_or("")); }
  // The sentence of an error; "" for other answers.
  [[nodiscard]] std::string error() const {
    const json::Value said = json();
    const json::Value* error = said.find("error");
    return error == nullptr ? "" : std::string(error->find_string("message").value_or(""));
  }
  [[nodiscard]] std::string warnings() const { return header("warning"); }
};

// Stops the loop once the answer is there.
inline std::unique_ptr<net::Call> begin(net::Client& client, net::Loop& loop, net::Request request,
                                        std::optional<Answer>& answer) {
  return client.fetch(std::move(request), [&](Result<net::Response> response) {
    REQUIRE_MESSAGE(response.ok(), (response.ok() ? "" : response.error().to_string()));
    answer = {response.value().status, std::move(response.value().headers), std::move(response.value().body)};
    loop.stop();
  });
}

inline Answer wait(net::Loop& loop, std::optional<Answer>& answer) {
  while (!answer) loop.run();
  return std::move(*answer);
}

inline Answer ask(net::Client& client, net::Loop& loop, net::Request request) {
  std::optional<Answer> answer;
  const auto call = begin(client, loop, std::move(request), answer);
  return wait(loop, answer);
}

// Keys that are the same each time, none of them twice.  Any thread.
inline std::function<std::array<std::uint8_t, 12>()> counted_keys() {
  return [counter = std::make_shared<std::atomic<std::uint32_t>>(0)] {
    std::array<std::uint8_t, 12> bytes{};
    const std::uint32_t count = ++*counter;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(count >> (i % 4 * 8));
    return bytes;
  };
}

// A service whose answers are the same each time.
inline void make_repeatable(gateway::ServiceParts& parts) {
  parts.now_ms = [] { return std::int64_t{1'800'000'000'000}; };
  parts.random = counted_keys();
}

}  // namespace rondo::testing
