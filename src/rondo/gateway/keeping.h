// Replies of the Responses API on their way into the store.  Private to gateway/.
//
// The last byte of a reply is sent once the store has it; a reply that could not be kept has failed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/reply_sink.h"
#include "gateway/state.h"

namespace rondo::gateway {

// What a reply is kept with, and where.
struct Keeping {
  std::shared_ptr<Service::State> state;
  std::string tenant;
  ResponseInput input;
  std::string conversation;
  bool store = true;

  [[nodiscard]] Archive archive() const { return {*state->parts.spans, tenant}; }
  [[nodiscard]] std::int64_t now_ms() const { return state->parts.now_ms(); }
  [[nodiscard]] ResponseRecord record(const json::Value& body) const;
  // What a reply that has ended leaves: its record, and what it adds to its conversation.
  [[nodiscard]] std::vector<spans::StoredObject> objects(const ResponseRecord& record) const;
  // Calls `then` on the loop's thread: with the fault, if it could not be kept.
  void put(std::vector<spans::StoredObject> objects,
           std::function<void(const std::optional<apis::Fault>& fault)> then) const;
};
[[nodiscard]] Keeping keeping_of(Service::State& state, const ReadRequest& read);

// The response that an event holds; null where it holds none.
[[nodiscard]] json::Value response_in(const apis::StreamEvent& event);
// The stream's last event, of a response that could not be kept.
[[nodiscard]] apis::StreamEvent failed_instead(const apis::StreamEvent& last, const apis::Fault& fault);

// Answers once the objects are kept.
[[nodiscard]] Answer put_and_answer(Service::State& state, const Archive& archive,
                                    std::vector<spans::StoredObject> objects, json::Value body);

// Keeps what goes through it to `to`.
[[nodiscard]] std::shared_ptr<ReplySink> keeping_sink(Keeping keeping, std::shared_ptr<ReplySink> to);

}  // namespace rondo::gateway
