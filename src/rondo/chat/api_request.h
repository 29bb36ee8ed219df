// Requests and replies of the public chat APIs, read as conversations in the message JSON that templates take.
//
// Three APIs are known: OpenAI Chat Completions (its messages are taken as they are), Anthropic Messages and OpenAI Responses
// (translated).  What has no form as a chat message is left out and named in `notes`; everything else survives:
//
//   Messages API                            here
//   system, a text or text blocks           message 0, role system; blocks are joined
//   text blocks of a user                   content, a text, or parts where there are several or images
//   tool_result in a user's message         a message of role tool each, before what follows it
//   thinking                                reasoning_content
//   tool_use                                tool_calls; `input` as json.dumps prints it
//   tools with input_schema                 function tools
//   cache_control                           cache_marks
//
//   Responses API                           here
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

// What a client sends back of a reply beside its texts: ids of items, signatures, encrypted content.  Ids of calls stand in
// the messages.
struct EchoedKey {
  enum class Kind : std::uint8_t { kItem, kSignature, kEncrypted };
  Kind kind = Kind::kItem;
  std::size_t message = 0;  // of the translated messages
  std::string key;
};

struct ApiRequest {
  Api api = Api::kChat;
  json::Array messages;
  // Of each message the entry of the request's list that it was made of, the last where there are several; -1 for what is made
  // of `system` or `instructions`.  Empty for the Chat API: each message is its own.
  std::vector<std::int32_t> sources;
  bool has_instructions = false;  // messages[0] is made of `system` or `instructions`
  std::optional<json::Value> tools;
  std::vector<ApiTool> tool_table;          // one for each of `tools`
  std::vector<std::string> left_out_tools;  // names, or types, of those that only a vendor's server can run
  std::optional<json::Value> documents;
  json::Object kwargs;                 // `chat_template_kwargs` and the effort that is to be spent on reasoning
  std::string model;                   // "" if the request names none
  std::string conversation;            // what the client calls the conversation; "" if it says nothing
  std::string previous_response;       // `previous_response_id`: the messages are those that follow its reply
  std::vector<CacheMark> cache_marks;  // in the order of the prompt
  std::vector<EchoedKey> echoed;       // in the order of the messages
  std::vector<std::string> notes;      // "the redacted thinking of messages[3] was left out"
};

// Fails with kInvalidArgument where `body` is no request of these APIs, or one with messages that are none.
[[nodiscard]] Result<ApiRequest> read_request(json::Value body);
// The same for a body that is known to be of this API.
[[nodiscard]] Result<ApiRequest> read_request(json::Value body, Api api);

// Calls and results in the form that the Chat API had before it had tools, `function_call` and the role `function`, in today's.
// A result then belongs to a call by its place.
void take_old_calls(json::Array& messages);

// What a server answered.
struct ApiReply {
  std::string id;        // "" if there is none
  json::Array messages;  // assistant messages, mostly one
  // As the server counted.
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> cached_tokens;
};

// A reply body of these APIs, or a recorded stream of one: an array of the streamed objects, or the text of the event stream.
// nullopt for anything else: errors, empty replies.
[[nodiscard]] std::optional<ApiReply> read_reply(const json::Value& body);

}  // namespace rondo::chat
