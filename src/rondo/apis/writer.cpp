#include "apis/writer.h"

#include <algorithm>
#include <utility>

#include "apis/writer_parts.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace rondo::apis {
namespace {

json::Array bytes_of(const std::string& text) {
  json::Array out;
  for (const char byte : text) out.emplace_back(static_cast<std::int64_t>(static_cast<unsigned char>(byte)));
  return out;
}

}  // namespace

std::unique_ptr<TurnWriter> make_writer(const GenerateRequest& request, ReplyMeta meta) {
  switch (request.api) {
    case chat::Api::kMessages: return make_messages_writer(request, std::move(meta));
    case chat::Api::kResponses: return make_responses_writer(request, std::move(meta));
    case chat::Api::kChat: break;
  }
  return make_chat_writer(request, std::move(meta));
}

json::Value reply_body(const GenerateRequest& request, const ReplyMeta& meta, const std::vector<Choice>& choices,
                       const TurnEnd& end) {
  switch (request.api) {
    case chat::Api::kMessages: return messages_body(request, meta, choices.front(), end);
    case chat::Api::kResponses: return responses_body(request, meta, choices.front(), end);
    case chat::Api::kChat: break;
  }
  return chat_body(request, meta, choices, end);
}

std::string shown_token(const std::string& bytes) {
  if (utf8::is_valid(bytes)) return bytes;
  std::string out = "bytes:";
  for (std::size_t at = 0; at < bytes.size();) {
    const utf8::Decoded next = utf8::decode(bytes, at);
    if (next.valid) out.append(bytes, at, next.size);
    for (std::size_t i = at; !next.valid && i < at + next.size; ++i) {
      out += "\\x";
      hex::append(out, static_cast<unsigned char>(bytes[i]), 2);
    }
    at += next.size;
  }
  return out;
}

std::string token_name(const std::string& bytes, std::int32_t id, bool as_id) {
  return as_id ? "token_id:" + std::to_string(id) : shown_token(bytes);
}

json::Array logprobs_of(const GenerateRequest& request, const std::vector<Logprob>& logprobs) {
  const auto name = [&request](const auto& token) { return token_name(token.text, token.id, request.tokens_as_ids); };
  json::Array out;
  for (const Logprob& logprob : logprobs) {
    json::Array best;
    for (std::size_t i = 0; i < std::min(request.top_logprobs, logprob.top.size()); ++i) {
      const TopLogprob& one = logprob.top[i];
      best.emplace_back(json::Object{{"token", name(one)}, {"logprob", one.logprob}, {"bytes", bytes_of(one.text)}});
    }
    out.emplace_back(json::Object{{"token", name(logprob)},
                                  {"logprob", logprob.logprob},
                                  {"bytes", bytes_of(logprob.text)},
                                  {"top_logprobs", std::move(best)}});
  }
  return out;
}

json::Array scores_of(const std::vector<ScoredToken>& prompt, std::size_t most) {
  json::Array out;
  for (const ScoredToken& token : prompt) {
    if (!token.logprob) {
      out.emplace_back();
      continue;
    }
    json::Object entry;
    const auto add = [&entry](std::int32_t id, const std::string& text, double logprob, json::Value rank) {
      entry.set(std::to_string(id),
                json::Object{{"logprob", logprob}, {"rank", std::move(rank)}, {"decoded_token", shown_token(text)}});
    };
    add(token.id, token.text, *token.logprob, nullptr);
    for (std::size_t i = 0; i < std::min(most, token.others.size()); ++i)
      add(token.others[i].id, token.others[i].told.text, token.others[i].told.logprob, i + 1);
    out.emplace_back(std::move(entry));
  }
  return out;
}

json::Array ids_of(const std::vector<std::int32_t>& ids) {
  json::Array out;
  for (const std::int32_t id : ids) out.emplace_back(static_cast<std::int64_t>(id));
  return out;
}

json::Value stop_reason(const std::string& stop_text, std::optional<std::int32_t> stop_id) {
  if (!stop_text.empty()) return stop_text;
  return stop_id ? json::Value(static_cast<std::int64_t>(*stop_id)) : json::Value();
}

json::Value chat_usage(const Usage& usage) {
  return json::Object{{"prompt_tokens", usage.prompt},
                      {"completion_tokens", usage.completion},
                      {"total_tokens", usage.prompt + usage.completion},
                      {"prompt_tokens_details", json::Object{{"cached_tokens", usage.cached.value_or(0)}}},
                      {"completion_tokens_details", json::Object{{"reasoning_tokens", usage.reasoning}}}};
}

CalledTool called_tool(const GenerateRequest& request, const std::string& name) {
  const chat::ApiTool* tool = find_tool(request.tool_table, name);
  if (tool == nullptr) return {false, name, ""};
  return {tool->kind == chat::ApiTool::Kind::kCustom, tool->client_name, tool->name_space};
}

}  // namespace rondo::apis
