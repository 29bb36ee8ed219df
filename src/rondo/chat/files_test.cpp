#include "chat/files.h"

#include <doctest/doctest.h>

#include "base/base64.h"
#include "chat/api_request.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::chat {
namespace {

using testing::parsed;

std::string messages_in(std::string_view body) {
  auto out = read_request(parsed(body));
  REQUIRE_MESSAGE(out.ok(), body);
  return json::to_compact(json::Value(out.value().messages));
}

TEST_CASE("data is text if its media type says so and its bytes are UTF-8") {
  const std::string data = base64::encode("a,b\n1,ü\n");
  for (const char* type : {"text/plain", "text/csv; charset=utf-8", "Application/JSON", "application/vnd.api+json",
                           "image/svg+xml", "application/x-yaml", "application/sql ; x=1"}) {
    CAPTURE(type);
    CHECK(text_of_data(type, data) == "a,b\n1,ü\n");
  }
  for (const char* type : {"application/pdf", "image/png", "", "application/octet-stream", "context/plain"}) {
    CAPTURE(type);
    CHECK_FALSE(text_of_data(type, data));
  }
  CHECK_FALSE(text_of_data("text/plain", "no base64!"));
  CHECK_FALSE(text_of_data("text/plain", base64::encode("\xff\xfe")));
  CHECK(text_of_data("text/plain", "") == "");
}

TEST_CASE("files of text are text in the Chat API, in Responses and in Messages") {
  CHECK(messages_in(R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "Read"},
      {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,SGVsbG8="}}]}]})") ==
        R"([{"role":"user","content":[{"type":"text","text":"Read"},{"type":"text","text":"a.txt\nHello"}]}])");
  CHECK(messages_in(R"({"input": [{"role": "user", "content": [{"type": "input_text", "text": "Read"},
      {"type": "input_file", "file_data": "data:text/plain;charset=utf-8;base64,SGVsbG8="}]}]})") ==
        R"([{"role":"user","content":[{"type":"text","text":"Read"},{"type":"text","text":"Hello"}]}])");
  CHECK(messages_in(R"({"system": "s", "messages": [{"role": "user", "content": [{"type": "text", "text": "Read"},
      {"type": "document", "title": "T",
       "source": {"type": "base64", "media_type": "text/plain", "data": "SGVsbG8="}}]}]})") ==
        R"([{"role":"system","content":"s"},)"
        R"({"role":"user","content":[{"type":"text","text":"Read"},{"type":"text","text":"T\nHello"}]}])");
}

TEST_CASE("files whose text is not there stay what they are") {
  for (const char* part : {R"({"type":"file","file":{"file_id":"f"}})",
                           R"({"type":"file","file":{"file_data":"data:application/pdf;base64,SGVsbG8="}})",
                           R"({"type":"file","file":{"file_data":"SGVsbG8="}})", R"({"type":"file"})",
                           R"({"type":"file","file":"data:text/plain;base64,SGVsbG8="})",
                           R"({"type":"file","file":{"file_data":"data:text/plain,Hello"}})",
                           R"({"type":"image_url","file_data":"data:text/plain;base64,SGVsbG8="})"}) {
    CAPTURE(part);
    CHECK_FALSE(text_of_file(parsed(part)));
  }
}

}  // namespace
}  // namespace rondo::chat
