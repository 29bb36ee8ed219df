#include "apis/responses_body.h"

#include <utility>

#include "apis/custom_input.h"
#include "apis/writer_parts.h"

namespace rondo::apis {
namespace {

std::string_view status_of(const Part& part, ItemState state) {
  if (state == ItemState::kBegun) return "in_progress";
  return part.is_complete ? "completed" : "incomplete";
}

json::Object reasoning_item(const GenerateRequest& request, ReasoningEvents shape, const Part& part, ItemState state) {
  json::Array texts;
  if (state == ItemState::kEnded) texts.emplace_back(part_of(request, shape, part, state));
  json::Object item{{"id", part.item_id}, {"type", "reasoning"}};
  const bool is_summary = shape == ReasoningEvents::kSummary;
  item.set("summary", is_summary ? texts : json::Array());
  if (!is_summary) item.set("content", std::move(texts));
  if (request.responses.include_encrypted_reasoning && state == ItemState::kEnded && !part.secret.empty())
    item.set("encrypted_content", part.secret);
  item.set("status", status_of(part, state));
  return item;
}

json::Object call_item(const GenerateRequest& request, const Part& part, ItemState state) {
  const CalledTool tool = called_tool(request, part.name);
  json::Object item{{"id", part.item_id},
                    {"type", tool.is_custom ? "custom_tool_call" : "function_call"},
                    {"call_id", part.call_id},
                    {"name", tool.name}};
  if (!tool.name_space.empty()) item.set("namespace", tool.name_space);
  const std::string& arguments = state == ItemState::kBegun ? std::string() : part.text;
  item.set(tool.is_custom ? "input" : "arguments", tool.is_custom ? custom_input(arguments) : arguments);
  item.set("status", status_of(part, state));
  return item;
}

}  // namespace

ReasoningEvents shape_of(const GenerateRequest& request, const ReplyMeta& meta) {
  if (request.reasoning.is_summarized) return ReasoningEvents::kSummary;
  return request.open_responses ? ReasoningEvents::kOpenResponses : meta.reasoning_events;
}

std::string response_status(Finish finish) {
  switch (finish) {
    case Finish::kLength: return "incomplete";
    case Finish::kRefusal:
    case Finish::kStopText:
    case Finish::kStop: break;
    case Finish::kCancelled: return "cancelled";
  }
  return "completed";
}

json::Object item_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part, ItemState state) {
  if (part.kind == PartKind::kReasoning) return reasoning_item(request, shape, part, state);
  if (part.kind == PartKind::kCall) return call_item(request, part, state);
  json::Array content;
  if (state == ItemState::kEnded) content.emplace_back(part_of(request, shape, part, state));
  return {{"id", part.item_id},
          {"type", "message"},
          {"status", status_of(part, state)},
          {"role", "assistant"},
          {"content", std::move(content)}};
}

json::Object part_of(const GenerateRequest& request, ReasoningEvents shape, const Part& part, ItemState state) {
  const std::string text = state == ItemState::kBegun ? std::string() : part.text;
  if (part.kind == PartKind::kRefusal) return {{"type", "refusal"}, {"refusal", text}};
  if (part.kind == PartKind::kReasoning)
    return {{"type", shape == ReasoningEvents::kSummary ? "summary_text" : "reasoning_text"}, {"text", text}};
  const bool has_logprobs = request.logprobs && state == ItemState::kEnded;
  return {{"type", "output_text"},
          {"text", text},
          {"annotations", json::Array()},
          {"logprobs", has_logprobs ? logprobs_of(request, part.logprobs) : json::Array()}};
}

json::Array output_of(const GenerateRequest& request, ReasoningEvents shape, const Choice& choice) {
  json::Array out;
  for (const Part& part : choice.parts) out.emplace_back(item_of(request, shape, part, ItemState::kEnded));
  return out;
}

json::Object response_object(const GenerateRequest& request, const ReplyMeta& meta, std::string_view status,
                             json::Array output) {
  json::Object out{{"id", meta.id},
                   {"object", "response"},
                   {"created_at", meta.created_s},
                   {"completed_at", nullptr},
                   {"status", status},
                   {"error", nullptr},
                   {"incomplete_details", nullptr},
                   {"model", meta.model},
                   {"output", std::move(output)},
                   {"usage", nullptr}};
  for (const json::Member& member : request.responses.echo) out.set(member.key, member.value);
  return out;
}

json::Value responses_usage(const Usage& usage) {
  return json::Object{
      {"input_tokens", usage.prompt},
      {"input_tokens_details", json::Object{{"cached_tokens", usage.cached.value_or(0)}, {"cache_write_tokens", 0}}},
      {"output_tokens", usage.completion},
      {"output_tokens_details", json::Object{{"reasoning_tokens", usage.reasoning}}},
      {"total_tokens", usage.prompt + usage.completion}};
}

json::Value responses_body(const GenerateRequest& request, const ReplyMeta& meta, const Choice& choice,
                           const TurnEnd& end) {
  const std::string status = response_status(choice.finish);
  json::Object out = response_object(request, meta, status, output_of(request, shape_of(request, meta), choice));
  if (status == "completed") out.set("completed_at", end.time_s);
  if (status == "incomplete") out.set("incomplete_details", json::Object{{"reason", "max_output_tokens"}});
  out.set("usage", responses_usage(end.usage));
  if (!end.diagnostics.is_null()) out.set("prompt_cache_diagnostics", end.diagnostics);
  if (end.rondo) out.set("rondo", *end.rondo);
  return out;
}

}  // namespace rondo::apis
