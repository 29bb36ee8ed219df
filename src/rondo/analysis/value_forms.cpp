#include "analysis/value_forms.h"

#include <algorithm>
#include <optional>

#include "format/escapes.h"
#include "json/parse.h"

namespace rondo::analysis {
namespace {

using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

// Returns what Python prints for a value.  Correct only for the simple values of the probes.
std::string python_text(const json::Value& value) {
  if (value.is_null()) return "None";
  if (value.kind() == json::Kind::kBool) return value.as_bool() ? "True" : "False";
  if (value.is_number()) return value.number();
  if (value.is_string()) return "'" + value.as_string() + "'";
  std::string out;
  if (value.is_array()) {
    for (const json::Value& item : value.as_array()) out += (out.empty() ? "" : ", ") + python_text(item);
    return "[" + out + "]";
  }
  for (const json::Member& member : value.as_object())
    out += (out.empty() ? "'" : ", '") + member.key + "': " + python_text(member.value);
  return "{" + out + "}";
}

std::optional<ValueStyle> literal_style(const std::string& text, const json::Value& value) {
  if (auto parsed = json::parse(text); parsed.ok() && parsed.value() == value) return ValueStyle::kJson;
  if (text == python_text(value)) return ValueStyle::kPython;
  return std::nullopt;
}

// Sets the style of `form`, and those of `escapes`, the escapes of strings, that it uses.
void find_style(const Seen& seen, std::span<const format::Escape> escapes, ValueForm& form) {
  form.style = ValueStyle::kNested;
  const std::string line_end = indented_line_end(seen);
  const bool is_raw = !line_end.empty() || (seen.value.is_string() && seen.text == seen.value.as_string());
  if (is_raw) form.style = ValueStyle::kRaw;
  if (is_raw) form.escapes.assign(escapes.begin(), escapes.end());
  if (!line_end.empty()) form.escapes.push_back({"\n", line_end});
  if (is_raw) return;
  if (const auto style = !seen.inner.empty() ? std::nullopt : literal_style(seen.text, seen.value)) {
    form.style = *style;
  } else if (const auto inner = literal_style(format::unescaped(seen.text, escapes), seen.value);
             inner && !escapes.empty()) {
    form.style = *inner;
    form.escapes.assign(escapes.begin(), escapes.end());
  }
}

// Finds the markers around elements of an array: `open` is before the first element, `inner` between two.
void find_item_marks(const std::string& open, const std::string& inner, format::Parameters& parameters) {
  if (format::is_blank(open) || !inner.ends_with(open) || format::is_blank(inner.substr(0, inner.size() - open.size())))
    return;
  parameters.item_open = open;
  parameters.item_close = inner.substr(0, inner.size() - open.size());
}

constexpr std::string_view kOpeners = "<[({";
constexpr std::string_view kClosers = ">])}";
bool is_closing(char byte) { return kClosers.find(byte) != std::string_view::npos; }

// Returns whether `text` has an unpaired partner of the bracket `byte`, which is one of `own`; those of `partners` pair
// with them.
bool has_partner(char byte, std::string_view own, std::string_view partners, std::string_view text) {
  const std::size_t kind = own.find(byte);
  return kind != std::string_view::npos && std::ranges::count(text, partners[kind]) > std::ranges::count(text, byte);
}

// Returns `text` without `end` at its end; nullopt if it ends otherwise.
std::optional<std::string> without_end(const std::string& text, const std::string& end) {
  return text.ends_with(end) ? std::optional(text.substr(0, text.size() - end.size())) : std::nullopt;
}
std::optional<std::string> without_front(const std::string& text, const std::string& front) {
  return text.starts_with(front) ? std::optional(text.substr(front.size())) : std::nullopt;
}

// The marks around the parts of a value that has marks of its own: `open` FRONT part BACK FRONT part BACK `close`.
struct PartMarks {
  std::string open, front, back, close;
};

// Derives the marks from what stands before the first part, between two, and behind the last.
std::optional<PartMarks> part_marks(const std::string& before, const std::string& between, const std::string& behind) {
  std::size_t front = format::alike_behind(before, between);
  while (front > 0 && is_closing(between[between.size() - front])) --front;
  PartMarks out;
  out.front = between.substr(between.size() - front);
  out.back = between.substr(0, between.size() - front);
  if (format::is_blank(out.front) || format::is_blank(out.back) || !behind.starts_with(out.back)) return std::nullopt;
  out.open = before.substr(0, before.size() - front);
  out.close = behind.substr(out.back.size());
  if (format::is_blank(out.open) || format::is_blank(out.close)) return std::nullopt;
  return out;
}

// What the forms of objects and arrays are made of: how strings, integers and null are written, and what all values
// have before and behind them.
struct Leaves {
  const ValueForm* string = nullptr;
  const ValueForm* integer = nullptr;
  const ValueForm* null = nullptr;
  std::string before, after;
};

// Returns what stands behind the integer, the last part of a value that shows, up to what all values have behind them.
std::optional<std::string> behind_integer(const Seen& seen, const Leaves& leaves) {
  return without_front(seen.after.substr(0, seen.after.size() - leaves.after.size()), leaves.integer->close);
}

// Finds the marks of an object inside a value, which begins {"x": STRING, "z": INTEGER}.
void find_member_marks(const Seen& seen, const Leaves& leaves, ValueForm& form, format::Parameters& parameters) {
  if (seen.inner.size() != 3) return;
  const auto key_close = without_end(seen.inner[0], leaves.string->open);
  const auto between = without_front(seen.inner[1], leaves.string->close);
  const std::string before = seen.before.substr(leaves.before.size());
  const auto behind = behind_integer(seen, leaves);
  if (!key_close || format::is_blank(*key_close) || seen.inner[2] != *key_close + leaves.integer->open || !between ||
      !behind)
    return;
  const auto marks = part_marks(before, *between, *behind);
  if (!marks) return;
  form.open = marks->open;
  form.close = marks->close;
  parameters.member_open = marks->front;
  parameters.member_key_close = *key_close;
  parameters.member_close = marks->back;
}

// Finds the marks of an array inside a value, which is [STRING, INTEGER, null].
void find_element_marks(const Seen& seen, const Leaves& leaves, ValueForm& form, format::Parameters& parameters) {
  if (seen.inner.empty() || leaves.null->style != ValueStyle::kConstant) return;
  const auto joint = without_front(seen.inner[0], leaves.string->close);
  const auto between = joint ? without_end(*joint, leaves.integer->open) : std::nullopt;
  const auto before = without_end(seen.before.substr(leaves.before.size()), leaves.string->open);
  const auto behind = behind_integer(seen, leaves);
  if (!between || !before || !behind) return;
  const auto marks = part_marks(*before, *between, *behind);
  const auto close =
      marks ? without_front(marks->close, marks->front + leaves.null->constant + marks->back) : std::nullopt;
  if (!close || format::is_blank(*close)) return;
  form.open = marks->open;
  form.close = *close;
  parameters.item_open = marks->front;
  parameters.item_close = marks->back;
}

// Returns the form of a value; of an array in markup, `parameters` gets the marks of its items.
ValueForm form_of(const Seen& seen, const std::string& before, const std::string& after,
                  std::span<const format::Escape> escapes, format::Parameters& parameters) {
  ValueForm form;
  form.type = seen.type;
  if (!seen.has_value) {
    form.style = ValueStyle::kConstant;
    form.constant = seen.before;
    if (form.constant.starts_with(before)) form.constant.erase(0, before.size());
    if (form.constant.ends_with(after)) form.constant.resize(form.constant.size() - after.size());
    return form;
  }
  find_style(seen, escapes, form);
  if (form.style != ValueStyle::kNested) {
    form.open = seen.before.substr(before.size());
    form.close = seen.after.substr(0, seen.after.size() - after.size());
  } else if (form.type == ValueType::kArray) {
    find_item_marks(seen.before.substr(before.size()), seen.inner.empty() ? "" : seen.inner.front(), parameters);
  }
  return form;
}

// Adds a form that is not known yet.  Of two that are alike, the one with more escapes counts.
void add_form(ValueForm form, format::Parameters& parameters) {
  const auto known = std::ranges::find_if(parameters.forms, [&form](const ValueForm& other) {
    return other.type == form.type && other.style == form.style && other.open == form.open && other.close == form.close;
  });
  if (known == parameters.forms.end()) {
    parameters.forms.push_back(std::move(form));
  } else if (form.escapes.size() > known->escapes.size()) {
    known->escapes = std::move(form.escapes);
  }
}

// Finds the marks of objects and arrays whose parts are written as values with marks of their own.
void find_nested_marks(const std::vector<Seen>& all, const std::string& before, const std::string& after,
                       format::Parameters& parameters) {
  const auto known = [&](ValueType type) -> ValueForm* {
    const auto found = std::ranges::find(parameters.forms, type, &ValueForm::type);
    return found == parameters.forms.end() ? nullptr : &*found;
  };
  const Leaves leaves{known(ValueType::kString), known(ValueType::kInteger), known(ValueType::kNull), before, after};
  if (leaves.string == nullptr || leaves.integer == nullptr || leaves.null == nullptr) return;
  for (const Seen& seen : all) {
    ValueForm* form = known(seen.type);
    if (form == nullptr || form->style != ValueStyle::kNested || !format::is_blank(form->open)) continue;
    if (seen.type == ValueType::kObject) find_member_marks(seen, leaves, *form, parameters);
    if (seen.type == ValueType::kArray) find_element_marks(seen, leaves, *form, parameters);
  }
}

}  // namespace

std::string indented_line_end(const Seen& seen) {
  const std::string value = seen.value.is_string() ? seen.value.as_string() : "";
  const std::size_t at = value.find('\n');
  if (at == std::string::npos || seen.text.size() <= value.size() || !seen.text.starts_with(value.substr(0, at + 1)) ||
      !seen.text.ends_with(value.substr(at + 1)))
    return "";
  std::string end = seen.text.substr(at, seen.text.size() - value.size() + 1);
  return end.find_first_not_of(" \t", 1) == std::string::npos ? end : "";
}

std::string shared_after(const std::vector<Seen>& all, const Evidence& evidence) {
  const std::string& whole = all.front().after;
  std::size_t begin = 0;
  bool has_openers = false;
  for (const Seen& seen : all) {
    has_openers = has_openers || seen.key_front != all.front().key_front;
    if (seen.has_value) begin = std::max(begin, whole.size() - format::alike_behind(whole, seen.after));
  }
  if (has_openers && whole.find(kKeyMark, begin) == std::string::npos) {
    const std::vector<std::size_t> cuts = evidence.boundaries(whole);
    begin = *std::ranges::lower_bound(cuts, begin);
  }
  // What closes a mark of one type alone belongs to that mark.
  const auto is_cut = [&](const Seen& seen) {
    return seen.has_value &&
           has_partner(whole[begin], kClosers, kOpeners,
                       std::string_view(seen.after).substr(0, seen.after.size() - (whole.size() - begin)));
  };
  while (begin < whole.size() && std::ranges::any_of(all, is_cut)) ++begin;
  return whole.substr(begin);
}

void infer_forms(const std::vector<Seen>& all, const std::string& after, std::span<const format::Escape> escapes,
                 format::Parameters& parameters) {
  std::string before = all.front().before;
  for (const Seen& seen : all) {
    if (seen.has_value) before.resize(format::alike_in_front(before, seen.before));
  }
  const auto is_cut = [&](const Seen& seen) {
    return seen.has_value &&
           has_partner(before.back(), kOpeners, kClosers, std::string_view(seen.before).substr(before.size()));
  };
  while (!before.empty() && std::ranges::any_of(all, is_cut)) before.pop_back();
  parameters.key_close = before;
  for (const Seen& seen : all) add_form(form_of(seen, before, after, escapes, parameters), parameters);
  find_nested_marks(all, before, after, parameters);
}

}  // namespace rondo::analysis
