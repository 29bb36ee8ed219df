#include "apis/errors.h"

#include <array>

#include "json/print.h"

namespace rondo::apis {
namespace {

struct Row {
  FaultKind kind;
  int status;
  std::string_view openai_type;
  std::string_view messages_type;
};

constexpr std::array<Row, 10> kRows = {{
    {FaultKind::kInvalid, 400, "invalid_request_error", "invalid_request_error"},
    {FaultKind::kUnauthorized, 401, "invalid_request_error", "authentication_error"},
    {FaultKind::kForbidden, 403, "invalid_request_error", "permission_error"},
    {FaultKind::kNotFound, 404, "invalid_request_error", "not_found_error"},
    {FaultKind::kTooLarge, 413, "invalid_request_error", "request_too_large"},
    {FaultKind::kBusy, 429, "rate_limit_error", "rate_limit_error"},
    {FaultKind::kInternal, 500, "server_error", "api_error"},
    {FaultKind::kEngine, 502, "server_error", "api_error"},
    {FaultKind::kUnavailable, 503, "server_error", "overloaded_error"},
    {FaultKind::kTimeout, 504, "server_error", "timeout_error"},
}};

const Row& row_of(FaultKind kind) { return kRows.at(static_cast<std::size_t>(kind)); }

json::Value or_null(const std::string& text) { return text.empty() ? json::Value() : json::Value(text); }

json::Object openai_error(const Fault& fault) {
  return json::Object{{"message", fault.message},
                      {"type", row_of(fault.kind).openai_type},
                      {"param", or_null(fault.param)},
                      {"code", or_null(fault.code)}};
}

}  // namespace

int Fault::status() const { return row_of(kind).status; }

Fault invalid(std::string param, std::string message, std::string code) {
  return {FaultKind::kInvalid, std::move(message), std::move(param), std::move(code)};
}

Fault fault_of(const Error& error) {
  FaultKind kind = FaultKind::kInvalid;
  if (error.code == ErrorCode::kInternal || error.code == ErrorCode::kIo) kind = FaultKind::kInternal;
  if (error.code == ErrorCode::kEngine) kind = FaultKind::kEngine;
  std::string message = error.message;
  if (error.line > 0)
    message += " (line " + std::to_string(error.line) + ", column " + std::to_string(error.code_point_column()) + ")";
  return {kind, std::move(message), "", kind == FaultKind::kInvalid ? "invalid_value" : ""};
}

Fault context_too_long(chat::Api api, std::int64_t prompt_tokens, std::int64_t limit) {
  const std::string tokens = std::to_string(prompt_tokens);
  const std::string most = std::to_string(limit);
  if (api == chat::Api::kMessages)
    return invalid("messages", "prompt is too long: " + tokens + " tokens > " + most + " maximum", "");
  return invalid(
      api == chat::Api::kChat ? "messages" : "input",
      "this model's maximum context length is " + most + " tokens, but the request has " + tokens + " tokens",
      "context_length_exceeded");
}

Fault previous_response_not_found(std::string_view id) {
  return invalid("previous_response_id", "previous response with id `" + std::string(id) + "` not found",
                 "previous_response_not_found");
}

Fault model_not_found(std::string_view model) {
  if (model.empty())
    return invalid("model", "`model` is missing: name one of the models", "missing_required_parameter");
  return {FaultKind::kNotFound, "the model `" + std::string(model) + "` does not exist", "model", "model_not_found"};
}

Fault not_found(std::string_view what, std::string_view id) {
  return {FaultKind::kNotFound, std::string(what) + " with id `" + std::string(id) + "` not found", "", "not_found"};
}

Fault thread_not_found(std::string_view message_id) {
  return {FaultKind::kNotFound, "no thread has a message with the id `" + std::string(message_id) + "`",
          "thread.previous_message_id", "thread_not_found"};
}

Fault thread_unsupported(std::string param, std::string message) {
  return invalid(std::move(param), std::move(message), "thread_unsupported_request");
}

Fault wrong_key() { return {FaultKind::kUnauthorized, "the API key is missing or not known", "", "invalid_api_key"}; }

json::Value error_body(chat::Api api, const Fault& fault) {
  if (api != chat::Api::kMessages) return json::Object{{"error", openai_error(fault)}};
  json::Object error{{"type", row_of(fault.kind).messages_type}, {"message", fault.message}};
  // The API has codes for threads alone: clients replay a conversation, or do without a thread.
  if (fault.code.starts_with("thread_")) error.set("details", json::Object{{"error_code", fault.code}});
  return json::Object{{"type", "error"}, {"error", std::move(error)}};
}

StreamEvent error_event(chat::Api api, const Fault& fault, std::int64_t sequence_number) {
  if (api != chat::Api::kResponses) {
    return {api == chat::Api::kChat ? "" : "error", json::to_compact(error_body(api, fault))};
  }
  const json::Object event{
      {"type", "error"},          {"sequence_number", sequence_number}, {"code", or_null(fault.code)},
      {"message", fault.message}, {"param", or_null(fault.param)},      {"error", openai_error(fault)}};
  return {"error", json::to_compact(json::Value(event))};
}

json::Value websocket_error(const Fault& fault) {
  json::Object error = openai_error(fault);
  // A WebSocket error always has a code.
  if (fault.code.empty()) error.set("code", row_of(fault.kind).openai_type);
  return json::Object{{"type", "error"}, {"status", fault.status()}, {"error", std::move(error)}};
}

}  // namespace rondo::apis
