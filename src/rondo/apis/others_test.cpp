// Errors, items, listings, completions.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "apis/completions.h"
#include "apis/errors.h"
#include "apis/items.h"
#include "apis/listings.h"
#include "apis/stored_responses.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using testing::parsed;

TEST_CASE("a value is taken out of an outcome, not copied") {
  Outcome<std::unique_ptr<int>> made = std::make_unique<int>(3);
  CHECK(*made.value() == 3);
  const std::unique_ptr<int> taken = std::move(made).value();
  CHECK(*taken == 3);
}

TEST_CASE("errors in the words of each API") {
  const Fault long_chat = context_too_long(chat::Api::kChat, 20, 10);
  CHECK(json::to_compact(error_body(chat::Api::kChat, long_chat)) ==
        R"({"error":{"message":"this model's maximum context length is 10 tokens, but the request has 20 tokens",)"
        R"("type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})");
  CHECK(
      json::to_compact(error_body(chat::Api::kMessages, context_too_long(chat::Api::kMessages, 20, 10))) ==
      R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 20 tokens > 10 maximum"}})");
  CHECK(error_event(chat::Api::kResponses, previous_response_not_found("r"), 4).data ==
        R"({"type":"error","sequence_number":4,"code":"previous_response_not_found",)"
        R"("message":"previous response with id `r` not found","param":"previous_response_id","error":{)"
        R"("message":"previous response with id `r` not found","type":"invalid_request_error",)"
        R"("param":"previous_response_id","code":"previous_response_not_found"}})");
  CHECK(
      json::to_compact(websocket_error(model_not_found("m"))).starts_with(R"({"type":"error","status":404,"error":{)"));
  const std::array<std::pair<FaultKind, int>, 10> rows = {{{FaultKind::kInvalid, 400},
                                                           {FaultKind::kUnauthorized, 401},
                                                           {FaultKind::kForbidden, 403},
                                                           {FaultKind::kNotFound, 404},
                                                           {FaultKind::kTooLarge, 413},
                                                           {FaultKind::kBusy, 429},
                                                           {FaultKind::kInternal, 500},
                                                           {FaultKind::kEngine, 502},
                                                           {FaultKind::kUnavailable, 503},
                                                           {FaultKind::kTimeout, 504}}};
  for (const auto& [kind, status] : rows) CHECK(Fault{kind, "", "", ""}.status() == status);
  CHECK(fault_of(Error(ErrorCode::kEngine, "x")).kind == FaultKind::kEngine);
  CHECK(fault_of(Error(ErrorCode::kTemplateRaised, "x")).kind == FaultKind::kInvalid);
  CHECK(wrong_key().status() == 401);
  CHECK(not_found("response", "r").message == "response with id `r` not found");
}

TEST_CASE("references and compactions stand for stored items") {
  json::Array items =
      input_items(parsed(R"({"input": [{"role": "user", "content": "a"}, {"type": "item_reference", "id": "rs_1"},
      {"id": "msg_1"}, {"type": "compaction", "id": "cmp_1", "encrypted_content": "e"}]})"));
  const ItemLookup lookup = [](const json::Value& item) -> std::optional<json::Array> {
    if (item.find_string("type") == "compaction") return std::nullopt;
    return json::Array{json::Object{{"type", "reasoning"}, {"id", *item.find_string("id")}}};
  };
  const auto resolved = resolve_items(items, lookup, "input");
  REQUIRE(resolved.ok());
  CHECK(resolved.value().places == std::vector<std::int32_t>{0, 1, 2, 3});
  CHECK(json::to_compact(json::Value(resolved.value().items)) ==
        R"([{"role":"user","content":"a"},{"type":"reasoning","id":"rs_1"},{"type":"reasoning","id":"msg_1"},)"
        R"({"type":"compaction","id":"cmp_1","encrypted_content":"e"}])");
  json::Array unknown = {json::Object{{"type", "item_reference"}, {"id", "x"}}};
  const auto refused = resolve_items(unknown, [](const json::Value&) { return std::nullopt; }, "items");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.fault().param == "items[0].id");
  unknown = {json::Object{{"type", "item_reference"}}};
  const auto nameless = resolve_items(unknown, [](const json::Value&) { return std::nullopt; }, "input");
  REQUIRE_FALSE(nameless.ok());
  CHECK(nameless.fault().message == "`input[0].id` is missing");
  json::Array text = input_items(parsed(R"({"input": "Hi"})"));
  name_items(text, [](std::string_view type) { return std::string(type) + "_1"; });
  CHECK(
      json::to_compact(json::Value(text)) ==
      R"([{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}],"id":"message_1","status":"completed"}])");
}

