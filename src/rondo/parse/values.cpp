#include "parse/values.h"

#include <algorithm>

#include "base/hex.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/pointer.h"
#include "json/print.h"

namespace rondo::parse {
namespace {

using format::is_space;
using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

constexpr std::size_t kLongestUnopened = 4096;  // bytes of a string inside a value whose opening quote is missing
constexpr std::size_t kMostAlternatives = 64;   // that state the same property
constexpr int kReferenceDepth = 16;             // $ref and combinators may form circles

std::optional<TypeSet> type_named(std::string_view name) {
  if (name == "string") return TypeSet(TypeSet::kString);
  if (name == "integer") return TypeSet(TypeSet::kInteger);
  if (name == "number") return TypeSet(TypeSet::kNumber);
  if (name == "boolean") return TypeSet(TypeSet::kBoolean);
  if (name == "null") return TypeSet(TypeSet::kNull);
  if (name == "object") return TypeSet(TypeSet::kObject);
  if (name == "array") return TypeSet(TypeSet::kArray);
  return std::nullopt;
}

TypeSet type_of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return TypeSet(TypeSet::kNull);
    case json::Kind::kBool: return TypeSet(TypeSet::kBoolean);
    case json::Kind::kInteger: return TypeSet(TypeSet::kInteger);
    case json::Kind::kFloat: return TypeSet(TypeSet::kNumber);
    case json::Kind::kString: return TypeSet(TypeSet::kString);
    case json::Kind::kArray: return TypeSet(TypeSet::kArray);
    case json::Kind::kObject: return TypeSet(TypeSet::kObject);
  }
  return {};
}

// Returns the types in the value of the keyword `type`: a name, or a list of names.
TypeSet named_types(const json::Value& names) {
  TypeSet set;
  const auto add = [&set](const json::Value& name) {
    if (const auto named = name.is_string() ? type_named(name.as_string()) : std::nullopt) set.add(*named);
  };
  add(names);
  if (!names.is_array()) return set;
  for (const json::Value& name : names.as_array()) add(name);
  return set;
}

// Returns the types by the first of `type`, `const` and `enum` that the schema has.
TypeSet stated_types(const json::Value& schema) {
  if (const json::Value* names = schema.find("type")) return named_types(*names);
  if (const json::Value* constant = schema.find("const")) return type_of(*constant);
  TypeSet set;
  if (const json::Value* choices = schema.find("enum"); choices != nullptr && choices->is_array()) {
    for (const json::Value& choice : choices->as_array()) set.add(type_of(choice));
  }
  return set;
}

std::optional<TypeSet> types_at(const json::Value& schema, const json::Value& root, int depth);

// Returns the types of all alternatives; none if one of them does not say.
TypeSet alternative_types(const json::Value& alternatives, const json::Value& root, int depth) {
  TypeSet set;
  for (const json::Value& item : alternatives.as_array()) {
    const auto types = types_at(item, root, depth + 1);
    if (!types) return {};
    set.add(*types);
  }
  return set;
}

// Returns the types by the first of the combinators that says something.
TypeSet combined_types(const json::Value& schema, const json::Value& root, int depth) {
  TypeSet set;
  for (const char* key : {"anyOf", "oneOf"}) {
    const json::Value* list = schema.find(key);
    if (set.empty() && list != nullptr && list->is_array()) set = alternative_types(*list, root, depth);
  }
  const json::Value* parts = schema.find("allOf");
  if (!set.empty() || parts == nullptr || !parts->is_array()) return set;
  for (const json::Value& part : parts->as_array()) {
    if (const auto types = types_at(part, root, depth + 1)) set.add(*types);
  }
  return set;
}

