#include "jinja/value/making.h"

#include <algorithm>
#include <limits>

#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"
#include "rondo/result.h"
#include "text/origins.h"
#include "text/text.h"

namespace rondo::jinja {
namespace {

using text::PathId;

}  // namespace

Value make_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::ContextId context) {
  String* string = runtime.heap.make_string();
  string->data = bytes.data();
  string->size = static_cast<std::uint32_t>(bytes.size());
  if (runtime.tracing && !bytes.empty()) {
    string->run_count = 1;
    string->runs = &string->single;
    string->single.kind = text::RunKind::kLiteral;
    string->single.size = string->size;
    string->single.source_size = string->size;
    string->single.origin = static_cast<std::uint32_t>(literal);
    string->single.context = context;
  }
  return Value::string(string);
}

Value make_computed(Runtime& runtime, std::string_view bytes, PathId path) {
  String* string = runtime.heap.make_string();
  string->size = static_cast<std::uint32_t>(bytes.size());
  string->data = runtime.heap.copy(bytes).data();
  if (runtime.tracing && !bytes.empty()) {
    string->run_count = 1;
    string->runs = &string->single;
    string->single = computed_run(runtime, path);
    string->single.size = string->size;
  }
  return Value::string(string);
}

Value make_string(Runtime& runtime, const text::Text& text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    runtime.fail(ErrorCode::kLimit, "a string of the template exceeds 2 GiB");
  }
  String* string = runtime.heap.make_string();
  string->size = static_cast<std::uint32_t>(text.size());
  string->run_count = static_cast<std::uint32_t>(text.runs().size());
  string->data = runtime.heap.copy(text.bytes()).data();
  if (text.runs().size() == 1) {
    string->single = text.runs()[0];
    string->runs = &string->single;
    string->has_dumps = string->single.kind == text::RunKind::kDump;
  } else if (!text.runs().empty()) {
    auto* runs = runtime.heap.allocate_array<text::Run>(text.runs().size());
    std::copy(text.runs().begin(), text.runs().end(), runs);
    string->runs = runs;
    string->has_dumps = runtime.options.whole_dumps && text.has_dumps();
  }
  return Value::string(string);
}

Value make_list(Runtime& runtime, std::span<const Value> items) {
  List* list = runtime.heap.make_list();
  list->items.assign(items.begin(), items.end());
  return Value::list(list);
}

Value make_tuple(Runtime& runtime, std::span<const Value> items) {
  return Value::tuple(&make_list(runtime, items).as_list());
}

Value make_dict(Runtime& runtime) { return Value::dict(runtime.heap.make_dict()); }

Value make_undefined(Runtime& runtime, std::string_view variable_name) {
  auto* info = new (runtime.heap.allocate(sizeof(UndefinedInfo), alignof(UndefinedInfo))) UndefinedInfo;
  info->name = variable_name;
  return Value::undefined(info);
}

Value make_undefined_hint(Runtime& runtime, std::string_view message) {
  auto* info = new (runtime.heap.allocate(sizeof(UndefinedInfo), alignof(UndefinedInfo))) UndefinedInfo;
  info->hint = runtime.heap.copy(message);
  return Value::undefined(info);
}

}  // namespace rondo::jinja
