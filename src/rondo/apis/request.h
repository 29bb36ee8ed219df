// A request of any of the three chat APIs, in a form that is common to all.
//
//   Outcome<GenerateRequest> request = apis::read(chat::Api::kChat, std::move(body), headers);
//   request.value().messages;           // as a template takes them
//   request.value().sampling.top_p;     // nullopt: the model's default
//
// Unknown fields are ignored; a field of the wrong type is a fault with its path.  This code reads no template and no
// store: the caller fills in what `previous_response_id` and items of type `item_reference` stand for (items.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/errors.h"
#include "chat/api_request.h"
#include "json/value.h"

namespace rondo::apis {

// The most that a request may contain.  Each limit is far above what clients send; beyond it something is wrong.
inline constexpr std::size_t kMostMessages = 100'000;
inline constexpr std::size_t kMostTools = 4096;
inline constexpr std::size_t kMostStops = 64;
inline constexpr std::size_t kMostBadWords = 1024;
inline constexpr std::size_t kMostAllowedIds = 1 << 20;
inline constexpr std::size_t kMostStopBytes = 4096;
inline constexpr std::size_t kMostChoices = 128;
// OpenAI's own limits of `metadata`; the last two in characters.
inline constexpr std::size_t kMostMetadata = 16;
inline constexpr std::size_t kMostMetadataKey = 64;
inline constexpr std::size_t kMostMetadataValue = 512;
inline constexpr std::size_t kMostWords = 64;  // of a list of words, such as `include`
inline constexpr int kMostNesting = 256;

// Sampling settings.  A missing one is left to the defaults of the model and the engine.
struct Sampling {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<std::int64_t> top_k;  // 0: all
  std::optional<double> min_p;
  std::optional<double> typical_p;
  std::optional<std::int64_t> seed;
  std::optional<double> presence_penalty;
  std::optional<double> frequency_penalty;
  std::optional<double> repetition_penalty;
  std::vector<std::pair<std::int32_t, double>> logit_bias;
  std::vector<std::int32_t> allowed_ids;  // only these may be sampled; empty: any
  std::vector<std::string> bad_words;     // texts that must not be sampled, without the blanks before them
  std::int64_t min_tokens = 0;            // before which the reply does not end
  bool ignore_end = false;                // only `max_tokens` or a stop text ends the reply
};

// The settings that are numbers, under their names in requests, and the range of each.
struct SamplingNumber {
  std::string_view name;
  std::optional<double> Sampling::* value;
  double least;
  double most;
};
inline constexpr std::array kSamplingNumbers = {
    SamplingNumber{"temperature", &Sampling::temperature, 0, 2},
    SamplingNumber{"top_p", &Sampling::top_p, 0, 1},
    SamplingNumber{"min_p", &Sampling::min_p, 0, 1},
    SamplingNumber{"typical_p", &Sampling::typical_p, 0, 1},
    SamplingNumber{"presence_penalty", &Sampling::presence_penalty, -2, 2},
    SamplingNumber{"frequency_penalty", &Sampling::frequency_penalty, -2, 2},
    SamplingNumber{"repetition_penalty", &Sampling::repetition_penalty, 0.01, 100},
};

struct ToolChoice {
  enum class Mode : std::uint8_t { kAuto, kNone, kRequired };
  Mode mode = Mode::kAuto;
  std::vector<std::string> only;  // names as the template knows them; empty: any tool
  bool parallel = true;
};

struct AnswerFormat {
  enum class Kind : std::uint8_t { kText, kJson, kSchema, kTag };
  Kind kind = Kind::kText;
  std::string name;
  json::Value schema;    // for kTag: xgrammar's structural tag for the whole output, which only the engine reads
  bool is_text = false;  // the answer is the text of the string that the schema describes
  bool is_strict = false;
  std::string field;  // the field of the request that asks for this form
};

struct ReasoningWish {
  enum class Mode : std::uint8_t { kDefault, kOff, kOn };
  Mode mode = Mode::kDefault;
  std::string effort;  // "" if the client sets none
  std::optional<std::int64_t> budget_tokens;
  bool is_shown = true;        // whether the reply shows the reasoning
  bool is_signed = false;      // Messages: a signature is required if the reasoning is not shown
  bool is_summarized = false;  // Responses: it is requested as a summary
};

// How long a prompt may be, and which of its tokens are taken if it is longer.
struct PromptCut {
  std::optional<std::size_t> most_tokens;
  bool fits_context = false;     // as many as leave room for the reply
  bool keeps_beginning = false;  // the first ones instead of the last ones
};

// How to find requests that belong together.
struct SessionHints {
  std::string session;  // the header `x-rondo-session`: names the session
  std::string group;    // what clients send anyway: headers, `prompt_cache_key`, `metadata.user_id`
};

// What the Responses API keeps besides a reply.
struct ResponsesState {
  bool store = true;
  std::string previous_response_id;
  std::string conversation;
  bool background = false;
  bool generate = true;  // false on a WebSocket: the input is only registered, nothing is sampled
  bool include_encrypted_reasoning = false;
  bool include_logprobs = false;
  bool truncate = false;  // `truncation: "auto"`
  json::Object echo;      // the fields that the reply repeats
  // For each item of `input`, the index in the request's own list (as in PlacedItems).  Empty if all items are the
  // request's own.
  std::vector<std::int32_t> input_places;
};

// A warning about a message.
struct MessageWarning {
  std::size_t message = 0;
  std::string sentence;
};

struct GenerateRequest {
  chat::Api api = chat::Api::kChat;
  std::string model;

