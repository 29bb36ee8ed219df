#include "chat/parameter_names.h"

#include "json/pointer.h"

namespace rondo::chat {
namespace {

constexpr int kMostLooks = 10'000;  // at schemas; references may lead to one schema many times
constexpr int kDeepest = 64;        // references may form circles

// What a schema of arguments says about names, with references and alternatives resolved.
struct Listing {
  bool has_properties = false;
  bool is_open = false;  // the schema may allow names that it does not list
  std::vector<std::string_view> names = {};
};

// Adds the names that `schema` itself has under `properties` and `required`.
void add_names(const json::Value& schema, Listing& out) {
  const json::Value* properties = schema.find("properties");
  if (properties != nullptr && properties->is_object()) {
    out.has_properties = true;
    out.names.reserve(out.names.size() + properties->as_object().size());
    for (const json::Member& member : properties->as_object()) out.names.emplace_back(member.key);
  }
  const json::Value* required = schema.find("required");
  if (required == nullptr || !required->is_array()) return;
  for (const json::Value& name : required->as_array()) {
    if (name.is_string()) out.names.emplace_back(name.as_string());
  }
}

// Adds to `out` what `schema` lists, and whether other names may be meant.  Stops once others may be meant.
void look_through(const json::Value& schema, const json::Value& root, int depth, int& looks_left, Listing& out) {
  if (!schema.is_object() || depth > kDeepest || --looks_left < 0) {
    out.is_open = true;
    return;
  }
  add_names(schema, out);
  for (const char* key : {"additionalProperties", "unevaluatedProperties"}) {
    const json::Value* others = schema.find(key);
    out.is_open = out.is_open || (others != nullptr && !(others->is_bool() && !others->as_bool()));
  }
  for (const char* key : {"patternProperties", "if", "dependentSchemas", "dependencies", "$dynamicRef"})
    out.is_open = out.is_open || schema.find(key) != nullptr;
  if (const auto reference = schema.find_string("$ref")) {
    const json::Value* target = json::resolve_reference(*reference, root);
    if (target == nullptr) out.is_open = true;
    if (target != nullptr && !out.is_open) look_through(*target, root, depth + 1, looks_left, out);
  }
  for (const char* key : {"allOf", "anyOf", "oneOf"}) {
    const json::Value* parts = schema.find(key);
    if (parts == nullptr || !parts->is_array()) continue;
    for (const json::Value& part : parts->as_array()) {
      if (!out.is_open) look_through(part, root, depth + 1, looks_left, out);
    }
  }
}

}  // namespace

std::optional<std::vector<std::string_view>> listed_parameters(const json::Value& schema) {
  Listing listing;
  int looks_left = kMostLooks;
  look_through(schema, schema, 0, looks_left, listing);
  if (!listing.has_properties || listing.is_open) return std::nullopt;
  return std::move(listing.names);
}

}  // namespace rondo::chat