TEST_CASE("a compaction is read again from itself, and nothing else is one") {
  const json::Array said = {json::Object{{"type", "message"}, {"role", "developer"}, {"content", "Be short."}},
                            json::Object{{"type", "message"}, {"role", "user"}, {"content", "Hi"}}};
  const json::Array output = compacted_items("cmp_1", said, "They said \"Hi\".");
  REQUIRE(output.size() == 1);
  CHECK(output[0].find_string("type") == "compaction");
  const auto items = compacted(output[0]);
  REQUIRE(items);
  REQUIRE(items->size() == 2);
  CHECK((*items)[0] == said[0]);
  CHECK(json::to_compact((*items)[1]).find("They said \\\"Hi\\\".") != std::string::npos);
  for (const char* other : {"", "eA==", "cm9uZG8xOg==", "cm9uZG8xOnt9", "no base64"}) {
    CHECK_FALSE(compacted(json::Object{{"type", "compaction"}, {"encrypted_content", other}}));
  }
}

TEST_CASE("bug: nothing could be compacted, and was") {
  const auto refused = [](const char* body) {
    const auto fault = check_compaction(parsed(body));
    return fault ? fault->param : "";
  };
  CHECK(refused("{}") == "input");
  CHECK(refused(R"({"input": 5})") == "input");
  CHECK(refused(R"({"input": [{"role": "user", "content": 5}]})") == "input[0].content");
  CHECK(refused(R"({"instructions": 5, "input": "x"})") == "instructions");
  CHECK(refused(R"({"previous_response_id": "resp_1"})").empty());
}

TEST_CASE("a result is that of a call before it") {
  const auto fault = [](const char* text, std::size_t first = 0) {
    return check_results(parsed(text).as_array(), first).has_value();
  };
  CHECK_FALSE(
      fault(R"([{"type": "function_call", "call_id": "a"}, {"type": "function_call_output", "call_id": "a"}])"));
  CHECK(fault(R"([{"type": "function_call_output", "call_id": "a"}, {"type": "function_call", "call_id": "a"}])"));
  CHECK(fault(R"([{"type": "custom_tool_call_output", "call_id": "a"}])"));
  CHECK_FALSE(fault(R"([{"type": "function_call_output", "call_id": "a"}, {"role": "user"}])", 1));
}

TEST_CASE("what is no item of a conversation is refused") {
  CHECK(read_conversation_request(parsed(R"({"items": [3]})")).fault().param == "items[0]");
  CHECK(read_conversation_request(parsed(R"({"items": [{"role": "user", "content": ""}, {"x": 1}]})")).fault().param ==
        "items[1].type");
  CHECK(read_conversation_request(parsed(R"({"metadata": 3})")).fault().param == "metadata");
}

TEST_CASE("bug: a conversation took items that no response could be made from") {
  const auto refused = [](const std::string& item) {
    const auto read =
        read_conversation_request(parsed(R"({"items": [{"role": "user", "content": "x"}, )" + item + "]}"));
    return read.ok() ? "" : read.fault().param;
  };
  CHECK(refused(R"({"type": "message", "role": "user", "content": 5})") == "items[1].content");
  CHECK(refused(R"({"role": 3, "content": "x"})") == "items[1].role");
  CHECK(refused(R"({"role": "tool", "content": "x"})") == "items[1].role");
  CHECK(refused(R"({"role": "user", "content": [{"type": "input_text"}]})") == "items[1].content[0].text");
  CHECK(refused(R"({"type": "function_call", "name": "f"})") == "items[1].call_id");
  CHECK(refused(R"({"type": "function_call", "call_id": "a", "name": "f", "arguments": {}})") == "items[1].arguments");
  CHECK(refused(R"({"type": "function_call_output", "output": "x"})") == "items[1].call_id");
  CHECK(refused(R"({"type": "reasoning", "summary": [{"type": "summary_text", "text": 5}]})") ==
        "items[1].summary[0].text");
  CHECK(refused(R"({"role": "user", "content": "x", "id": 5})") == "items[1].id");
  CHECK(refused(R"({"role": "user", "content": "x", "id": "resp_1"})") == "items[1].id");
  CHECK(refused(R"({"type": "item_reference", "id": "msg_1"})").empty());
  CHECK(read_conversation_request(parsed(R"({"metadata": {"a": 5}})")).fault().param == "metadata.a");
}

TEST_CASE("bug: an item with the id of another one took its place") {
  const auto message = [](const char* id) { return json::Value(json::Object{{"type", "message"}, {"id", id}}); };
  const PlacedItems twice = {.items = {message("a"), message(""), message(""), message("a")}, .places = {0, 1, 2, 3}};
  const auto fault = check_ids({}, twice, "items");
  REQUIRE(fault);
  CHECK(fault->param == "items[3].id");
  const PlacedItems known = {.items = {message("b"), message("a")}, .places = {0, 0}};
  CHECK(check_ids({message("a")}, known, "input")->param == "input[0].id");
  CHECK_FALSE(check_ids({message("c")}, known, "input"));
}

