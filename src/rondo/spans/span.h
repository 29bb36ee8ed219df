// A turn: one reply of a model, with the ids of its prompt and completion as the engine saw them; and its record, which a
// store keeps.
//
// Turns of a session are a tree: a turn's parent is the turn that its prompt went on from.  A record has what its parent's has
// not, so a turn costs its own tokens and messages, whatever stands before them.
//
//   Record record = make_record(turn, &parent, kept_messages);
//   std::string bytes = encode_record(record);                 // docs/spans.md has the format
//   Result<Record> again = decode_record(bytes);
//   Result<Turn> whole = assemble(lineage);                     // the record and those of its ancestors
//
// Everything here is a plain value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/members.h"
#include "rondo/result.h"
#include "spans/hash.h"
#include "spans/keys.h"

namespace rondo::spans {

using TokenId = std::int32_t;

// How a reply ended.
enum class Finish : std::uint8_t {
  kStop,       // "stop": with the model's own stop token
  kLength,     // "length": a limit of tokens or of the context
  kCancelled,  // "cancelled": the client went away
  kFailed,     // "failed": the engine did
};
inline constexpr json::Names<Finish, 4> kFinishNames{{
    {Finish::kStop, "stop"},
    {Finish::kLength, "length"},
    {Finish::kCancelled, "cancelled"},
    {Finish::kFailed, "failed"},
}};

// What a turn is but for its prompt.
struct Reply {
  TurnKey key;
  std::optional<TurnKey> parent;
  std::vector<TokenId> completion;  // with its stop token, where one was sampled
  std::vector<float> logprobs;      // one for each id of the completion, or none
  std::size_t prefill =
      0;  // how many of the prompt's last ids are the beginning of the reply, which the model continued
  Finish finish = Finish::kStop;
  bool inexact = false;  // the completion's ids are not known to be those that were sampled
  std::string message;   // the reply as the client was shown it, in the chat API's JSON; with what was continued
  std::vector<std::string> notes;  // sentences
  std::string facts;               // what the caller keeps beside it; spans/ does not look at it
  std::int64_t time_ms = 0;        // when it was kept
  // Of the message alone (spans/visible.h): what a client shows under the key has to be this.
  Digest visible;
  bool operator==(const Reply&) const = default;
};

// The whole turn.
struct Turn : Reply {
  std::vector<TokenId> prompt;
  std::vector<std::int32_t> owners;   // per id of the prompt the message it belongs to, -1 for nobody's
  std::vector<std::uint8_t> sampled;  // per id of the prompt 1 if it was sampled
  std::vector<std::string> messages;  // those of the prompt, each as JSON
  // The messages whose turns were sampled with reasoning, in order; of the reply, messages.size().  Clients leave it out.
  std::vector<std::size_t> reasoned;
  std::string context;  // tools and documents as JSON, what the messages are told beside
  bool operator==(const Turn&) const = default;

  // Prompt and completion: what the engine knows.
  [[nodiscard]] std::vector<TokenId> ids() const;
};

// `length` ids of one owner, sampled or not.
struct Stretch {
  std::size_t length = 0;
  std::int32_t owner = -1;
  bool sampled = false;
  bool operator==(const Stretch&) const = default;
};

// A turn as what it has beyond its parent.
struct Record : Reply {
  std::size_t kept_ids = 0;            // how many of the parent's prompt and completion the prompt begins with
  std::vector<TokenId> ids;            // the rest of the prompt
  std::vector<Stretch> stretches;      // of these
  std::size_t kept_messages = 0;       // how many of the parent's messages and reply the messages begin with
  std::vector<std::string> messages;   // the rest of them
  std::vector<std::size_t> reasoned;   // of the rest, and of the reply; counted as in the turn
  std::optional<std::string> context;  // nullopt: the parent's
  bool operator==(const Record&) const = default;
};

// `parent`: null for a record that stands for itself.  `kept_messages`: how many of the parent's messages, its reply counted as
// the last, are the first of the turn's; they need not be spelled alike.
// REQUIRES: turn.parent is the parent's key, or nullopt without one; owners and sampled have an entry for each id.
[[nodiscard]] Record make_record(const Turn& turn, const Turn* parent, std::size_t kept_messages);

// `lineage`: a record and its ancestors, the parent next.  Fails with kInvalidArgument where these are not each other's parents,
// the last has one, or a record keeps more of its parent than there is.
[[nodiscard]] Result<Turn> assemble(std::span<const Record> lineage);

// The same for one record: `parent` is the turn that it goes on from, null for a record that stands for itself.
[[nodiscard]] Result<Turn> assemble_on(const Turn* parent, const Record& record);

[[nodiscard]] std::string encode_record(const Record& record);
// Fails with kIo where the bytes are no record of a version that is known, or were damaged.
[[nodiscard]] Result<Record> decode_record(std::string_view bytes);

}  // namespace rondo::spans
