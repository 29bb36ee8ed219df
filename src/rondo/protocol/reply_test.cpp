#include "protocol/reply.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::protocol {
namespace {

std::string shown(const Error& error) { return json::to_compact(error_to_json(error)); }

TEST_CASE("an error is its code and a sentence") {
  CHECK(shown({ErrorCode::kInvalidArgument, "no"}) == R"({"code":"bad_request","message":"no"})");
  CHECK(shown({ErrorCode::kNotFound, "there is no such file", "a/b"}) ==
        R"({"code":"not_found","message":"a/b: there is no such file"})");
  CHECK(shown({ErrorCode::kNotFound, "cannot open a/b", "a/b"}) ==
        R"({"code":"not_found","message":"cannot open a/b"})");
}

TEST_CASE("errors of templates have their place, and not its file") {
  for (const auto& [code, name] : {std::pair{ErrorCode::kTemplateSyntax, "template_syntax"},
                                   {ErrorCode::kTemplateRaised, "template_raised"},
                                   {ErrorCode::kTemplateError, "template_error"},
                                   {ErrorCode::kLimit, "limit"}}) {
    CHECK(shown(Error(code, "no", "file").at(3, 7)) ==
          std::string(R"({"code":")") + name + R"(","message":"no","at":{"line":3,"column":7}})");
  }
  CHECK(shown(Error(ErrorCode::kTemplateError, "no").at(3, 0)) ==
        R"({"code":"template_error","message":"no","at":{"line":3}})");
  CHECK(shown({ErrorCode::kTemplateError, "no"}) == R"({"code":"template_error","message":"no"})");
  CHECK(shown(Error(ErrorCode::kJson, "no").at(3, 7)).find("\"at\"") == std::string::npos);
}

TEST_CASE("columns of errors count code points") {
  const json::Value value = error_to_json(Error(ErrorCode::kTemplateSyntax, "no").at(1, 6, "é€x"));
  CHECK(value.find("at")->find("column")->to_int64() == 3);
}

TEST_CASE("strict parsing tells the offset") {
  CHECK(shown(Error(ErrorCode::kParse, "no").at_offset(12)) ==
        R"({"code":"parse_error","message":"no","at":{"offset":12}})");
  CHECK(shown(Error(ErrorCode::kTokenizer, "no").at_offset(12)).find("\"at\"") == std::string::npos);
}

TEST_CASE("lists of numbers and texts") {
  CHECK(json::to_compact(json::Value(numbers_to_json(std::vector<std::uint8_t>{0, 255}))) == "[0,255]");
  CHECK(json::to_compact(json::Value(numbers_to_json(std::vector<std::int32_t>{}))) == "[]");
  CHECK(json::to_compact(json::Value(texts_to_json({"a", "\""}))) == R"(["a","\""])");
}

}  // namespace
}  // namespace rondo::protocol
