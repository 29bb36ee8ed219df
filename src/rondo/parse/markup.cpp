#include "parse/markup.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/limits.h"
#include "format/escapes.h"
#include "format/units.h"
#include "parse/schema_check.h"

namespace rondo::parse {
namespace {

using format::ValueForm;

SchemaPlace items_in(const SchemaPlace& place) {
  return {place.schema != nullptr ? place.schema->find("items") : nullptr, place.root};
}

SchemaPlace member_in(const SchemaPlace& place, std::string_view key) {
  return {place.schema != nullptr ? property_schema(*place.schema, *place.root, key) : nullptr, place.root};
}

// Reads the text of a value that has no parts.
json::Value read_leaf(std::string_view text, const std::vector<const ValueForm*>& forms, const SchemaPlace& place) {
  const auto types = place.schema != nullptr ? schema_types(*place.schema, *place.root) : std::nullopt;
  return read_value(text, forms, types, {});
}

// The members of an object.  One that comes again becomes the list of all its values, so that none is lost.
class Members {
 public:
  void add(const std::string& key, json::Value value) {
    const std::size_t before = counts_[key]++;
    if (before == 0) {
      out_.set(key, std::move(value));
    } else {
      json::Value& all = *out_.find(key);
      if (before == 1) all = json::Array{std::move(all)};
      all.as_array().push_back(std::move(value));
    }
  }
  [[nodiscard]] json::Value take() { return {std::move(out_)}; }

 private:
  json::Object out_;
  std::map<std::string, std::size_t> counts_;
};

class MarkupReader {
 public:
  explicit MarkupReader(const format::Parameters& parameters) : parameters_(parameters) {
    for (const ValueForm& form : parameters.forms) {
      if (format::is_blank(form.open)) leaf_forms_.push_back(&form);
    }
  }

  std::optional<json::Value> read(std::string_view text, const SchemaPlace& place, int depth) const {
    text = format::trimmed(text);
    if (depth > limits::kJsonDepth / 8) return std::nullopt;
    // The tag of an item may also be that of a member of this name.
    const auto types = place.schema != nullptr ? schema_types(*place.schema, *place.root) : std::nullopt;
    const bool is_object = types && types->has(TypeSet::kObject) && !types->has(TypeSet::kArray);
    if (!is_object && !parameters_.item_open.empty() && text.starts_with(format::trimmed(parameters_.item_open))) {
      if (auto list = array(text, place, depth)) return list;
    }
    if (!format::is_blank(parameters_.open) && text.starts_with(format::trimmed(parameters_.open)))
      return object(text, place, depth);
    return std::nullopt;
  }

 private:
  json::Value value(std::string_view text, const SchemaPlace& place, int depth) const {
    if (auto nested = read(text, place, depth + 1)) return std::move(*nested);
    return read_leaf(text, leaf_forms_, place);
  }

  // Returns where the text between `open`, which was already read, and its `close` ends; npos if it does not end.
  static std::size_t matching(std::string_view text, std::string_view open, std::string_view close) {
    std::size_t depth = 0;
    for (std::size_t at = 0;;) {
      const std::size_t end = text.find(close, at);
      if (end == std::string_view::npos) return end;
      for (std::size_t next = text.find(open, at); next < end; next = text.find(open, next + open.size())) ++depth;
      if (depth == 0) return end;
      --depth;
      at = end + close.size();
    }
  }

  std::optional<json::Value> array(std::string_view text, const SchemaPlace& place, int depth) const {
    const std::string_view open = format::trimmed(parameters_.item_open);
    const std::string_view close = format::trimmed(parameters_.item_close);
    const SchemaPlace inside = items_in(place);
    json::Array out;
    while (!text.empty()) {
      if (!text.starts_with(open)) return std::nullopt;
      text.remove_prefix(open.size());
      const std::size_t end = matching(text, open, close);
      if (end == std::string_view::npos) return std::nullopt;
      out.push_back(value(text.substr(0, end), inside, depth));
      text = format::trimmed(text.substr(end + close.size()));
    }
    return json::Value(std::move(out));
  }

  std::optional<json::Value> object(std::string_view text, const SchemaPlace& place, int depth) const {
    const std::string_view open = format::trimmed(parameters_.open);
    Members out;
    while (!text.empty()) {
      if (!text.starts_with(open)) return std::nullopt;
      const std::size_t key_end = text.find(parameters_.key_close, open.size());
      if (key_end == std::string_view::npos) return std::nullopt;
      const std::string key(format::trimmed(text.substr(open.size(), key_end - open.size())));
      const std::string opening(text.substr(0, key_end + parameters_.key_close.size()));
      const std::string closing = closing_tag(parameters_, key);
      text.remove_prefix(opening.size());
      const std::size_t end = matching(text, opening, closing);
      if (end == std::string_view::npos) return std::nullopt;
      out.add(key, value(text.substr(0, end), member_in(place, key), depth));
      text = format::trimmed(text.substr(end + closing.size()));
    }
    return out.take();
  }

