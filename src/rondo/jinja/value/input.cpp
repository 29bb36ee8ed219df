#include "jinja/value/input.h"

#include <limits>
#include <optional>
#include <string>

#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "json/value.h"
#include "rondo/result.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {
namespace {

using text::PathId;

// A number of the input keeps its value, not its spelling.  Python reads integers of any size, but refuses to print
// more than 4300 digits, which is reported here.
Value wrap_number(Runtime& runtime, const json::Value& value) {
  if (value.kind() == json::Kind::kFloat) return Value::floating(value.to_double().value_or(0));
  if (const std::optional<std::int64_t> small = value.to_int64()) return Value::integer(*small);
  const std::optional<Value> large = parse_integer(runtime, value.number(), 10);
  if (large) return *large;
  runtime.fail("Exceeds the limit (4300 digits) for integer string conversion: value has " +
               std::to_string(value.number().size() - (value.number().starts_with('-') ? 1 : 0)) +
               " digits; use sys.set_int_max_str_digits() to increase the limit");
}

}  // namespace

Value input_string(Runtime& runtime, std::string_view bytes, PathId path) {
  String* string = runtime.heap.make_string();
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    runtime.fail(ErrorCode::kLimit, "a string of the input exceeds 2 GiB");
  }
  string->data = bytes.data();
  string->size = static_cast<std::uint32_t>(bytes.size());
  if (runtime.tracing && !bytes.empty()) {
    string->run_count = 1;
    string->runs = &string->single;
    string->single.kind = text::RunKind::kData;
    string->single.size = string->size;
    string->single.source_size = string->size;
    string->single.origin = static_cast<std::uint32_t>(path);
  }
  return Value::string(string).with_path(path);
}

Value wrap(Runtime& runtime, const json::Value& value, PathId path) {
  switch (value.kind()) {
    case json::Kind::kNull: return Value::none().with_path(path);
    case json::Kind::kBool: return Value::boolean(value.as_bool()).with_path(path);
    case json::Kind::kInteger:
    case json::Kind::kFloat: return wrap_number(runtime, value).with_path(path);
    case json::Kind::kString:
      // Without a place in the input the text cannot count as data of a message.
      if (path == PathId::kNone && runtime.tracing) return make_computed(runtime, value.as_string());
      return input_string(runtime, value.as_string(), path);
    case json::Kind::kArray: {
      // Lists and dicts stay in the input until the template looks inside: most members of a long conversation are
      // never read, or are dumped as they are.
      List* list = runtime.heap.make_list();
      list->source = &value.as_array();
      list->source_path = path;
      return Value::list(list).with_path(path);
    }
    case json::Kind::kObject: {
      Dict* dict = runtime.heap.make_dict();
      dict->source = &value.as_object();
      dict->path = path;
      return Value::dict(dict).with_path(path);
    }
  }
  return {};
}

Value wrap_variable(Runtime& runtime, std::string_view name, const json::Value& value) {
  return wrap(runtime, value, runtime.tracing ? runtime.origins.paths.variable(name) : PathId::kNone);
}

Value input_key(Runtime& runtime, std::string_view key, PathId dict) {
  if (dict == PathId::kNone && runtime.tracing) return make_computed(runtime, key);
  return input_string(runtime, key, runtime.tracing ? runtime.origins.paths.key_of(dict, key) : PathId::kNone);
}

void wrap_items(Runtime& runtime, List& list) {
  const json::Array& source = *list.source;
  list.source = nullptr;
  list.items.reserve(source.size());
  const PartPaths paths(runtime, list.source_path, source);
  for (std::size_t i = 0; i < source.size(); ++i) list.items.push_back(wrap(runtime, source[i], paths.at(i)));
}

}  // namespace rondo::jinja
