// Parts of request.h's readers.  Internal to apis/.
#pragma once

#include <optional>

#include "apis/fields.h"
#include "apis/request.h"

namespace rondo::apis {

// What is of one API alone; `fields` are the body's.  The messages, tools and template variables are read later, for all alike.
void read_chat_fields(Fields& fields, GenerateRequest& out);
void read_messages_fields(Fields& fields, GenerateRequest& out);
void read_responses_fields(Fields& fields, const json::Value& body, GenerateRequest& out);

// Shapes that the translation of messages takes for granted.
void check_chat_body(Fields& fields);
void check_messages_body(Fields& fields);
void check_responses_body(Fields& fields);

// Takes off the line or block with which a client tells its provider whom to bill: it changes with each request and says
// nothing to the model.  True if there was one.
bool drop_billing_header(json::Value& body);

// Members that several APIs share.
void read_sampling(Fields& fields, Sampling& out);
void read_stops(Fields& fields, std::string_view key, GenerateRequest& out);
void read_metadata(Fields& fields, GenerateRequest& out);
void read_schema(Fields& fields, AnswerFormat& out);  // of the object that holds name, schema and strict

// What an effort says of reasoning at all.
void read_effort(ReasoningWish& out);

// Text, or an array of objects with a type; a text part has a text.
void check_content(Fields& fields, std::string_view key);

// `tool_choice` of any API, against the tools that are there.
void read_tool_choice(const json::Value& choice, GenerateRequest& out, std::optional<Fault>& fault);

}  // namespace rondo::apis