  const format::Parameters& parameters_;
  std::vector<const ValueForm*> leaf_forms_;
};

// Finds which parts of an object or array are open where its text ends.
class MarkupCloser {
 public:
  MarkupCloser(std::string_view text, const format::Parameters& parameters)
      : text_(text.substr(static_cast<std::size_t>(std::ranges::find_if_not(text, format::is_space) - text.begin()))),
        parameters_(parameters),
        open_(format::trimmed(parameters.open)),
        item_open_(format::trimmed(parameters.item_open)) {}

  // `close` ends the whole value.  A first mark that is cut off opens an item with `is_list`, and a member otherwise.
  [[nodiscard]] std::optional<std::string> run(std::string_view close, bool is_list) {
    const auto begins = [this](std::string_view mark) { return !mark.empty() && text_.starts_with(mark); };
    const auto is_cut_from = [this](std::string_view mark) { return !text_.empty() && mark.starts_with(text_); };
    const bool has_items = begins(item_open_) || (is_list && is_cut_from(item_open_));
    if (!has_items && !begins(open_) && (is_list || !is_cut_from(open_))) return std::nullopt;
    levels_.push_back({std::string(close), has_items ? Parts::kItems : Parts::kMembers});
    while (!text_.empty()) step();
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) out_ += level->close;
    return std::move(out_);
  }

 private:
  enum class Parts { kUnknown, kItems, kMembers };
  struct Level {
    std::string close;  // ends the part
    Parts parts = Parts::kUnknown;
  };

  // Takes a mark, or a byte of text.
  void step() {
    const Parts parts = levels_.empty() ? Parts::kUnknown : levels_.back().parts;
    if (!levels_.empty() && take(levels_.back().close)) {
      levels_.pop_back();
    } else if (parts != Parts::kMembers && !item_open_.empty() && take(item_open_)) {
      open_part(Parts::kItems, std::string(format::trimmed(parameters_.item_close)));
    } else if (parts != Parts::kItems && take(open_)) {
      open_part(Parts::kMembers, member_close());
    } else {
      text_.remove_prefix(1);
    }
  }

  void open_part(Parts kind, std::string close) {
    if (!levels_.empty()) levels_.back().parts = kind;
    levels_.push_back({std::move(close)});
  }

  // Takes the mark if it is here.  If the text ends inside of it, adds its rest.
  bool take(std::string_view mark) {
    const bool is_cut = mark.starts_with(text_);
    if (!is_cut && !text_.starts_with(mark)) return false;
    const std::size_t size = std::min(text_.size(), mark.size());
    out_ += mark.substr(size);
    text_.remove_prefix(size);
    return true;
  }

  // Takes the member's key, and returns what closes the member.
  std::string member_close() {
    const std::size_t end = text_.find(parameters_.key_close);
    const std::string key(format::trimmed(text_.substr(0, end)));
    if (end == std::string_view::npos) out_ += parameters_.key_close;
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + parameters_.key_close.size());
    return closing_tag(parameters_, key);
  }

  std::string_view text_;
  const format::Parameters& parameters_;
  std::string_view open_;
  std::string_view item_open_;
  std::vector<Level> levels_;  // the value and its open parts, the innermost last
  std::string out_;
};

// Reads values that begin and end with the marks of their forms, inside each other.
class TaggedReader {
 public:
  TaggedReader(std::string_view text, const format::Parameters& parameters) : text_(text), parameters_(parameters) {
    for (const ValueForm& form : parameters.forms) {
      if (format::is_blank(form.open) && form.style != format::ValueStyle::kConstant) bare_forms_.push_back(&form);
    }
  }

