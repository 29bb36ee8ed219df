// pprint.pformat(): repr() in at most 80 columns where lists and dicts can be broken, keys sorted.
#include <algorithm>

#include "jinja/filters.h"
#include "jinja/operations.h"
#include "jinja/strings.h"

namespace rondo::jinja {
namespace {

constexpr std::size_t kColumns = 80;

class PrettyPrinter {
 public:
  explicit PrettyPrinter(Runtime& runtime) : runtime_(runtime) {}

  // Writes `value` at column `indent`, with `allowance` columns needed behind it.
  void write(const Value& value, std::size_t indent, std::size_t allowance, std::string& out) {
    const DepthGuard guard(runtime_);
    const std::string flat = one_line(value);
    const bool fits = count_code_points(flat) + indent + allowance <= kColumns;
    if (!fits && value.is_dict() && !entries_of(runtime_, value).empty()) {
      write_dict(value, indent, allowance, out);
    } else if (!fits && value.is_sequence() && !items_of(runtime_, value).empty()) {
      write_items(value, indent, allowance, out);
    } else {
      out += flat;
    }
  }

 private:
  [[nodiscard]] std::vector<Dict::Entry> sorted(const Value& dict) {
    const auto& all = entries_of(runtime_, dict);
    std::vector<Dict::Entry> entries(all.begin(), all.end());
    std::stable_sort(entries.begin(), entries.end(), [&](const Dict::Entry& a, const Dict::Entry& b) {
      if (a.key.is_string() != b.key.is_string() || a.key.is_number() != b.key.is_number()) {
        return type_name(a.key) < type_name(b.key);
      }
      return (a.key.is_string() || a.key.is_number()) && less(runtime_, a.key, b.key);
    });
    return entries;
  }

  [[nodiscard]] std::string one_line(const Value& value) {
    const DepthGuard guard(runtime_);
    if (value.is_dict()) {
      std::string out = "{";
      for (const Dict::Entry& entry : sorted(value)) {
        if (out.size() > 1) out += ", ";
        out += repr(runtime_, entry.key) + ": " + one_line(entry.value);
      }
      return out + "}";
    }
    if (!value.is_sequence()) return repr(runtime_, value);
    std::string out;
    for (const Value& item : items_of(runtime_, value)) {
      if (!out.empty()) out += ", ";
      out += one_line(item);
    }
    if (value.is_list()) return "[" + out + "]";
    return "(" + out + (items_of(runtime_, value).size() == 1 ? ",)" : ")");
  }

  void write_dict(const Value& value, std::size_t indent, std::size_t allowance, std::string& out) {
    const std::vector<Dict::Entry> entries = sorted(value);
    out += '{';
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::string key = repr(runtime_, entries[i].key) + ": ";
      if (i != 0) out += ",\n" + std::string(indent + 1, ' ');
      out += key;
      write(entries[i].value, indent + 1 + count_code_points(key), i + 1 == entries.size() ? allowance + 1 : 1, out);
    }
    out += '}';
  }

  void write_items(const Value& value, std::size_t indent, std::size_t allowance, std::string& out) {
    const Values& items = items_of(runtime_, value);
    const std::string close = value.is_list() ? "]" : items.size() == 1 ? ",)" : ")";
    out += value.is_list() ? '[' : '(';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i != 0) out += ",\n" + std::string(indent + 1, ' ');
      write(items[i], indent + 1, i + 1 == items.size() ? allowance + close.size() : 1, out);
    }
    out += close;
  }

  Runtime& runtime_;
};

}  // namespace

std::string pretty_print(Runtime& runtime, const Value& value) {
  std::string out;
  PrettyPrinter(runtime).write(value, 0, 0, out);
  return out;
}

}  // namespace rondo::jinja
