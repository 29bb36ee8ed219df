// Methods of str that search, cut, split and replace.
#include "jinja/types/string_search.h"

#include <algorithm>

#include "jinja/common/characters.h"
#include "jinja/types/finder.h"
#include "jinja/types/markup.h"
#include "jinja/types/params.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "unicode/classes.h"

namespace rondo::jinja {
namespace {

std::string step_name(Runtime& runtime, std::string_view method, std::string_view argument) {
  runtime.spend_on_characters(argument.size());
  const char quote = repr_quote(argument);
  std::string out(method);
  out += '(';
  out += quote;
  for (const char c : argument) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || c == quote) {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out + quote + ")";
}

// The part of a string that find(x, start, end) searches, in bytes.
struct Window {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty_range = false;  // start is after end, so not even "" is found
};

Window window(Runtime& runtime, const Value& self, const Value& start, const Value& stop) {
  Window out;
  out.end = bytes_of(runtime, self).size();
  if (start.is_none() && stop.is_none()) return out;
  const auto size = static_cast<std::int64_t>(code_points(runtime, self));
  const auto bound = [&](const Value& value, std::int64_t fallback) {
    if (value.is_none()) return fallback;
    if (!value.is_integral()) runtime.fail("slice indices must be integers or None or have an __index__ method");
    const std::int64_t index = clipped(value);
    return std::max<std::int64_t>(index < 0 ? index + size : index, 0);
  };
  const std::int64_t first = bound(start, 0);
  const std::int64_t last = std::min(bound(stop, size), size);
  out.empty_range = first > last;
  out.begin = byte_offset(runtime, self, static_cast<std::size_t>(std::min(first, size)));
  out.end = out.empty_range ? out.begin : byte_offset(runtime, self, static_cast<std::size_t>(last));
  return out;
}

struct Found {
  std::size_t byte = 0;
  bool ok = false;
};

Found search(Runtime& runtime, std::string_view method, const Value& self, const Args& args, bool from_right) {
  require_positional(runtime, parsing_method(method), args, 1, 3);
  const Value& needle = require_string(runtime, args.positional[0]);
  const Value none = Value::none();
  log_probe(runtime, method, needle, self);
  const Window range =
      window(runtime, self, args.size() > 1 ? args.positional[1] : none, args.size() > 2 ? args.positional[2] : none);
  if (range.empty_range) return {};
  const std::string_view text = bytes_of(runtime, self).substr(range.begin, range.end - range.begin);
  const std::string_view key = bytes_of(runtime, needle);
  runtime.spend_bytes(text.size());
  const Finder finder(key, from_right);
  const std::size_t at = from_right ? finder.find_last(text) : finder.find(text);
  if (at == std::string_view::npos) return {};
  return {range.begin + at, true};
}

Value find(Runtime& runtime, std::string_view method, const Value& self, const Args& args, bool from_right,
           bool strict) {
  const Found found = search(runtime, method, self, args, from_right);
  if (found.ok) return make_length(count_code_points(bytes_of(runtime, self).substr(0, found.byte)));
  if (strict) runtime.fail("substring not found");
  return Value::integer(-1);
}

bool affix(Runtime& runtime, std::string_view method, const Value& self, const Args& args) {
  require_positional(runtime, parsing_method(method), args, 1, 3);
  const Value none = Value::none();
  const Window range =
      window(runtime, self, args.size() > 1 ? args.positional[1] : none, args.size() > 2 ? args.positional[2] : none);
  const std::string_view text = bytes_of(runtime, self).substr(range.begin, range.end - range.begin);
  const auto matches = [&](const Value& candidate) {
    if (!candidate.is_string()) {
      runtime.fail("tuple for " + std::string(method) + " must only contain str, not " + type_name(candidate));
    }
    log_probe(runtime, method, candidate, self);
    if (range.empty_range) return false;
    const std::string_view key = bytes_of(runtime, candidate);
    runtime.spend(1 + std::min(key.size(), text.size()) / 64);
    return method == "startswith" ? text.starts_with(key) : text.ends_with(key);
  };
  const Value& candidates = args.positional[0];
  if (candidates.is_tuple()) {
    const Values& items = items_of(runtime, candidates);
    return std::any_of(items.begin(), items.end(), matches);
  }
  if (!candidates.is_string()) {
    runtime.fail(std::string(method) + " first arg must be str or a tuple of str, not " + type_name(candidates));
  }
  return matches(candidates);
}

// Parts of `self` between separators, found from the left or from the right.
std::vector<Value> split_by(Runtime& runtime, const Value& self, const Value& separator, std::int64_t most,
                            bool from_right) {
  const std::string_view text = bytes_of(runtime, self);
  const std::string_view key = bytes_of(runtime, separator);
  if (key.empty()) runtime.fail("empty separator");
  const std::string step = step_name(runtime, "split", key);
  const Finder finder(key, from_right);
  runtime.spend_bytes(text.size());
  std::vector<std::size_t> cuts;
  std::size_t at = from_right ? text.size() : 0;
  while (most < 0 || static_cast<std::int64_t>(cuts.size()) < most) {
    if (from_right && at < key.size()) break;
    const std::size_t found = from_right ? finder.find_last(text, at) : finder.find(text, at);
    if (found == std::string_view::npos) break;
    runtime.spend();
    cuts.push_back(found);
    at = from_right ? found : found + key.size();
  }
  if (from_right) std::reverse(cuts.begin(), cuts.end());
  std::vector<Value> out;
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    out.push_back(substring(runtime, self, begin, cut, step));
    begin = cut + key.size();
  }
  out.push_back(substring(runtime, self, begin, text.size(), step));
  return out;
}

std::vector<Value> split_spaces(Runtime& runtime, const Value& self, std::int64_t most) {
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  std::vector<Value> out;
  std::size_t at = 0;
  for (;;) {
    while (at < text.size() && is_space(decode_at(text, at).value)) at += decode_at(text, at).size;
    if (at == text.size()) return out;
    std::size_t end = at;
    if (most >= 0 && static_cast<std::int64_t>(out.size()) >= most) {
      out.push_back(substring(runtime, self, at, text.size(), "split()"));
      return out;
    }
    while (end < text.size() && !is_space(decode_at(text, end).value)) end += decode_at(text, end).size;
    runtime.spend();
    out.push_back(substring(runtime, self, at, end, "split()"));
    at = end;
  }
}

std::vector<Value> rsplit_spaces(Runtime& runtime, const Value& self, std::int64_t most) {
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  std::vector<Value> out;
  std::size_t end = text.size();
  for (;;) {
    while (end > 0 && is_space(decode_at(text, previous_start(text, end)).value)) end = previous_start(text, end);
    if (end == 0) break;
    std::size_t begin = end;
    if (most >= 0 && static_cast<std::int64_t>(out.size()) >= most) {
      out.push_back(substring(runtime, self, 0, end, "split()"));
      break;
    }
    while (begin > 0 && !is_space(decode_at(text, previous_start(text, begin)).value))
      begin = previous_start(text, begin);
    runtime.spend();
    out.push_back(substring(runtime, self, begin, end, "split()"));
    end = begin;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

Value split(Runtime& runtime, const Value& self, const Args& args, bool from_right) {
  const Params params(runtime, c_function(from_right ? "rsplit" : "split"), args, {"sep", "maxsplit"});
  const std::int64_t most = params.integer(1, -1);
  std::vector<Value> parts;
  if (params[0].is_none()) {
    parts = from_right ? rsplit_spaces(runtime, self, most) : split_spaces(runtime, self, most);
  } else {
    if (!params[0].is_string()) runtime.fail("must be str or None, not " + type_name(params[0]));
    const Value separator = params[0];
    log_probe(runtime, from_right ? "rsplit" : "split", separator, self);
    parts = split_by(runtime, self, separator, most, from_right);
  }
  for (Value& part : parts) part = part.with_markup(self.is_markup());
  return make_list(runtime, std::move(parts));
}

Value remove_affix(Runtime& runtime, std::string_view method, const Value& self, const Args& args) {
  require_positional(runtime, method_of("str", method), args, 1, 1);
  const Value& affix = args.positional[0];
  if (!affix.is_string()) runtime.fail(std::string(method) + "() argument must be str, not " + type_name(affix));
  log_probe(runtime, method, affix, self);
  const std::string_view text = bytes_of(runtime, self);
  const std::string_view key = bytes_of(runtime, affix);
  const bool prefix = method == "removeprefix";
  const bool cut = prefix ? text.starts_with(key) : text.ends_with(key);
  const std::size_t begin = cut && prefix ? key.size() : 0;
  const std::size_t end = cut && !prefix ? text.size() - key.size() : text.size();
  log_strip(runtime, self, 0, begin);
  log_strip(runtime, self, end, text.size());
  return substring(runtime, self, begin, end, step_name(runtime, method, key));
}

Value partition_at(Runtime& runtime, const Value& self, const Args& args, bool from_right) {
  const std::string_view method = from_right ? "rpartition" : "partition";
  require_positional(runtime, method_of("str", method), args, 1, 1);
  const Value& separator = require_string(runtime, args.positional[0]);
  log_probe(runtime, method, separator, self);
  const std::string_view text = bytes_of(runtime, self);
  const std::string_view key = bytes_of(runtime, separator);
  if (key.empty()) runtime.fail("empty separator");
  const std::string step = step_name(runtime, "split", key);
  runtime.spend_bytes(text.size());
  const Finder finder(key, from_right);
  const std::size_t at = from_right ? finder.find_last(text) : finder.find(text);
  const auto part = [&](std::size_t begin, std::size_t end) { return substring(runtime, self, begin, end, step); };
  const bool found = at != std::string_view::npos;
  const std::size_t first = found ? at : from_right ? 0 : text.size();
  const std::size_t second = found ? at + key.size() : first;
  return jinja::make_tuple(runtime, {part(0, first), part(first, second), part(second, text.size())});
}

// The characters to strip, sorted.
std::vector<char32_t> character_set(std::string_view characters) {
  std::vector<char32_t> out;
  for (std::size_t at = 0; at < characters.size();) {
    const CodePoint c = decode_at(characters, at);
    out.push_back(c.value);
    at += c.size;
  }
  std::sort(out.begin(), out.end());
  return out;
}

Value strip_method(Runtime& runtime, std::string_view method, const Value& self, const Args& args, Side side) {
  require_positional(runtime, method_of("str", method), args, 0, 1);
  const Value characters = args.positional.empty() ? Value::none() : args.positional[0];
  if (!characters.is_none() && !characters.is_string()) {
    runtime.fail(std::string(method) + " arg must be None or str");
  }
  return strip_text(runtime, self, side, characters);
}

}  // namespace

Value require_string(Runtime& runtime, const Value& value) {
  if (!value.is_string()) runtime.fail("must be str, not " + type_name(value));
  return value;
}

Value strip_text(Runtime& runtime, const Value& subject, Side side, const Value& characters) {
  if (!characters.is_none() && !characters.is_string()) runtime.fail("strip arg must be None or str");
  const std::string_view text = bytes_of(runtime, subject);
  const std::string_view set = characters.is_none() ? std::string_view() : bytes_of(runtime, characters);
  runtime.spend(set.size());  // they are sorted
  const std::vector<char32_t> sorted = character_set(set);
  const auto goes = [&](std::size_t at) {
    const char32_t c = decode_at(text, at).value;
    return characters.is_none() ? is_space(c) : std::binary_search(sorted.begin(), sorted.end(), c);
  };
  const bool left = side != Side::kRight;
  const bool right = side != Side::kLeft;
  std::size_t begin = 0;
  while (left && begin < text.size() && goes(begin)) begin += decode_at(text, begin).size;
  std::size_t end = text.size();
  while (right && end > begin && goes(previous_start(text, end))) end = previous_start(text, end);
  log_strip(runtime, subject, 0, begin);
  log_strip(runtime, subject, end, text.size());
  runtime.spend_on_characters(begin + text.size() - end);
  const std::string_view name = side == Side::kLeft ? "lstrip" : side == Side::kRight ? "rstrip" : "strip";
  if (characters.is_none()) return substring(runtime, subject, begin, end, name);
  log_probe(runtime, name, characters, subject);
  return substring(runtime, subject, begin, end, step_name(runtime, name, set));
}

Value replace_text(Runtime& runtime, const Value& subject, const Value& old, const Value& with, std::int64_t count) {
  log_probe(runtime, "replace", old, subject);
  const std::string_view text = bytes_of(runtime, subject);
  const std::string_view key = bytes_of(runtime, old);
  const std::string step = step_name(runtime, "replace", key);
  const Finder finder(key);
  runtime.spend_bytes(text.size());
  std::size_t at = key.empty() ? 0 : finder.find(text);
  if (at == std::string_view::npos || count == 0) return substring(runtime, subject, 0, text.size(), step);
  Rewriter out(runtime, subject, step);
  if (key.empty()) {  // between all characters and at both ends
    for (std::int64_t done = 0; count < 0 || done < count; ++done) {
      runtime.spend();
      out.insert(with);
      if (out.at() >= text.size()) break;
      out.keep(decode_at(text, out.at()).size);
    }
    return out.finish();
  }
  for (std::int64_t done = 0; at != std::string_view::npos && (count < 0 || done < count); ++done) {
    runtime.spend();
    out.keep(at - out.at());
    out.replace(key.size(), with);
    if ((done & 255) == 255) runtime.heap.charge(256 * bytes_of(runtime, with).size());
    at = finder.find(text, out.at());
  }
  return out.finish();
}

Value str_find(Runtime& runtime, const Value& self, const Args& args) {
  return find(runtime, "find", self, args, false, false);
}
Value str_rfind(Runtime& runtime, const Value& self, const Args& args) {
  return find(runtime, "rfind", self, args, true, false);
}
Value str_index(Runtime& runtime, const Value& self, const Args& args) {
  return find(runtime, "index", self, args, false, true);
}
Value str_rindex(Runtime& runtime, const Value& self, const Args& args) {
  return find(runtime, "rindex", self, args, true, true);
}

Value str_count(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, parsing_method("count"), args, 1, 3);
  const Value& needle = require_string(runtime, args.positional[0]);
  const Value none = Value::none();
  log_probe(runtime, "count", needle, self);
  const Window range =
      window(runtime, self, args.size() > 1 ? args.positional[1] : none, args.size() > 2 ? args.positional[2] : none);
  if (range.empty_range) return Value::integer(0);
  const std::string_view text = bytes_of(runtime, self).substr(range.begin, range.end - range.begin);
  const std::string_view key = bytes_of(runtime, needle);
  runtime.spend_bytes(text.size());
  if (key.empty()) return make_length(count_code_points(text) + 1);
  std::size_t count = 0;
  const Finder finder(key);
  for (std::size_t at = finder.find(text); at != std::string_view::npos; at = finder.find(text, at + key.size())) {
    runtime.spend();
    ++count;
  }
  return make_length(count);
}

Value str_startswith(Runtime& runtime, const Value& self, const Args& args) {
  return Value::boolean(affix(runtime, "startswith", self, args));
}

Value str_endswith(Runtime& runtime, const Value& self, const Args& args) {
  return Value::boolean(affix(runtime, "endswith", self, args));
}

Value str_split(Runtime& runtime, const Value& self, const Args& args) { return split(runtime, self, args, false); }
Value str_rsplit(Runtime& runtime, const Value& self, const Args& args) { return split(runtime, self, args, true); }

Value str_splitlines(Runtime& runtime, const Value& self, const Args& args) {
  const Params params(runtime, c_function("splitlines"), args, {"keepends"});
  const bool keep = params.flag(0, false);
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  std::vector<Value> out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const std::size_t line_end = at;
    at += c.size;
    if (!is_line_break(c.value)) continue;
    if (c.value == '\r' && at < text.size() && text[at] == '\n') ++at;
    runtime.spend();
    out.push_back(substring(runtime, self, begin, keep ? at : line_end, "splitlines"));
    begin = at;
  }
  if (begin < text.size()) out.push_back(substring(runtime, self, begin, text.size(), "splitlines"));
  return make_list(runtime, std::move(out));
}

