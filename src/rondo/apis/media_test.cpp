// What becomes of images, audio and files.
#include <doctest/doctest.h>

#include "apis/request.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using chat::Api;
using testing::parsed;

GenerateRequest noted(Api api, std::string_view body) {
  Outcome<GenerateRequest> out = read(api, parsed(body), {}, {.media = Media::kNote});
  REQUIRE_MESSAGE(out.ok(), out.fault().message);
  return std::move(out.value());
}

std::string content_of(const GenerateRequest& request, std::size_t message) {
  return json::to_compact(*request.messages[message].find("content"));
}

TEST_CASE("a note takes the place of an image or a file, in each API and in results of tools") {
  const auto chat = noted(Api::kChat, R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "See"},
      {"type": "image_url", "image_url": {"url": "u"}}, {"type": "input_audio", "input_audio": {"data": "AA=="}},
      {"type": "file", "file": {"filename": "a \"b\".pdf", "file_data": "data:application/pdf;base64,AA=="}}]}]})");
  CHECK(content_of(chat, 0) ==
        R"([{"type":"text","text":"See"},)"
        R"({"type":"text","text":"[image left out: this model reads only text]"},)"
        R"({"type":"text","text":"[audio left out: this model reads only text]"},)"
        R"({"type":"text","text":"[file \"a \\\"b\\\".pdf\" left out: this model reads only text]"}])");
  CHECK(chat.media.empty());
  REQUIRE(chat.warnings.size() == 3);
  CHECK(chat.warnings[0] == R"(`messages[0].content[1]` is not text: the model got )"
                            R"("[image left out: this model reads only text]" in its place)");

  const auto responses = noted(Api::kResponses, R"({"input": [{"role": "user", "content": "go"},
      {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "Done"},
       {"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}]})");
  CHECK(content_of(responses, 2).find("[image left out") != std::string::npos);
  REQUIRE(responses.warnings.size() == 1);
  CHECK(responses.warnings[0].starts_with("`input[2].output[1]` is not text"));

  const auto messages = noted(Api::kMessages, R"({"max_tokens": 9, "messages": [{"role": "user", "content": "go"},
      {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]},
       {"type": "document", "title": "D", "source": {"type": "url", "url": "u"}}]}]})");
  CHECK(content_of(messages, 2).find("[image left out") != std::string::npos);
  CHECK(content_of(messages, 3).find(R"([document \"D\" left out)") != std::string::npos);
  CHECK(messages.warnings.size() == 2);
}

TEST_CASE("what stands behind a note keeps its field and its mark for caches") {
  const auto request = noted(Api::kMessages, R"({"max_tokens": 9, "messages": [{"role": "user", "content": [
      {"type": "text", "text": "ab"}, {"type": "image", "source": {"type": "url", "url": "u"}},
      {"type": "text", "text": "cd", "cache_control": {"type": "ephemeral"}}]}]})");
  const std::size_t note = std::string_view("[image left out: this model reads only text]").size();
  CHECK(client_path(request, "messages[0].content", 1) == "messages[0].content[0].text");
  CHECK(client_path(request, "messages[0].content", 2 + note + 2) == "messages[0].content[2].text");
  REQUIRE(request.cache_marks.size() == 1);
  CHECK(request.cache_marks[0].text_end == 2 + note + 2);
}

TEST_CASE("media that are kept are named, and nothing is put in their place") {
  constexpr std::string_view kBody = R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"},
      {"type": "image_url", "image_url": {"url": "u"}}]}]})";
  const auto kept = read(Api::kChat, parsed(kBody));
  REQUIRE(kept.ok());
  CHECK(kept.value().media == "messages[0].content[1]");
  CHECK(kept.value().warnings.empty());
}

}  // namespace
}  // namespace rondo::apis
