// pprint.pformat(): repr() in 80 columns, with breaks in containers and strings, and sorted keys.
#include "jinja/builtins/pprint.h"

#include <algorithm>

#include "jinja/common/characters.h"
#include "jinja/types/compare.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_search.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

constexpr std::int64_t kColumns = 80;

std::int64_t columns(std::string_view text) { return static_cast<std::int64_t>(count_code_points(text)); }

// Follows the class PrettyPrinter of Python's module function by function.
class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& runtime) : runtime_(runtime) {}

  // Writes `value` at column `indent` and leaves `allowance` columns free after it.
  void write(const Value& value, std::int64_t indent, std::int64_t allowance, int level) {
    const DepthGuard guard(runtime_);
    const std::string flat = one_line(value);
    const bool fits = columns(flat) <= kColumns - indent - allowance;
    const bool is_plain_string = value.is_string() && !value.is_markup();
    // The values that groupby makes print themselves, and so does markup.
    const bool is_plain_sequence = value.is_sequence() && !value.as_list().is_group;
    if (fits || !(value.is_dict() || is_plain_sequence || is_plain_string)) {
      out_ += flat;
    } else if (value.is_dict()) {
      write_dict(value, indent, allowance + 1, level + 1);
    } else if (value.is_sequence()) {
      write_items(value, indent, allowance, level + 1);
    } else {
      write_string(value, indent, allowance, level + 1);
    }
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  // Keys that Python cannot compare are ordered by the names of their types.
  [[nodiscard]] bool before(const Value& left, const Value& right) {
    require_defined(runtime_, left);
    require_defined(runtime_, right);
    const bool comparable = (left.is_number() && right.is_number()) || (left.is_string() && right.is_string());
    if (comparable) return less(runtime_, left, right);
    if (left.is_tuple() && right.is_tuple()) {
      try {
        return less(runtime_, left, right);
      } catch (const Failure&) {
        return false;  // Python orders them by address
      }
    }
    return type_name(left) < type_name(right);
  }

  [[nodiscard]] std::vector<Dict::Entry> sorted(const Value& dict) {
    const auto& all = entries_of(runtime_, dict);
    std::vector<Dict::Entry> entries(all.begin(), all.end());
    if (entries.size() > 1) {
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const Dict::Entry& a, const Dict::Entry& b) { return before(a.key, b.key); });
    }
    return entries;
  }

  [[nodiscard]] std::string one_line(const Value& value) {
    const DepthGuard guard(runtime_);
    if (value.is_dict()) {
      std::string out = "{";
      for (const Dict::Entry& entry : sorted(value)) {
        if (out.size() > 1) out += ", ";
        out += one_line(entry.key) + ": " + one_line(entry.value);
      }
      return out + "}";
    }
    if (!value.is_sequence() || value.as_list().is_group) return repr(runtime_, value);
    std::string out;
    for (const Value& item : items_of(runtime_, value)) {
      if (!out.empty()) out += ", ";
      out += one_line(item);
    }
    if (value.is_list()) return "[" + out + "]";
    return "(" + out + (items_of(runtime_, value).size() == 1 ? ",)" : ")");
  }

  void new_line(std::int64_t indent) {
    out_ += '\n';
    out_.append(static_cast<std::size_t>(indent), ' ');
  }

  void write_dict(const Value& value, std::int64_t indent, std::int64_t allowance, int level) {
    const std::vector<Dict::Entry> entries = sorted(value);
    out_ += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string key = one_line(entries[i].key);
      if (i != 0) {
        out_ += ',';
        new_line(indent + 1);
      }
      out_ += key + ": ";
      write(entries[i].value, indent + 1 + columns(key) + 2, i + 1 == entries.size() ? allowance : 1, level);
    }
    out_ += '}';
  }

  void write_items(const Value& value, std::int64_t indent, std::int64_t allowance, int level) {
    const Values items = items_of(runtime_, value);
    const std::string close = value.is_list() ? "]" : items.size() == 1 ? ",)" : ")";
    out_ += value.is_list() ? '[' : '(';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) {
        out_ += ',';
        new_line(indent + 1);
      }
      write(items[i], indent + 1, i + 1 == items.size() ? allowance + static_cast<std::int64_t>(close.size()) : 1,
            level);
    }
    out_ += close;
  }

  // Writes a long string as adjacent literals: one for each line, or for a group of words if a line is too long.
  void write_string(const Value& value, std::int64_t indent, std::int64_t allowance, int level) {
    const Value keep_ends = Value::boolean(true);
    const Values lines = items_of(runtime_, str_splitlines(runtime_, value, {std::span(&keep_ends, 1), {}}));
    const bool outermost = level == 1;
    if (outermost) {
      ++indent;
      ++allowance;
    }
    std::vector<std::string> chunks;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::int64_t needed = i + 1 == lines.size() ? allowance : 0;
      const std::string whole = repr(runtime_, lines[i]);
      if (columns(whole) <= kColumns - indent - needed) {
        chunks.push_back(whole);
      } else {
        split_line(bytes_of(runtime_, lines[i]), kColumns - indent, needed, chunks);
      }
    }
    if (chunks.size() == 1) {
      out_ += repr(runtime_, lines.back());
      return;
    }
    if (outermost) out_ += '(';
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (i != 0) new_line(indent);
      out_ += chunks[i];
    }
    if (outermost) out_ += ')';
  }

  // Splits a line into groups of words with the white space after them, as many as fit.  `needed` columns stay free
  // after the last one.
  void split_line(std::string_view line, std::int64_t width, std::int64_t needed, std::vector<std::string>& chunks) {
    std::string current;
    const auto flush = [&] {
      if (!current.empty()) chunks.push_back(repr(runtime_, make_computed(runtime_, current)));
    };
    for (std::size_t at = 0; at < line.size();) {
      std::size_t end = at;
      while (end < line.size() && !is_space(decode_at(line, end).value)) end += decode_at(line, end).size;
      while (end < line.size() && is_space(decode_at(line, end).value)) end += decode_at(line, end).size;
      const std::string part(line.substr(at, end - at));
      const std::string candidate = repr(runtime_, make_computed(runtime_, current + part));
      if (columns(candidate) > width - (end == line.size() ? needed : 0)) {
        flush();
        current = part;
      } else {
        current += part;
      }
      at = end;
    }
    flush();
  }

  Runtime& runtime_;
  std::string out_;
};

}  // namespace

std::string pretty_print(Runtime& runtime, const Value& value) {
  PrettyPrinter printer(runtime);
  printer.write(value, 0, 0, 0);
  return printer.take();
}

}  // namespace rondo::jinja
