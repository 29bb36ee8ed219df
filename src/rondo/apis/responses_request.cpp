// What only the Responses API has.
#include <algorithm>
#include <array>

#include "apis/request_parts.h"
#include "chat/api_parts.h"

namespace rondo::apis {
namespace {

void read_responses_format(Fields& fields, AnswerFormat& out) {
  Fields text = fields.inside("text");
  (void)text.word("verbosity", {"low", "medium", "high"});
  Fields format = text.inside("format");
  const auto type = format.word("type", {"text", "json_object", "json_schema"});
  if (text.any("format") != nullptr && format.any("type") == nullptr) format.refuse_missing("type");
  if (!type || *type == "text") return;
  out.field = "text.format";
  out.kind = *type == "json_object" ? AnswerFormat::Kind::kJson : AnswerFormat::Kind::kSchema;
  if (out.kind == AnswerFormat::Kind::kSchema) read_schema(format, out);
}

void read_responses_reasoning(Fields& fields, ReasoningWish& out) {
  Fields reasoning = fields.inside("reasoning");
  out.effort = reasoning.text("effort").value_or("");
  read_effort(out);
  const auto summary = reasoning.word("summary", {"auto", "concise", "detailed"});
  const auto older = reasoning.word("generate_summary", {"auto", "concise", "detailed"});
  out.is_summarized = summary.has_value() || older.has_value();
}

// What the API can add to a reply.
constexpr std::array<std::string_view, 8> kIncludes = {
    "code_interpreter_call.outputs",  "computer_call_output.output.image_url",
    "file_search_call.results",       "message.input_image.image_url",
    "message.output_text.logprobs",   "reasoning.encrypted_content",
    "web_search_call.action.sources", "web_search_call.results",
};

void read_include(Fields& fields, ResponsesState& out) {
  const json::Array* include = fields.array("include", kMostWords);
  if (include == nullptr) return;
  for (const json::Value& what : *include) {
    if (!what.is_string()) return fields.refuse("include", "must hold strings", "invalid_type");
    if (!is_include(what.as_string()))
      return fields.refuse("include", "names `" + what.as_string() + "`, which the API does not have");
    if (what.as_string() == "reasoning.encrypted_content") out.include_encrypted_reasoning = true;
    if (what.as_string() == "message.output_text.logprobs") out.include_logprobs = true;
  }
}

// An id, or an object with one.
void read_conversation(Fields& fields, ResponsesState& out) {
  const json::Value* conversation = fields.any("conversation");
  if (conversation == nullptr) return;
  if (conversation->is_string()) {
    out.conversation = conversation->as_string();
  } else {
    if (!conversation->is_object()) return fields.refuse_type("conversation", "a string or an object");
    Fields inside = fields.inside("conversation");
    out.conversation = inside.text("id").value_or("");
  }
  if (out.conversation.empty()) return fields.refuse("conversation", "must name a conversation");
  if (!out.previous_response_id.empty()) fields.refuse("conversation", "and `previous_response_id` exclude each other");
}

// Each member that a reply repeats, either as sent or with the API's default.
json::Object echo_of(const json::Value& body) {
  json::Object out;
  const auto repeat = [&](std::string_view key, const json::Value& otherwise) {
    const json::Value* sent = body.find(key);
    out.set(key, sent == nullptr || sent->is_null() ? otherwise : *sent);
  };
  repeat("instructions", nullptr);
  repeat("max_output_tokens", nullptr);
  repeat("max_tool_calls", nullptr);
  repeat("metadata", json::Object());
  repeat("parallel_tool_calls", true);
  repeat("previous_response_id", nullptr);
  repeat("prompt_cache_key", nullptr);
  repeat("safety_identifier", nullptr);
  repeat("user", nullptr);
  repeat("store", true);
  repeat("background", false);
  repeat("temperature", 1.0);
  repeat("top_p", 1.0);
  repeat("presence_penalty", 0.0);
  repeat("frequency_penalty", 0.0);
  repeat("top_logprobs", 0);
  repeat("tool_choice", "auto");
  repeat("tools", json::Array());
  repeat("truncation", "disabled");
  out.set("service_tier", "default");
  json::Object text{{"format", json::Object{{"type", "text"}}}};
  if (const json::Value* sent = body.find("text"); sent != nullptr && sent->is_object()) {
    for (const json::Member& member : sent->as_object()) text.set(member.key, member.value);
  }
  out.set("text", std::move(text));
  json::Object reasoning{{"effort", nullptr}, {"summary", nullptr}};
  if (const json::Value* sent = body.find("reasoning"); sent != nullptr && sent->is_object()) {
    for (const json::Member& member : sent->as_object()) reasoning.set(member.key, member.value);
  }
  out.set("reasoning", std::move(reasoning));
  if (const json::Value* options = body.find("prompt_cache_options"); options != nullptr && options->is_object()) {
    json::Object shown{{"mode", "implicit"}, {"ttl", "30m"}};
    for (const json::Member& member : options->as_object()) {
      if (member.key != "prewarm") shown.set(member.key, member.value);
    }
    out.set("prompt_cache_options", std::move(shown));
  }
  return out;
}

// Completes a tool for the reply with the members that the API's types require.
void complete_tools(json::Object& echo) {
  for (json::Value& tool : echo.find("tools")->as_array()) {
    if (!tool.is_object() || tool.find_string("type") != "function") continue;
    for (const std::string_view key : {"description", "parameters", "strict"}) {
      if (tool.find(key) == nullptr) tool.as_object().set(key, nullptr);
    }
  }
}

}  // namespace

bool is_include(std::string_view word) { return std::ranges::find(kIncludes, word) != kIncludes.end(); }

void check_responses_body(Fields& fields, const ReadOptions& options) {
  const json::Value* input = fields.any("input");
  if (input == nullptr || input->is_string()) return;
  if (!input->is_array()) return fields.refuse_type("input", "a string or an array");
  check_items(fields, "input", options.input_places,
              fields.any("conversation") == nullptr ? "previous_response_id" : "conversation");
}

void read_responses_fields(Fields& fields, const json::Value& body, GenerateRequest& out) {
  if (fields.any("prompt") != nullptr) return fields.refuse("prompt", "names a stored prompt, and none are kept here");
  ResponsesState& state = out.responses;
  (void)fields.text("instructions");
  read_responses_format(fields, out.format);
  read_guides(fields, out);
  read_responses_reasoning(fields, out.reasoning);
  read_stops(fields, "stop", out);  // as vLLM has them
  read_stop_ids(fields, out);
  read_shows_stop(fields, out.shows_stop);
  read_metadata(fields, out);
  read_include(fields, state);
  out.max_tokens = fields.integer("max_output_tokens", 1);
  out.top_logprobs = static_cast<std::size_t>(fields.integer("top_logprobs", 0, 20).value_or(0));
  out.logprobs = state.include_logprobs || out.top_logprobs > 0;
  out.tool_choice.parallel = fields.is_set("parallel_tool_calls", true);
  out.user = fields.text("user").value_or(fields.text("safety_identifier").value_or(""));
  state.store = fields.is_set("store", true);
  state.previous_response_id = fields.text("previous_response_id").value_or("");
  read_conversation(fields, state);
  state.background = fields.is_set("background");
  state.generate = fields.is_set("generate", true);
  state.truncate = fields.word("truncation", {"auto", "disabled"}) == "auto";
  note_left_out(fields, {"context_management"}, out.warnings);
  if (fields.inside("multi_agent").is_set("enabled"))
    out.warnings.emplace_back("`multi_agent` was left out: nothing here runs agents");
  if (state.background && !state.store) fields.refuse("background", "needs `store`");
  if (fields.failed()) return;
  state.echo = echo_of(body);
  complete_tools(state.echo);
  state.echo.set("conversation", state.conversation.empty() ? json::Value() : json::Object{{"id", state.conversation}});
}

}  // namespace rondo::apis