  std::optional<json::Value> whole(const ValueForm& form, const SchemaPlace& place) {
    auto out = parts(form, place, 0);
    skip_space();
    return at_ == text_.size() ? std::move(out) : std::nullopt;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && format::is_space(text_[at_])) ++at_;
  }

  // Returns true past the mark, with the white space around it.
  bool eat(std::string_view mark) {
    const std::size_t begin = at_;
    skip_space();
    mark = format::trimmed(mark);
    if (text_.substr(at_).starts_with(mark)) {
      at_ += mark.size();
      return true;
    }
    at_ = begin;
    return false;
  }

  std::optional<json::Value> parts(const ValueForm& form, const SchemaPlace& place, int depth) {
    if (depth > limits::kJsonDepth / 8) return std::nullopt;
    return form.type == format::ValueType::kArray ? items(place, depth) : members(place, depth);
  }

  std::optional<json::Value> items(const SchemaPlace& place, int depth) {
    const SchemaPlace inside = items_in(place);
    json::Array out;
    while (!format::is_blank(parameters_.item_open) && eat(parameters_.item_open)) {
      auto item = value(parameters_.item_close, inside, depth);
      if (!item) return std::nullopt;
      out.push_back(std::move(*item));
    }
    return json::Value(std::move(out));
  }

  std::optional<json::Value> members(const SchemaPlace& place, int depth) {
    Members out;
    const std::string_view key_close = format::trimmed(parameters_.member_key_close);
    while (!format::is_blank(parameters_.member_open) && eat(parameters_.member_open)) {
      const std::size_t end = text_.find(key_close, at_);
      if (end == std::string_view::npos) return std::nullopt;
      const std::string key = format::unescaped(format::trimmed(text_.substr(at_, end - at_)), parameters_.key_escapes);
      at_ = end + key_close.size();
      auto member = value(parameters_.member_close, member_in(place, key), depth);
      if (!member) return std::nullopt;
      out.add(key, std::move(*member));
    }
    return out.take();
  }

  // Reads a value in any form, and `closing`.
  std::optional<json::Value> value(std::string_view closing, const SchemaPlace& place, int depth) {
    const std::size_t begin = at_;
    for (const ValueForm& form : parameters_.forms) {
      at_ = begin;
      if (form.style == format::ValueStyle::kConstant) {
        if (eat(form.constant) && eat(closing)) return read_value(form.constant, {&form}, {}, {});
        continue;
      }
      if (format::is_blank(form.open) || !eat(form.open)) continue;
      const bool is_nested = form.style == format::ValueStyle::kNested;
      auto out = is_nested ? parts(form, place, depth + 1) : leaf(form.close, closing, {&form}, place);
      if (out && eat(form.close) && eat(closing)) return out;
    }
    at_ = begin;
    auto out = bare_forms_.empty() ? std::nullopt : leaf("", closing, bare_forms_, place);
    return out && eat(closing) ? std::move(out) : std::nullopt;
  }

  // Reads a value without parts, up to `close` and then `closing`.
  std::optional<json::Value> leaf(std::string_view close, std::string_view closing,
                                  const std::vector<const ValueForm*>& forms, const SchemaPlace& place) {
    const std::string_view mark = format::trimmed(format::is_blank(close) ? closing : close);
    const std::size_t begin = at_;
    for (std::size_t end = text_.find(mark, begin); end != std::string_view::npos; end = text_.find(mark, end + 1)) {
      at_ = end;
      if (!eat(close) || !eat(closing)) continue;
      at_ = end;
      return read_leaf(text_.substr(begin, end - begin), forms, place);
    }
    return std::nullopt;
  }

  std::string_view text_;
  const format::Parameters& parameters_;
  std::vector<const ValueForm*> bare_forms_;
  std::size_t at_ = 0;
};

}  // namespace

std::string closing_tag(const format::Parameters& parameters, std::string_view key) {
  if (parameters.key_in_close.empty()) return parameters.close;
  return parameters.key_in_close + std::string(key) + parameters.close;
}

bool Markup::is_inner_close(std::string_view unseen, std::string_view open) {
  if (tagged != nullptr) open = format::trimmed(tagged->open);
  const auto times = [unseen](std::string_view mark) { return static_cast<std::ptrdiff_t>(occurrences(unseen, mark)); };
  depth += times(open);
  if (tagged != nullptr) depth = std::max<std::ptrdiff_t>(0, depth - times(format::trimmed(tagged->close)));
  if (depth == 0) return false;
  if (tagged == nullptr) --depth;
  return true;
}

std::optional<json::Value> Markup::read(std::string_view text, const format::Parameters& parameters,
                                        const SchemaPlace& place) const {
  if (tagged != nullptr) return TaggedReader(text, parameters).whole(*tagged, place);
  return MarkupReader(parameters).read(text, place, 0);
}

const ValueForm* tagged_among(const std::vector<const ValueForm*>& forms) {
  const bool is_one = forms.size() == 1 && forms.front()->style == format::ValueStyle::kNested;
  return is_one && !format::is_blank(forms.front()->open) ? forms.front() : nullptr;
}

std::optional<std::string> Markup::closing(std::string_view begun, const format::Parameters& parameters,
                                           std::string_view close, bool is_list) const {
  if (!is_possible || tagged != nullptr || format::is_blank(parameters.open)) return std::nullopt;
  return MarkupCloser(begun, parameters).run(close, is_list);
}

}  // namespace rondo::parse
