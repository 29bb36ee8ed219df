// Conversations as clients of the three chat APIs keep them: what they send, and what they make of replies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "chat/api_request.h"
#include "json/value.h"
#include "net/sse.h"
#include "tests/support/benign_client.h"

namespace rondo::test {

struct ShownCall {
  std::string id;
  std::string name;
  std::string arguments;
};

// What a client was shown of a reply.
struct ShownReply {
  std::string id;
  std::string content;
  std::vector<ShownCall> calls;
  json::Value raw;          // as it is sent back: a message, blocks, items
  bool has_failed = false;  // the stream said so, or broke off
};

struct HistoryEntry {
  enum class Kind { kSystem, kUser, kReply, kResult };
  Kind kind = Kind::kUser;
  std::string text;
  std::string call_id;  // of a result
  ShownReply reply;
};
using History = std::vector<HistoryEntry>;

// The request for the next reply, spelled as the client likes to.  `previous`: of the Responses API, the reply to go on from;
// what is behind it is sent alone.
[[nodiscard]] json::Object request_of(chat::Api api, const History& history, bool with_tools, BenignClient& client,
                                      const std::optional<std::string>& previous = {});

[[nodiscard]] ShownReply whole_reply(chat::Api api, const json::Value& body);
[[nodiscard]] ShownReply streamed_reply(chat::Api api, const std::vector<net::SseEvent>& events);

// The same in the words of templates.
[[nodiscard]] json::Array plain_messages(const History& history);

}  // namespace rondo::test