// Returns the types by `type`, `const` or `enum`, else by references and combinators, else by keywords for objects and
// arrays.
std::optional<TypeSet> types_at(const json::Value& schema, const json::Value& root, int depth) {
  if (!schema.is_object() || depth > kReferenceDepth) return std::nullopt;
  TypeSet set = stated_types(schema);
  if (set.empty()) {
    if (const auto reference = schema.find_string("$ref")) {
      const json::Value* target = json::resolve_reference(*reference, root);
      return target != nullptr ? types_at(*target, root, depth + 1) : std::nullopt;
    }
    set = combined_types(schema, root, depth);
  }
  if (set.empty() && schema.find("properties") != nullptr) set.add(TypeSet::kObject);
  if (set.empty() && schema.find("items") != nullptr) set.add(TypeSet::kArray);
  if (set.empty()) return std::nullopt;
  if (schema.is_true("nullable")) set.add(TypeSet::kNull);
  return set;
}

// The schema of a property, and the alternative that states it; nullptr if it is stated in all alternatives.
struct StatedProperty {
  const json::Value* schema;
  const json::Value* alternative;
};

// Finds the property in the schema itself, else in its reference, else in its combinators: in the first part of `allOf`
// that has it, and in each alternative.
void find_property(const json::Value& schema, const json::Value& root, std::string_view key, int depth,
                   const json::Value* alternative, std::vector<StatedProperty>& out) {
  if (!schema.is_object() || depth > kReferenceDepth || out.size() >= kMostAlternatives) return;
  if (const json::Value* properties = schema.find("properties")) {
    if (const json::Value* found = properties->find(key)) return out.push_back({found, alternative});
  }
  if (const auto reference = schema.find_string("$ref")) {
    const json::Value* target = json::resolve_reference(*reference, root);
    if (target != nullptr) return find_property(*target, root, key, depth + 1, alternative, out);
  }
  const std::size_t before = out.size();
  for (const char* combinator : {"allOf", "anyOf", "oneOf"}) {
    const json::Value* list = schema.find(combinator);
    if (list == nullptr || !list->is_array() || out.size() > before) continue;
    const bool is_choice = std::string_view(combinator) != "allOf";
    for (const json::Value& item : list->as_array()) {
      find_property(item, root, key, depth + 1, is_choice ? &item : alternative, out);
      if (!is_choice && out.size() > before) break;
    }
  }
}

// Returns whether a property in `arguments` has another value than those that `alternative` lists for it.
bool is_ruled_out(const json::Value* alternative, const json::Value& root, const json::Value& arguments) {
  if (alternative == nullptr) return false;
  if (const auto reference = alternative->find_string("$ref")) alternative = json::resolve_reference(*reference, root);
  const json::Value* properties = alternative != nullptr ? alternative->find("properties") : nullptr;
  if (properties == nullptr || !properties->is_object() || !arguments.is_object()) return false;
  return std::ranges::any_of(arguments.as_object(), [&](const json::Member& given) {
    const json::Value* stated = properties->find(given.key);
    if (stated == nullptr) return false;
    if (const json::Value* constant = stated->find("const")) return *constant != given.value;
    const json::Value* choices = stated->find("enum");
    return choices != nullptr && choices->is_array() &&
           std::ranges::find(choices->as_array(), given.value) == choices->as_array().end();
  });
}