TEST_CASE("bug: items were listed without what the API's types require") {
  json::Array items =
      parsed(
          R"([{"role": "assistant", "content": [{"type": "output_text", "text": "a"}, {"type": "text", "text": "b"}]},
      {"role": "user", "content": [{"type": "text", "text": "c"}, {"type": "input_image", "image_url": "u"}], "id": ""},
      {"type": "function_call", "call_id": "a", "name": "f"}, {"type": "custom_tool_call", "call_id": "b", "name": "f"},
      {"type": "function_call_output", "call_id": "a", "output": [{"type": "text", "text": "d"}]},
      {"type": "custom_tool_call_output", "call_id": "b", "output": "e", "status": "incomplete"}, {"type": "reasoning"}])")
          .as_array();
  name_items(items, [](std::string_view) { return "i"; });
  CHECK(
      json::to_compact(json::Value(items)) ==
      R"([{"role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b","annotations":[]}],"type":"message","id":"i","status":"completed"},)"
      R"({"role":"user","content":[{"type":"input_text","text":"c"},{"type":"input_image","image_url":"u","detail":"auto"}],"id":"i","type":"message","status":"completed"},)"
      R"({"type":"function_call","call_id":"a","name":"f","id":"i","arguments":"","status":"completed"},)"
      R"({"type":"custom_tool_call","call_id":"b","name":"f","id":"i","input":"","status":"completed"},)"
      R"({"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"d"}],"id":"i","status":"completed"},)"
      R"({"type":"custom_tool_call_output","call_id":"b","output":"e","status":"incomplete","id":"i"},)"
      R"({"type":"reasoning","id":"i","summary":[]}])");
}

TEST_CASE("pages of items") {
  json::Array items;
  for (const char* id : {"a", "b", "c"}) items.emplace_back(json::Object{{"id", id}});
  const auto page = [&](const PageQuery& query) { return json::to_compact(page_of(items, query).value()); };
  CHECK(page({2, "", false}) ==
        R"({"object":"list","data":[{"id":"c"},{"id":"b"}],"first_id":"c","last_id":"b","has_more":true})");
  CHECK(page({2, "b", false}) ==
        R"({"object":"list","data":[{"id":"a"}],"first_id":"a","last_id":"a","has_more":false})");
  CHECK(page({9, "c", true}) == R"({"object":"list","data":[],"first_id":"","last_id":"","has_more":false})");
  CHECK_FALSE(page_of(items, {2, "x", true}).ok());
  CHECK(page({9, "", true, "b"}) ==
        R"({"object":"list","data":[{"id":"a"}],"first_id":"a","last_id":"a","has_more":false})");
  const auto query = [](std::string_view key) {
    return std::string(key == "limit" ? "7" : key == "order" ? "asc" : "");
  };
  CHECK(page_query(query).value().limit == 7);
  CHECK(page_query(query).value().is_ascending);
  CHECK(page_query([](std::string_view key) { return std::string(key == "limit" ? "0" : ""); }).fault().param ==
        "limit");
  CHECK(page_query([](std::string_view key) { return std::string(key == "order" ? "up" : ""); }).fault().param ==
        "order");
}

TEST_CASE("conversations") {
  const auto read =
      read_conversation_request(parsed(R"({"items": [{"role": "user", "content": "x"}], "metadata": {"a": "b"}})"));
  REQUIRE(read.ok());
  CHECK(read.value().items.size() == 1);
  CHECK(json::to_compact(conversation_body("conv_1", 5, *read.value().metadata)) ==
        R"({"id":"conv_1","object":"conversation","created_at":5,"metadata":{"a":"b"}})");
  CHECK(read_conversation_request(parsed(R"({"items": [1]})")).fault().param == "items[0]");
  CHECK(json::to_compact(deleted_body("conv_1", "conversation.deleted")) ==
        R"({"id":"conv_1","object":"conversation.deleted","deleted":true})");
}

