// The types of the members of requests, as tables.  Members that a reader checks itself are not in them.
#include <array>
#include <span>

#include "apis/request_parts.h"

namespace rondo::apis {
namespace {

enum class Type : std::uint8_t {
  kBoolean,
  kInteger,
  kText,
  kTextOrObject,
  kObject,
  kArray,
  kTexts,    // an array of strings
  kObjects,  // an array of objects
};

struct Typed {
  std::string_view key;
  Type type;
  std::span<const Typed> inside{};  // of the object, or of each object of the array
};
using Table = std::span<const Typed>;

constexpr std::array kCacheControl = {Typed{"type", Type::kText}, Typed{"ttl", Type::kText}};
constexpr std::array kTextPart = {Typed{"type", Type::kText}, Typed{"text", Type::kText}};
constexpr std::array kEnabled = {Typed{"enabled", Type::kBoolean}};
constexpr std::array kNamed = {Typed{"name", Type::kText}};

constexpr std::array kFunction = {Typed{"name", Type::kText}, Typed{"description", Type::kText},
                                  Typed{"strict", Type::kBoolean}, Typed{"parameters", Type::kObject}};
constexpr std::array kToolMembers = {Typed{"type", Type::kText},
                                     Typed{"name", Type::kText},
                                     Typed{"description", Type::kText},
                                     Typed{"strict", Type::kBoolean},
                                     Typed{"parameters", Type::kObject},
                                     Typed{"input_schema", Type::kObject},
                                     Typed{"input_examples", Type::kObjects},
                                     Typed{"defer_loading", Type::kBoolean},
                                     Typed{"cache_control", Type::kObject, kCacheControl},
                                     Typed{"function", Type::kObject, kFunction},
                                     Typed{"custom", Type::kObject, kFunction}};

constexpr std::array kAllowed = {Typed{"mode", Type::kText}, Typed{"tools", Type::kObjects, kToolMembers}};
constexpr std::array kChoice = {Typed{"type", Type::kText},
                                Typed{"name", Type::kText},
                                Typed{"namespace", Type::kText},
                                Typed{"mode", Type::kText},
                                Typed{"tools", Type::kObjects},
                                Typed{"disable_parallel_tool_use", Type::kBoolean},
                                Typed{"function", Type::kObject, kNamed},
                                Typed{"custom", Type::kObject, kNamed},
                                Typed{"allowed_tools", Type::kObject, kAllowed}};

// The members of all parts, whatever their type.
constexpr std::array kPart = {Typed{"refusal", Type::kText},     Typed{"title", Type::kText},
                              Typed{"context", Type::kText},     Typed{"signature", Type::kText},
                              Typed{"is_error", Type::kBoolean}, Typed{"cache_control", Type::kObject, kCacheControl}};
// Not of all texts: what tools return, and some clients pass on, has `annotations` of another kind.
constexpr std::array kOutputText = {Typed{"annotations", Type::kArray}, Typed{"logprobs", Type::kArray}};
constexpr std::array kSource = {Typed{"type", Type::kText}, Typed{"media_type", Type::kText},
                                Typed{"data", Type::kText}, Typed{"url", Type::kText}, Typed{"file_id", Type::kText}};
constexpr std::array kDocument = {Typed{"source", Type::kObject, kSource}, Typed{"citations", Type::kObject, kEnabled}};
constexpr std::array kSearchResult = {Typed{"source", Type::kText}, Typed{"content", Type::kObjects, kTextPart},
                                      Typed{"citations", Type::kObject, kEnabled}};
constexpr std::array kCited = {Typed{"citations", Type::kArray}};
constexpr std::array kServerCall = {Typed{"id", Type::kText}, Typed{"name", Type::kText},
                                    Typed{"input", Type::kObject}};
constexpr std::array kRedacted = {Typed{"data", Type::kText}};

constexpr std::array kItem = {Typed{"type", Type::kText}, Typed{"id", Type::kText}, Typed{"status", Type::kText},
                              Typed{"phase", Type::kText}, Typed{"namespace", Type::kText}};
constexpr std::array kReasoning = {Typed{"summary", Type::kObjects, kTextPart},
                                   Typed{"content", Type::kObjects, kTextPart},
                                   Typed{"encrypted_content", Type::kText}};

constexpr std::array kCalledFunction = {Typed{"name", Type::kText}, Typed{"arguments", Type::kTextOrObject}};
constexpr std::array kCalledCustom = {Typed{"name", Type::kText}, Typed{"input", Type::kText}};
constexpr std::array kCall = {Typed{"id", Type::kText}, Typed{"type", Type::kText}, Typed{"index", Type::kInteger},
                              Typed{"function", Type::kObject, kCalledFunction},
                              Typed{"custom", Type::kObject, kCalledCustom}};
constexpr std::array kMessage = {Typed{"name", Type::kText},
                                 Typed{"refusal", Type::kText},
                                 Typed{"reasoning_content", Type::kText},
                                 Typed{"reasoning", Type::kText},
                                 Typed{"tool_call_id", Type::kText},
                                 Typed{"annotations", Type::kArray},
                                 Typed{"audio", Type::kObject},
                                 Typed{"reasoning_details", Type::kObjects, kTextPart},
                                 Typed{"tool_calls", Type::kObjects, kCall}};

constexpr std::array kStreamOptions = {Typed{"include_usage", Type::kBoolean},
                                       Typed{"include_obfuscation", Type::kBoolean}};
constexpr std::array kSchemaFormat = {Typed{"description", Type::kText}};
constexpr std::array kResponseFormat = {Typed{"json_schema", Type::kObject, kSchemaFormat}};
constexpr std::array kTextFormat = {Typed{"format", Type::kObject, kSchemaFormat}};
constexpr std::array kEffort = {Typed{"effort", Type::kText}};
constexpr std::array kOfType = {Typed{"type", Type::kText}};

constexpr std::array kChatBody = {Typed{"service_tier", Type::kText},
                                  Typed{"verbosity", Type::kText},
                                  Typed{"modalities", Type::kTexts},
                                  Typed{"prediction", Type::kObject, kOfType},
                                  Typed{"audio", Type::kObject},
                                  Typed{"web_search_options", Type::kObject},
                                  Typed{"prompt_cache_retention", Type::kText},
                                  Typed{"reasoning", Type::kObject, kEffort},
                                  Typed{"stream_options", Type::kObject, kStreamOptions},
                                  Typed{"response_format", Type::kObject, kResponseFormat},
                                  Typed{"guided_json", Type::kTextOrObject},
                                  Typed{"structured_outputs", Type::kObject}};
constexpr std::array kEdits = {Typed{"edits", Type::kObjects, kOfType}};
constexpr std::array kMessagesBody = {Typed{"service_tier", Type::kText},
                                      Typed{"inference_geo", Type::kText},
                                      Typed{"container", Type::kTextOrObject},
                                      Typed{"cache_control", Type::kObject, kCacheControl},
                                      Typed{"context_management", Type::kObject, kEdits},
                                      Typed{"mcp_servers", Type::kObjects, kNamed}};
constexpr std::array kManaged = {Typed{"type", Type::kText}, Typed{"compact_threshold", Type::kInteger}};
constexpr std::array kResponsesBody = {
    Typed{"service_tier", Type::kText},           Typed{"max_tool_calls", Type::kInteger},
    Typed{"prompt_cache_retention", Type::kText}, Typed{"stream_options", Type::kObject, kStreamOptions},
    Typed{"text", Type::kObject, kTextFormat},    Typed{"context_management", Type::kObjects, kManaged}};

constexpr std::size_t kMostElements = kMostMessages;

void check(Fields& fields, Table table);

void check_texts(Fields& fields, std::string_view key) {
  const json::Array* texts = fields.array(key, kMostElements);
  for (std::size_t i = 0; texts != nullptr && i < texts->size(); ++i) {
    if ((*texts)[i].is_string()) continue;
    return fields.refuse(std::string(key) + "[" + std::to_string(i) + "]",
                         "must be a string, found " + std::string(describe((*texts)[i].kind())), "invalid_type");
  }
}

void check_one(Fields& fields, const Typed& member) {
  switch (member.type) {
    case Type::kBoolean: (void)fields.boolean(member.key); break;
    case Type::kInteger: (void)fields.integer(member.key, std::numeric_limits<std::int64_t>::min()); break;
    case Type::kText: (void)fields.text(member.key); break;
    case Type::kArray: (void)fields.array(member.key, kMostElements); break;
    case Type::kTexts: check_texts(fields, member.key); break;
    case Type::kObjects:
      fields.each(member.key, kMostElements, [&](Fields& element, std::size_t) { check(element, member.inside); });
      break;
    case Type::kTextOrObject:
      if (const json::Value* value = fields.any(member.key);
          value != nullptr && !value->is_string() && !value->is_object())
        fields.refuse(member.key, "must be a string or an object, found " + std::string(describe(value->kind())),
                      "invalid_type");
      break;
    case Type::kObject: {
      Fields inside = fields.inside(member.key);
      check(inside, member.inside);
      break;
    }
  }
}

void check(Fields& fields, Table table) {
  for (const Typed& member : table) check_one(fields, member);
}

}  // namespace

void check_body_types(Fields& body, chat::Api api) {
  switch (api) {
    case chat::Api::kChat: return check(body, kChatBody);
    case chat::Api::kMessages: return check(body, kMessagesBody);
    case chat::Api::kResponses: return check(body, kResponsesBody);
  }
}

void check_tool_types(Fields& tool) { check(tool, kToolMembers); }

void check_function_types(Fields& function) { check(function, kFunction); }

void check_item_types(Fields& item) {
  check(item, kItem);
  if (item.text("type") == "reasoning") check(item, kReasoning);
}

void check_message_types(Fields& message) { check(message, kMessage); }

void check_part_types(Fields& part) {
  check(part, kPart);
  const std::string type = part.text("type").value_or("");
  if (type == "document") check(part, kDocument);
  if (type == "search_result") check(part, kSearchResult);
  if (type == "text") check(part, kCited);
  if (type == "output_text") check(part, kOutputText);
  if (type == "server_tool_use") check(part, kServerCall);
  if (type == "redacted_thinking") check(part, kRedacted);
}

void check_choice_types(Fields& choice) { check(choice, kChoice); }

}  // namespace rondo::apis