// Reads the union of JSON, Python literals and objects with bare keys by recursive descent.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, const NestedSyntax& syntax) : text_(text), syntax_(syntax) {}

  std::optional<json::Value> whole() {
    auto value = read(0);
    skip_space();
    if (!value || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  bool eat(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  std::optional<json::Value> read(int depth) {
    skip_space();
    if (depth > limits::kJsonDepth / 2 || at_ >= text_.size()) return std::nullopt;
    if (text_[at_] == '{') {
      const std::size_t begin = at_;
      auto made = object(depth);
      if (made || !syntax_.python) return made;
      at_ = begin;
      return array(depth, '}');  // a set of Python
    }
    if (text_[at_] == '[') return array(depth, ']');
    if (syntax_.python && text_[at_] == '(') return array(depth, ')');
    if (auto text = string()) return json::Value(std::move(*text));
    return scalar();
  }

  std::optional<std::string> string() {
    if (!syntax_.string_open.empty() && syntax_.string_open != "'" && syntax_.string_open != "\"" &&
        eat(syntax_.string_open)) {
      const std::size_t end = text_.find(syntax_.string_close, at_);
      if (end == std::string_view::npos) return std::nullopt;
      std::string out(text_.substr(at_, end - at_));
      at_ = end + syntax_.string_close.size();
      return out;
    }
    if (string_opening(text_.substr(at_)).quotes == 0) return std::nullopt;
    std::string out;
    do {  // strings in a row are one
      if (!quoted(out)) return std::nullopt;
      skip_space();
    } while (string_opening(text_.substr(at_)).quotes != 0);
    return out;
  }

  // Appends the string in quotes at at_.
  bool quoted(std::string& out) {
    const StringOpening opening = string_opening(text_.substr(at_));
    const bool is_raw = text_.substr(at_, opening.prefix).find_first_of("rR") != std::string_view::npos;
    const std::string_view close = text_.substr(at_ + opening.prefix, opening.quotes);
    at_ += opening.prefix + opening.quotes;
    while (at_ < text_.size() && !text_.substr(at_).starts_with(close)) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        if (is_raw) out += text_[at_];
        ++at_;
        if (is_raw) {
          out += text_[at_++];
        } else if (!escape(out)) {
          return false;
        }
      } else {
        out += text_[at_++];
      }
    }
    return eat(close);
  }

  // Reads the rest of an escape.  An unknown one stays as it is, as in Python.
  bool escape(std::string& out) {
    const char kind = text_[at_++];
    constexpr std::string_view kFrom = "nrtbf0";
    constexpr std::string_view kTo{"\n\r\t\b\f\0", 6};
    if (const std::size_t found = kFrom.find(kind); found != std::string_view::npos) {
      out += kTo[found];
      return true;
    }
    if (kind == 'x') return hex(out, 2);
    if (kind == 'u') return hex(out, 4);
    if (kind == '\\' || kind == '\'' || kind == '"' || kind == '/') {
      out += kind;
    } else {
      out += '\\';
      out += kind;
    }
    return true;
  }

  bool hex(std::string& out, std::size_t digits) {
    char32_t code = 0;
    if (!digits_value(digits, code)) return false;
    char32_t low = 0;
    const std::size_t back = at_;
    if (code >= 0xD800 && code < 0xDC00 && eat("\\u") && digits_value(4, low) && low >= 0xDC00 && low < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xDC00) {
      at_ = back;
    }
    utf8::append(out, code);
    return true;
  }

  bool digits_value(std::size_t count, char32_t& out) {
    const std::optional<std::uint32_t> code = hex::number(text_, at_, count);
    if (!code) return false;
    out = *code;
    at_ += count;
    return true;
  }

  std::optional<json::Value> array(int depth, char close) {
    ++at_;
    json::Array out;
    skip_space();
    while (at_ < text_.size() && text_[at_] != close) {
      auto item = read(depth + 1);
      if (!item) return std::nullopt;
      out.push_back(std::move(*item));
      skip_space();
      if (!eat(",")) break;
      skip_space();
    }
    if (!eat(std::string_view(&close, 1))) return std::nullopt;
    return json::Value(std::move(out));
  }

  std::optional<std::string> key() {
    skip_space();
    if (at_ >= text_.size()) return std::nullopt;
    if (auto text = string()) return text;
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view(":,{}[]\"'<>").find(text_[at_]) == std::string_view::npos) ++at_;
    const std::string_view bare = format::trimmed(text_.substr(begin, at_ - begin));
    if (bare.empty()) return std::nullopt;
    return std::string(bare);
  }

  std::optional<json::Value> object(int depth) {
    ++at_;
    json::Object out;
    skip_space();
    while (at_ < text_.size() && text_[at_] != '}') {
      auto name = key();
      skip_space();
      if (!name || !eat(":")) return std::nullopt;
      auto value = read(depth + 1);
      if (!value) return std::nullopt;
      out.set(*name, std::move(*value));
      skip_space();
      if (!eat(",")) break;
      skip_space();
    }
    if (!eat("}")) return std::nullopt;
    return json::Value(std::move(out));
  }

  std::optional<json::Value> scalar() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(text_[at_]) &&
           std::string_view(",]}){[(:").find(text_[at_]) == std::string_view::npos)
      ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (syntax_.python || !syntax_.string_open.empty()) {
      if (word == "True") return json::Value(true);
      if (word == "False") return json::Value(false);
      if (word == "None") return json::Value(nullptr);
    }
    auto parsed = json::parse(word);
    if (parsed.ok()) {
      skip_space();
      const bool is_whole = at_ == text_.size() || std::string_view(",]})").find(text_[at_]) != std::string_view::npos;
      if (is_whole || syntax_.string_open.size() <= 1) return std::move(parsed).value();
    }
    return bare_string(begin);
  }

  // Where strings have quotes of the format's own, models leave them out of plain text, or only the one before it.
  std::optional<json::Value> bare_string(std::size_t begin) {
    if (syntax_.string_open.size() <= 1) return std::nullopt;
    const std::size_t quote = unopened_quote(begin);
    at_ = quote != std::string_view::npos ? quote : std::min(text_.find_first_of(",]}[{\"'<>", begin), text_.size());
    const std::string_view text = format::trimmed(text_.substr(begin, at_ - begin));
    if (quote != std::string_view::npos) at_ += syntax_.string_close.size();
    return text.empty() ? std::nullopt : std::optional(json::Value(std::string(text)));
  }

  // Returns where the quote begins that closes the text from `begin` on, if no quote opens it: text without brackets and
  // names is before that quote.  Returns npos otherwise.
  [[nodiscard]] std::size_t unopened_quote(std::size_t begin) const {
    if (syntax_.string_open != syntax_.string_close) return std::string_view::npos;
    const std::size_t size = text_.substr(begin, kLongestUnopened).find(syntax_.string_close);
    if (size == std::string_view::npos) return size;
    const std::string_view before = format::trimmed(text_.substr(begin, size));
    const bool is_text =
        !before.empty() && before.find_first_of(":[]{}") == std::string_view::npos && before.back() != ',';
    return is_text ? begin + size : std::string_view::npos;
  }

  std::string_view text_;
  const NestedSyntax& syntax_;
  std::size_t at_ = 0;
};

