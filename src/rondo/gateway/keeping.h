// Stores replies of the Responses API while they are sent.  Private to gateway/.
//
// The last byte of a reply is sent only after the store has the reply.  If the reply could not be stored, it has
// failed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/reply_sink.h"
#include "gateway/state.h"

namespace rondo::gateway {

// Where a reply is stored, and what is stored with it.
struct Keeping {
  std::shared_ptr<Service::State> state;
  std::string tenant;
  ResponseInput input;
  std::string conversation;
  bool store = true;

  [[nodiscard]] Archive archive() const { return {*state->parts.spans, tenant}; }
  [[nodiscard]] std::int64_t now_ms() const { return state->parts.now_ms(); }
  [[nodiscard]] ResponseRecord record(const json::Value& body) const;
  // Returns the objects to store when a reply has ended: its record, and what it adds to its conversation.
  [[nodiscard]] std::vector<spans::StoredObject> objects(const ResponseRecord& record) const;
  // Stores the objects, then calls `then` on the loop's thread, with the fault if it failed.
  void put(std::vector<spans::StoredObject> objects,
           std::function<void(const std::optional<apis::Fault>& fault)> then) const;
};
[[nodiscard]] Keeping keeping_of(Service::State& state, const ReadRequest& read);

// Returns the response in an event; null if the event has none.
[[nodiscard]] json::Value response_in(const apis::StreamEvent& event);
// Returns the last event of a stream whose response could not be stored.
[[nodiscard]] apis::StreamEvent failed_instead(const apis::StreamEvent& last, const apis::Fault& fault);

// Stores the objects, then answers.
[[nodiscard]] Answer put_and_answer(Service::State& state, const Archive& archive,
                                    std::vector<spans::StoredObject> objects, json::Value body);

// Returns a sink that stores what passes through it to `to`.
[[nodiscard]] std::shared_ptr<ReplySink> keeping_sink(Keeping keeping, std::shared_ptr<ReplySink> to);

}  // namespace rondo::gateway
