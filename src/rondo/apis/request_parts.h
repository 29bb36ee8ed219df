// Parts of the readers in request.h.  Internal to apis/.
#pragma once

#include <optional>

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
void check_responses_body(Fields& fields);

// Removes the line or block with which a client tells its provider whom to bill.  It changes with each request and
// means nothing to the model.  Returns true if there was one.
bool drop_billing_header(json::Value& body);

// Members that several APIs have.
void read_sampling(Fields& fields, Sampling& out);
void read_stops(Fields& fields, std::string_view key, GenerateRequest& out);
void read_metadata(Fields& fields, GenerateRequest& out);
void read_schema(Fields& fields, AnswerFormat& out);  // of the object with name, schema and strict

// Sets whether there is reasoning at all, from its effort.
void read_effort(ReasoningWish& out);

// Checks for a text, or an array of objects with a type; a text part needs a text.
void check_content(Fields& fields, std::string_view key);

// Reads the `tool_choice` of any API, and compares it with the existing tools.
void read_tool_choice(const json::Value& choice, GenerateRequest& out, std::optional<Fault>& fault);

}  // namespace rondo::apis
