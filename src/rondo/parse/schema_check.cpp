#include "parse/schema_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "chat/parameter_names.h"
#include "json/pointer.h"
#include "parse/values.h"

namespace rondo::parse {
namespace {

using Kind = chat::CallProblem::Kind;

constexpr int kMostLooks = 10'000;  // at pairs of schema and value; alternatives that refer to each other multiply
constexpr int kDeepest = 64;        // references may form circles

// Returns whether `value` is a whole number.  JSON may write one with a fraction, as in `1.0`.
bool is_whole(const json::Value& value) {
  if (value.kind() == json::Kind::kInteger) return true;
  const std::optional<double> number = value.to_double();
  return number && (!std::isfinite(*number) || *number == std::floor(*number));
}

// Returns whether `value` has the type.  True for a name that is not a type of JSON, because other dialects have more.
bool is_of_type(const json::Value& value, std::string_view type) {
  if (type == "integer") return value.is_number() && is_whole(value);
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "null") return value.is_null();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  return true;
}

bool is_of_types(const json::Value& value, const json::Value& types) {
  if (types.is_string()) return is_of_type(value, types.as_string());
  if (!types.is_array() || types.as_array().empty()) return true;
  return std::ranges::any_of(types.as_array(), [&value](const json::Value& type) {
    return !type.is_string() || is_of_type(value, type.as_string());
  });
}

bool is_like(const json::Value& a, const json::Value& b) {
  return a.kind() == b.kind() || (a.is_number() && b.is_number());
}

// Returns the object at `key`; nullptr if there is none or it is not an object.
const json::Object* object_at(const json::Value& schema, std::string_view key) {
  const json::Value* found = schema.find(key);
  return found != nullptr && found->is_object() ? &found->as_object() : nullptr;
}

const json::Array* array_at(const json::Value& schema, std::string_view key) {
  const json::Value* found = schema.find(key);
  return found != nullptr && found->is_array() ? &found->as_array() : nullptr;
}

// A refused value: its path inside the value that was checked, and the reason.
struct Refusal {
  std::string path;
  std::string why;
};

class Checker {
 public:
  explicit Checker(const json::Value& root) : root_(root) {}

  // Returns the first refusal in `value`; nullopt if the schema allows it or cannot tell.
  std::optional<Refusal> refusal(const json::Value& schema, const json::Value& value, int depth = 0) {
    if (depth > kDeepest || --looks_left_ < 0 || !schema.is_object()) return std::nullopt;
    if (value.is_null() && schema.is_true("nullable")) return std::nullopt;
    if (!has_allowed_type(schema, value)) return wrong_type(schema, value);
    if (const auto reference = schema.find_string("$ref")) {
      const json::Value* target = json::resolve_reference(*reference, root_);
      if (target != nullptr) {
        if (auto found = refusal(*target, value, depth + 1)) return found;
      }
    }
    if (const json::Array* all = array_at(schema, "allOf")) {
      for (const json::Value& part : *all) {
        if (auto found = refusal(part, value, depth + 1)) return found;
      }
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const json::Array* alternatives = array_at(schema, key);
      if (alternatives == nullptr) continue;
      if (auto found = alternatives_refusal(schema, *alternatives, value, depth)) return found;
    }
    if (value.is_object()) return member_refusal(schema, value.as_object(), depth);
    if (value.is_array()) return item_refusal(schema, value.as_array(), depth);
    return std::nullopt;
  }

 private:
  static bool has_allowed_type(const json::Value& schema, const json::Value& value) {
    if (const json::Value* types = schema.find("type"); types != nullptr && !is_of_types(value, *types)) return false;
    if (const json::Value* constant = schema.find("const"); constant != nullptr && !is_like(value, *constant))
      return false;
    const json::Array* choices = array_at(schema, "enum");
    return choices == nullptr || choices->empty() ||
           std::ranges::any_of(*choices, [&value](const json::Value& choice) { return is_like(value, choice); });
  }

  [[nodiscard]] Refusal wrong_type(const json::Value& schema, const json::Value& value) const {
    const std::string wanted = wanted_types(schema, root_);
    return {"", "is " + std::string(json::describe(value.kind())) +
                    (wanted.empty() ? ", which the tool's schema does not allow"
                                    : ", and the tool's schema wants " + wanted)};
  }

  // Returns a refusal if no alternative allows the value.
  std::optional<Refusal> alternatives_refusal(const json::Value& schema, const json::Array& alternatives,
                                              const json::Value& value, int depth) {
    std::optional<Refusal> deepest;
    for (const json::Value& alternative : alternatives) {
      auto found = refusal(alternative, value, depth + 1);
      if (!found) return std::nullopt;
      if (!found->path.empty() && !deepest) deepest = std::move(found);
    }
    // An alternative of the right type that refuses a part says more than "no alternative fits".
    if (alternatives.empty() || deepest) return deepest;
    return wrong_type(schema, value);
  }

  std::optional<Refusal> member_refusal(const json::Value& schema, const json::Object& members, int depth) {
    const json::Object* properties = object_at(schema, "properties");
    const bool has_patterns = schema.find("patternProperties") != nullptr;
    const json::Value* others = schema.find("additionalProperties");
    for (const json::Member& member : members) {
      const json::Value* own = properties != nullptr ? properties->find(member.key) : nullptr;
      if (own == nullptr && !has_patterns) own = others;
      if (own == nullptr) continue;
      if (auto found = refusal(*own, member.value, depth + 1))
        return Refusal{"." + member.key + found->path, std::move(found->why)};
    }
    return std::nullopt;
  }

  std::optional<Refusal> item_refusal(const json::Value& schema, const json::Array& items, int depth) {
    const json::Array* first = array_at(schema, "prefixItems");
    if (first == nullptr) first = array_at(schema, "items");  // as in older drafts
    const json::Value* rest = schema.find("items");
    for (std::size_t i = 0; i < items.size(); ++i) {
      const json::Value* own = first != nullptr && i < first->size() ? &(*first)[i] : rest;
      if (own == nullptr) continue;
      if (auto found = refusal(*own, items[i], depth + 1))
        return Refusal{"[" + std::to_string(i) + "]" + found->path, std::move(found->why)};
    }
    return std::nullopt;
  }

  const json::Value& root_;
  int looks_left_ = kMostLooks;
};

}  // namespace

bool fits(const json::Value& value, const SchemaPlace& place) {
  return place.schema == nullptr || !Checker(*place.root).refusal(*place.schema, value);
}

std::vector<chat::CallProblem> schema_problems(const json::Value& arguments, const json::Value& schema) {
  std::vector<chat::CallProblem> out;
  Checker checker(schema);
  if (!arguments.is_object()) {
    if (const auto found = checker.refusal(schema, arguments))
      out.push_back({Kind::kWrongType, "", "what is passed to the tool " + found->why});
    return out;
  }
  const auto listed = chat::listed_parameters(schema);
  for (const json::Member& member : arguments.as_object()) {
    if (listed && std::ranges::find(*listed, member.key) == listed->end()) {
      out.push_back({Kind::kUnknownParameter, member.key, "the tool has no parameter `" + member.key + "`"});
      continue;
    }
    // Each member is checked alone, so that each fault is reported.
    const json::Value alone(json::Object{{member.key, member.value}});
    if (const auto found = checker.refusal(schema, alone)) {
      const std::string place = found->path.empty() ? member.key : found->path.substr(1);
      out.push_back({Kind::kWrongType, member.key, "`" + place + "` " + found->why});
    }
  }
  return out;
}

}  // namespace rondo::parse
