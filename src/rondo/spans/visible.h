// What a client can show of a conversation, and its hashes.
//
// A client keeps messages in its own form and sends them back in that form.  Differences that it does not make on
// purpose must not matter: reasoning that is left out, renamed, or written before the text, between tags; arguments in
// another spelling of the same JSON value, as text or as an object; the order of keys; content as text or as parts,
// missing, null or empty; other ids of calls; white space at the ends of a text.  Two messages have the same
// visible_form() if and only if they differ in nothing else.
//
//   const Visible seen = see(scope, conversation);
//   seen.chain[i]      // of everything before message i: equal if one conversation continues the other
//   seen.messages[i]   // of the message alone
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "json/value.h"
#include "spans/hash.h"

namespace rondo::spans {

// Returns a JSON value without its spelling: members sorted by name, numbers by their value.
[[nodiscard]] std::string value_form(const json::Value& value);

// Returns the form of a call's arguments, which are an object or its JSON text.  Text that is not JSON is its own form.
[[nodiscard]] std::string arguments_form(const json::Value* arguments);

// Returns the form of `messages[index]`.  The form of a tool result names the call by its position in the messages
// before it.
//
// REQUIRES: the messages are objects.
[[nodiscard]] std::string visible_form(const json::Array& messages, std::size_t index);

struct Visible {
  Digest context;                // of the tools and documents
  std::vector<Digest> messages;  // one for each
  std::vector<Digest> chain;     // one more than messages: of the context and of all messages before this index
};

// REQUIRES: the messages are objects.
[[nodiscard]] Visible see(const Scope& scope, const chat::Conversation& conversation);
// Adds a message after those that are seen.
void see_next(const Scope& scope, const Digest& message, Visible& seen);

// message_digest() is the digest of a message alone.  pair_digest() is the one under which a reply is found together
// with the message before it.
[[nodiscard]] Digest message_digest(const Scope& scope, const json::Array& messages, std::size_t index);
[[nodiscard]] Digest pair_digest(const Scope& scope, const Digest& before, const Digest& reply);

// Returns true if `shown` may be a client's form of `reply`, in which some calls were cut off or malformed: equal,
// except that these calls have only the complete part of their arguments.  `is_cut`: the reply did not come to its end.
[[nodiscard]] bool shows_cut_reply(const json::Value& reply, const json::Value& shown, bool is_cut);

// Returns true if `shown` has the calls of `reply` and no text: some clients keep no text of a reply that calls.  Only the
// key of a turn can tell such a message from another reply with the same calls.
[[nodiscard]] bool shows_calls_alone(const json::Value& reply, const json::Value& shown);

// Returns the text of an assistant message without reasoning between tags, and without white space at its ends.
[[nodiscard]] std::string shown_text(const json::Value& message);

// Returns true if `shown` may be the beginning of `reply`: the text of a client that left before the end, and no calls.
[[nodiscard]] bool shows_beginning(const json::Value& reply, const json::Value& shown);

// Returns true if a message shows reasoning: in a field, in parts of its content or between tags before its text.
[[nodiscard]] bool shows_reasoning(const json::Value& message);

// Returns true if a client that shows `shown` for `reply` has other reasoning than it was given.  No reasoning is not
// other reasoning.  Nor is a part of it, such as the beginning of a stream that broke off, or one of the parts before
// and after a call.  `is_continued`: the message is to be continued from what is shown; then a part counts as other
// reasoning too.
[[nodiscard]] bool has_other_reasoning(const json::Value& reply, const json::Value& shown, bool is_continued);

// Returns the ids in a message that may contain a key of ours: of calls, items, signatures and encrypted content.
[[nodiscard]] std::vector<std::string_view> echoed_ids(const json::Value& message);

}  // namespace rondo::spans
