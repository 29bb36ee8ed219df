// json.dumps with origins.
#include "jinja/builtins/tojson.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/hex.h"
#include "jinja/builtins/json_number.h"
#include "jinja/builtins/json_sink.h"
#include "jinja/common/characters.h"
#include "jinja/types/iteration.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/type_names.h"

namespace rondo::jinja {
namespace {

using text::RunKind;

void append_hex(std::string& out, unsigned unit) {
  out += "\\u";
  hex::append(out, unit, 4);
}

// The JSON escape for `c`, or "" for the character itself.  `out` may hold the result.
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

// The bytes that JSON writes unchanged.
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

class JsonWriter {
 public:
  JsonWriter(Runtime& runtime, const JsonStyle& style, JsonSink& out)
      : runtime_(runtime),
        style_(style),
        plain_(plain_bytes(style)),
        has_words_(std::endian::native == std::endian::little && !style.ensure_ascii && !style.html_safe),
        out_(out) {
    const auto set = [](JsonMark& mark, std::initializer_list<std::string_view> parts) {
      for (const std::string_view part : parts) {
        std::copy(part.begin(), part.end(), mark.bytes.begin() + static_cast<std::ptrdiff_t>(mark.size));
        mark.size += part.size();
      }
    };
    if (std::max(style.item_separator.size(), style.key_separator.size()) < JsonMark::kMost) {
      set(before_mark_, {style.item_separator, "\""});
      set(behind_mark_, {"\"", style.key_separator});
      before_key_ = before_mark_.view();
      behind_key_ = behind_mark_.view();
      has_marks_ = has_words_ && !style.sort_keys;
    } else {
      long_marks_ = style.item_separator + "\"\"" + style.key_separator;
      before_key_ = std::string_view(long_marks_).substr(0, style.item_separator.size() + 1);
      behind_key_ = std::string_view(long_marks_).substr(before_key_.size());
    }
  }
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  // A dump.
  void write(const Value& value) {
    if (!can_be_whole(value)) {
      write(value, 0);
      return;
    }
    runtime_.spend();
    out_.begin_whole();
    if (value.is_dict()) {
      const json::Object& object = *value.as_dict().source;
      write_object(object, PartPaths(runtime_, text::PathId::kNone, object), 0, text::PathId::kNone, nullptr);
    } else {
      write_array(*value.as_list().source, 0, text::PathId::kNone);
    }
    out_.end_whole(value.path());
  }

 private:
  // Whether one run may represent the whole value: an unchanged container of the input whose parts can be found in the
  // text.  The elements of `messages` belong to different messages, so the writer must know them one by one.
  [[nodiscard]] bool can_be_whole(const Value& value) const {
    if (!runtime_.options.whole_dumps || !runtime_.tracing || !value.has_path() || !has_readable_style()) return false;
    if (value.is_dict()) {
      if (value.as_dict().source == nullptr || value.as_dict().path != value.path()) return false;
    } else if (!value.is_sequence() || value.as_list().source == nullptr ||
               value.as_list().source_path != value.path()) {
      return false;
    }
    if (runtime_.input_changed && !is_as_in_input(runtime_, value)) return false;
    const text::PathTable& paths = runtime_.origins.paths;
    return paths.message(value.path()) != text::kNoMessage || paths.root(value.path()) != "messages";
  }
  // Whether text/dumps.h can read it.
  [[nodiscard]] bool has_readable_style() const {
    if (style_.ensure_ascii || style_.sort_keys || style_.html_safe) return false;
    if (style_.indent && !is_blank(*style_.indent)) return false;
    return is_blank_around(style_.item_separator, ',') && is_blank_around(style_.key_separator, ':');
  }
  [[nodiscard]] static bool is_blank(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  }
  [[nodiscard]] static bool is_blank_around(std::string_view text, char mark) {
    std::size_t at = 0;
    while (at < text.size() && is_blank(text.substr(at, 1))) ++at;
    return at < text.size() && text[at] == mark && is_blank(text.substr(at + 1));
  }