  // What the model reads.
  json::Array messages;
  std::vector<std::int32_t> sources;    // as in chat::ApiRequest
  std::vector<chat::PartPlace> places;  // as in chat::ApiRequest
  bool has_instructions = false;        // messages[0] was made from `system` or `instructions`
  std::optional<json::Value> tools;
  std::vector<chat::ApiTool> tool_table;
  std::optional<json::Value> documents;
  json::Object kwargs;
  bool continue_final = false;  // the last message is an assistant message to be continued
  PromptCut cut;                // Chat
  bool opens_reply = true;      // false (`add_generation_prompt`): the prompt ends after the last message
  std::vector<chat::CacheMark> cache_marks;
  std::vector<chat::EchoedKey> echoed;
  std::string media;  // the field of the first content part that is not text, which token ids cannot carry

  // What it may write.
  ToolChoice tool_choice;
  AnswerFormat format;
  ReasoningWish reasoning;
  Sampling sampling;
  std::vector<std::string> stops;
  std::vector<std::int32_t> stop_ids;  // besides those of the template
  bool shows_stop = false;             // the content ends with the stop text
  std::optional<std::int64_t> max_tokens;
  std::size_t choices = 1;
  bool older_calls = false;  // Chat: tools and calls in the form of `functions` and `function_call`

  // The form of the reply.
  bool logprobs = false;
  std::size_t top_logprobs = 0;
  bool stream = false;
  bool include_usage = false;     // for a Chat stream
  bool continuous_usage = false;  // the same with each chunk
  bool tokens_as_ids = false;     // log probabilities name tokens by their ids
  bool return_token_ids = false;
  bool return_prompt_text = false;             // Chat
  std::optional<std::size_t> prompt_logprobs;  // Chat: for each id of the prompt, and for this many others
  bool echo = false;                           // Chat: the content begins with that of the message that is continued
  bool explain = false;                        // the header `x-rondo-explain`
  bool open_responses = false;                 // the header `OpenResponses-Version`
  std::optional<std::string> previous_message_id;  // Messages: `diagnostics` are requested; "" if it names no message

  // Chat and Responses: the reply whose prompt is to be compared (`prompt_cache_options`); "" if there is none.
  std::string comparison_response_id;

  ResponsesState responses;
  bool store = false;  // Chat
  json::Object metadata;
  std::string user;
  std::string cache_key;   // `prompt_cache_key`
  std::string cache_salt;  // `cache_salt`, `extra_key`
  SessionHints session;
  std::vector<std::string> warnings;  // sentences for the header `warning`: what was left out
  // Warnings about reasoning that the client does not show.  They hold unless the reply is known with its reasoning.
  std::vector<MessageWarning> hidden_reasoning;
};

// Returns the value of a header; "" if there is none.  Names are in lower case.
using HeaderLookup = std::function<std::string(std::string_view)>;

// What becomes of content that is not text.
enum class Media : std::uint8_t {
  kKeep,  // it stays, and `media` names it
  kNote,  // a sentence that tells the model what was left out takes its place
};

struct ReadOptions {
  bool refuse_unknown_tools = false;         // a tool that only a vendor's server can run is a fault
  std::vector<std::int32_t> input_places{};  // as in ResponsesState
  Media media = Media::kKeep;
};

// Parses the body of a request.
[[nodiscard]] Outcome<json::Value> parse_body(std::string_view text);

[[nodiscard]] Outcome<GenerateRequest> read(chat::Api api, json::Value body, const HeaderLookup& headers = {},
                                            const ReadOptions& options = {});

// Returns the field of the request that a message was made from: "messages[2]", "input[3]" or "system"; with a member,
// "messages[2].role".  Returns "previous_response_id" or "conversation" for what came before the request, which has no
// field of its own.
[[nodiscard]] std::string place_of(const GenerateRequest& request, std::size_t message, std::string_view member = {});
// Does the same for an entry of the request's list, where -1 means `system` or `instructions`.
[[nodiscard]] std::string place_of_entry(const GenerateRequest& request, std::int32_t entry);
// Returns the field as the beginning of a sentence: "`input[3]`", "what `conversation` names".
[[nodiscard]] std::string quoted_place(const std::string& place);

// Returns a field of the translated messages as the client sent it: "messages[3].tool_calls[0].function.arguments" may be
// "input[5].arguments".  `byte` is a place in its text, which chooses among several parts.
[[nodiscard]] std::string client_path(const GenerateRequest& request, std::string_view path,
                                      std::optional<std::size_t> byte = {});

// Returns whether the Responses API knows the word for `include`.
[[nodiscard]] bool is_include(std::string_view word);

// Returns the entry of the tool that the model calls by this name; nullptr if the client declared none.
[[nodiscard]] const chat::ApiTool* find_tool(const std::vector<chat::ApiTool>& table, std::string_view name);

}  // namespace rondo::apis
