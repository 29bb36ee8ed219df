// Errors of requests, in the form of each API.
//
//   Outcome<GenerateRequest> request = apis::read(api, body, headers);
//   if (!request.ok()) answer(request.fault().status(), error_body(api, request.fault()));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "apis/stream_event.h"
#include "chat/api_request.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::apis {

enum class FaultKind : std::uint8_t {
  kInvalid,       // 400: the request is not valid
  kUnauthorized,  // 401
  kForbidden,     // 403
  kNotFound,      // 404: an address, a model or a stored object
  kTooLarge,      // 413: the body is too large
  kBusy,          // 429
  kInternal,      // 500: a fault in rondo
  kEngine,        // 502: a fault in the engine
  kUnavailable,   // 503: loading or draining
  kTimeout,       // 504
};

struct Fault {
  FaultKind kind = FaultKind::kInternal;
  std::string message{};  // a sentence for people
  std::string param{};    // the field concerned: "messages[2].content"; "" if none
  std::string code{};     // a code to branch on: "context_length_exceeded"; "" if the kind says everything
  std::optional<int> retry_after_s = {};

  [[nodiscard]] int status() const;
};

// Either a T or a Fault.
template <typename T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Outcome(Fault fault) : state_(std::in_place_index<1>, std::move(fault)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  // REQUIRES: ok().
  [[nodiscard]] const T& value() const& { return *std::get_if<0>(&state_); }
  [[nodiscard]] T& value() & { return *std::get_if<0>(&state_); }
  [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&state_)); }
  // REQUIRES: !ok().
  [[nodiscard]] const Fault& fault() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Fault> state_;
};

// Makes the fault for an invalid request.  OpenAI's own codes are "invalid_type", "missing_required_parameter",
// "invalid_value" and "unsupported_value".
[[nodiscard]] Fault invalid(std::string param, std::string message, std::string code = "invalid_value");
// Makes the same from an error that a lower folder found in the request.
[[nodiscard]] Fault fault_of(const Error& error);
// Makes the fault for a prompt with more tokens than fit.  Clients look for the wording of their API.
[[nodiscard]] Fault context_too_long(chat::Api api, std::int64_t prompt_tokens, std::int64_t limit);
[[nodiscard]] Fault previous_response_not_found(std::string_view id);
// `model` is "" if the request names none although there are several.
[[nodiscard]] Fault model_not_found(std::string_view model);
// `what` names what was sought: "response", "conversation".
[[nodiscard]] Fault not_found(std::string_view what, std::string_view id);
// Make the faults of message threads (Messages): the store does not have the turn that the request continues, or the
// request has content that a thread cannot hold.
[[nodiscard]] Fault thread_not_found(std::string_view message_id);
[[nodiscard]] Fault thread_unsupported(std::string param, std::string message);
[[nodiscard]] Fault wrong_key();

// Returns the body of an error reply.
[[nodiscard]] json::Value error_body(chat::Api api, const Fault& fault);
// Returns the error as an event of a running stream.  `sequence_number` is for Responses streams.
[[nodiscard]] StreamEvent error_event(chat::Api api, const Fault& fault, std::int64_t sequence_number = 0);
// Returns the error as a message of a WebSocket.
[[nodiscard]] json::Value websocket_error(const Fault& fault);

}  // namespace rondo::apis