  void write(const Value& value, int level) {
    runtime_.spend();
    switch (value.kind()) {
      case Kind::kString: write_string(value, value.path()); return;
      case Kind::kList:
      case Kind::kTuple: write_items(value, level); return;
      case Kind::kDict: write_dict(value, level); return;
      case Kind::kObject:
        // Some vendors' templates serialise what `map` returns.
        if (!runtime_.options.strict && value.as_object().type_name() == "generator") {
          write_items(make_list(runtime_, collect(runtime_, value)), level);
          return;
        }
        [[fallthrough]];
      case Kind::kUndefined:
      case Kind::kNamespace: runtime_.fail("Object of type " + type_name(value) + " is not JSON serializable");
      default: out_.scalar(json_number(runtime_, value), value.path());
    }
  }

  void new_line(int level, text::PathId path) {
    if (style_.indent) out_.structure(line_break(level), path);
  }

  // REQUIRES: style_.indent
  [[nodiscard]] std::string_view line_break(int level) {
    const std::size_t size = 1 + static_cast<std::size_t>(level) * style_.indent->size();
    if (new_line_.size() < size) {
      runtime_.heap.require(size);
      runtime_.spend_bytes(size - new_line_.size());
      if (new_line_.empty()) new_line_ = "\n";
      while (new_line_.size() < size) new_line_ += *style_.indent;
    }
    return std::string_view(new_line_).substr(0, size);
  }

  // Writes what comes before a part of a list or dict.
  void before_part(bool& first, int level, text::PathId path) {
    if (!first) out_.structure(style_.item_separator, path);
    first = false;
    new_line(level + 1, path);
  }

  // How many bytes at the beginning JSON writes unchanged.
  [[nodiscard]] std::size_t plain_prefix(std::string_view bytes) const {
    std::size_t at = 0;
    if (has_words_) {
      std::uint64_t word = 0;
      for (; at + sizeof(word) <= bytes.size(); at += sizeof(word)) {
        std::memcpy(&word, bytes.data() + at, sizeof(word));
        if (const std::uint64_t found = escaped_among(word); found != 0)
          return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
      }
    }
    while (at < bytes.size() && plain_[static_cast<unsigned char>(bytes[at])]) ++at;
    return at;
  }
  [[nodiscard]] bool is_plain(std::string_view bytes) const { return plain_prefix(bytes) == bytes.size(); }

  // Whether this is an unchanged string of the input.
  [[nodiscard]] static bool is_whole_input(const String& string) {
    if (string.run_count != 1) return false;
    const text::Run& run = *string.runs;
    return run.kind == RunKind::kData && run.source_offset == 0 && run.chain == text::ChainId::kNone &&
           run.context == text::ContextId::kNone && run.expression == 0;
  }

  void write_string(const Value& value, text::PathId owner) {
    const String& string = joined(runtime_, value);
    if (owner == text::PathId::kNone && string.run_count != 0) owner = string.runs[0].path();
    out_.structure("\"", owner);
    const std::string_view bytes(string.data, string.size);
    if (!runtime_.tracing || is_whole_input(string)) {
      data(bytes, string.run_count == 0 ? text::PathId::kNone : string.runs->path());
    } else if (is_plain(bytes)) {
      out_.append(string, "json");
    } else {
      rewrite(value, bytes);
    }
    out_.structure("\"", owner);
  }

  // Calls found(at, size, escape) for each character of `bytes` that JSON does not write unchanged, from left to right.
  template <typename Found>
  void each_escape(std::string_view bytes, const Found& found) const {
    std::string buffer;
    for (std::size_t at = 0; at < bytes.size();) {
      at += plain_prefix(bytes.substr(at));
      if (at == bytes.size()) return;
      const CodePoint c = decode_at(bytes, at);
      const std::string_view escape = json_escape(c.value, style_, buffer);
      if (!escape.empty()) found(at, c.size, escape);
      at += c.size;
    }
  }

