#include "chat/api_tools.h"

#include <utility>

#include "chat/api_parts.h"
#include "json/print.h"

namespace rondo::chat {
namespace {

// `format` of a custom tool: flat in the Responses API, one level deeper in the Chat API.
json::Value grammar_of(const json::Value& tool) {
  const json::Value* format = tool.find("format");
  if (format == nullptr || format->find_string("type") != "grammar") return nullptr;
  const json::Value* inner = format->find("grammar");
  const json::Value& grammar = inner != nullptr && inner->is_object() ? *inner : *format;
  const auto definition = grammar.find_string("definition");
  if (!definition) return nullptr;
  return json::Object{{"syntax", grammar.find_string("syntax").value_or("lark")}, {"definition", *definition}};
}

// What a template shows for a custom tool.
json::Value custom_function(const json::Value& tool, std::string_view name, const json::Value& grammar) {
  json::Object input{{"type", "string"}};
  if (grammar.is_object()) {
    input.set("description",
              "text of this " + first_text(grammar, {"syntax"}) + " grammar:\n" + first_text(grammar, {"definition"}));
  }
  json::Object function{{"name", name}};
  if (const json::Value* description = tool.find("description")) function.set("description", *description);
  function.set("parameters", json::Object{{"type", "object"},
                                          {"properties", json::Object{{std::string(kCustomInput), std::move(input)}}},
                                          {"required", json::Array{kCustomInput}},
                                          {"additionalProperties", false}});
  return json::Object{{"type", "function"}, {"function", std::move(function)}};
}

}  // namespace

std::string flat_name(std::string_view name_space, std::string_view name) {
  if (name_space.empty()) return std::string(name);
  return std::string(name_space) + (name_space.ends_with('_') ? "" : "__") + std::string(name);
}

json::Value custom_call(std::string_view id, std::string_view name, std::string_view input) {
  const json::Object arguments{{std::string(kCustomInput), input}};
  return function_call(id, name, json::to_python(json::Value(arguments), {}));
}

void ToolTranslation::add(const json::Value& tool) { add_in(tool, ""); }

void ToolTranslation::add_in(const json::Value& tool, std::string_view name_space) {
  const std::string type = first_text(tool, {"type"});
  const json::Value* function = tool.find("function");
  if (type == "namespace" && name_space.empty()) {
    const json::Value* tools = tool.find("tools");
    if (tools == nullptr || !tools->is_array()) return;
    for (const json::Value& inner : tools->as_array()) add_in(inner, first_text(tool, {"name"}));
  } else if (function != nullptr && function->is_object()) {
    const std::string name = first_text(*function, {"name"});
    table.push_back({ApiTool::Kind::kFunction, name, name, "", nullptr, function->is_true("strict")});
    functions.push_back(tool);
  } else if (type == "custom" && tool.find("input_schema") == nullptr) {
    add_custom(tool, name_space);
  } else if (type.empty() && tool.find("input_schema") == nullptr) {
    const std::string name = first_text(tool, {"name"});
    table.push_back({ApiTool::Kind::kFunction, name, name, "", nullptr, tool.is_true("strict")});
    functions.push_back(tool);
  } else if (type == "function" || tool.find("input_schema") != nullptr) {
    const std::string client_name = first_text(tool, {"name"});
    const std::string name = flat_name(name_space, client_name);
    json::Value translated = function_tool(tool, tool.find("input_schema") != nullptr ? "input_schema" : "parameters");
    translated.as_object().find("function")->as_object().set("name", name);
    functions.push_back(std::move(translated));
    table.push_back(
        {ApiTool::Kind::kFunction, name, client_name, std::string(name_space), nullptr, tool.is_true("strict")});
  } else {
    left_out.push_back(first_text(tool, {"name", "type"}));
  }
}

void ToolTranslation::add_custom(const json::Value& tool, std::string_view name_space) {
  const json::Value* inner = tool.find("custom");
  const json::Value& custom = inner != nullptr && inner->is_object() ? *inner : tool;
  const std::string client_name = first_text(custom, {"name"});
  const std::string name = flat_name(name_space, client_name);
  json::Value grammar = grammar_of(custom);
  functions.push_back(custom_function(custom, name, grammar));
  table.push_back({ApiTool::Kind::kCustom, name, client_name, std::string(name_space), std::move(grammar), false});
}

}  // namespace rondo::chat
