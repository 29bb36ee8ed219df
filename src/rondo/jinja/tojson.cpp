// json.dumps with origins, and its inverse.
#include <algorithm>
#include <array>
#include <cmath>

#include "jinja/filters.h"
#include "jinja/operations.h"
#include "jinja/strings.h"
#include "jinja/views.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::jinja {
namespace {

using text::RunKind;

void append_hex(std::string& out, unsigned unit) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[unit >> static_cast<unsigned>(shift) & 15U];
}

// What JSON writes for `c`, or "" for the character itself.  `out` may be used to hold it.
std::string_view json_escape(char32_t c, const JsonStyle& style, std::string& out) {
  switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: break;
  }
  out.clear();
  const bool is_markup = style.html_safe && (c == '<' || c == '>' || c == '&' || c == '\'');
  if (style.ensure_ascii && c >= 0x10000) {
    append_hex(out, 0xD800U + ((c - 0x10000U) >> 10U));
    append_hex(out, 0xDC00U + ((c - 0x10000U) & 0x3FFU));
  } else if (c < 0x20 || is_markup || (style.ensure_ascii && c >= 0x7F)) {
    append_hex(out, c);
  }
  return out;
}

// Which bytes JSON writes as they are.
using PlainBytes = std::array<bool, 256>;

constexpr PlainBytes plain_bytes(bool ensure_ascii, bool html_safe) {
  PlainBytes out{};
  for (std::size_t byte = 0x20; byte < out.size(); ++byte) {
    const bool is_markup = byte == '<' || byte == '>' || byte == '&' || byte == '\'';
    out[byte] = byte != '"' && byte != '\\' && !(ensure_ascii && byte >= 0x7F) && !(html_safe && is_markup);
  }
  return out;
}

const PlainBytes& plain_bytes(const JsonStyle& style) {
  static constexpr std::array<PlainBytes, 4> kTables = {plain_bytes(false, false), plain_bytes(false, true),
                                                        plain_bytes(true, false), plain_bytes(true, true)};
  return kTables[(style.ensure_ascii ? 2U : 0U) + (style.html_safe ? 1U : 0U)];
}

