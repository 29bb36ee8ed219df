// Checks the schemas and grammars of a request: not what an engine can enforce, but whether they are any.
#include <algorithm>
#include <string>
#include <utility>

#include "apis/request_parts.h"
#include "grammar/definition.h"
#include "grammar/schema_check.h"

namespace rondo::apis {
namespace {

// Whether the schema's type, if it has one, allows objects.
bool may_be_object(const json::Value& schema) {
  const json::Value* type = schema.find("type");
  if (type == nullptr || type->is_null()) return true;
  const auto is_object = [](const json::Value& name) {
    return name == json::Value("object") || name == json::Value("dict") || name == json::Value("any");
  };
  return type->is_array() ? std::ranges::any_of(type->as_array(), is_object) : is_object(*type);
}

}  // namespace

void check_schema(Fields& fields, std::string_view key, const json::Value& schema, std::string code) {
  const auto fault = grammar::schema_fault(schema);
  if (!fault) return;
  const std::string where = fault->where.empty() ? "" : "`" + fault->where + "`: ";
  fields.refuse(key, "is not a valid JSON schema: " + where + fault->sentence, std::move(code));
}

void check_parameters(Fields& tool, std::string_view key) {
  constexpr const char* kCode = "invalid_function_parameters";  // OpenAI's
  const json::Value* schema = tool.object(key);
  if (schema == nullptr) return;
  check_schema(tool, key, *schema, kCode);
  if (!may_be_object(*schema))
    tool.refuse(key, "must be a JSON schema of the type `object`, because arguments have names", kCode);
}

void check_custom_grammar(Fields& grammar) {
  const auto syntax = grammar.word("syntax", {"lark", "regex"});
  const auto definition = grammar.text("definition");
  if (!definition) return grammar.refuse_missing("definition");
  check_grammar(grammar, "definition", syntax.value_or("lark"), *definition);
}

void check_grammar(Fields& fields, std::string_view key, std::string_view syntax, std::string_view definition) {
  const auto text = grammar::read_definition(syntax, definition);
  if (text.ok() || text.error().code != ErrorCode::kInvalidArgument) return;
  fields.refuse(
      key, (syntax == "regex" ? "is not a regular expression: " : "is not a grammar: ") + text.error().to_string());
}

}  // namespace rondo::apis
