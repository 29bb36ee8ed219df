#include "template/tool_shape.h"

#include <cstddef>
#include <string_view>
#include <utility>

namespace rondo::tmpl {
namespace {

json::Value* member_of(json::Value& value, std::string_view key) {
  return value.is_object() ? value.as_object().find(key) : nullptr;
}

// Leaves out the members of `object` that are null.  Returns whether there were any.
bool drop_nulls(json::Object& object) {
  std::vector<std::string> keys;
  for (const json::Member& member : object) {
    if (member.value.is_null()) keys.push_back(member.key);
  }
  for (const std::string& key : keys) object.erase(key);
  return !keys.empty();
}

// Leaves "null" out of a list of types, and says `nullable` instead, as OpenAPI does; a single type then stands alone.
// Returns whether it did.
bool drop_null_type(json::Object& schema) {
  json::Value* type = schema.find("type");
  if (type == nullptr || !type->is_array()) return false;
  json::Array kept;
  for (const json::Value& one : type->as_array()) {
    if (!one.is_string() || one.as_string() != "null") kept.push_back(one);
  }
  if (kept.empty() || kept.size() == type->as_array().size()) return false;
  *type = kept.size() == 1 ? std::move(kept[0]) : json::Value(std::move(kept));
  schema.set("nullable", true);
  return true;
}

// Shapes one definition.
class ToolShaper {
 public:
  ToolShaper(const ToolRules& rules, std::size_t index, std::vector<std::string>& sentences)
      : rules_(rules), index_(index), sentences_(sentences) {}

  void shape(json::Value& tool) {
    json::Value* function = member_of(tool, "function");
    if (function == nullptr && rules_.wraps && tool.find_string("name")) {
      tool = json::Object{{"type", "function"}, {"function", std::move(tool)}};
      say("", "given as a function");
      function = member_of(tool, "function");
    }
    if (function == nullptr) {
      shape_function(tool.as_object());
    } else if (function->is_object()) {
      is_wrapped_ = true;
      shape_function(function->as_object());
    }
  }

 private:
  void say(const std::string& member, std::string_view what) {
    const std::string place = "tools[" + std::to_string(index_) + (is_wrapped_ ? "].function" : "]");
    sentences_.push_back(place + member + ": " + std::string(what));
  }

  void shape_function(json::Object& function) {
    if (!rules_.takes_nulls && drop_nulls(function)) say("", "given without the members that are null");
    if (rules_.describes && function.find("description") == nullptr) {
      function.set("description", "");
      say(".description", "given as an empty text");
    }
    if (rules_.gives_properties) give_properties(function);
    if (!rules_.describes_parameters && rules_.takes_nulls && rules_.takes_null_types) return;
    json::Value* parameters = function.find("parameters");
    json::Value* properties = parameters == nullptr ? nullptr : member_of(*parameters, "properties");
    if (properties == nullptr || !properties->is_object()) return;
    for (const json::Member& property : properties->as_object())
      shape_parameter(*member_of(*properties, property.key), property.key);
  }

  void give_properties(json::Object& function) {
    json::Value* parameters = function.find("parameters");
    if (parameters == nullptr || !parameters->is_object()) {
      if (parameters != nullptr && !parameters->is_null()) return;
      function.set("parameters", json::Object{{"type", "object"}, {"properties", json::Object()}});
      say(".parameters", "given as an object without properties");
    } else if (parameters->find("properties") == nullptr) {
      parameters->as_object().set("properties", json::Object());
      // Without properties the schema allows any.
      if (parameters->find("additionalProperties") == nullptr)
        parameters->as_object().set("additionalProperties", true);
      say(".parameters.properties", "given as an empty object");
    }
  }

  void shape_parameter(json::Value& parameter, const std::string& name) {
    if (rules_.describes_parameters && parameter == json::Value(true)) parameter = json::Object();  // both allow all
    if (!parameter.is_object()) return;
    json::Object& schema = parameter.as_object();
    if (!rules_.takes_null_types && drop_null_type(schema))
      say(".parameters.properties." + name + ".type", "given without `null`, as `nullable`");
    json::Value* description = schema.find("description");
    const bool lacks = description == nullptr || (!rules_.takes_nulls && description->is_null());
    if (rules_.describes_parameters && lacks) {
      schema.set("description", "");
      say(".parameters.properties." + name + ".description", "given as an empty text");
    } else if (description != nullptr && lacks) {
      schema.erase("description");
      say(".parameters.properties." + name, "given without the description, which is null");
    }
  }

  const ToolRules& rules_;
  std::size_t index_;
  bool is_wrapped_ = false;  // whether what is shaped is the definition's `function`
  std::vector<std::string>& sentences_;
};

}  // namespace

std::vector<std::string> shape_tools(json::Value& tools, const ToolRules& rules) {
  std::vector<std::string> sentences;
  if (!tools.is_array() || rules == ToolRules()) return sentences;
  json::Array& list = tools.as_array();
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_object()) ToolShaper(rules, i, sentences).shape(list[i]);
  }
  return sentences;
}

}  // namespace rondo::tmpl
