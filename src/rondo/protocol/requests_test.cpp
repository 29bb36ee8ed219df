#include "protocol/requests.h"

#include <doctest/doctest.h>

#include "json/parse.h"

namespace rondo::protocol {
namespace {

constexpr const char* kFolder = RONDO_SOURCE_DIR "/tests/golden/batch/model";

json::Object object(const char* text) { return json::parse(text).value().as_object(); }

// The complaint when `request` is read as a conversation; "" for none.
std::string complaint(const char* request, const ConversationDefaults& defaults) {
  const json::Object given = object(request);
  Fields fields(given);
  static_cast<void>(read_conversation(fields, defaults));
  const Status status = fields.finish();
  return status.ok() ? "" : status.error().message;
}

ConversationFields conversation(const char* request, const ConversationDefaults& defaults) {
  const json::Object given = object(request);
  Fields fields(given);
  ConversationFields out = read_conversation(fields, defaults);
  REQUIRE(fields.finish().ok());
  return out;
}

TEST_CASE("messages may be required, and an empty array is some") {
  CHECK(complaint("{}", {.messages_required = true}) == "the field `messages` is missing");
  CHECK(complaint("{}", {}).empty());
  CHECK(complaint(R"({"messages": []})", {.messages_required = true}).empty());
  CHECK_FALSE(conversation("{}", {}).has_messages);
  CHECK(conversation(R"({"messages": []})", {}).has_messages);
}

TEST_CASE("a conversation is continued, or opened for an answer") {
  const ConversationDefaults opens{.messages_required = false, .add_generation_prompt = true};
  CHECK(conversation("{}", opens).conversation.add_generation_prompt);
  CHECK_FALSE(conversation("{}", {}).conversation.add_generation_prompt);
  CHECK_FALSE(conversation(R"({"add_generation_prompt": false})", opens).conversation.add_generation_prompt);
  const auto continued = conversation(R"({"continue_final_message": true})", opens).conversation;
  CHECK(continued.continue_final_message == "content");
  CHECK_FALSE(continued.add_generation_prompt);
  CHECK(conversation(R"({"continue_final_message": "reasoning"})", opens).conversation.continue_final_message ==
        "reasoning");
  CHECK(conversation(R"({"continue_final_message": false})", opens).conversation.continue_final_message ==
        std::nullopt);
  CHECK(complaint(R"({"continue_final_message": true, "add_generation_prompt": true})", opens) ==
        "`add_generation_prompt` must not be true with `continue_final_message`");
}

TEST_CASE("what a request leaves out stays out") {
  const chat::Conversation empty = conversation("{}", {}).conversation;
  CHECK_FALSE(empty.tools.has_value());
  CHECK_FALSE(empty.documents.has_value());
  CHECK_FALSE(empty.bos_token.has_value());
  CHECK(empty.kwargs.empty());
  const chat::Conversation full =
      conversation(R"({"tools": [], "documents": [{"a": 1}], "kwargs": {"x": 1}, "bos_token": "", "eos_token": "e"})",
                   {})
          .conversation;
  CHECK(full.tools.has_value());
  CHECK(full.documents->as_array().size() == 1);
  CHECK(full.kwargs.size() == 1);
  CHECK(full.bos_token == "");
  CHECK(full.eos_token == "e");
}

TemplateFields fields_of(const char* request) {
  const json::Object given = object(request);
  Fields fields(given);
  TemplateFields out = read_template(fields, core::TokenizerUse::kOptional);
  REQUIRE(fields.finish().ok());
  return out;
}

TEST_CASE("a tokenizer is required only by ops that need one") {
  const json::Object given = object(R"({"template": "x"})");
  Fields optional(given);
  static_cast<void>(read_template(optional, core::TokenizerUse::kOptional));
  CHECK(optional.finish().ok());
  Fields required(given);
  static_cast<void>(read_template(required, core::TokenizerUse::kRequired));
  CHECK(required.finish().error().message == "the field `tokenizer` is missing");
}

TEST_CASE("corrections are an object, or absent") {
  const json::Object none = object(R"({"corrections": null})");
  Fields absent(none);
  CHECK(read_corrections(absent) == std::nullopt);
  const json::Object some = object(R"({"corrections": {}})");
  Fields empty(some);
  CHECK(read_corrections(empty).has_value());
}

TEST_CASE("requests that name the same model get the same") {
  Models models("", {});
  const auto model = [&](const char* request, const std::optional<json::Object>& corrections = {}) {
    auto out = models.model(fields_of(request), corrections);
    REQUIRE_MESSAGE(out.ok(), out.error().to_string());
    return out.value();
  };
  const auto plain = model(R"({"template": "x"})");
  CHECK(model(R"({"template": "x", "mode": "strict", "now": "2026-03-14T15:09:26"})") == plain);
  CHECK(model(R"({"template": "y"})") != plain);
  CHECK(model(R"({"template": "x", "mode": "lenient"})") != plain);
  CHECK(model(R"({"template": "x"})", json::Object{}) != plain);
  CHECK(model(R"({"template": "x"})", object(R"({"a": 1})")) == model(R"({"template": "x"})", object(R"({"a": 1})")));
  TemplateFields trimmed = fields_of(R"({"template": "x"})");
  trimmed.compile.trim_blocks = false;
  CHECK(models.model(trimmed).value() != plain);
  TemplateFields both = fields_of(R"({"template": "x"})");
  both.tokenizer = kFolder;
  const auto with_tokenizer = models.model(both).value();
  CHECK(with_tokenizer != plain);
  CHECK(with_tokenizer->tokenizer() != nullptr);
  CHECK(plain->tokenizer() == nullptr);
  both.tokenizer = "/no/such";
  CHECK(models.model(both).error().code == ErrorCode::kNotFound);
  // A text that reads like a path is a text, and vice versa.
  TemplateFields file;
  file.file = "x";
  CHECK(models.model(file).error().code == ErrorCode::kNotFound);
}

TEST_CASE("the clock is asked where a request names no time") {
  int asked = 0;
  Models models("", [&] {
    ++asked;
    return jinja::LocalTime{2026, 1, 2, 3, 4, 5};
  });
  CHECK(models.call(fields_of(R"({"template": "x", "now": "2020-01-01T00:00:00"})"), {}).now->year == 2020);
  CHECK(asked == 0);
  CHECK(models.call(fields_of(R"({"template": "x"})"), {}).now->year == 2026);
  CHECK(asked == 1);
  Models timeless("", {});
  CHECK(timeless.call(fields_of(R"({"template": "x"})"), {}).now == std::nullopt);
}

}  // namespace
}  // namespace rondo::protocol
