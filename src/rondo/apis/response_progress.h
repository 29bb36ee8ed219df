// A response as far as the events of its stream tell it.
//
//   ResponseProgress progress(body);
//   for (const StreamEvent& event : events) progress.add(event);
//   progress.body();                  // with the text of an item that has not ended
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "apis/stream_event.h"
#include "json/value.h"

namespace rondo::apis {

class ResponseProgress {
 public:
  // `body` is the response before its first event; an object.
  explicit ResponseProgress(json::Value body = json::Object()) : body_(std::move(body)) {}

  void add(const StreamEvent& event);
  [[nodiscard]] json::Value body() const;

 private:
  // An item that has not ended.  It has at most one part.
  struct Open {
    json::Value item;
    std::string list;  // where its part is: "content" or "summary"; "" if it has none
    json::Value part;
    std::string key;  // of its text, in the part or the item
    std::string text;
  };

  json::Value body_;
  std::optional<Open> open_;
};

// Returns the body of a response that its gateway gave up: with that status, and `message` as the error if it failed.
// Items that have not ended are incomplete.
[[nodiscard]] json::Value given_up(const json::Value& body, const std::string& status, const std::string& message);

}  // namespace rondo::apis