Value str_partition(Runtime& runtime, const Value& self, const Args& args) {
  return partition_at(runtime, self, args, false);
}
Value str_rpartition(Runtime& runtime, const Value& self, const Args& args) {
  return partition_at(runtime, self, args, true);
}

Value str_removeprefix(Runtime& runtime, const Value& self, const Args& args) {
  return remove_affix(runtime, "removeprefix", self, args);
}

Value str_removesuffix(Runtime& runtime, const Value& self, const Args& args) {
  return remove_affix(runtime, "removesuffix", self, args);
}

Value str_strip(Runtime& runtime, const Value& self, const Args& args) {
  return strip_method(runtime, "strip", self, args, Side::kBoth);
}

Value str_lstrip(Runtime& runtime, const Value& self, const Args& args) {
  return strip_method(runtime, "lstrip", self, args, Side::kLeft);
}

Value str_rstrip(Runtime& runtime, const Value& self, const Args& args) {
  return strip_method(runtime, "rstrip", self, args, Side::kRight);
}

Value str_replace(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("str", "replace"), args, 2, 3);
  const Params params(runtime, c_function("replace"), args, {"old", "new", "count"}, 2);
  const Value old = params.string(0);
  const Value with = self.is_markup() ? escape_html(runtime, params[1]) : params.string(1);
  return replace_text(runtime, self, old, with, params.integer(2, -1));
}

}  // namespace rondo::jinja
