// Format as JSON.
#include <array>
#include <utility>

#include "format/format.h"
#include "json/members.h"

namespace rondo::format {
namespace {

constexpr json::Names<NoContent, 3> kNoContent{
    {{NoContent::kEmpty, "empty"}, {NoContent::kNull, "null"}, {NoContent::kAbsent, "absent"}}};
constexpr json::Names<Envelope, 3> kEnvelopes{
    {{Envelope::kTags, "tags"}, {Envelope::kJsonObject, "json_object"}, {Envelope::kJsonArray, "json_array"}}};
constexpr json::Names<ArgumentStyle, 3> kArgumentStyles{{{ArgumentStyle::kJson, "json"},
                                                         {ArgumentStyle::kJsonText, "json_text"},
                                                         {ArgumentStyle::kParameters, "parameters"}}};
constexpr json::Names<CallPiece::Kind, 7> kPieceKinds{{{CallPiece::Kind::kLiteral, "literal"},
                                                       {CallPiece::Kind::kName, "name"},
                                                       {CallPiece::Kind::kId, "id"},
                                                       {CallPiece::Kind::kNameInId, "name_in_id"},
                                                       {CallPiece::Kind::kIndex, "index"},
                                                       {CallPiece::Kind::kArguments, "arguments"},
                                                       {CallPiece::Kind::kObject, "object"}}};
constexpr json::Names<ValueType, 8> kValueTypes{{{ValueType::kString, "string"},
                                                 {ValueType::kInteger, "integer"},
                                                 {ValueType::kFloat, "float"},
                                                 {ValueType::kTrue, "true"},
                                                 {ValueType::kFalse, "false"},
                                                 {ValueType::kNull, "null"},
                                                 {ValueType::kObject, "object"},
                                                 {ValueType::kArray, "array"}}};
constexpr json::Names<ValueStyle, 5> kValueStyles{{{ValueStyle::kRaw, "raw"},
                                                   {ValueStyle::kJson, "json"},
                                                   {ValueStyle::kPython, "python"},
                                                   {ValueStyle::kConstant, "constant"},
                                                   {ValueStyle::kNested, "nested"}}};

// The tag of the functions below.
struct FormatJson {
  static constexpr bool kRefusesUnknown = true;
};

const auto& names_of(FormatJson /*tag*/, NoContent /*type*/) { return kNoContent; }
const auto& names_of(FormatJson /*tag*/, Envelope /*type*/) { return kEnvelopes; }
const auto& names_of(FormatJson /*tag*/, ArgumentStyle /*type*/) { return kArgumentStyles; }
const auto& names_of(FormatJson /*tag*/, CallPiece::Kind /*type*/) { return kPieceKinds; }
const auto& names_of(FormatJson /*tag*/, ValueType /*type*/) { return kValueTypes; }
const auto& names_of(FormatJson /*tag*/, ValueStyle /*type*/) { return kValueStyles; }

template <typename V>
void visit(V& v, InputShape& x) {
  v.field("arguments_as_text", x.arguments_as_text);
  v.field("no_content", x.no_content);
  v.field("reasoning_field", x.reasoning_field);
  v.field("reasoning_part", x.reasoning_part);
  v.field("single_call", x.single_call);
}

template <typename V>
void visit(V& v, GenerationPrompt& x) {
  v.field("name", x.name);
  v.field("text", x.text);
}

template <typename V>
void visit(V& v, Escape& x) {
  v.field("text", x.text);
  v.field("written", x.written);
}

template <typename V>
void visit(V& v, Reasoning& x) {
  v.field("present", x.present);
  v.field("open", x.open);
  v.field("close", x.close);
  v.field("in_content", x.in_content);
  v.field("begins_text", x.begins_text);
  v.field("behind_content", x.behind_content);
  v.field("absent", x.absent);
  v.field("escapes", x.escapes);
}

template <typename V>
void visit(V& v, Content& x) {
  v.field("open", x.open);
  v.field("close", x.close);
  v.field("preamble_open", x.preamble_open);
  v.field("preamble_close", x.preamble_close);
  v.field("absent", x.absent);
  v.field("open_with_tools", x.open_with_tools);
  v.field("escapes", x.escapes);
}

template <typename V>
void visit(V& v, CallPiece& x) {
  v.field("kind", x.kind);
  v.field("text", x.text);
  v.field("front", x.front);
}

template <typename V>
void visit(V& v, JsonConstant& x) {
  v.field("path", x.path);
  v.field("value", x.value);
}

template <typename V>
void visit(V& v, JsonRoles& x) {
  v.field("name", x.name);
  v.field("arguments", x.arguments);
  v.field("id", x.id);
  v.field("name_is_key", x.name_is_key);
  v.field("shares_object", x.shares_object);
  v.field("reasoning", x.reasoning);
  v.field("constants", x.constants);
}

template <typename V>
void visit(V& v, ValueForm& x) {
  v.field("type", x.type);
  v.field("style", x.style);
  v.field("open", x.open);
  v.field("close", x.close);
  v.field("constant", x.constant);
  v.field("escapes", x.escapes);
  v.field("key_open", x.key_open);
}

template <typename V>
void visit(V& v, Parameters& x) {
  v.field("open", x.open);
  v.field("key_close", x.key_close);
  v.field("close", x.close);
  v.field("separator", x.separator);
  v.field("key_in_close", x.key_in_close);
  v.field("item_open", x.item_open);
  v.field("item_close", x.item_close);
  v.field("member_open", x.member_open);
  v.field("member_key_close", x.member_key_close);
  v.field("member_close", x.member_close);
  v.field("repeats_items", x.repeats_items);
  v.field("key_escapes", x.key_escapes);
  v.field("forms", x.forms);
}

template <typename V>
void visit(V& v, Calls& x) {
  v.field("present", x.present);
  v.field("section_open", x.section_open);
  v.field("section_close", x.section_close);
  v.field("call_open", x.call_open);
  v.field("call_close", x.call_close);
  v.field("separator", x.separator);
  v.field("envelope", x.envelope);
  v.field("lone_is_bare", x.lone_is_bare);
  v.field("pieces", x.pieces);
  v.field("heading_close", x.heading_close);
  v.field("content_behind", x.content_behind);
  v.field("may_stay_open", x.may_stay_open);
  v.field("omits_arguments", x.omits_arguments);
  v.field("bare_close", x.bare_close);
  v.field("roles", x.roles);
  v.field("name_escapes", x.name_escapes);
  v.field("arguments", x.arguments);
  v.field("argument_escapes", x.argument_escapes);
  v.field("parameters", x.parameters);
}

template <typename V>
void visit(V& v, Stops& x) {
  v.field("content", x.content);
  v.field("tool", x.tool);
  v.field("history_close", x.history_close);
}

template <typename V>
void visit(V& v, Trims& x) {
  v.field("content_begin", x.content_begin);
  v.field("content_end", x.content_end);
  v.field("reasoning_begin", x.reasoning_begin);
  v.field("reasoning_end", x.reasoning_end);
}

template <typename V>
void visit(V& v, Loss& x) {
  v.field("what", x.what);
  v.field("meaning", x.meaning);
  v.field("line", x.line);
}

template <typename V>
void visit(V& v, Format& x) {
  v.field("input", x.input);
  v.field("generation_prompts", x.generation_prompts);
  v.field("header", x.header);
  v.field("reasoning", x.reasoning);
  v.field("content", x.content);
  v.field("calls", x.calls);
  v.field("stops", x.stops);
  v.field("trims", x.trims);
  v.field("atoms", x.atoms);
  v.field("losses", x.losses);
  v.field("notes", x.notes);
}

}  // namespace

json::Value to_json(const Format& format) {
  Format copy = format;
  return json::MemberWriter<FormatJson>::write(copy);
}

Result<Format> from_json(const json::Value& value) {
  Format format;
  std::string wrong;
  json::MemberReader<FormatJson>::read(value, "format", format, wrong);
  if (wrong.empty()) {
    if (auto violation = format.verify()) wrong = "format: " + *violation;
  }
  if (wrong.empty()) return format;
  return Error(ErrorCode::kInvalidArgument, std::move(wrong));
}

std::string_view to_string(Envelope envelope) { return json::name_in(kEnvelopes, envelope); }
std::string_view to_string(ArgumentStyle style) { return json::name_in(kArgumentStyles, style); }
std::string_view to_string(ValueType type) { return json::name_in(kValueTypes, type); }
std::string_view to_string(ValueStyle style) { return json::name_in(kValueStyles, style); }
std::string_view to_string(NoContent no_content) { return json::name_in(kNoContent, no_content); }

}  // namespace rondo::format
