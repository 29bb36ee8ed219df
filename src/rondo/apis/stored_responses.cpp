#include "apis/stored_responses.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apis/items.h"
#include "apis/request_parts.h"
#include "apis/responses_body.h"
#include "apis/writer_parts.h"
#include "base/base64.h"
#include "chat/api_parts.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

// The members that are a reply's own; the rest repeats the request.
constexpr std::array<std::string_view, 12> kOwn = {"id",
                                                   "object",
                                                   "created_at",
                                                   "completed_at",
                                                   "status",
                                                   "error",
                                                   "incomplete_details",
                                                   "model",
                                                   "output",
                                                   "usage",
                                                   "rondo",
                                                   "prompt_cache_diagnostics"};

// The texts of an item's parts, or what a call was called with.
struct TextOf {
  PartKind kind = PartKind::kContent;
  std::string text;
};

TextOf text_of(const json::Value& item, const std::string& type) {
  if (type == "function_call") return {PartKind::kCall, chat::first_text(item, {"arguments"})};
  if (type == "custom_tool_call") {
    const json::Object input{{"input", chat::first_text(item, {"input"})}};
    return {PartKind::kCall, json::to_compact(json::Value(input))};
  }
  TextOf out;
  if (type == "reasoning") out.kind = PartKind::kReasoning;
  for (const std::string_view key : {"content", "summary"}) {
    const json::Value* parts = item.find(key);
    if (parts == nullptr || !parts->is_array()) continue;
    for (const json::Value& part : parts->as_array()) {
      if (part.find_string("type") == "refusal") out.kind = PartKind::kRefusal;
      out.text += chat::first_text(part, {"text", "refusal"});
    }
  }
  return out;
}

// The token's bytes.
std::string token_in(const json::Value& row) {
  const json::Value* bytes = row.find("bytes");
  if (bytes == nullptr || !bytes->is_array()) return chat::first_text(row, {"token"});
  std::string out;
  for (const json::Value& byte : bytes->as_array()) out += static_cast<char>(byte.to_int64().value_or(0));
  return out;
}

std::vector<Logprob> logprobs_in(const json::Value& item) {
  std::vector<Logprob> out;
  const json::Value* content = item.find("content");
  if (content == nullptr || !content->is_array() || content->as_array().empty()) return out;
  const json::Value* rows = content->as_array().front().find("logprobs");
  if (rows == nullptr || !rows->is_array()) return out;
  const auto number = [](const json::Value& row) {
    const json::Value* value = row.find("logprob");
    return value == nullptr ? 0.0 : value->to_double().value_or(0);
  };
  for (const json::Value& row : rows->as_array()) {
    Logprob one{token_in(row), number(row), {}};
    const json::Value* top = row.find("top_logprobs");
    if (top != nullptr && top->is_array()) {
      for (const json::Value& other : top->as_array()) one.top.push_back({token_in(other), number(other)});
    }
    out.push_back(std::move(one));
  }
  return out;
}

// A request whose reply repeats the same members as this one.
GenerateRequest request_of(const json::Value& body, bool open_responses) {
  GenerateRequest out;
  out.api = chat::Api::kResponses;
  out.open_responses = open_responses;
  out.responses.include_encrypted_reasoning = true;
  for (const json::Member& member : body.as_object()) {
    if (std::ranges::find(kOwn, member.key) == kOwn.end()) out.responses.echo.set(member.key, member.value);
  }
  out.responses.background = body.is_true("background");
  return out;
}

// Tells the writer about one item.
void tell_item(const json::Value& item, std::size_t index, GenerateRequest& request, TurnWriter& writer,
               std::vector<StreamEvent>& out) {
  const std::string type = chat::first_text(item, {"type"});
  const TextOf text = text_of(item, type);
  TurnEvent event;
  event.part = index;
  event.of = text.kind;
  const auto tell = [&](TurnEvent::Kind kind) {
    event.kind = kind;
    std::ranges::move(writer.add(event), std::back_inserter(out));
    event.tokens = {};
  };
  event.item_id = chat::first_text(item, {"id"});
  event.call_id = chat::first_text(item, {"call_id"});
  if (text.kind == PartKind::kCall) {
    // Each tool gets a unique name here, and the table maps it to the name that the client uses.
    event.name = std::to_string(index);
    chat::ApiTool tool;
    tool.name = event.name;
    tool.client_name = chat::first_text(item, {"name"});
    tool.name_space = chat::first_text(item, {"namespace"});
    if (type == "custom_tool_call") tool.kind = chat::ApiTool::Kind::kCustom;
    request.tool_table.push_back(std::move(tool));
  }
  tell(TurnEvent::Kind::kBegin);
  event.text = text.text;
  event.tokens.logprobs = logprobs_in(item);
  if (!event.tokens.logprobs.empty()) request.logprobs = true;
  for (const Logprob& one : event.tokens.logprobs)
    request.top_logprobs = std::max(request.top_logprobs, one.top.size());
  if (!event.text.empty()) tell(TurnEvent::Kind::kDelta);
  event.secret = chat::first_text(item, {"encrypted_content"});
  event.is_complete = item.find_string("status") != "incomplete";
  tell(TurnEvent::Kind::kEnd);
}

