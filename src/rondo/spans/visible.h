// What a client can show of a conversation, and its hashes.
//
// A client keeps messages in a form of its own, and sends them back in it.  What it does not change on purpose must not matter:
// reasoning left out or renamed, arguments in another spelling of the same JSON value, as a text or an object, the order of
// keys, a content as a text or as parts, none, null or empty, other ids of calls, white space at the ends of a text.
// visible_form() is the same for two messages that differ in nothing else, and another one for two that do.
//
//   const Visible seen = see(scope, conversation);
//   seen.chain[i]      // of everything in front of message i: equal where one conversation goes on from the other
//   seen.messages[i]   // of the message alone
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "json/value.h"
#include "spans/hash.h"

namespace rondo::spans {

// A JSON value without its spelling: members in order of their names, numbers by what they are.
[[nodiscard]] std::string value_form(const json::Value& value);

// The arguments of a call, given as an object or as its JSON text; a text that is no JSON stands for itself.
[[nodiscard]] std::string arguments_form(const json::Value* arguments);

// `messages[index]`.  What results answer is said by the place of the call in the messages before it.
// REQUIRES: the messages are objects.
[[nodiscard]] std::string visible_form(const json::Array& messages, std::size_t index);

struct Visible {
  Digest context;                // of tools and documents
  std::vector<Digest> messages;  // one for each
  std::vector<Digest> chain;     // one more: of the context and all messages before
};

// REQUIRES: the messages are objects.
[[nodiscard]] Visible see(const Scope& scope, const chat::Conversation& conversation);
// Adds a message behind those that are seen.
void see_next(const Scope& scope, const Digest& message, Visible& seen);

// The digest of a message alone, and the one under which a reply is found together with the message before it.
[[nodiscard]] Digest message_digest(const Scope& scope, const json::Array& messages, std::size_t index);
[[nodiscard]] Digest pair_digest(const Scope& scope, const Digest& before, const Digest& reply);

// True if `shown` may be what a client made of `reply`, some of whose calls were cut off or badly written: the same, but that
// these have only what of their arguments was complete.  `is_cut`: the reply did not come to its end.
[[nodiscard]] bool shows_cut_reply(const json::Value& reply, const json::Value& shown, bool is_cut);

// The ids that a message carries and that may hold a key of ours: of calls, items, signatures, encrypted content.
[[nodiscard]] std::vector<std::string_view> echoed_ids(const json::Value& message);

}  // namespace rondo::spans
