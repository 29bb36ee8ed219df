#include "jinja/value/type_names.h"

#include <string>

#include "jinja/common/characters.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return "Undefined";
    case Kind::kNone: return "NoneType";
    case Kind::kBool: return "bool";
    case Kind::kInt:
    case Kind::kBigInt: return "int";
    case Kind::kFloat: return "float";
    case Kind::kString: return value.is_markup() ? "Markup" : "str";
    case Kind::kList: return "list";
    case Kind::kTuple: return "tuple";
    case Kind::kDict: return "dict";
    case Kind::kNamespace: return "Namespace";
    case Kind::kObject: return std::string(value.as_object().type_name());
  }
  return "object";
}

std::string object_type(const Value& value) {
  if (value.is_none()) return "None";
  if (value.is_object()) return value.as_object().object_type();
  if (value.kind() == Kind::kNamespace) return "jinja2.utils.Namespace object";
  if (value.is_markup()) return "markupsafe.Markup object";
  return type_name(value) + " object";
}

std::string undefined_message(const Value& value) {
  const UndefinedInfo* info = value.undefined_info();
  if (info == nullptr) return "value is undefined";
  if (!info->hint.empty()) return std::string(info->hint);
  const std::string name(info->name);
  const std::string object(info->object_type);
  if (info->element) return object + " has no element " + name;
  if (object.empty()) return "'" + name + "' is undefined";
  const char quote = repr_quote(name);
  return "'" + object + "' has no attribute " + quote + name + quote;
}

void fail_undefined(Runtime& runtime, const Value& value) { runtime.fail(undefined_message(value)); }

}  // namespace rondo::jinja
