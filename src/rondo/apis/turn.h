// A model's turn in the form that the writers of the APIs take: event by event, and as a whole.
//
//   TurnBuilder builder(0, naming);
//   for (...) for (const TurnEvent& event : builder.feed(parser.feed(pieces), tokens)) send(writer->add(event));
//   for (const TurnEvent& event : builder.finish(Finish::kStop)) send(writer->add(event));
//
// A turn has one or several choices.  A choice is a row of parts, each of one kind.  The caller provides ids,
// signatures and times, because they contain the caller's keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "json/value.h"
#include "parse/parser.h"

namespace rondo::apis {

enum class PartKind : std::uint8_t { kReasoning, kContent, kRefusal, kCall };

struct TopLogprob {
  std::string text;  // the token's bytes, which may be a part of a character
  double logprob = 0;
  std::int32_t id = -1;
};
struct Logprob {
  std::string text;
  double logprob = 0;
  std::vector<TopLogprob> top;
  std::int32_t id = -1;
};

// An id of the prompt, and the most likely ids in its place.
struct ScoredToken {
  struct Other {
    std::int32_t id = 0;
    TopLogprob told;
  };
  std::int32_t id = 0;
  std::string text;
  std::optional<double> logprob;  // the first id has none
  std::vector<Other> others{};    // most likely first
};

// What was sampled for an event, if the client asks for it.  Each id belongs to one event of its choice.
struct Tokens {
  std::vector<std::int32_t> ids;
  // In the chat APIs, one for each token that wrote a byte of the event's content.  In Completions, one for each id, or
  // none.
  std::vector<Logprob> logprobs;
};

enum class Finish : std::uint8_t {
  kStop,      // the model ended its turn
  kStopText,  // one of the texts in `stops` occurred
  kLength,    // the limit of tokens was reached
  kRefusal,
  kCancelled,
};

struct TurnEvent {
  enum class Kind : std::uint8_t {
    kBegin,   // a part begins
    kDelta,   // more of the part's text; for a call, of its arguments
    kEnd,     // the part ends
    kTokens,  // ids without a text
    kFinish,  // the choice ends
  };
  Kind kind = Kind::kTokens;
  std::size_t choice = 0;
  std::size_t part = 0;  // index in the choice
  PartKind of = PartKind::kContent;
  std::string text;                       // kDelta; whole characters
  std::string item_id;                    // kBegin
  std::string call_id;                    // kBegin, for a call
  std::string name;                       // kBegin, for a call: as the model wrote it
  std::size_t call = 0;                   // for a call: its number in the choice
  std::string secret;                     // kEnd, for reasoning: the signature or the encrypted content
  bool is_complete = true;                // kEnd: false if the part was cut off
  Finish finish = Finish::kStop;          // kFinish
  std::string stop_text;                  // kFinish with kStopText
  std::optional<std::int32_t> stop_id{};  // kFinish with kStop: one of the ids that the request names
  Tokens tokens;
};

struct Part {
  PartKind kind = PartKind::kContent;
  std::string text;
  std::string item_id;
  std::string call_id;
  std::string name;
  std::size_t call = 0;
  std::string secret;
  bool is_complete = false;
  std::vector<Logprob> logprobs;
};

struct Choice {
  std::vector<Part> parts;
  Finish finish = Finish::kStop;
  std::string stop_text;
  std::optional<std::int32_t> stop_id{};
  Tokens tokens;

  [[nodiscard]] bool has_calls() const;
  // Returns the joined texts of its parts of that kind.
  [[nodiscard]] std::string joined(PartKind kind) const;
};

struct Usage {
  std::int64_t prompt = 0;
  std::optional<std::int64_t> cached;  // as the engine counted; nullopt if it does not report it
  std::int64_t completion = 0;
  std::int64_t reasoning = 0;  // part of the completion
};

// What is known once all choices have ended.
struct TurnEnd {
  Usage usage;
  std::int64_t time_s = 0;            // since 1970
  json::Value diagnostics;            // what happened to the cached prompt, in the form of the API; null: not requested
  std::vector<ScoredToken> prompt{};  // for clients that ask for its log probabilities
  std::optional<json::Object> rondo;  // for clients that ask for an explanation of the reply
};

// Collects events into choices and parts.
class TurnCollector {
 public:
  explicit TurnCollector(std::size_t choices) : choices_(choices) {}
  void add(const TurnEvent& event);
  [[nodiscard]] const std::vector<Choice>& choices() const { return choices_; }
  // REQUIRES: the event's part has begun.
  [[nodiscard]] const Part& part(const TurnEvent& event) const { return choices_[event.choice].parts[event.part]; }

 private:
  std::vector<Choice> choices_;
};

// Makes ids for the caller.
struct Naming {
  std::function<std::string(PartKind kind, std::size_t choice, std::size_t part)> item_id;
  // `written` is the id that the model itself wrote, if any.
  std::function<std::string(std::size_t choice, std::size_t call, const std::optional<std::string>& written)> call_id;
  std::function<std::string(std::size_t choice, std::size_t part)> secret;
};

// Turns the events of a parser into the events of one choice.
class TurnBuilder {
 public:
  // What a choice without parts becomes: nothing, or, for Responses, a message without text.
  enum class Empty : std::uint8_t { kNothing, kMessage };
  // What the arguments of a call may be.  With kObjects, for Messages, a call begins once its arguments begin as an
  // object.  Other arguments become content, with the name before them.  If arguments go wrong later, they become such
  // content after the call.
  enum class Inputs : std::uint8_t { kAny, kObjects };
  // How many calls a choice may have.  With kOne, for Chat's `function_call`, further calls become content, with the
  // name before their arguments.
  enum class Calls : std::uint8_t { kAny, kOne };
  TurnBuilder(std::size_t choice, Naming naming, Empty empty = Empty::kNothing, Inputs inputs = Inputs::kAny,
              Calls calls = Calls::kAny)
      : choice_(choice), naming_(std::move(naming)), empty_(empty), inputs_(inputs), most_calls_(calls) {}
  [[nodiscard]] std::vector<TurnEvent> feed(std::span<const parse::Event> events, Tokens tokens = {});
  // Call this after the events of the parser's close().  A call that has not ended is then cut off.
  [[nodiscard]] std::vector<TurnEvent> finish(Finish finish, std::string stop_text = {},
                                              std::optional<std::int32_t> stop_id = {});

 private:
  void take(const parse::Event& event);
  void begin_call(const std::string& name, const std::optional<std::string>& id);
  void arguments(const std::string& text);
  void end_call();
  void settle();
  void go_on(PartKind kind, const std::string& text);
  void begin(PartKind kind);
  void end(bool is_complete);
  void delta(std::string text);
  TurnEvent& emit(TurnEvent::Kind kind);

  std::size_t choice_;
  Naming naming_;
  Empty empty_;
  Inputs inputs_;
  Calls most_calls_;
  std::vector<TurnEvent> out_;
  std::optional<PartKind> open_;
  std::size_t parts_ = 0;  // how many have begun
  std::size_t calls_ = 0;  // how many have begun
  bool has_text_ = false;  // whether the open part has text
  std::string held_;       // the beginning of an incomplete character
  // The call that is being read.  Only with kObjects, and with kOne for each call after the first.
  struct ObjectCall {
    enum class State : std::uint8_t { kHeld, kCall, kText };
    State state = State::kHeld;
    std::string name;
    std::optional<std::string> id;
    std::string arguments;
  };
  std::optional<ObjectCall> call_;
};

}  // namespace rondo::apis