  // Writes the string at `path`.
  void data(std::string_view bytes, text::PathId path) {
    runtime_.spend_bytes(bytes.size());
    std::size_t written = 0;
    each_escape(bytes, [&](std::size_t at, std::size_t size, std::string_view escape) {
      out_.data(bytes.substr(written, at - written), path, written);
      out_.escaped(escape, path, at, size);
      written = at + size;
    });
    out_.data(bytes.substr(written), path, written);
  }

  // Writes bytes of several origins.
  void rewrite(const Value& value, std::string_view bytes) {
    Rewriter body(runtime_, value, "json");
    each_escape(bytes, [&](std::size_t at, std::size_t size, std::string_view escape) {
      body.keep(at - body.at());
      body.replace(size, escape);
    });
    out_.append(joined(runtime_, body.finish()), "");
  }

  void write_items(const Value& value, int level) {
    if (const json::Array* source = value.as_list().source) {
      write_array(*source, level, value.as_list().source_path);
      return;
    }
    const DepthGuard guard(runtime_);
    const Values& items = value.as_list().items;
    out_.structure("[", value.path());
    bool first = true;
    for (const Value& item : items) {
      before_part(first, level, value.path());
      write(item, level + 1);
    }
    if (!items.empty()) new_line(level, value.path());
    out_.structure("]", value.path());
  }

  void write_key(const Value& key, text::PathId owner) {
    if (key.is_string()) {
      write_string(key, owner);
      return;
    }
    if (!key.is_number() && !key.is_none()) {
      runtime_.fail("keys must be str, int, float, bool or None, not " + type_name(key));
    }
    out_.structure("\"" + json_number(runtime_, key) + "\"", owner);
  }

  void write_member(const Value& key, const Value& value, int level, text::PathId path) {
    write_key(key, path);
    out_.structure(style_.key_separator, path);
    write(value, level + 1);
  }

  void write_dict(const Value& value, int level) {
    Dict& dict = value.as_dict();
    const text::PathId path = value.path();
    if (dict.source != nullptr && !style_.sort_keys) {
      const Value* const members = runtime_.input_changed ? dict.members : nullptr;
      write_object(*dict.source, PartPaths(runtime_, dict.path, *dict.source), level, path, members);
      return;
    }
    const DepthGuard guard(runtime_);
    out_.structure("{", path);
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
    out_.structure("}", path);
  }

  // Writes a value of the input that the template has not looked at, without making Values of its parts.
  void write_input(const json::Value& value, int level, text::PathId path) {
    switch (value.kind()) {
      case json::Kind::kString:
        if (is_nowhere(path)) break;
        runtime_.spend();
        if (has_words_ && out_.string(value.as_string(), path)) return;
        out_.count(value.as_string().empty() ? 1 : 2);
        out_.structure("\"", path);
        data(value.as_string(), path);
        out_.structure("\"", path);
        return;
      case json::Kind::kArray:
        runtime_.spend();
        write_array(value.as_array(), level, path);
        return;
      case json::Kind::kObject:
        if (style_.sort_keys) break;
        runtime_.spend();
        write_object(value.as_object(), PartPaths(runtime_, path, value.as_object()), level, path, nullptr);
        return;
      case json::Kind::kInteger:
      case json::Kind::kFloat:
        if (const std::string_view same = same_number(value); !same.empty()) {
          runtime_.spend();
          out_.scalar(same, path);
          return;
        }
        break;
      default: break;
    }
    write(wrap(runtime_, value, path), level);
  }

  // Whether no place of the input corresponds to this traced text.  A whole dump has no paths inside.
  [[nodiscard]] bool is_nowhere(text::PathId path) const {
    return path == text::PathId::kNone && runtime_.tracing && !out_.is_whole();
  }

  // The following write values of the input without runs.  They write the same text as the functions below, but keep
  // the position in a register and return where it ends.
  [[nodiscard]] bool is_bare() const { return has_marks_ && (!runtime_.tracing || out_.is_whole()); }

