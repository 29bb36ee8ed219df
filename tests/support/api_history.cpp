#include "tests/support/api_history.h"

#include <map>
#include <utility>

namespace rondo::test {
namespace {

using chat::Api;
using Kind = HistoryEntry::Kind;

std::string text_in(const json::Value& value, const char* key) {
  return std::string(value.find_string(key).value_or(""));
}

json::Object shuffled(json::Object object, BenignClient& client) {
  if (!client.one_in(3)) return object;
  std::vector<json::Member> members(object.begin(), object.end());
  std::ranges::reverse(members);
  return json::Object::from_members(std::move(members));
}

std::string own_id(const std::string& id, const BenignClient& client) { return client.keeps_ids() ? id : "p" + id; }

// Of a text that breaks off, the members that are complete.
json::Value complete_members(const std::string& text) {
  if (auto whole = json::parse(text); whole.ok()) return std::move(whole).value();
  for (std::size_t end = text.size(); end > 0; --end) {
    if (text[end - 1] != ',' && text[end - 1] != '{') continue;
    auto cut = json::parse(text.substr(0, text[end - 1] == ',' ? end - 1 : end) + "}");
    if (cut.ok()) return std::move(cut).value();
  }
  return json::Object{};
}

// --- What is sent ------------------------------------------------------------------------------------------------------

json::Array chat_messages(const History& history, BenignClient& client) {
  json::Array out;
  for (const HistoryEntry& entry : history) {
    switch (entry.kind) {
      case Kind::kSystem: out.push_back(json::Object{{"role", "system"}, {"content", entry.text}}); break;
      case Kind::kUser: out.push_back(json::Object{{"role", "user"}, {"content", entry.text}}); break;
      case Kind::kReply: out.push_back(entry.reply.raw); break;
      case Kind::kResult:
        out.push_back(json::Object{{"role", "tool"}, {"tool_call_id", entry.call_id}, {"content", entry.text}});
        break;
    }
  }
  return client.as_sent(std::move(out));
}

json::Value text_or_block(const std::string& text, BenignClient& client) {
  if (!client.one_in(3)) return json::Value(text);
  return json::Array{json::Object{{"type", "text"}, {"text", text}}};
}

// Blocks of a reply, as they come back.
json::Value sent_blocks(const json::Array& blocks, BenignClient& client) {
  json::Array out;
  for (const json::Value& block : blocks) {
    const std::string type = text_in(block, "type");
    if (type == "thinking" && client.one_in(2)) continue;
    json::Object sent = block.as_object();
    if (type == "tool_use") sent.set("id", own_id(text_in(block, "id"), client));
    out.push_back(shuffled(std::move(sent), client));
  }
  if (out.size() == 1 && text_in(out[0], "type") == "text" && client.one_in(3)) return *out[0].find("text");
  return out;
}

json::Object messages_request(const History& history, BenignClient& client) {
  json::Array messages;
  std::string system;
  const auto user_blocks = [&]() -> json::Array& {
    if (messages.empty() || messages.back().find_string("role") != "user")
      messages.push_back(json::Object{{"role", "user"}, {"content", json::Array{}}});
    return messages.back().as_object().find("content")->as_array();
  };
  for (const HistoryEntry& entry : history) {
    switch (entry.kind) {
      case Kind::kSystem: system = entry.text; break;
      case Kind::kUser: user_blocks().push_back(json::Object{{"type", "text"}, {"text", entry.text}}); break;
      case Kind::kReply:
        messages.push_back(
            json::Object{{"role", "assistant"}, {"content", sent_blocks(entry.reply.raw.as_array(), client)}});
        break;
      case Kind::kResult:
        user_blocks().push_back(shuffled(json::Object{{"type", "tool_result"},
                                                      {"tool_use_id", own_id(entry.call_id, client)},
                                                      {"content", text_or_block(entry.text, client)}},
                                         client));
        break;
    }
  }
  json::Object out{{"messages", std::move(messages)}};
  if (!system.empty()) out.set("system", text_or_block(system, client));
  return out;
}

void add_items(json::Array& out, const json::Array& items, BenignClient& client) {
  for (const json::Value& item : items) {
    const std::string type = text_in(item, "type");
    if (type == "reasoning" && client.one_in(2)) continue;
    json::Object sent = item.as_object();
    if (client.one_in(2)) sent.erase("status");
    if (!client.keeps_ids()) sent.erase("id");
    if (type == "function_call") {
      sent.set("call_id", own_id(text_in(item, "call_id"), client));
      auto value = json::parse(text_in(item, "arguments"));
      if (value.ok() && client.one_in(3)) sent.set("arguments", json::to_python(value.value(), {.sort_keys = true}));
    }
    out.push_back(shuffled(std::move(sent), client));
  }
}

json::Object responses_request(const History& history, BenignClient& client,
                               const std::optional<std::string>& previous) {
  json::Object out;
  std::size_t begin = 0;
  if (previous) {
    out.set("previous_response_id", *previous);
    for (std::size_t i = 0; i < history.size(); ++i) begin = history[i].kind == Kind::kReply ? i + 1 : begin;
  }
  json::Array input;
  for (std::size_t i = 0; i < history.size(); ++i) {
    const HistoryEntry& entry = history[i];
    if (entry.kind == Kind::kSystem) out.set("instructions", entry.text);
    if (i < begin) continue;
    if (entry.kind == Kind::kReply) add_items(input, entry.reply.raw.as_array(), client);
    if (entry.kind == Kind::kUser) {
      json::Object item{{"role", "user"}, {"content", entry.text}};
      if (client.one_in(3)) item.set("type", "message");
      if (client.one_in(3))
        item.set("content", json::Array{json::Object{{"type", "input_text"}, {"text", entry.text}}});
      input.push_back(shuffled(std::move(item), client));
    }
    if (entry.kind == Kind::kResult) {
      input.push_back(shuffled(json::Object{{"type", "function_call_output"},
                                            {"call_id", previous ? entry.call_id : own_id(entry.call_id, client)},
                                            {"output", entry.text}},
                               client));
    }
  }
  out.set("input", std::move(input));
  return out;
}

json::Array tools_of(Api api) {
  json::Array out;
  const json::Value known = json::parse(kTools).value();
  for (const json::Value& tool : known.as_array()) {
    const json::Value& function = *tool.find("function");
    if (api == Api::kChat) {
      out.push_back(tool);
    } else {
      json::Object own{{"name", *function.find("name")}, {"description", "d"}};
      own.set(api == Api::kMessages ? "input_schema" : "parameters", *function.find("parameters"));
      if (api == Api::kResponses) own.set("type", "function");
      out.push_back(std::move(own));
    }
  }
  return out;
}

// --- What is shown -----------------------------------------------------------------------------------------------------

void read_message(const json::Value& message, ShownReply& out) {
  out.raw = message;
  out.content = chat::content_text(message);
  if (const json::Value* calls = message.find("tool_calls"); calls != nullptr && calls->is_array()) {
    for (const json::Value& call : calls->as_array()) {
      const json::Value& function = chat::function_of(call);
      out.calls.push_back({text_in(call, "id"), text_in(function, "name"), text_in(function, "arguments")});
    }
  }
}

void read_blocks(json::Array blocks, ShownReply& out) {
  for (const json::Value& block : blocks) {
    const std::string type = text_in(block, "type");
    if (type == "text") out.content += text_in(block, "text");
    if (type == "tool_use")
      out.calls.push_back({text_in(block, "id"), text_in(block, "name"), json::to_compact(*block.find("input"))});
  }
  out.raw = std::move(blocks);
}

void read_items(json::Array items, ShownReply& out) {
  for (const json::Value& item : items) {
    const std::string type = text_in(item, "type");
    if (type == "function_call")
      out.calls.push_back({text_in(item, "call_id"), text_in(item, "name"), text_in(item, "arguments")});
    if (type != "message") continue;
    for (const json::Value& part : item.find("content")->as_array()) out.content += text_in(part, "text");
  }
  out.raw = std::move(items);
}

ShownReply chat_stream(const std::vector<net::SseEvent>& events) {
  ShownReply out;
  json::Object message{{"role", "assistant"}};
  std::string content;
  std::string reasoning;
  json::Array calls;
  out.has_failed = true;
  for (const net::SseEvent& event : events) {
    const auto read = json::parse(event.data);
    if (!read.ok()) continue;  // [DONE]
    if (read.value().find("error") != nullptr) break;
    out.id = text_in(read.value(), "id");
    for (const json::Value& choice : read.value().find("choices")->as_array()) {
      const json::Value& delta = *choice.find("delta");
      content += text_in(delta, "content");
      reasoning += text_in(delta, "reasoning_content");
      if (choice.find_string("finish_reason")) out.has_failed = false;
      const json::Value* more = delta.find("tool_calls");
      if (more == nullptr || !more->is_array()) continue;
      for (const json::Value& call : more->as_array()) {
        const auto index = static_cast<std::size_t>(call.find("index")->to_int64().value_or(0));
        while (calls.size() <= index)
          calls.push_back(json::Object{
              {"id", ""}, {"type", "function"}, {"function", json::Object{{"name", ""}, {"arguments", ""}}}});
        json::Object& whole = calls[index].as_object();
        if (!text_in(call, "id").empty()) whole.set("id", text_in(call, "id"));
        const json::Value* part = call.find("function");
        if (part == nullptr) continue;
        json::Object& function = whole.find("function")->as_object();
        if (!text_in(*part, "name").empty()) function.set("name", text_in(*part, "name"));
        function.set("arguments", std::string(function.find("arguments")->as_string()) + text_in(*part, "arguments"));
      }
    }
  }
  message.set("content", content);
  if (!reasoning.empty()) message.set("reasoning_content", reasoning);
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  read_message(json::Value(std::move(message)), out);
  return out;
}

ShownReply messages_stream(const std::vector<net::SseEvent>& events) {
  ShownReply out;
  std::map<std::int64_t, json::Object> blocks;
  std::map<std::int64_t, std::string> inputs;
  out.has_failed = true;
  for (const net::SseEvent& event : events) {
    const auto read = json::parse(event.data);
    if (!read.ok()) continue;
    const json::Value& value = read.value();
    const std::string type = text_in(value, "type");
    const std::int64_t index = value.find("index") == nullptr ? 0 : value.find("index")->to_int64().value_or(0);
    if (type == "message_start") out.id = text_in(*value.find("message"), "id");
    if (type == "content_block_start") blocks[index] = value.find("content_block")->as_object();
    if (type == "message_stop") out.has_failed = false;
    if (type != "content_block_delta") continue;
    const json::Value& delta = *value.find("delta");
    for (const char* key : {"text", "thinking", "signature"}) {
      const std::string more = text_in(delta, key);
      const json::Value* old = blocks[index].find(key);
      if (!more.empty()) blocks[index].set(key, (old != nullptr ? std::string(old->as_string()) : "") + more);
    }
    inputs[index] += text_in(delta, "partial_json");
  }
  json::Array whole;
  for (auto& [index, block] : blocks) {
    if (json::Value(block).find_string("type") == "tool_use") block.set("input", complete_members(inputs[index]));
    whole.emplace_back(std::move(block));
  }
  read_blocks(std::move(whole), out);
  return out;
}

ShownReply responses_stream(const std::vector<net::SseEvent>& events) {
  ShownReply out;
  json::Array items;
  std::string open_text;
  out.has_failed = true;
  for (const net::SseEvent& event : events) {
    const auto read = json::parse(event.data);
    if (!read.ok()) continue;
    const json::Value& value = read.value();
    const std::string type = text_in(value, "type");
    if (const json::Value* response = value.find("response"); response != nullptr && out.id.empty())
      out.id = text_in(*response, "id");
    if (type == "response.output_text.delta") open_text += text_in(value, "delta");
    if (type == "response.output_item.done") {
      items.push_back(*value.find("item"));
      open_text.clear();
    }
    if (type != "response.completed" && type != "response.incomplete") continue;
    items = value.find("response")->find("output")->as_array();
    out.has_failed = false;
  }
  if (!open_text.empty()) {
    items.push_back(json::Object{{"type", "message"},
                                 {"role", "assistant"},
                                 {"content", json::Array{json::Object{{"type", "output_text"}, {"text", open_text}}}}});
  }
  read_items(std::move(items), out);
  return out;
}

}  // namespace

json::Object request_of(Api api, const History& history, bool with_tools, BenignClient& client,
                        const std::optional<std::string>& previous) {
  json::Object out;
  if (api == Api::kChat) out.set("messages", chat_messages(history, client));
  if (api == Api::kMessages) out = messages_request(history, client);
  if (api == Api::kResponses) out = responses_request(history, client, previous);
  if (with_tools) out.set("tools", tools_of(api));
  return out;
}

ShownReply whole_reply(Api api, const json::Value& body) {
  ShownReply out;
  out.id = text_in(body, "id");
  if (api == Api::kChat) read_message(*body.find("choices")->as_array()[0].find("message"), out);
  if (api == Api::kMessages) read_blocks(body.find("content")->as_array(), out);
  if (api == Api::kResponses) read_items(body.find("output")->as_array(), out);
  return out;
}

ShownReply streamed_reply(Api api, const std::vector<net::SseEvent>& events) {
  if (api == Api::kChat) return chat_stream(events);
  return api == Api::kMessages ? messages_stream(events) : responses_stream(events);
}

json::Array plain_messages(const History& history) {
  json::Array out;
  for (const HistoryEntry& entry : history) {
    if (entry.kind != Kind::kReply) {
      const char* role = entry.kind == Kind::kSystem ? "system" : entry.kind == Kind::kUser ? "user" : "tool";
      json::Object message{{"role", role}, {"content", entry.text}};
      if (entry.kind == Kind::kResult) message.set("tool_call_id", entry.call_id);
      out.push_back(std::move(message));
      continue;
    }
    json::Object message{{"role", "assistant"}, {"content", entry.reply.content}};
    json::Array calls;
    for (const ShownCall& call : entry.reply.calls) {
      json::Value arguments = complete_members(call.arguments);
      calls.push_back(json::Object{{"id", call.id},
                                   {"type", "function"},
                                   {"function", json::Object{{"name", call.name}, {"arguments", arguments}}}});
    }
    if (!calls.empty()) message.set("tool_calls", std::move(calls));
    out.push_back(std::move(message));
  }
  return out;
}

}  // namespace rondo::test
