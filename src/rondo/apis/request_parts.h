// Parts of the readers in request.h.  Internal to apis/.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apis/fields.h"
#include "apis/request.h"

namespace rondo::apis {

// Read the fields that only one API has; `fields` are those of the body.  Messages, tools and template variables are
// read later, in the same way for all APIs.
void read_chat_fields(Fields& fields, GenerateRequest& out);
void read_messages_fields(Fields& fields, GenerateRequest& out);
void read_responses_fields(Fields& fields, const json::Value& body, GenerateRequest& out);

// Check the forms that the translation of messages relies on.
void check_chat_body(Fields& fields);
void check_messages_body(Fields& fields);
void check_responses_body(Fields& fields, const ReadOptions& options);
// Checks the items of Responses or Conversations in the member `key`.  `earlier` names what came before the request.
void check_items(Fields& fields, std::string_view key, std::span<const std::int32_t> places = {},
                 std::string_view earlier = {});

// Returns the field of the first content part that is not text, which token ids cannot carry; "" if there is none.
[[nodiscard]] std::string media_place(const GenerateRequest& request);
// Puts a sentence for the model in the place of each such part, and a warning for the client into the request.
void note_media(GenerateRequest& request);

// Checks that each result with an id answers a call before it.  Responses has check_results() for that.
[[nodiscard]] std::optional<Fault> check_answered_calls(const GenerateRequest& request);

// Check the types of members against one table (shapes.cpp): of a request, a tool, a function, an item, a message, a part of a
// content, and a tool choice.
void check_body_types(Fields& body, chat::Api api);
void check_tool_types(Fields& tool);
void check_function_types(Fields& function);
void check_item_types(Fields& item);
void check_message_types(Fields& message);
void check_part_types(Fields& part);
void check_choice_types(Fields& choice);

// Checks the schema that was read from a member.
void check_schema(Fields& fields, std::string_view key, const json::Value& schema,
                  std::string code = "invalid_json_schema");
// Checks the schema of a tool's parameters, which must be the schema of an object.
void check_parameters(Fields& tool, std::string_view key);
// Checks `syntax` and `definition` of a custom tool's grammar.
void check_custom_grammar(Fields& grammar);
// Checks a grammar that was read from a member, in a syntax of grammar::read_definition().
void check_grammar(Fields& fields, std::string_view key, std::string_view syntax, std::string_view definition);

// Checks `functions` and `function_call`, and sets `older_calls`.
void check_functions(Fields& fields, GenerateRequest& out);
// Turns them into a tool choice, if there are functions.
//
// REQUIRES: check_functions() found no fault.
void read_functions(Fields& fields, GenerateRequest& out);

// Removes the line or block with which a client tells its provider whom to bill.  It changes with each request and
// means nothing to the model.  Returns true if there was one.
bool drop_billing_header(json::Value& body);

// Members that several APIs have.
void read_sampling(Fields& fields, Sampling& out);
// Adds a warning for each field that other servers of these APIs know and that has no effect here.
void note_of_servers(Fields& fields, std::vector<std::string>& warnings);
void read_stops(Fields& fields, std::string_view key, GenerateRequest& out);
// The form of the answer, under the names of Chat Completions and of the servers that imitate it.
void read_answer_form(Fields& fields, GenerateRequest& out);
// The form of the answer, under names that only vLLM, SGLang or llama-server have.  The first counts.
void read_guides(Fields& fields, GenerateRequest& out);
void read_stop_ids(Fields& fields, GenerateRequest& out);
// `truncate_prompt_tokens` and `truncation_side`.
void read_cut(Fields& fields, PromptCut& out);
// Whether the text ends with the stop text, under the names of vLLM and SGLang.
void read_shows_stop(Fields& fields, bool& out);
// REQUIRES: `stream` was read.
void read_stream_options(Fields& fields, GenerateRequest& out);
// Returns what keeps the request's prompt apart from others in the engine's cache, under the names of vLLM and SGLang.
[[nodiscard]] std::string read_salt(Fields& fields);
// Refuses a `min_tokens` above `most`, the most tokens that the reply may have.
void check_least(Fields& fields, const Sampling& sampling, std::optional<std::int64_t> most);
void read_metadata(Fields& fields, GenerateRequest& out);
// Returns the member `metadata`, whose values must be strings; nullptr if it is absent.
const json::Value* read_metadata(Fields& fields);
void read_schema(Fields& fields, AnswerFormat& out);  // of the object with name, schema and strict

// Notes each of these fields that asks for something: what is null, false, zero or empty asks for nothing.
void note_left_out(Fields& fields, std::initializer_list<std::string_view> keys, std::vector<std::string>& warnings,
                   std::string_view why = {});

// Sets whether there is reasoning at all, from its effort.
void read_effort(ReasoningWish& out);

// Checks that the member is a text, or an array of objects that have a type; a text part needs a text.
void check_content(Fields& fields, std::string_view key);

// Reads the `tool_choice` of any API, and compares it with the existing tools.
void read_tool_choice(const json::Value& choice, GenerateRequest& out, std::optional<Fault>& fault);

}  // namespace rondo::apis