  char* bare_value(const json::Value& value, char* to, int level) {
    constexpr std::size_t kMostOfNumber = 32;
    switch (value.kind()) {
      case json::Kind::kString: return bare_string(value.as_string(), to);
      case json::Kind::kArray: return bare_array(value.as_array(), to, level);
      case json::Kind::kObject: return bare_object(value.as_object(), to, level);
      case json::Kind::kInteger:
      case json::Kind::kFloat:
        if (const std::string_view same = same_number(value); !same.empty()) return bare_scalar(same, to);
        break;
      default: break;
    }
    out_.end_at(to);
    out_.scalar(json_number(runtime_, wrap(runtime_, value, text::PathId::kNone)), text::PathId::kNone);
    return out_.cursor(kMostOfNumber);
  }

  char* bare_scalar(std::string_view text, char* to) {
    to = out_.cursor(to, text.size());
    out_.count(1);
    return std::copy(text.begin(), text.end(), to);
  }

  char* bare_string(std::string_view bytes, char* to) {
    if (!bytes.empty() && bytes.size() <= JsonSink::kMostAtOnce) {
      to = out_.cursor(to, bytes.size() + 2);
      if (JsonSink::copy_plain(to + 1, bytes)) {
        to[0] = to[bytes.size() + 1] = '"';
        out_.count(3);
        return to + bytes.size() + 2;
      }
    }
    out_.end_at(to);
    out_.count(bytes.empty() ? 1 : 2);
    out_.structure("\"", text::PathId::kNone);
    data(bytes, text::PathId::kNone);
    out_.structure("\"", text::PathId::kNone);
    return out_.cursor(1);
  }

  // Writes the key with the marks around it.
  char* bare_key(const JsonMark& before, std::string_view key, char* to) {
    if (!key.empty() && key.size() <= JsonSink::kMostAtOnce) {
      to = out_.cursor(to, key.size() + 2 * JsonMark::kMost);
      std::memcpy(to, before.bytes.data(), JsonMark::kMost);
      if (JsonSink::copy_plain(to + before.size, key)) {
        to += before.size + key.size();
        std::memcpy(to, behind_mark_.bytes.data(), JsonMark::kMost);
        return to + behind_mark_.size;
      }
    }
    out_.end_at(to);
    out_.structure(before.view(), text::PathId::kNone);
    data(key, text::PathId::kNone);
    out_.structure(behind_key_, text::PathId::kNone);
    return out_.cursor(1);
  }

  char* bare_object(const json::Object& object, char* to, int level) {
    const DepthGuard guard(runtime_);
    runtime_.spend(object.size());
    out_.count(3 * object.size() + 1);
    to = bare_mark('{', to);
    const JsonMark* before = &first_mark_;
    for (const json::Member& member : object) {
      if (style_.indent) {
        if (before != &first_mark_) to = bare_separator(to);
        to = bare_line(to, level + 1);
        to = bare_key(first_mark_, member.key, to);
      } else {
        to = bare_key(*before, member.key, to);
      }
      to = bare_value(member.value, to, level + 1);
      before = &before_mark_;
    }
    if (style_.indent && !object.empty()) to = bare_line(to, level);
    return bare_mark('}', to);
  }

  char* bare_array(const json::Array& array, char* to, int level) {
    const DepthGuard guard(runtime_);
    runtime_.spend(array.size());
    out_.count(array.size() + 1);
    to = bare_mark('[', to);
    for (const json::Value& value : array) {
      if (&value != array.data()) to = bare_separator(to);
      if (style_.indent) to = bare_line(to, level + 1);
      to = bare_value(value, to, level + 1);
    }
    if (style_.indent && !array.empty()) to = bare_line(to, level);
    return bare_mark(']', to);
  }

  char* bare_mark(char mark, char* to) {
    to = out_.cursor(to, 1);
    *to = mark;
    return to + 1;
  }

  char* bare_separator(char* to) {
    to = out_.cursor(to, JsonMark::kMost);
    std::memcpy(to, before_mark_.bytes.data(), JsonMark::kMost);
    return to + before_mark_.size - 1;  // without the quote of a key
  }

