// A turn is one reply of a model, with the ids of its prompt and completion as the engine saw them.  A store keeps a
// record of it.
//
// The turns of a session form a tree: a turn's parent is the turn that its prompt continues.  A record contains only
// what its parent lacks, so a turn costs its own tokens and messages, however long the conversation before it is.
//
//   Record record = make_record(turn, &parent, kept_messages);
//   std::string bytes = encode_record(record);                 // docs/spans.md has the format
//   Result<Record> again = decode_record(bytes);
//   Result<Turn> whole = assemble(lineage);                     // the record and those of its ancestors
//
// All types here are plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared_row.h"
#include "base/shared_text.h"
#include "json/members.h"
#include "rondo/result.h"
#include "spans/hash.h"
#include "spans/keys.h"

namespace rondo::spans {

using TokenId = std::int32_t;

// How a reply ended.
enum class Finish : std::uint8_t {
  kStop,       // "stop": by the model's stop token
  kLength,     // "length": at a limit of tokens or of the context
  kCancelled,  // "cancelled": the client went away
  kFailed,     // "failed": the engine failed
};
inline constexpr json::Names<Finish, 4> kFinishNames{{
    {Finish::kStop, "stop"},
    {Finish::kLength, "length"},
    {Finish::kCancelled, "cancelled"},
    {Finish::kFailed, "failed"},
}};

// Everything in a turn except its prompt.
struct Reply {
  TurnKey key;
  std::optional<TurnKey> parent;
  std::vector<TokenId> completion;  // including its stop token, if one was sampled
  std::vector<float> logprobs;      // one for each id of the completion, or empty
  std::size_t prefill =
      0;  // how many of the prompt's last ids are the beginning of the reply, which the model continued
  Finish finish = Finish::kStop;
  bool inexact = false;  // the completion's ids may differ from those that were sampled
  // The reply as the client got it, in the JSON of the chat API; includes the part that was continued.
  std::string message;
  std::vector<std::string> notes;  // sentences
  std::string facts;               // data that the caller stores with it; spans/ does not read it
  std::int64_t time_ms = 0;        // when it was stored
  // The digest of the message alone (spans/visible.h).  What a client shows under the key must have the same digest.
  Digest visible;
  bool operator==(const Reply&) const = default;
};

// A whole turn.
struct Turn : Reply {
  SharedRow<TokenId> prompt;
  SharedRow<std::int32_t> owners;    // per id of the prompt: the index of the message that owns it; -1: none
  SharedRow<std::uint8_t> sampled;   // per id of the prompt: 1 if it was sampled
  std::vector<SharedText> messages;  // the messages of the prompt, each as JSON
  // Indices of the messages whose turns were sampled with reasoning, in order; messages.size() is the reply.  Kept here
  // because clients leave reasoning out.
  std::vector<std::size_t> reasoned;
  // JSON: what the model gets besides the messages: tools, documents, and the time if the template shows it.
  std::string context;
  bool operator==(const Turn&) const = default;

  // Returns prompt and completion: the ids that the engine knows.
  [[nodiscard]] std::vector<TokenId> ids() const;
};

// `length` consecutive ids of one owner, all sampled or all not.
struct Stretch {
  std::size_t length = 0;
  std::int32_t owner = -1;
  bool sampled = false;
  bool operator==(const Stretch&) const = default;
};

// A turn without what its parent has.
struct Record : Reply {
  std::size_t kept_ids = 0;           // how many ids of the parent's prompt and completion the prompt begins with
  std::vector<TokenId> ids;           // the other ids of the prompt
  std::vector<Stretch> stretches;     // of these ids
  std::size_t kept_messages = 0;      // how many of the parent's messages, including its reply, the messages begin with
  std::vector<std::string> messages;  // the other messages
  std::vector<std::size_t> reasoned;  // only for the other messages and the reply; indices as in Turn
  std::optional<std::string> context;  // nullopt: the same as the parent's
  bool operator==(const Record&) const = default;
};

// Makes the record of a turn.  `parent` is null for a record that does not need one.  `kept_messages` is how many of
// the turn's first messages are the parent's, whose reply counts as its last message; their spelling may differ.
//
// REQUIRES: turn.parent is the parent's key, or nullopt without a parent; owners and sampled have one entry per id.
[[nodiscard]] Record make_record(const Turn& turn, const Turn* parent, std::size_t kept_messages);

// Assembles a turn.  `lineage` is a record followed by its ancestors, parent first.  Fails with kInvalidArgument if a
// record is not the parent of the one before it, if the last one has a parent, or if a record keeps more of its parent
// than there is.
[[nodiscard]] Result<Turn> assemble(std::span<const Record> lineage);

// Assembles a turn from its record and its parent's turn; `parent` is null for a record that does not need one.
[[nodiscard]] Result<Turn> assemble_on(const Turn* parent, const Record& record);

[[nodiscard]] std::string encode_record(const Record& record);
// Decodes a record.  Fails with kIo if the bytes are damaged or not a record of a known version.
[[nodiscard]] Result<Record> decode_record(std::string_view bytes);

}  // namespace rondo::spans
