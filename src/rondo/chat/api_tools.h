// The tools of a request: what the template is shown of them, and what the client called them.
//
// Templates know function tools alone.  So a custom tool, whose call is a free text, becomes a function with the one
// argument `input`; the tools of a namespace get names that begin with it; and tools that only a vendor's server can run are
// left out.  The table says for each name how a call of it is to be told to the client.
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
  std::string name;         // as the template and the model know it
  std::string client_name;  // as the client knows it; another one below a namespace
  std::string name_space;   // "" where it is in none
  json::Value grammar;      // of a custom tool: {"syntax": "lark" or "regex", "definition": ...}; null: any text
  bool is_strict = false;   // the client wants arguments that fit the schema
};

// The argument that holds the text of a custom tool's call.
inline constexpr std::string_view kCustomInput = "input";

// The name of a tool in a namespace, as templates see it.
[[nodiscard]] std::string flat_name(std::string_view name_space, std::string_view name);

// A custom tool's call, in the form of a function's.
[[nodiscard]] json::Value custom_call(std::string_view id, std::string_view name, std::string_view input);

// Translates the tools of any of the APIs.
class ToolTranslation {
 public:
  void add(const json::Value& tool);

  json::Array functions;  // as templates take them, each as it was sent where it is a function tool of the Chat API
  std::vector<ApiTool> table;         // one for each of `functions`
  std::vector<std::string> left_out;  // names, or types, of tools that only a vendor's server can run

 private:
  void add_in(const json::Value& tool, std::string_view name_space);
  void add_custom(const json::Value& tool, std::string_view name_space);
};

}  // namespace rondo::chat
