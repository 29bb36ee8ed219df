// Message threads of the Messages API: conversations that the store holds, so that a request has only what is new.
// Private to gateway/.
//
//   {"thread": {"type": "create"}, "messages": [...]}                                        keeps the conversation
//   {"thread": {"type": "continue", "previous_message_id": "msg_..."}, "messages": [...]}    continues from that reply
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apis/errors.h"
#include "apis/request.h"
#include "gateway/archive.h"
#include "gateway/reply_sink.h"
#include "gateway/service.h"
#include "json/value.h"

namespace rondo::gateway {

struct ReadRequest;

struct ThreadInput {
  bool is_kept = false;             // the reply becomes a turn of a thread
  std::vector<std::string> before;  // as in ThreadTurn
  json::Array own;                  // the request's own messages
  json::Object fields;              // as in ThreadTurn
};

// Puts what the thread has into `body`, if the request continues one.
[[nodiscard]] apis::Outcome<ThreadInput> resolve_thread(const Archive& archive, json::Object& body);

// Makes the fault for a request with content that is not text: its turn could not be kept.
[[nodiscard]] apis::Fault unthreadable(const apis::GenerateRequest& request);

// Returns a sink that stores the turn, then sends the end of the reply to `to`.  A thread is only a help to its client,
// which has the whole conversation: if the turn cannot be stored, the next request gets `thread_not_found`.
[[nodiscard]] std::shared_ptr<ReplySink> thread_sink(Service::State& state, const ReadRequest& read,
                                                     std::shared_ptr<ReplySink> to);

}  // namespace rondo::gateway