json::Value constant_value(ValueType type) {
  switch (type) {
    case ValueType::kTrue: return json::Value(true);
    case ValueType::kFalse: return json::Value(false);
    case ValueType::kNull: return json::Value(nullptr);
    case ValueType::kObject: return json::Value(json::Object{});
    case ValueType::kArray: return json::Value(json::Array{});
    default: return json::Value("");
  }
}

// What the forms that a value may have say together.
struct FormSummary {
  explicit FormSummary(const std::vector<const ValueForm*>& forms) {
    for (const ValueForm* form : forms) {
      const bool is_string = form->type == ValueType::kString;
      if (!form->escapes.empty()) (form->style == ValueStyle::kRaw ? of_strings : of_literals) = form->escapes;
      raw_string = raw_string || (is_string && form->style == ValueStyle::kRaw);
      quoted_string = quoted_string || (is_string && form->style == ValueStyle::kPython);
      json_string = json_string || (is_string && form->style == ValueStyle::kJson);
      only_strings = only_strings && is_string;
      python = python || form->style == ValueStyle::kPython;
    }
  }

  bool raw_string = false;     // a string may be written without quotes
  bool quoted_string = false;  // a string may be written in Python's quotes
  bool json_string = false;    // a string may be written as JSON
  bool only_strings = true;
  bool python = false;
  std::span<const format::Escape> of_strings;  // the escapes of raw values
  std::span<const format::Escape> of_literals;
};

