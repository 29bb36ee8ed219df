#include "capi/outcome.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string_view>

namespace rondo::capi {
namespace {

std::string_view seen(rondo_text text) { return {text.data, text.size}; }

TEST_CASE("what is thrown becomes a status") {
  rondo_error error = RONDO_ERROR_INIT;
  const auto memory = [&]() -> Outcome<Done> { throw std::bad_alloc(); };
  CHECK(guarded(&error, memory) == RONDO_NO_MEMORY);
  CHECK(seen(error.message) == "there is no memory left");
  CHECK(guarded(nullptr, memory) == RONDO_NO_MEMORY);
  CHECK(guarded(&error, []() -> Outcome<Done> { throw std::runtime_error("why"); }) == RONDO_INTERNAL);
  CHECK(seen(error.message) == "why");
  CHECK(guarded(&error, []() -> Outcome<Done> { throw 5; }) == RONDO_INTERNAL);
  CHECK(seen(error.message) == "a fault in rondo");
  CHECK(guarded(&error, []() -> Outcome<Done> { return Done{}; }) == RONDO_OK);
  CHECK(error.message.size == 0);
}

TEST_CASE("an error tells all that is known, and is cleared") {
  rondo_error error = RONDO_ERROR_INIT;
  Error given = Error(ErrorCode::kTemplateSyntax, "no such filter", "file").at(2, 4, "äö{{ x");
  given.hint = "help";
  CHECK(report(&error, {RONDO_TEMPLATE_SYNTAX, given}) == RONDO_TEMPLATE_SYNTAX);
  CHECK(error.status == RONDO_TEMPLATE_SYNTAX);
  CHECK(error.line == 2);
  CHECK(error.column == 3);  // the bytes before it are two characters, the second only in part
  CHECK(error.has_offset == 0);
  CHECK(error.offset == 0);
  CHECK(seen(error.message) == "no such filter");
  CHECK(seen(error.source) == "file");
  CHECK(seen(error.hint) == "help");
  CHECK(seen(error.shown) == given.to_string());
  rondo_error_clear(&error);
  rondo_error_clear(&error);
  CHECK(error.status == RONDO_OK);
  CHECK(error.memory == nullptr);
  CHECK(error.struct_size == sizeof(rondo_error));
  CHECK(report(&error, {RONDO_PARSE, Error(ErrorCode::kParse, "open").at_offset(20)}) == RONDO_PARSE);
  CHECK(error.has_offset == 1);
  CHECK(error.offset == 20);
  rondo_error_clear(&error);
}

TEST_CASE("an error that was not begun is left alone") {
  rondo_error error{};
  CHECK(guarded(&error, []() -> Outcome<Done> { return Done{}; }) == RONDO_INVALID_ARGUMENT);
  rondo_error_clear(&error);
  rondo_error_clear(nullptr);
  CHECK(error.struct_size == 0);
  error.struct_size = ~std::size_t{0};
  CHECK(guarded(&error, []() -> Outcome<Done> { return Done{}; }) == RONDO_INVALID_ARGUMENT);
  rondo_error_clear(&error);
}

TEST_CASE("every code of the library has a status and a word") {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const rondo_status status = status_of(static_cast<ErrorCode>(code));
    CHECK(status == code + 1);
    CHECK(std::string_view(rondo_status_name(status)) == to_string(static_cast<ErrorCode>(code)));
  }
  CHECK(std::string_view(rondo_status_name(RONDO_OK)) == "ok");
  CHECK(std::string_view(rondo_status_name(RONDO_CLOSED)) == "closed");
  CHECK(std::string_view(rondo_status_name(RONDO_NULL)) == "null");
  CHECK(std::string_view(rondo_status_name(RONDO_NO_MEMORY)) == "no_memory");
  CHECK(std::string_view(rondo_status_name(99)) == "unknown");
  CHECK(std::string_view(rondo_version_string()).size() >= 5);
  CHECK(rondo_abi_version() == RONDO_ABI_VERSION);
}

}  // namespace
}  // namespace rondo::capi
