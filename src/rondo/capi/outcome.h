// How a function of the C API ends: with a value, or with a status and a message.  Internal to capi/.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "rondo.h"
#include "rondo/result.h"

namespace rondo::capi {

[[nodiscard]] rondo_status status_of(ErrorCode code);

// Returns a view of `text`.
[[nodiscard]] inline rondo_text text_view(const std::string& text) { return {text.c_str(), text.size()}; }

struct Failure {
  rondo_status status = RONDO_INTERNAL;
  Error error;
};
// `what` names the argument: "`result` is null".
[[nodiscard]] Failure null_failure(const std::string& what);
// `what` names the handle: "the model is closed, ...".
[[nodiscard]] Failure closed_failure(const std::string& what);
[[nodiscard]] Failure invalid(const std::string& sentence);

template <typename T>
class [[nodiscard]] Outcome {
 public:
  // NOLINTBEGIN(google-explicit-constructor): an entry returns what it has
  Outcome(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Outcome(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}
  Outcome(const Error& error) : state_(std::in_place_index<1>, Failure{status_of(error.code), error}) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  // REQUIRES: ok().
  [[nodiscard]] T& value() { return *std::get_if<0>(&state_); }
  // REQUIRES: !ok().
  [[nodiscard]] const Failure& failure() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Failure> state_;
};

// Returns whether `error` is null or begins like RONDO_ERROR_INIT.
[[nodiscard]] bool is_fit(const rondo_error* error);
// These report an error to the caller, as far as there is memory for it, and return the status.  `error` may be null.
rondo_status report(rondo_error* error, const Failure& failure) noexcept;
// Does not copy `message`.
rondo_status report(rondo_error* error, rondo_status status, const char* message) noexcept;
// Reports a fault in rondo.
rondo_status report(rondo_error* error, const std::exception& exception) noexcept;

// Runs `work` inside a function of the C API: no exception leaves it.
template <typename Work>
rondo_status guarded(rondo_error* error, const Work& work) noexcept {
  if (!is_fit(error)) return RONDO_INVALID_ARGUMENT;
  rondo_error_clear(error);
  try {
    const Outcome<Done> done = work();
    return done.ok() ? RONDO_OK : report(error, done.failure());
  } catch (const std::bad_alloc&) {
    return report(error, RONDO_NO_MEMORY, "there is no memory left");
  } catch (const std::exception& exception) { return report(error, exception); } catch (...) {
    return report(error, RONDO_INTERNAL, "a fault in rondo");
  }
}

}  // namespace rondo::capi
