#include "jinja/types/repr.h"

#include <algorithm>

#include "jinja/common/characters.h"
#include "jinja/types/markup.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"
#include "json/print.h"

namespace rondo::jinja {
namespace {

using text::RunKind;

// The escape that repr() writes for `c`, or "" for the character itself.
std::string repr_escape(char32_t c, char quote) {
  if (c == '\\' || c == static_cast<char32_t>(quote)) return std::string("\\") + static_cast<char>(c);
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return is_printable(c) ? "" : hex_escape(c);
}

Value repr_body(Runtime& runtime, const Value& string, char quote) {
  const std::string_view bytes = bytes_of(runtime, string);
  Rewriter out(runtime, string, "pyrepr");
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_at(bytes, at);
    const std::string escape = repr_escape(c.value, quote);
    if (escape.empty()) {
      out.keep(c.size);
    } else {
      out.replace(c.size, escape);
    }
    at += c.size;
  }
  return out.finish();
}

std::string scalar_repr(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kNone: return "None";
    case Kind::kBool: return value.as_bool() ? "True" : "False";
    case Kind::kInt: return std::to_string(value.as_int());
    case Kind::kBigInt: return decimal_digits(runtime, value.as_big());
    case Kind::kFloat: return json::python_float(value.as_float());
    default: return "";
  }
}

class ReprWriter {
 public:
  explicit ReprWriter(Runtime& runtime)
      : runtime_(runtime), out_(runtime), chain_(runtime.extend(text::ChainId::kNone, "pyrepr")) {}

  void write(const Value& value) {
    const DepthGuard guard(runtime_);
    runtime_.spend();
    switch (value.kind()) {
      case Kind::kUndefined: out_.append_computed("Undefined"); break;
      case Kind::kString: write_string(value); break;
      case Kind::kList: write_items(value, "[", "]"); break;
      case Kind::kTuple: write_items(value, "(", items_of(runtime_, value).size() == 1 ? ",)" : ")"); break;
      case Kind::kDict: write_dict(value); break;
      case Kind::kNamespace:
        out_.append_computed("<Namespace ");
        write_dict(value);
        out_.append_computed(">");
        break;
      case Kind::kObject: out_.append_computed(value.as_object().repr(runtime_)); break;
      default: out_.append(scalar_repr(runtime_, value), printed_run(runtime_, RunKind::kScalar, value.path(), chain_));
    }
  }

  [[nodiscard]] Value finish(text::PathId path) { return out_.finish(path); }

 private:
  void structure(std::string_view bytes, text::PathId path) {
    out_.append(bytes, printed_run(runtime_, RunKind::kSerialiser, path, chain_));
  }

  void write_string(const Value& value) {
    const char quote = repr_quote(bytes_of(runtime_, value));
    text::PathId path = value.path();
    const std::span<const text::Run> runs = runs_of(runtime_, value);
    if (path == text::PathId::kNone && !runs.empty()) path = runs[0].path();
    structure(value.is_markup() ? std::string("Markup(") + quote : std::string(1, quote), path);
    out_.append(repr_body(runtime_, value, quote));
    structure(value.is_markup() ? std::string(1, quote) + ")" : std::string(1, quote), path);
  }

  // Whether the list or dict is already being written.  A container inside itself is written as three dots.
  [[nodiscard]] bool is_open(const void* container) const {
    return std::find(open_.begin(), open_.end(), container) != open_.end();
  }

  void write_items(const Value& value, std::string_view open, std::string_view close) {
    if (is_open(&value.as_list())) {
      structure(value.is_list() ? "[...]" : "(...)", value.path());
      return;
    }
    open_.push_back(&value.as_list());
    structure(open, value.path());
    bool first = true;
    for (const Value& item : items_of(runtime_, value)) {
      if (!first) structure(", ", value.path());
      first = false;
      write(item);
    }
    structure(close, value.path());
    open_.pop_back();
  }

  void write_dict(const Value& value) {
    if (is_open(&value.as_dict())) {
      structure("{...}", value.path());
      return;
    }
    open_.push_back(&value.as_dict());
    structure("{", value.path());
    bool first = true;
    for (const Dict::Entry& entry : entries_of(runtime_, value)) {
      if (!first) structure(", ", value.path());
      first = false;
      write(key_of(runtime_, value.as_dict(), entry));
      structure(": ", value.path());
      write(entry.value);
    }
    structure("}", value.path());
    open_.pop_back();
  }

  Runtime& runtime_;
  StringBuilder out_;
  text::ChainId chain_;
  std::vector<const void*> open_;
};

}  // namespace

Value to_repr(Runtime& runtime, const Value& value) {
  ReprWriter writer(runtime);
  writer.write(value);
  return writer.finish(value.path());
}

std::string repr(Runtime& runtime, const Value& value) {
  return std::string(bytes_of(runtime, to_repr(runtime, value)));
}

Value to_text(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kString: return value;
    case Kind::kUndefined: return empty_string(runtime);
    case Kind::kNone:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat: {
      const text::ChainId chain = runtime.extend(text::ChainId::kNone, "pystr");
      StringBuilder out(runtime);
      out.append(scalar_repr(runtime, value), printed_run(runtime, RunKind::kScalar, value.path(), chain));
      return out.finish(value.path());
    }
    default: return to_repr(runtime, value);
  }
}

Value concat(Runtime& runtime, std::span<const Value> values) {
  bool markup = false;
  if (runtime.autoescape) {
    for (const Value& value : values) markup = markup || value.is_markup();
  }
  Value out;
  for (const Value& value : values) {
    const Value part = markup ? escape_html(runtime, value) : to_text(runtime, value);
    out = out.is_undefined() ? part : concatenate(runtime, out, part);
  }
  if (out.is_undefined()) out = empty_string(runtime);
  return out.with_markup(markup);
}

}  // namespace rondo::jinja
