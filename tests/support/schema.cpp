#include "tests/support/schema.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "json/parse.h"

namespace rondo::test {
namespace {

bool is_of_type(const json::Value& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "integer") return value.kind() == json::Kind::kInteger;
  if (type == "null") return value.is_null();
  FAIL("the schema has a type `" << type << "`, which is not known here");
  return false;
}

class Checker {
 public:
  explicit Checker(const json::Value& root) : root_(root) {}

  std::string check(const json::Value& value, const json::Value& schema, const std::string& path) const {
    if (std::string wrong = check_keywords(schema, path); !wrong.empty()) return wrong;
    if (const auto reference = schema.find_string("$ref")) return check(value, definition(*reference), path);
    if (const json::Value* choices = schema.find("anyOf")) {
      std::string all;
      for (const json::Value& choice : choices->as_array()) {
        const std::string wrong = check(value, choice, path);
        if (wrong.empty()) return "";
        all += "\n  " + wrong;
      }
      return path + ": fits none of" + all;
    }
    if (std::string wrong = check_scalar(value, schema, path); !wrong.empty()) return wrong;
    if (value.is_object()) return check_object(value.as_object(), schema, path);
    return value.is_array() ? check_array(value.as_array(), schema, path) : "";
  }

 private:
  static std::string check_keywords(const json::Value& schema, const std::string& path) {
    static const std::set<std::string> kKnown = {"$schema", "$id",         "$defs",    "$ref",
                                                 "title",   "description", "type",     "enum",
                                                 "const",   "properties",  "required", "additionalProperties",
                                                 "items",   "anyOf",       "minimum",  "minItems"};
    for (const json::Member& member : schema.as_object()) {
      if (!kKnown.contains(member.key)) return path + ": the keyword `" + member.key + "` is not known here";
    }
    return "";
  }

  const json::Value& definition(std::string_view reference) const {
    constexpr std::string_view kPrefix = "#/$defs/";
    REQUIRE(reference.starts_with(kPrefix));
    const json::Value* found = root_.find("$defs")->find(reference.substr(kPrefix.size()));
    REQUIRE_MESSAGE(found != nullptr, std::string(reference));
    return *found;
  }

  static std::string check_scalar(const json::Value& value, const json::Value& schema, const std::string& path) {
    if (const json::Value* constant = schema.find("const"); constant != nullptr && !(*constant == value))
      return path + ": is not the constant";
    if (const json::Value* choices = schema.find("enum")) {
      const json::Array& all = choices->as_array();
      if (std::find(all.begin(), all.end(), value) == all.end()) return path + ": is none of the choices";
    }
    if (const auto type = schema.find_string("type"); type && !is_of_type(value, std::string(*type)))
      return path + ": is no " + std::string(*type);
    if (const json::Value* least = schema.find("minimum"); least != nullptr && *value.to_int64() < *least->to_int64())
      return path + ": is too small";
    return "";
  }

  std::string check_object(const json::Object& object, const json::Value& schema, const std::string& path) const {
    const json::Value* properties = schema.find("properties");
    const json::Value* others = schema.find("additionalProperties");
    for (const json::Member& member : object) {
      const std::string place = path + "." + member.key;
      const json::Value* known = properties == nullptr ? nullptr : properties->find(member.key);
      if (known == nullptr && others != nullptr && others->is_bool() && !others->as_bool())
        return place + ": is not allowed";
      if (known == nullptr && others != nullptr && others->is_object()) known = others;
      if (known == nullptr) continue;
      if (std::string wrong = check(member.value, *known, place); !wrong.empty()) return wrong;
    }
    if (const json::Value* required = schema.find("required")) {
      for (const json::Value& key : required->as_array()) {
        if (object.find(key.as_string()) == nullptr) return path + "." + key.as_string() + ": is missing";
      }
    }
    return "";
  }

  std::string check_array(const json::Array& array, const json::Value& schema, const std::string& path) const {
    if (const json::Value* least = schema.find("minItems");
        least != nullptr && static_cast<std::int64_t>(array.size()) < *least->to_int64())
      return path + ": has too few elements";
    const json::Value* items = schema.find("items");
    if (items == nullptr) return "";
    for (std::size_t i = 0; i < array.size(); ++i) {
      if (std::string wrong = check(array[i], *items, path + "[" + std::to_string(i) + "]"); !wrong.empty())
        return wrong;
    }
    return "";
  }

  const json::Value& root_;
};

}  // namespace

json::Value read_schema(const std::string& path) {
  const auto text = files::read(std::string(RONDO_SOURCE_DIR "/") + path);
  REQUIRE_MESSAGE(text.ok(), path);
  auto parsed = json::parse(text.value());
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
  return std::move(parsed).value();
}

std::string objection(const json::Value& value, const json::Value& schema) {
  return Checker(schema).check(value, schema, "");
}

}  // namespace rondo::test