std::string json_number(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kNone: return "null";
    case Kind::kBool: return value.as_bool() ? "true" : "false";
    case Kind::kInt: return std::to_string(value.as_int());
    case Kind::kBigInt: return decimal_digits(runtime, value.as_big());
    default: break;
  }
  const double number = value.as_float();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return json::python_float(number);
}

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style, StringBuilder& out)
      : runtime_(runtime),
        style_(style),
        plain_(plain_bytes(style)),
        out_(out),
        before_key_(style.item_separator + "\""),
        behind_key_("\"" + style.key_separator),
        chain_(runtime.extend(text::ChainId::kNone, "json")) {}

  void write(const Value& value, int level) {
    runtime_.spend();
    switch (value.kind()) {
      case Kind::kString: write_string(value, value.path()); return;
      case Kind::kList:
      case Kind::kTuple: write_items(value, level); return;
      case Kind::kDict: write_dict(value, level); return;
      case Kind::kUndefined:
      case Kind::kNamespace:
      case Kind::kObject: runtime_.fail("Object of type " + type_name(value) + " is not JSON serializable");
      default: out_.append(json_number(runtime_, value), printed_run(runtime_, RunKind::kScalar, value.path(), chain_));
    }
  }

 private:
  void structure(std::string_view bytes, text::PathId path) {
    out_.append(bytes, printed_run(runtime_, RunKind::kSerialiser, path, chain_));
  }

  void new_line(int level, text::PathId path) {
    if (!style_.indent) return;
    runtime_.heap.require(static_cast<std::size_t>(level) * style_.indent->size());
    std::string bytes = "\n";
    for (int i = 0; i < level; ++i) bytes += *style_.indent;
    structure(bytes, path);
  }

  // What stands before a part of a list or dict.
  void before_part(bool& first, int level, text::PathId path) {
    if (!first) structure(style_.item_separator, path);
    first = false;
    new_line(level + 1, path);
  }

  [[nodiscard]] bool is_plain(std::string_view bytes) const {
    return std::all_of(bytes.begin(), bytes.end(), [&](char c) { return plain_[static_cast<unsigned char>(c)]; });
  }

  void write_string(const Value& value, text::PathId owner) {
    const String& string = joined(runtime_, value);
    if (owner == text::PathId::kNone && string.run_count != 0) owner = string.runs[0].path();
    structure("\"", owner);
    const std::string_view bytes(string.data, string.size);
    if (is_plain(bytes)) {
      out_.append(string, 0, string.size, "json");
    } else if (!runtime_.tracing) {
      data(bytes, {});
    } else if (string.run_count == 1 && string.runs->kind == RunKind::kData) {
      text::Run run = *string.runs;
      take_run(runtime_, run, "json");
      data(bytes, run);
    } else {
      rewrite(value, bytes);
    }
    structure("\"", owner);
  }

  // Calls found(at, size, escape) for each character of `bytes` that JSON does not write as it is, from left to right.
  template <typename Found>
  void each_escape(std::string_view bytes, const Found& found) const {
    std::string buffer;
    for (std::size_t at = 0; at < bytes.size();) {
      if (plain_[static_cast<unsigned char>(bytes[at])]) {
        ++at;
        continue;
      }
      const CodePoint c = decode_at(bytes, at);
      const std::string_view escape = json_escape(c.value, style_, buffer);
      if (!escape.empty()) found(at, c.size, escape);
      at += c.size;
    }
  }

  // Consecutive bytes of one string of the input; `run`: that of all of them.
  void data(std::string_view bytes, const text::Run& run) {
    runtime_.spend_bytes(bytes.size());
    std::size_t written = 0;
    const auto write_to = [&](std::size_t end) {
      text::Run part = run;
      part.source_offset += static_cast<std::uint32_t>(written);
      out_.append(bytes.substr(written, end - written), part);
      written = end;
    };
    each_escape(bytes, [&](std::size_t at, std::size_t size, std::string_view escape) {
      write_to(at);
      text::Run escaped = run;
      escaped.kind = RunKind::kEscaped;
      escaped.source_offset += static_cast<std::uint32_t>(at);
      escaped.source_size = static_cast<std::uint32_t>(size);
      out_.append(escape, escaped);
      written = at + size;
    });
    write_to(bytes.size());
  }

  // Bytes of several origins.
  void rewrite(const Value& value, std::string_view bytes) {
    Rewriter body(runtime_, value, "json");
    each_escape(bytes, [&](std::size_t at, std::size_t size, std::string_view escape) {
      body.keep(at - body.at());
      body.replace(size, escape);
    });
    out_.append(body.finish());
  }

  // The run of a string of the input.
  [[nodiscard]] text::Run input_run(text::PathId path) const {
    text::Run run;
    run.kind = RunKind::kData;
    run.origin = static_cast<std::uint32_t>(path);
    run.chain = chain_;
    return run;
  }

  void write_items(const Value& value, int level) {
    if (const json::Array* source = value.as_list().source) {
      write_array(*source, level, value.as_list().source_path);
      return;
    }
    const DepthGuard guard(runtime_);
    const Values& items = value.as_list().items;
    structure("[", value.path());
    bool first = true;
    for (const Value& item : items) {
      before_part(first, level, value.path());
      write(item, level + 1);
    }
    if (!items.empty()) new_line(level, value.path());
    structure("]", value.path());
  }

  void write_key(const Value& key, text::PathId owner) {
    if (key.is_string()) {
      write_string(key, owner);
      return;
    }
    if (!key.is_number() && !key.is_none()) {
      runtime_.fail("keys must be str, int, float, bool or None, not " + type_name(key));
    }
    structure("\"" + json_number(runtime_, key) + "\"", owner);
  }

  void write_member(const Value& key, const Value& value, int level, text::PathId path) {
    write_key(key, path);
    structure(style_.key_separator, path);
    write(value, level + 1);
  }

  void write_dict(const Value& value, int level) {
    Dict& dict = value.as_dict();
    const text::PathId path = value.path();
    if (dict.source != nullptr && !style_.sort_keys) {
      write_object(*dict.source, PartPaths(runtime_, dict.path, *dict.source), level, path);
      return;
    }
    const DepthGuard guard(runtime_);
    structure("{", path);
    bool first = true;
    if (style_.sort_keys) {
      std::vector<Value> order = dict_part(runtime_, value, DictPart::kItems);
      std::vector<Value> keys;
      for (const Value& pair : order) keys.push_back(items_of(runtime_, pair)[0]);
      sort_values(runtime_, order, keys, false);
      for (const Value& pair : order) {
        before_part(first, level, path);
        const Values& parts = items_of(runtime_, pair);
        write_member(parts[0], parts[1], level, path);
      }
    } else {
      for (const Dict::Entry& entry : dict.entries) {
        before_part(first, level, path);
        write_member(key_of(runtime_, dict, entry), entry.value, level, path);
      }
    }
    if (!first) new_line(level, path);
    structure("}", path);
  }

  // A value of the input that the template has not looked at: written without making Values of its parts.
  void write_input(const json::Value& value, int level, text::PathId path) {
    switch (value.kind()) {
      case json::Kind::kString:
        if (is_nowhere(path)) break;
        runtime_.spend();
        structure("\"", path);
        data(value.as_string(), input_run(path));
        structure("\"", path);
        return;
      case json::Kind::kArray:
        runtime_.spend();
        write_array(value.as_array(), level, path);
        return;
      case json::Kind::kObject:
        if (style_.sort_keys) break;
        runtime_.spend();
        write_object(value.as_object(), PartPaths(runtime_, path, value.as_object()), level, path);
        return;
      default: break;
    }
    write(wrap(runtime_, value, path), level);
  }

  // Traced text that no place of the input stands for.
  [[nodiscard]] bool is_nowhere(text::PathId path) const { return runtime_.tracing && path == text::PathId::kNone; }

  void write_array(const json::Array& array, int level, text::PathId path) {
    const DepthGuard guard(runtime_);
    const PartPaths paths(runtime_, path, array);
    structure("[", path);
    bool first = true;
    for (std::size_t i = 0; i < array.size(); ++i) {
      before_part(first, level, path);
      write_input(array[i], level + 1, paths.at(i));
    }
    if (!first) new_line(level, path);
    structure("]", path);
  }

  void write_object(const json::Object& object, const PartPaths& paths, int level, text::PathId path) {
    const DepthGuard guard(runtime_);
    structure("{", path);
    for (std::size_t i = 0; i < object.size(); ++i) {
      const json::Member& member = object.begin()[i];
      bool first = i == 0;
      if (is_plain(member.key) && !is_nowhere(path)) {
        if (first || style_.indent) {
          before_part(first, level, path);
          structure("\"", path);
        } else {
          structure(before_key_, path);
        }
        out_.append(member.key, input_run(runtime_.tracing ? paths.key_at(i) : path));
        structure(behind_key_, path);
      } else {
        before_part(first, level, path);
        write_key(input_key(runtime_, member.key, path), path);
        structure(style_.key_separator, path);
      }
      write_input(member.value, level + 1, paths.at(i));
    }
    if (!object.empty()) new_line(level, path);
    structure("}", path);
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  const PlainBytes& plain_;
  StringBuilder& out_;
  std::string before_key_;  // a separator and the quote of a key
  std::string behind_key_;
  text::ChainId chain_;
};