constexpr std::string_view kMark = "rondo1:";
constexpr std::string_view kAskSummary =
    "Sum up this conversation for whoever goes on with it and sees nothing else of it: what was asked for, what was "
    "decided "
    "and done, what was found out, names and numbers that matter, and what is left to do. Answer with the summary "
    "alone.";
constexpr std::string_view kIntroduction = "What came before in this conversation, summed up:\n\n";

}  // namespace

bool has_ended(std::string_view status) { return status != "queued" && status != "in_progress"; }

bool is_terminal(const StreamEvent& event) {
  return event.name == "response.completed" || event.name == "response.incomplete" || event.name == "response.failed";
}

std::vector<StreamEvent> replayed(const json::Value& body, bool open_responses) {
  GenerateRequest request = request_of(body, open_responses);
  const json::Value* output = body.find("output");
  const json::Array items = output != nullptr && output->is_array() ? output->as_array() : json::Array();
  for (const json::Value& item : items) {
    const json::Value* summary = item.find("summary");
    if (summary != nullptr && summary->is_array() && !summary->as_array().empty())
      request.reasoning.is_summarized = true;
  }
  ReplyMeta meta;
  meta.id = chat::first_text(body, {"id"});
  meta.model = chat::first_text(body, {"model"});
  const json::Value* created = body.find("created_at");
  if (created != nullptr) meta.created_s = created->to_int64().value_or(0);
  const std::unique_ptr<TurnWriter> writer = make_responses_writer(request, meta);
  std::vector<StreamEvent> out = writer->start();
  for (std::size_t i = 0; i < items.size(); ++i) tell_item(items[i], i, request, *writer, out);
  const std::string status = chat::first_text(body, {"status"});
  const std::string type = "response." + (status == "cancelled" ? std::string("incomplete") : status);
  const json::Object last{
      {"type", type}, {"sequence_number", static_cast<std::int64_t>(out.size())}, {"response", body}};
  out.push_back({type, json::to_compact(json::Value(last))});
  out.push_back({"", "[DONE]"});
  return out;
}

json::Object compaction_item(std::string_view id, const json::Array& items) {
  return {{"id", id},
          {"type", "compaction"},
          {"encrypted_content", base64::encode(std::string(kMark) + json::to_compact(json::Value(items)))}};
}

std::optional<json::Array> compacted(const json::Value& item) {
  const auto bytes = base64::decode(chat::first_text(item, {"encrypted_content"}));
  if (!bytes || !bytes->starts_with(kMark)) return std::nullopt;
  auto parsed = json::parse(std::string_view(*bytes).substr(kMark.size()), {.max_depth = kMostNesting});
  if (!parsed.ok() || !parsed.value().is_array()) return std::nullopt;
  return std::move(parsed).value().as_array();
}

std::optional<Fault> check_compaction(const json::Value& body) {
  std::optional<Fault> fault;
  Fields fields(&body, "", fault);
  (void)fields.text("instructions");
  const bool goes_on = fields.text("previous_response_id").has_value();
  const json::Value* input = fields.any("input");
  if (input == nullptr && !goes_on) fields.refuse_missing("input");
  if (input != nullptr && !input->is_string()) check_items(fields, "input");
  return fault;
}

json::Value summary_request(const json::Value& body) {
  json::Array input = input_items(body);
  input.push_back(json::Object{{"type", "message"}, {"role", "user"}, {"content", kAskSummary}});
  json::Object out{{"input", std::move(input)}, {"store", false}};
  for (const std::string_view key : {"model", "instructions", "prompt_cache_key", "max_output_tokens"}) {
    if (const json::Value* sent = body.find(key)) out.set(key, *sent);
  }
  return out;
}

json::Array compacted_items(std::string_view id, const json::Array& input, const std::string& summary) {
  json::Array stands_for;
  for (const json::Value& item : input) {
    const auto role = item.find_string("role");
    if (role == "system" || role == "developer") stands_for.push_back(item);
  }
  const json::Object part{{"type", "input_text"}, {"text", std::string(kIntroduction) + summary}};
  stands_for.push_back(
      json::Object{{"type", "message"}, {"role", "user"}, {"content", json::Array{json::Value(part)}}});
  return {json::Value(compaction_item(id, stands_for))};
}

json::Value compaction_body(std::string_view id, std::int64_t created_s, json::Array output, const json::Value& usage) {
  return json::Object{{"id", id},
                      {"object", "response.compaction"},
                      {"created_at", created_s},
                      {"output", std::move(output)},
                      {"usage", usage}};
}

}  // namespace rondo::apis
