// Format as JSON.  Writing and reading go through one description of each struct (visit_*), so they can't differ.
#include <array>
#include <limits>
#include <utility>

#include "format/format.h"

namespace rondo::format {
namespace {

template <typename E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

constexpr Names<NoContent, 3> kNoContent{
    {{NoContent::kEmpty, "empty"}, {NoContent::kNull, "null"}, {NoContent::kAbsent, "absent"}}};
constexpr Names<Envelope, 3> kEnvelopes{
    {{Envelope::kTags, "tags"}, {Envelope::kJsonObject, "json_object"}, {Envelope::kJsonArray, "json_array"}}};
constexpr Names<ArgumentStyle, 3> kArgumentStyles{{{ArgumentStyle::kJson, "json"},
                                                   {ArgumentStyle::kJsonText, "json_text"},
                                                   {ArgumentStyle::kParameters, "parameters"}}};
constexpr Names<CallPiece::Kind, 6> kPieceKinds{{{CallPiece::Kind::kLiteral, "literal"},
                                                 {CallPiece::Kind::kName, "name"},
                                                 {CallPiece::Kind::kId, "id"},
                                                 {CallPiece::Kind::kNameInId, "name_in_id"},
                                                 {CallPiece::Kind::kIndex, "index"},
                                                 {CallPiece::Kind::kArguments, "arguments"}}};
constexpr Names<ValueType, 8> kValueTypes{{{ValueType::kString, "string"},
                                           {ValueType::kInteger, "integer"},
                                           {ValueType::kFloat, "float"},
                                           {ValueType::kTrue, "true"},
                                           {ValueType::kFalse, "false"},
                                           {ValueType::kNull, "null"},
                                           {ValueType::kObject, "object"},
                                           {ValueType::kArray, "array"}}};
constexpr Names<ValueStyle, 5> kValueStyles{{{ValueStyle::kRaw, "raw"},
                                             {ValueStyle::kJson, "json"},
                                             {ValueStyle::kPython, "python"},
                                             {ValueStyle::kConstant, "constant"},
                                             {ValueStyle::kNested, "nested"}}};

const auto& names_of(NoContent) { return kNoContent; }
const auto& names_of(Envelope) { return kEnvelopes; }
const auto& names_of(ArgumentStyle) { return kArgumentStyles; }
const auto& names_of(CallPiece::Kind) { return kPieceKinds; }
const auto& names_of(ValueType) { return kValueTypes; }
const auto& names_of(ValueStyle) { return kValueStyles; }

template <typename E>
std::string_view name_of(E value) {
  for (const auto& [candidate, name] : names_of(value)) {
    if (candidate == value) return name;
  }
  return "";
}

// Collects the members of one struct into an object; what equals the default is left out.
class Writer {
 public:
  void field(const char* key, const std::string& value) {
    if (!value.empty()) object_.set(key, value);
  }
  void field(const char* key, bool value) {
    if (value) object_.set(key, true);
  }
  void field(const char* key, std::int32_t value) {
    if (value != 0) object_.set(key, value);
  }
  void field(const char* key, const std::vector<std::string>& value) {
    if (value.empty()) return;
    json::Array array(value.begin(), value.end());
    object_.set(key, json::Value(std::move(array)));
  }
  template <typename E>
    requires std::is_enum_v<E>
  void field(const char* key, E value) {
    object_.set(key, name_of(value));
  }
  template <typename T>
  void field(const char* key, const std::vector<T>& values) {
    if (values.empty()) return;
    json::Array array;
    for (T value : values) array.push_back(write(value));
    object_.set(key, json::Value(std::move(array)));
  }
  template <typename T>
    requires std::is_class_v<T>
  void field(const char* key, const T& value) {
    T copy = value;
    json::Value written = write(copy);
    if (!written.as_object().empty()) object_.set(key, std::move(written));
  }

  template <typename T>
  static json::Value write(T& value) {
    Writer writer;
    visit(writer, value);
    return json::Value(std::move(writer.object_));
  }

 private:
  json::Object object_;
};

// Fills one struct from an object; the first mistake is kept as a sentence.
class Reader {
 public:
  Reader(const json::Object& object, std::string path, std::string& wrong)
      : object_(object), path_(std::move(path)), wrong_(wrong) {}

