// Replies of the three chat APIs: the whole body, or the stream of its events.
//
//   std::unique_ptr<TurnWriter> writer = make_writer(request, meta);
//   send(writer->start());
//   for (const TurnEvent& event : ...) send(writer->add(event));
//   send(writer->finish(end));
//
//   json::Value body = reply_body(request, meta, collector.choices(), end);
//
// Law: the deltas of a stream add up to the body of the same events.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apis/errors.h"
#include "apis/request.h"
#include "apis/stream_event.h"
#include "apis/turn.h"

namespace rondo::apis {

// The kind of events that report reasoning in a Responses stream.
enum class ReasoningEvents : std::uint8_t {
  kText,           // response.reasoning_text.*
  kSummary,        // response.reasoning_summary_text.*
  kOpenResponses,  // response.reasoning.*
};

struct ReplyMeta {
  std::string id;                                             // id of the reply
  std::string model;                                          // the model's name in the reply
  std::int64_t created_s = 0;                                 // since 1970
  std::vector<std::int32_t> prompt_ids;                       // for clients that ask for ids
  std::string prompt_text;                                    // for clients that ask for it
  std::optional<std::int64_t> prompt_tokens;                  // for the beginning of a Messages stream
  json::Value diagnostics;                                    // for the same; as in TurnEnd
  ReasoningEvents reasoning_events = ReasoningEvents::kText;  // if the request does not say
};

class TurnWriter {
 public:
  virtual ~TurnWriter() = default;
  // Returns the events that open the stream.
  [[nodiscard]] virtual std::vector<StreamEvent> start() = 0;
  [[nodiscard]] virtual std::vector<StreamEvent> add(const TurnEvent& event) = 0;
  // REQUIRES: each choice has had its kFinish.
  [[nodiscard]] virtual std::vector<StreamEvent> finish(const TurnEnd& end) = 0;
  // Ends the stream instead of finish(), at any time after start().
  [[nodiscard]] virtual std::vector<StreamEvent> fail(const Fault& fault) = 0;
};

// REQUIRES: `request` outlives the writer.
[[nodiscard]] std::unique_ptr<TurnWriter> make_writer(const GenerateRequest& request, ReplyMeta meta);

[[nodiscard]] json::Value reply_body(const GenerateRequest& request, const ReplyMeta& meta,
                                     const std::vector<Choice>& choices, const TurnEnd& end);

}  // namespace rondo::apis