// Returns the constant that `text` is, if `types` allow it.
std::optional<json::Value> read_constant(std::string_view text, const std::vector<const ValueForm*>& forms,
                                         const std::optional<TypeSet>& types) {
  for (const ValueForm* form : forms) {
    if (form->style != ValueStyle::kConstant || format::trimmed(form->constant) != format::trimmed(text)) continue;
    json::Value value = constant_value(form->type);
    if (!types || types->allows(value)) return value;
  }
  return std::nullopt;
}

// Returns the value that no text at all stands for, where `types` do not allow the empty string.
std::optional<json::Value> empty_value(const std::optional<TypeSet>& types) {
  if (!types || types->has(TypeSet::kString)) return std::nullopt;
  if (types->has(TypeSet::kNull)) return json::Value(nullptr);
  if (types->has(TypeSet::kObject)) return json::Value(json::Object{});
  if (types->has(TypeSet::kArray)) return json::Value(json::Array{});
  return std::nullopt;
}

// Reads a number that JSON does not allow, because of a plus or zeros before it.
std::optional<json::Value> read_loose_number(std::string_view text) {
  text = format::trimmed(text);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  while (text.size() > 1 && text[0] == '0' && format::is_digit(text[1])) text.remove_prefix(1);
  if (text.empty() || !format::is_digit(text[0])) return std::nullopt;
  auto parsed = json::parse((is_negative ? "-" : "") + std::string(text));
  return parsed.ok() ? std::optional(std::move(parsed).value()) : std::nullopt;
}

// Reads `text` as JSON or as a literal.  Returns nullopt if it is neither, or if it is a string as it stands.
std::optional<json::Value> read_spelled(std::string_view text, const FormSummary& forms,
                                        const std::optional<TypeSet>& types, const NestedSyntax& syntax) {
  const bool may_be_string = types && types->has(TypeSet::kString);
  std::optional<json::Value> value;
  if (auto parsed = json::parse(text); parsed.ok()) {
    value = std::move(parsed).value();
    if (value->is_string() && forms.raw_string && may_be_string) return std::nullopt;
  } else {
    NestedSyntax relaxed = syntax;
    // If strings always have quotes, a bare word such as None is none.
    relaxed.python = syntax.python || forms.python || !forms.raw_string || (types && !may_be_string);
    value = read_literal(text, relaxed);
    if (!value && types && !may_be_string && (types->has(TypeSet::kInteger) || types->has(TypeSet::kNumber)))
      value = read_loose_number(text);
    // If strings are written without quotes, 'x' is a string that contains the quotes.
    if (!value || (value->is_string() && forms.raw_string)) return std::nullopt;
  }
  if (may_be_string && !types->allows(*value)) return std::nullopt;
  return value;
}

}  // namespace

bool TypeSet::allows(const json::Value& value) const {
  if (value.is_number()) return has(kInteger) || has(kNumber);
  switch (value.kind()) {
    case json::Kind::kString: return has(kString);
    case json::Kind::kBool: return has(kBoolean);
    case json::Kind::kNull: return has(kNull);
    case json::Kind::kObject: return has(kObject);
    default: return has(kArray);
  }
}

std::optional<TypeSet> schema_types(const json::Value& schema, const json::Value& root) {
  return types_at(schema, root, 0);
}

std::string wanted_types(const json::Value& schema, const json::Value& root) {
  const std::optional<TypeSet> types = schema_types(schema, root);
  std::string out;
  if (!types) return out;
  const auto add = [&](TypeSet::Type type, json::Kind kind) {
    if (types->has(type)) out += (out.empty() ? "" : " or ") + std::string(json::describe(kind));
  };
  add(TypeSet::kString, json::Kind::kString);
  add(TypeSet::kInteger, json::Kind::kInteger);
  if (types->has(TypeSet::kNumber)) out += out.empty() ? "a number" : " or a number";
  add(TypeSet::kBoolean, json::Kind::kBool);
  add(TypeSet::kObject, json::Kind::kObject);
  add(TypeSet::kArray, json::Kind::kArray);
  add(TypeSet::kNull, json::Kind::kNull);
  return out;
}