void set_indent(Runtime& runtime, const Value& indent, JsonStyle& style) {
  if (indent.is_none()) return;
  style.item_separator = ",";
  if (indent.is_string()) {
    style.indent = std::string(bytes_of(runtime, indent));
    return;
  }
  require_defined(runtime, indent);
  if (!indent.is_small_int()) runtime.fail("can't multiply sequence by non-int of type '" + type_name(indent) + "'");
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(indent.as_int(), 0));
  pay_for_filling(runtime, width);
  style.indent = std::string(width, ' ');
}

// The arguments of transformers' tojson, which writes `subject`.
JsonStyle json_style(Runtime& runtime, const Value& subject, const Args& args) {
  JsonStyle style;
  const Params params(runtime, python("tojson", 1), args, {"ensure_ascii", "indent", "separators", "sort_keys"});
  style.ensure_ascii = params.boolean(0, false);
  style.sort_keys = params.boolean(3, false);
  std::vector<Value> separators;
  if (!params[2].is_none()) {
    const auto& two = unpack_items(runtime, params[2], 2);
    separators.assign(two.begin(), two.end());
  }
  // Of a string Python looks at nothing else.
  if (subject.is_string()) return style;
  set_indent(runtime, params[1], style);
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    if (separators.empty() || separators[i].is_string()) continue;
    // With an indent they are looked at where one is written.
    const bool writes_none = (!subject.is_sequence() && !subject.is_dict()) || length_of(runtime, subject) == 0;
    if (!params[1].is_none() && writes_none) return style;
    runtime.fail("make_encoder() argument " + std::to_string(6 - i) + " must be str, not " + type_name(separators[i]));
  }
  if (!separators.empty()) {
    style.item_separator = bytes_of(runtime, separators[0]);
    style.key_separator = bytes_of(runtime, separators[1]);
  }
  return style;
}

Value tojson(Runtime& runtime, const Value& subject, const Args& args) {
  if (runtime.options.chat_globals) return to_json(runtime, subject, json_style(runtime, subject, args));
  // jinja2's own: for HTML pages
  JsonStyle style;
  const Params params(runtime, python("tojson", 1), args, {"indent"});
  style.ensure_ascii = true;
  style.sort_keys = true;
  style.html_safe = true;
  set_indent(runtime, params[0], style);
  return to_json(runtime, subject, style).with_markup(true);
}

// REQUIRES: runtime.options.chat_globals.
void write_tojson(Runtime& runtime, const Value& subject, const Args& args, text::Text& out) {
  const JsonStyle style = json_style(runtime, subject, args);
  StringBuilder builder(runtime, out);
  JsonWriter(runtime, style, builder).write(subject, 0);
  check_output_size(runtime, out.size());
}

Value from_json(Runtime& runtime, const Value& subject, const Args& args) {
  require_positional(runtime, c_function("from_json"), args, 0, 0);
  require_defined(runtime, subject);
  if (!subject.is_string()) runtime.fail("the JSON object must be str, bytes or bytearray, not " + type_name(subject));
  runtime.spend(bytes_of(runtime, subject).size() / 2);
  Result<json::Value> parsed = json::parse(bytes_of(runtime, subject));
  if (!parsed.ok()) runtime.fail(parsed.error().message);
  runtime.heap.charge(4 * bytes_of(runtime, subject).size());
  return wrap(runtime, *runtime.heap.keep(std::move(parsed).value()), subject.path());
}

constexpr Filter kFilters[] = {
    {"from_json", from_json, true}, {"fromjson", from_json, true}, plain({"tojson", tojson, false, write_tojson})};

}  // namespace

Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  StringBuilder out(runtime);
  JsonWriter(runtime, style, out).write(value, 0);
  return out.finish(value.path());
}

std::span<const Filter> json_filters() { return kFilters; }

}  // namespace rondo::jinja
