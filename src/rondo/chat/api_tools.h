// The tools of a request: what the template sees of them, and how the client named them.
//
// Templates know only function tools.  So a custom tool, whose call is free text, becomes a function with the single
// argument `input`.  The tools of a namespace get names that begin with its name.  Tools that only a vendor's server
// can run are left out.  The table says for each name how to report a call of it to the client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::chat {

struct ApiTool {
  enum class Kind : std::uint8_t { kFunction, kCustom };
  Kind kind = Kind::kFunction;
  std::string name;         // the name that the template and the model know
  std::string client_name;  // the name that the client knows; differs inside a namespace
  std::string name_space;   // "" if it is in none
  json::Value grammar;      // for a custom tool: {"syntax": "lark" or "regex", "definition": ...}; null: any text
  bool is_strict = false;   // the client requires arguments that fit the schema
};

// The argument that carries the text of a call of a custom tool.
inline constexpr std::string_view kCustomInput = "input";

// Returns the name that templates see for a tool in a namespace.
[[nodiscard]] std::string flat_name(std::string_view name_space, std::string_view name);

// Returns a call of a custom tool in the form of a function call.
[[nodiscard]] json::Value custom_call(std::string_view id, std::string_view name, std::string_view input);

// Translates the tools of any of the APIs.
class ToolTranslation {
 public:
  void add(const json::Value& tool);

  json::Array functions;              // as templates take them; a function tool of the Chat API is unchanged
  std::vector<ApiTool> table;         // one for each of `functions`
  std::vector<std::string> left_out;  // names or types of tools that only a vendor's server can run

 private:
  void add_in(const json::Value& tool, std::string_view name_space);
  void add_custom(const json::Value& tool, std::string_view name_space);
};

}  // namespace rondo::chat
