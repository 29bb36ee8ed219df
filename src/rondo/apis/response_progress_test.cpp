#include "apis/response_progress.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::apis {
namespace {

void add(ResponseProgress& progress, const std::string& name, const std::string& members) {
  progress.add({name, R"({"type": ")" + name + "\", " + members + "}"});
}

std::string output(const ResponseProgress& progress) { return json::to_compact(*progress.body().find("output")); }

TEST_CASE("a response as far as its events tell it") {
  ResponseProgress progress(json::Object{{"id", "r"}, {"status", "queued"}, {"output", json::Array()}});
  add(progress, "response.in_progress", R"("response": {"id": "r", "status": "in_progress", "output": []})");
  CHECK(output(progress) == "[]");
  add(progress, "response.output_item.added", R"("item": {"id": "m", "status": "in_progress", "content": []})");
  add(progress, "response.content_part.added", R"("part": {"type": "output_text", "text": ""})");
  add(progress, "response.output_text.delta", R"("delta": "ha")");
  add(progress, "response.output_text.delta", R"("delta": "lf")");
  const std::string half = R"({"id":"m","status":"in_progress","content":[{"type":"output_text","text":"half"}]})";
  CHECK(output(progress) == "[" + half + "]");
  add(progress, "response.output_text.done", R"("text": "half")");
  CHECK(output(progress) == "[" + half + "]");
  add(progress, "response.output_item.done", R"("item": {"id": "m"})");
  add(progress, "response.output_item.added", R"("item": {"id": "c", "status": "in_progress", "arguments": ""})");
  add(progress, "response.function_call_arguments.delta", R"("delta": "{")");
  CHECK(output(progress) == R"([{"id":"m"},{"id":"c","status":"in_progress","arguments":"{"}])");
  const json::Value failed = given_up(progress.body(), "failed", "it died");
  CHECK(failed.find_string("status") == "failed");
  CHECK(failed.find("error")->find_string("message") == "it died");
  CHECK(json::to_compact(*failed.find("output")) == R"([{"id":"m"},{"id":"c","status":"incomplete","arguments":"{"}])");
  add(progress, "response.completed", R"("response": {"id": "r", "status": "completed", "output": [1]})");
  CHECK(output(progress) == "[1]");
}

TEST_CASE("a summary of reasoning is where the API has it") {
  ResponseProgress progress(json::Object{{"output", json::Array()}});
  add(progress, "response.output_item.added", R"("item": {"id": "s", "summary": []})");
  add(progress, "response.reasoning_summary_part.added", R"("part": {"type": "summary_text", "text": ""})");
  add(progress, "response.reasoning_summary_text.delta", R"("delta": "hm")");
  CHECK(output(progress) == R"([{"id":"s","summary":[{"type":"summary_text","text":"hm"}]}])");
}

}  // namespace
}  // namespace rondo::apis
