#include "capi/outcome.h"

#include <cstring>
#include <memory>

#include "protocol/reply.h"

namespace rondo::capi {
namespace {

// The texts of a rondo_error, which owns them.
struct ErrorTexts {
  std::string message;
  std::string source;
  std::string hint;
  std::string shown;
};

void fill(rondo_error& out, const Failure& failure) {
  const Error& error = failure.error;
  auto texts =
      std::make_unique<ErrorTexts>(ErrorTexts{protocol::sentence(error), error.source, error.hint, error.to_string()});
  out.status = failure.status;
  out.line = error.line;
  out.column = error.code_point_column();
  out.has_offset = error.offset ? 1 : 0;
  out.offset = error.offset.value_or(0);
  out.message = text_view(texts->message);
  out.source = text_view(texts->source);
  out.hint = text_view(texts->hint);
  out.shown = text_view(texts->shown);
  out.memory = texts.release();
}

}  // namespace

rondo_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument: return RONDO_INVALID_ARGUMENT;
    case ErrorCode::kNotFound: return RONDO_NOT_FOUND;
    case ErrorCode::kIo: return RONDO_IO;
    case ErrorCode::kJson: return RONDO_JSON;
    case ErrorCode::kTemplateSyntax: return RONDO_TEMPLATE_SYNTAX;
    case ErrorCode::kTemplateRaised: return RONDO_TEMPLATE_RAISED;
    case ErrorCode::kTemplateError: return RONDO_TEMPLATE_ERROR;
    case ErrorCode::kTokenizer: return RONDO_TOKENIZER;
    case ErrorCode::kParse: return RONDO_PARSE;
    case ErrorCode::kCannotBridge: return RONDO_CANNOT_BRIDGE;
    case ErrorCode::kEngine: return RONDO_ENGINE;
    case ErrorCode::kLimit: return RONDO_LIMIT;
    case ErrorCode::kUnsupported: return RONDO_UNSUPPORTED;
    case ErrorCode::kInternal: return RONDO_INTERNAL;
  }
  return RONDO_INTERNAL;
}

Failure null_failure(const std::string& what) {
  return {RONDO_NULL, Error(ErrorCode::kInvalidArgument, what + " is null")};
}

Failure closed_failure(const std::string& what) {
  return {RONDO_CLOSED,
          Error(ErrorCode::kInvalidArgument, what + " is closed, of another kind or library, or was never open")};
}

Failure invalid(const std::string& sentence) {
  return {RONDO_INVALID_ARGUMENT, Error(ErrorCode::kInvalidArgument, sentence)};
}

bool is_fit(const rondo_error* error) {
  constexpr std::size_t kMost = 4096;  // uninitialised memory usually says more
  return error == nullptr || (error->struct_size >= sizeof(rondo_error) && error->struct_size <= kMost);
}

rondo_status report(rondo_error* error, const Failure& failure) noexcept {
  if (error == nullptr) return failure.status;
  try {
    fill(*error, failure);
    return failure.status;
  } catch (...) { return report(error, failure.status, "there is no memory left to say what went wrong"); }
}

rondo_status report(rondo_error* error, const std::exception& exception) noexcept {
  try {
    return report(error, {RONDO_INTERNAL, Error(ErrorCode::kInternal, exception.what())});
  } catch (...) { return report(error, RONDO_INTERNAL, "a fault in rondo"); }
}

rondo_status report(rondo_error* error, rondo_status status, const char* message) noexcept {
  if (error == nullptr) return status;
  error->status = status;
  error->message = {message, std::strlen(message)};
  error->shown = error->message;
  return status;
}

}  // namespace rondo::capi

extern "C" {

uint32_t rondo_abi_version(void) { return RONDO_ABI_VERSION; }

const char* rondo_version_string(void) { return RONDO_VERSION; }

const char* rondo_status_name(rondo_status status) {
  switch (status) {
    case RONDO_OK: return "ok";
    case RONDO_NO_MEMORY: return "no_memory";
    case RONDO_NULL: return "null";
    case RONDO_CLOSED: return "closed";
    default: break;
  }
  for (int code = 0; code <= static_cast<int>(rondo::ErrorCode::kInternal); ++code) {
    if (rondo::capi::status_of(static_cast<rondo::ErrorCode>(code)) == status)
      return rondo::to_string(static_cast<rondo::ErrorCode>(code));
  }
  return "unknown";
}

void rondo_error_clear(rondo_error* error) {
  if (error == nullptr || !rondo::capi::is_fit(error)) return;
  delete static_cast<rondo::capi::ErrorTexts*>(error->memory);
  const std::size_t size = error->struct_size;
  *error = RONDO_ERROR_INIT;
  error->struct_size = size;
}

}  // extern "C"