  void field(const char* key, std::string& value) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_string()) return complain(key, "a string", *found);
    value = found->as_string();
  }
  void field(const char* key, bool& value) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    if (found->kind() != json::Kind::kBool) return complain(key, "a boolean", *found);
    value = found->as_bool();
  }
  void field(const char* key, std::int32_t& value) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    const auto number = found->to_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max())
      return complain(key, "a line number", *found);
    value = static_cast<std::int32_t>(*number);
  }
  void field(const char* key, std::vector<std::string>& value) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_array()) return complain(key, "an array of strings", *found);
    for (const json::Value& item : found->as_array()) {
      if (!item.is_string()) return complain(key, "an array of strings", item);
      value.push_back(item.as_string());
    }
  }
  template <typename E>
    requires std::is_enum_v<E>
  void field(const char* key, E& value) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_string()) return complain(key, "a string", *found);
    for (const auto& [candidate, name] : names_of(value)) {
      if (name == found->as_string()) {
        value = candidate;
        return;
      }
    }
    note("format" + path_ + "." + key + ": unknown value `" + found->as_string() + "`");
  }
  template <typename T>
  void field(const char* key, std::vector<T>& values) {
    const json::Value* found = take(key);
    if (found == nullptr) return;
    if (!found->is_array()) return complain(key, "an array", *found);
    for (std::size_t i = 0; i < found->as_array().size(); ++i) {
      read(found->as_array()[i], path_ + "." + key + "[" + std::to_string(i) + "]", values.emplace_back(), wrong_);
    }
  }
  template <typename T>
    requires std::is_class_v<T>
  void field(const char* key, T& value) {
    if (const json::Value* found = take(key)) read(*found, path_ + "." + key, value, wrong_);
  }

  template <typename T>
  static void read(const json::Value& value, const std::string& path, T& out, std::string& wrong) {
    if (!value.is_object()) {
      if (wrong.empty())
        wrong = "format" + path + " must be an object, found " + std::string(json::describe(value.kind()));
      return;
    }
    Reader reader(value.as_object(), path, wrong);
    visit(reader, out);
    reader.check_all_taken();
  }

 private:
  const json::Value* take(const char* key) {
    known_.emplace_back(key);
    return object_.find(key);
  }
  void note(std::string what) {
    if (wrong_.empty()) wrong_ = std::move(what);
  }
  void complain(const char* key, const char* expected, const json::Value& found) {
    note("format" + path_ + "." + key + " must be " + expected + ", found " +
         std::string(json::describe(found.kind())));
  }
  void check_all_taken() {
    for (const json::Member& member : object_) {
      bool known = false;
      for (const std::string& key : known_) known = known || key == member.key;
      if (!known) note("format" + path_ + ": unknown member `" + member.key + "`");
    }
  }

  const json::Object& object_;
  std::string path_;
  std::string& wrong_;
  std::vector<std::string> known_;
};

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
void visit(V& v, Reasoning& x) {
  v.field("present", x.present);
  v.field("open", x.open);
  v.field("close", x.close);
  v.field("in_content", x.in_content);
  v.field("begins_text", x.begins_text);
}

template <typename V>
void visit(V& v, Content& x) {
  v.field("open", x.open);
  v.field("close", x.close);
}

template <typename V>
void visit(V& v, CallPiece& x) {
  v.field("kind", x.kind);
  v.field("text", x.text);
}

template <typename V>
void visit(V& v, JsonRoles& x) {
  v.field("name", x.name);
  v.field("arguments", x.arguments);
  v.field("id", x.id);
  v.field("name_is_key", x.name_is_key);
}

template <typename V>
void visit(V& v, ValueForm& x) {
  v.field("type", x.type);
  v.field("style", x.style);
  v.field("open", x.open);
  v.field("close", x.close);
  v.field("constant", x.constant);
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
  v.field("pieces", x.pieces);
  v.field("heading_close", x.heading_close);
  v.field("content_behind", x.content_behind);
  v.field("may_stay_open", x.may_stay_open);
  v.field("roles", x.roles);
  v.field("arguments", x.arguments);
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
  return Writer::write(copy);
}

Result<Format> from_json(const json::Value& value) {
  Format format;
  std::string wrong;
  Reader::read(value, "", format, wrong);
  if (wrong.empty()) {
    if (auto violation = format.verify()) wrong = "format: " + *violation;
  }
  if (wrong.empty()) return format;
  return Error(ErrorCode::kInvalidArgument, std::move(wrong));
}

std::string_view to_string(Envelope envelope) { return name_of(envelope); }
std::string_view to_string(ArgumentStyle style) { return name_of(style); }
std::string_view to_string(ValueType type) { return name_of(type); }
std::string_view to_string(ValueStyle style) { return name_of(style); }
std::string_view to_string(NoContent no_content) { return name_of(no_content); }

}  // namespace rondo::format