  char* bare_line(char* to, int level) {
    const std::string_view text = line_break(level);
    if (text.size() <= JsonSink::kMostAtOnce) {
      to = out_.cursor(to, text.size());
      return std::copy(text.begin(), text.end(), to);
    }
    out_.end_at(to);
    out_.structure(text, text::PathId::kNone);
    return out_.cursor(1);
  }

  void write_array(const json::Array& array, int level, text::PathId path) {
    if (is_bare()) {
      out_.end_at(bare_array(array, out_.cursor(1), level));
      return;
    }
    const DepthGuard guard(runtime_);
    const PartPaths paths(runtime_, path, array);
    out_.count(array.size() + 1);
    out_.structure("[", path);
    bool first = true;
    for (std::size_t i = 0; i < array.size(); ++i) {
      before_part(first, level, path);
      write_input(array[i], level + 1, paths.at(i));
    }
    if (!first) new_line(level, path);
    out_.structure("]", path);
  }

  // Writes the key of member `i`, with the marks around it.
  void write_member_key(const json::Member& member, std::size_t i, const PartPaths& paths, int level,
                        text::PathId path) {
    bool first = i == 0;
    const bool is_traced = runtime_.tracing && path != text::PathId::kNone;
    const bool can_have_marks = has_marks_ && !style_.indent && !is_nowhere(path);
    if (can_have_marks && out_.key(first ? first_mark_ : before_mark_, member.key, behind_mark_, path,
                                   is_traced ? paths.key_at(i) : path))
      return;
    if (!(out_.is_whole() || is_plain(member.key)) || is_nowhere(path)) {
      before_part(first, level, path);
      write_key(input_key(runtime_, member.key, path), path);
      out_.structure(style_.key_separator, path);
      return;
    }
    const bool is_spaced = first || style_.indent;
    if (is_spaced) before_part(first, level, path);
    out_.structure(is_spaced ? "\"" : before_key_, path);
    out_.is_whole() ? data(member.key, path) : out_.data(member.key, is_traced ? paths.key_at(i) : path, 0);
    out_.structure(behind_key_, path);
  }

  // `members`: those that the template has read, whose lists and dicts it may have changed; nullptr if it changed none.
  void write_object(const json::Object& object, const PartPaths& paths, int level, text::PathId path,
                    const Value* members) {
    if (members == nullptr && is_bare()) {
      out_.end_at(bare_object(object, out_.cursor(1), level));
      return;
    }
    const DepthGuard guard(runtime_);
    out_.count(2 * object.size() + 1);
    out_.structure("{", path);
    std::size_t i = 0;
    for (const json::Member& member : object) {
      write_member_key(member, i, paths, level, path);
      if (members != nullptr && (members[i].is_list() || members[i].is_dict())) {
        write(members[i], level + 1);
      } else {
        write_input(member.value, level + 1, paths.at(i));
      }
      ++i;
    }
    if (!object.empty()) new_line(level, path);
    out_.structure("}", path);
  }

  Runtime& runtime_;
  const JsonStyle& style_;
  const PlainBytes& plain_;
  bool has_words_;  // bytes may be read eight at a time
  JsonSink& out_;
  std::string_view before_key_;  // a separator and the quote of a key
  std::string_view behind_key_;
  std::string new_line_;  // with the deepest indentation so far
  // The same for code that copies whole marks, and the quote of the first key.
  bool has_marks_ = false;
  JsonMark first_mark_{{'"'}, 1};
  JsonMark before_mark_;
  JsonMark behind_mark_;
  std::string long_marks_;  // used if they do not fit
};

}  // namespace

Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style) {
  JsonSink out(runtime);
  JsonWriter(runtime, style, out).write(value);
  return out.finish(value.path());
}

void write_json(Runtime& runtime, const Value& value, const JsonStyle& style, text::Text& out) {
  JsonSink sink(runtime, out);
  JsonWriter(runtime, style, sink).write(value);
  sink.flush();
  runtime.check_output_size(out.size());
}

}  // namespace rondo::jinja