const json::Value* property_schema(const json::Value& schema, const json::Value& root, std::string_view key) {
  std::vector<StatedProperty> found;
  find_property(schema, root, key, 0, nullptr, found);
  return found.empty() ? nullptr : found.front().schema;
}

const json::Value* chosen_property(const json::Value& schema, std::string_view key, std::string_view begun,
                                   std::optional<json::Value>& joined) {
  std::vector<StatedProperty> found;
  find_property(schema, schema, key, 0, nullptr, found);
  if (found.size() > 1) {
    const auto given = json::parse(std::string(begun.substr(0, begun.rfind(','))) + "}");
    const auto is_out = [&](const StatedProperty& one) {
      return given.ok() && is_ruled_out(one.alternative, schema, given.value());
    };
    if (!std::ranges::all_of(found, is_out)) std::erase_if(found, is_out);
  }
  if (found.empty()) return nullptr;
  const auto is_first = [&found](const StatedProperty& one) { return *one.schema == *found.front().schema; };
  if (std::ranges::all_of(found, is_first)) return found.front().schema;
  json::Array alternatives;
  for (const StatedProperty& one : found) alternatives.push_back(*one.schema);
  joined = json::Value(json::Object{{"anyOf", json::Value(std::move(alternatives))}});
  return &*joined;
}

StringOpening string_opening(std::string_view text) {
  StringOpening out;
  while (out.prefix < std::min<std::size_t>(text.size(), 2) &&
         std::string_view("rRbBuUfF").find(text[out.prefix]) != std::string_view::npos)
    ++out.prefix;
  const std::string_view rest = text.substr(out.prefix);
  out.is_open = rest.empty();
  if (rest.empty() || (rest.front() != '"' && rest.front() != '\'')) return out;
  const std::size_t same = std::min(rest.find_first_not_of(rest.front()), rest.size());
  out.is_open = same < 3 && same == rest.size();
  out.quotes = same >= 3 ? 3 : 1;
  return out;
}

std::optional<json::Value> read_literal(std::string_view text, const NestedSyntax& syntax) {
  return LiteralReader(text, syntax).whole();
}

// The forms are tried from the most certain to the least: quoted strings, raw strings, constants, an empty value, JSON,
// literals.
json::Value read_value(std::string_view written, const std::vector<const ValueForm*>& forms,
                       const std::optional<TypeSet>& types, const NestedSyntax& syntax) {
  const FormSummary summary(forms);
  const std::string literal = format::unescaped(written, summary.of_literals);
  const std::string_view text = literal;
  const auto as_string = [&] { return json::Value(format::unescaped(written, summary.of_strings)); };
  if (summary.raw_string && summary.quoted_string) {
    if (auto quoted = read_literal(format::trimmed(text), {"", "", true}); quoted && quoted->is_string())
      return *quoted;
  }
  if (summary.raw_string && summary.json_string) {
    if (auto quoted = json::parse(format::trimmed(text)); quoted.ok() && quoted.value().is_string())
      return std::move(quoted).value();
  }
  if (summary.raw_string && (summary.only_strings || (types && types->is_only(TypeSet::kString)))) return as_string();
  if (auto constant = read_constant(text, forms, types)) return std::move(*constant);
  if (format::is_blank(text)) {
    if (auto empty = empty_value(types)) return std::move(*empty);
  }
  if (auto value = read_spelled(text, summary, types, syntax)) return std::move(*value);
  return as_string();
}

bool has_choices(const SchemaPlace& place) {
  const json::Value* choices = place.schema != nullptr ? place.schema->find("enum") : nullptr;
  return choices != nullptr && choices->is_array();
}

json::Value as_choice(json::Value value, const SchemaPlace& place) {
  if (!has_choices(place)) return value;
  const json::Array& choices = place.schema->find("enum")->as_array();
  if (std::ranges::find(choices, value) != choices.end()) return value;
  json::Value text(value.is_string() ? std::string(format::trimmed(value.as_string())) : json::to_compact(value));
  return std::ranges::find(choices, text) != choices.end() ? text : value;
}

}  // namespace rondo::parse