TEST_CASE("models, counts, ids") {
  const ModelEntry model{"m", 1'767'225'600, 4096};
  CHECK(
      json::to_compact(model_body(model)) ==
      R"({"id":"m","object":"model","type":"model","created":1767225600,"created_at":"2026-01-01T00:00:00Z",)"
      R"("owned_by":"rondo","root":"m","display_name":"m","lifecycle":"active","context_window":4096,"max_model_len":4096,)"
      R"("max_input_tokens":4096})");
  CHECK(model_body({"m", 951'782'399, 1}).find_string("created_at") == "2000-02-28T23:59:59Z");
  CHECK(model_body({"m", 951'782'400, 1}).find_string("created_at") == "2000-02-29T00:00:00Z");
  CHECK(models_body({&model, 1}).find("data")->as_array().size() == 1);
  CHECK(json::to_compact(count_body(chat::Api::kResponses, 3)) ==
        R"({"input_tokens":3,"object":"response.input_tokens"})");
  CHECK(json::to_compact(count_body(chat::Api::kMessages, 3)) == R"({"input_tokens":3})");
  const std::vector<std::int32_t> ids = {1, 2};
  CHECK(json::to_compact(tokenize_body(ids, 9)) == R"({"count":2,"max_model_len":9,"tokens":[1,2],"token_strs":null})");
  CHECK(read_tokenize(parsed(R"({"prompt": "x"})")).value().add_special_tokens);
  CHECK_FALSE(read_tokenize(parsed(R"({"messages": []})")).value().add_special_tokens);
  CHECK_FALSE(read_tokenize(parsed("{}")).ok());
  CHECK(read_detokenize(parsed(R"({"tokens": [1, 2]})")).value() == ids);
  CHECK(read_detokenize(parsed(R"({"tokens": [1, -2]})")).fault().param == "tokens[1]");
  CHECK(json::to_compact(detokenize_body("x")) == R"({"prompt":"x"})");
  const auto request =
      read(chat::Api::kChat, parsed(R"({"messages": [], "temperature": 0.5, "stop": "x", "max_tokens": 4,
                                            "allowed_token_ids": [5], "bad_words": ["y"]})"));
  CHECK(json::to_compact(render_body(request.value(), "r", "m", ids, ids)) ==
        R"({"request_id":"r","model":"m","token_ids":[1,2],"sampling_params":{"max_tokens":4,"temperature":0.5,"n":1,)"
        R"("stop":["x"],"stop_token_ids":[1,2],"allowed_token_ids":[5],"bad_words":["y"]},"stream":false})");
}

TEST_CASE("bug: a rendered request did not name every number of sampling") {
  json::Object body{{"messages", json::Array()}};
  for (const SamplingNumber& number : kSamplingNumbers) body.set(std::string(number.name), number.most);
  const auto request = read(chat::Api::kChat, body);
  REQUIRE(request.ok());
  const json::Value shown = render_body(request.value(), "r", "m", {}, {});
  for (const SamplingNumber& number : kSamplingNumbers)
    CHECK_MESSAGE(shown.find("sampling_params")->find(number.name) != nullptr, number.name);
}

TEST_CASE("completions: texts and ids") {
  const auto one = read_completion(parsed(R"({"prompt": "Hi", "logprobs": 1, "return_token_ids": true})"));
  REQUIRE(one.ok());
  CHECK(one.value().max_tokens == 16);
  CHECK(std::get<std::string>(one.value().prompts[0]) == "Hi");
  CHECK(std::get<1>(read_completion(parsed(R"({"prompt": [1, 2]})")).value().prompts[0]).size() == 2);
  CHECK(read_completion(parsed(R"({"prompt": [[1], "a"]})")).value().prompts.size() == 2);
  CHECK(read_completion(parsed(R"({"prompt": [[1], {}]})")).fault().param == "prompt[1]");
  CHECK_FALSE(read_completion(parsed("{}")).ok());
  CHECK(read_completion(parsed(R"({"prompt": 5})")).fault().message ==
        "`prompt` must be a string or an array, found an integer");
  ReplyMeta meta;
  meta.id = "cmpl-1";
  meta.model = "m";
  CompletionPiece piece;
  piece.text = "yes";
  piece.tokens = {{5}, {{"yes", -0.5, {{"yes", -0.5}}}}};
  piece.is_last = true;
  TurnEnd end;
  end.usage = {2, std::nullopt, 1, 0};
  CHECK(
      json::to_compact(completion_body(one.value(), meta, {piece}, end)) ==
      R"({"id":"cmpl-1","object":"text_completion","created":0,"model":"m","choices":[{"index":0,"text":"yes","logprobs":{)"
      R"("tokens":["yes"],"token_logprobs":[-0.5],"top_logprobs":[{"yes":-0.5}],"text_offset":[0]},"finish_reason":"stop",)"
      R"("stop_reason":null,"token_ids":[5]}],"usage":{"prompt_tokens":2,"completion_tokens":1,"total_tokens":3,)"
      R"("prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}})");
  const auto none = read_completion(parsed(R"({"prompt": "Hi", "logprobs": 0})"));
  piece.tokens = {{5}, {{"yes", -0.5, {{"no", -0.25}}}}};
  CHECK_MESSAGE(
      json::to_compact(completion_body(none.value(), meta, {piece}, end)).find(R"("top_logprobs":[{"yes":-0.5}],)") !=
          std::string::npos,
      "bug: the token itself was not among them");
  CHECK(completion_event(one.value(), meta, piece).data.starts_with(R"({"id":"cmpl-1","object":"text_completion")"));
  CHECK(completion_end(one.value(), meta, end).size() == 1);
}

}  // namespace
}  // namespace rondo::apis
