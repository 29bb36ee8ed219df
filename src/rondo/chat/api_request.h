// Reads requests and replies of the public chat APIs as conversations, in the message JSON that templates take.
//
// Three APIs are known: OpenAI Chat Completions, whose messages are used unchanged; Anthropic Messages and OpenAI
// Responses, which are translated.  What has no form as a chat message is left out and named in `notes`.  Everything
// else survives:
//
//   Messages API                            result
//   system, a text or text blocks           message 0, role system; blocks are joined
//   text blocks of a user                   content, a text, or parts where there are several or images
//   tool_result in a user's message         a message of role tool each, before what follows it
//   thinking                                reasoning_content
//   tool_use                                tool_calls; `input` as json.dumps prints it
//   tools with input_schema                 function tools
//   cache_control                           cache_marks
//
//   Responses API                           result
//   instructions                            message 0, role system
//   reasoning, message, function_call       one assistant message, until something else follows
//   function_call_output                    a message of role tool
//   custom_tool_call                        a call with the argument `input`
//   tools and calls of a namespace        functions whose names begin with its name
//
//   auto request = chat::read_request(std::move(body));   // a parsed JSON body
//   request.value().messages;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/api_tools.h"
#include "chat/cache_marks.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::chat {

enum class Api : std::uint8_t { kChat, kMessages, kResponses };
[[nodiscard]] std::string_view to_string(Api api);  // "chat", "messages", "responses"

// A key that a client sends back with a reply besides its texts: the id of an item, a signature, encrypted content.
// Ids of calls are in the messages.
struct EchoedKey {
  enum class Kind : std::uint8_t { kItem, kSignature, kEncrypted };
  Kind kind = Kind::kItem;
  std::size_t message = 0;  // index in the translated messages
  std::string key;
};

// A note about reasoning of an assistant message that is only there in encrypted form, or not at all.  It does not matter
// to whoever has that reasoning.
struct HiddenReasoning {
  std::size_t note = 0;     // index in the notes
  std::size_t message = 0;  // index in the translated messages
};

// Where the client sent a part of a translated message.
struct PartPlace {
  enum class Field : std::uint8_t { kContent, kReasoning, kCall };
  Field field = Field::kContent;
  std::size_t message = 0;  // index in the translated messages
  std::size_t index = 0;    // for a call: its index; for content: where the part ends in the message's text
  std::int32_t entry = -1;  // as in ApiRequest::sources
  std::string_view list;    // the name of the list in the entry; "" if the entry itself is the part
  std::int32_t part = -1;   // index in the list; -1: no list
  std::string_view member;  // the member that has the text; "" if the part itself is a text
};

struct ApiRequest {
  Api api = Api::kChat;
  json::Array messages;
  // For each message, the index of the entry in the request's list from which it was made; the last one if there are
  // several, -1 for `system` or `instructions`.  Empty for the Chat API, where each message is its own entry.
  std::vector<std::int32_t> sources;
  std::vector<PartPlace> places;  // in the order of the messages; empty for the Chat API
  bool has_instructions = false;  // messages[0] was made from `system` or `instructions`
  std::optional<json::Value> tools;
  std::vector<ApiTool> tool_table;          // one for each of `tools`
  std::vector<std::string> left_out_tools;  // names or types of tools that only a vendor's server can run
  std::optional<json::Value> documents;
  json::Object kwargs;                 // `chat_template_kwargs`, and the effort to spend on reasoning
  std::string model;                   // "" if the request names none
  std::string conversation;            // the client's name for the conversation; "" if it gives none
  std::string previous_response;       // `previous_response_id`: the messages follow the reply with this id
  std::vector<CacheMark> cache_marks;  // in the order of the prompt
  std::vector<EchoedKey> echoed;       // in the order of the messages
  std::vector<std::string> notes;      // sentences: "the redacted thinking of messages[3] was left out"
  std::vector<HiddenReasoning> hidden_reasoning;
};

// Reads a request.  Fails with kInvalidArgument if `body` is not a request of these APIs, or if a message is not valid.
[[nodiscard]] Result<ApiRequest> read_request(json::Value body);
// Reads a body that is known to belong to `api`.
[[nodiscard]] Result<ApiRequest> read_request(json::Value body, Api api);

// Converts calls and results from the form that the Chat API had before tools, `function_call` and the role `function`,
// to today's form.  A result then belongs to a call by its position.
void take_old_calls(json::Array& messages);

// The answer of a server.
struct ApiReply {
  std::string id;        // "" if there is none
  json::Array messages;  // assistant messages, usually one
  // As counted by the server.
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> cached_tokens;
};

// Reads a reply body of these APIs.  `body` may also be a recorded stream: an array of the streamed objects, or the
// text of the event stream.  Returns nullopt for anything else, such as errors and empty replies.
[[nodiscard]] std::optional<ApiReply> read_reply(const json::Value& body);

}  // namespace rondo::chat
