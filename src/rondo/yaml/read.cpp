// libyaml reads the syntax and reports events.  Their meaning is decided here.
#include "yaml/read.h"

#include <yaml.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "yaml/scalars.h"

namespace rondo::yaml {
namespace {

constexpr std::string_view kCoreTags = "tag:yaml.org,2002:";

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// The text by lines.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text), begins_{0} {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      begins_.push_back(at + 1);
  }

  [[nodiscard]] Error error(ErrorCode code, std::string message, std::size_t offset) const {
    const auto next = std::ranges::upper_bound(begins_, offset);
    const std::size_t begin = *(next - 1);
    const std::string_view line = text_.substr(begin, std::min(text_.find('\n', begin), text_.size()) - begin);
    return Error(code, std::move(message))
        .at(static_cast<int>(next - begins_.begin()), static_cast<int>(offset - begin) + 1, utf8::to_valid(line));
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> begins_;
};

// libyaml counts places in code points.  They usually follow each other, so counting continues from the last one: a
// long line of many values then takes no longer than many lines.
class Offsets {
 public:
  explicit Offsets(std::string_view text) : text_(text) {}

  // In bytes.
  [[nodiscard]] std::size_t of(std::size_t index) {
    if (index < index_) index_ = offset_ = 0;
    offset_ += utf8::offset_of(text_.substr(offset_), index - index_);
    index_ = index;
    return offset_;
  }

 private:
  std::string_view text_;
  std::size_t index_ = 0;
  std::size_t offset_ = 0;
};

// What a repeated value costs.
struct Size {
  std::size_t values = 1;
  std::size_t bytes = 0;
};

// An event of libyaml without its memory.
struct Event {
  std::string_view text = {};    // of a scalar
  std::string_view tag = {};     // "" if none
  std::string_view anchor = {};  // also of an alias; "" if none
  bool is_plain = false;         // a scalar without quotes
  std::size_t offset = 0;
};

// Makes a value from the events of one document.  After the first complaint it accepts no more.
class Builder {
 public:
  // `shift`: bytes before the lines.
  Builder(const Lines& lines, std::size_t shift, const Limits& limits)
      : lines_(lines), shift_(shift), limits_(limits) {}

  [[nodiscard]] std::optional<json::Value>& value() { return value_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  void document(const Event& event) {
    if (value_) fail("there is a second document", event);
  }

  void alias(const Event& event) {
    const auto known = anchors_.find(std::string(event.anchor));
    if (known == anchors_.end())
      return fail("no value before this is called `" + std::string(event.anchor) + "`", event);
    if (wants_key()) return take_key(known->second.value, event);
    put(known->second.value, known->second.size, "", event.offset);
  }

  void scalar(const Event& event) {
    const Size size{1, event.text.size()};
    if (wants_key()) {
      const bool is_null = event.is_plain && event.tag.empty() && is_null_word(event.text);
      const json::Value key = is_null ? json::Value() : json::Value(event.text);
      keep(event.anchor, key, size, event.offset);
      return take_key(key, event);
    }
    std::optional<json::Value> value = resolve(event);
    if (!value) return refuse_tag(event);
    set_place(*value, event.offset);
    put(*std::move(value), size, event.anchor, event.offset);
  }

  void open(json::Value value, const Event& event) {
    const std::string_view name = value.is_array() ? "seq" : "map";
    const bool is_known = event.tag.empty() || event.tag == "!" ||
                          (event.tag.starts_with(kCoreTags) && event.tag.substr(kCoreTags.size()) == name);
    if (!is_known) return refuse_tag(event);
    if (wants_key()) return fail("a key must be a text, not a mapping or list", event);
    if (frames_.size() >= limits_.depth) {
      const std::string depth = std::to_string(limits_.depth);
      return fail("more than " + depth + " mappings and lists are nested in each other", event, ErrorCode::kLimit);
    }
    set_place(value, event.offset);
    frames_.push_back({std::move(value), std::string(event.anchor), event.offset, {}, {}});
    // An earlier value with this name is hidden from here on.
    anchors_.erase(frames_.back().anchor);
  }

  void close() {
    Frame done = std::move(frames_.back());
    frames_.pop_back();
    put(std::move(done.value), done.size, done.anchor, done.offset);
  }

 private:
  // A mapping or list that has not ended.
  struct Frame {
    json::Value value;
    std::string anchor;
    std::size_t offset = 0;
    Size size;
    std::optional<std::string> key;
  };
  struct Kept {
    json::Value value;
    Size size;
  };

  void fail_at(std::string message, std::size_t offset, ErrorCode code) {
    if (!error_) error_ = lines_.error(code, std::move(message), offset);
  }
  void fail(std::string message, const Event& event, ErrorCode code = ErrorCode::kInvalidArgument) {
    fail_at(std::move(message), event.offset, code);
  }
  void refuse_tag(const Event& event) {
    fail("the tag `" + std::string(event.tag) + "` does not fit here; of tags only those of the core schema are known",
         event);
  }

  void set_place(json::Value& value, std::size_t offset) const {
    const auto at = static_cast<std::uint32_t>(shift_ + offset);
    value.set_source({at, at});
  }

  [[nodiscard]] bool wants_key() const {
    return !frames_.empty() && frames_.back().value.is_object() && !frames_.back().key;
  }

  void take_key(const json::Value& key, const Event& event) {
    if (!key.is_string()) return fail("a key must be a text", event);
    Frame& frame = frames_.back();
    if (frame.value.find(key.as_string()) != nullptr)
      return fail("the key `" + key.as_string() + "` comes twice", event);
    frame.size.bytes += key.as_string().size();
    frame.key = key.as_string();
  }

  // Puts a complete value where it belongs.
  void put(json::Value value, Size size, std::string_view anchor, std::size_t offset) {
    keep(anchor, value, size, offset);
    if (frames_.empty()) {
      value_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    frame.size.values += size.values;
    frame.size.bytes += size.bytes;
    check_size(frame.size, offset);
    if (frame.value.is_array()) return frame.value.as_array().push_back(std::move(value));
    frame.value.as_object().set(*frame.key, std::move(value));
    frame.key.reset();
  }

  // Keeps a value for aliases.  Kept values count too.
  void keep(std::string_view anchor, const json::Value& value, Size size, std::size_t offset) {
    if (anchor.empty()) return;
    kept_.values += size.values;
    kept_.bytes += size.bytes;
    check_size(kept_, offset);
    if (!error_) anchors_.insert_or_assign(std::string(anchor), Kept{value, size});
  }

  void check_size(Size size, std::size_t offset) {
    if (size.values > limits_.values || size.bytes > limits_.bytes)
      fail_at("with its aliases the document is too large", offset, ErrorCode::kLimit);
  }

  // nullopt if the text does not fit its tag.
  static std::optional<json::Value> resolve(const Event& event) {
    if (event.tag.empty()) return event.is_plain ? resolve_plain(event.text) : json::Value(event.text);
    if (event.tag == "!") return json::Value(event.text);
    const std::string_view name = event.tag.starts_with(kCoreTags) ? event.tag.substr(kCoreTags.size()) : "";
    if (name == "str") return json::Value(event.text);
    if (name == "null" && is_null_word(event.text)) return json::Value();
    if (name == "bool") return bool_of(event.text);
    if (name == "int") return integer_of(event.text);
    if (name == "float") return float_of(event.text);
    return std::nullopt;
  }

  const Lines& lines_;
  std::size_t shift_;
  const Limits& limits_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, Kept> anchors_;
  Size kept_{0, 0};
  std::optional<json::Value> value_;
  std::optional<Error> error_;
};

// libyaml's parser over a text that must outlive it.
class EventSource {
 public:
  explicit EventSource(std::string_view text) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~EventSource() {
    yaml_event_delete(&event_);
    if (is_ready_) yaml_parser_delete(&parser_);
  }
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // The next event, valid until the one after it; nullptr after a failure.
  [[nodiscard]] const yaml_event_t* next() {
    yaml_event_delete(&event_);
    return is_ready_ && yaml_parser_parse(&parser_, &event_) != 0 ? &event_ : nullptr;
  }
  [[nodiscard]] std::string problem() const {
    return is_ready_ && parser_.problem != nullptr ? parser_.problem : "the text cannot be read";
  }
  [[nodiscard]] std::size_t problem_index() const { return parser_.problem_mark.index; }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool is_ready_ = false;
};

void tell(const yaml_event_t& told, std::size_t offset, Builder& builder) {
  const auto& data = told.data;
  switch (told.type) {
    case YAML_DOCUMENT_START_EVENT: return builder.document({.offset = offset});
    case YAML_ALIAS_EVENT: return builder.alias({.anchor = text_of(data.alias.anchor), .offset = offset});
    case YAML_SCALAR_EVENT:
      return builder.scalar({.text = {reinterpret_cast<const char*>(data.scalar.value), data.scalar.length},
                             .tag = text_of(data.scalar.tag),
                             .anchor = text_of(data.scalar.anchor),
                             .is_plain = data.scalar.style == YAML_PLAIN_SCALAR_STYLE,
                             .offset = offset});
    case YAML_SEQUENCE_START_EVENT:
      return builder.open(
          json::Array(),
          {.tag = text_of(data.sequence_start.tag), .anchor = text_of(data.sequence_start.anchor), .offset = offset});
    case YAML_MAPPING_START_EVENT:
      return builder.open(
          json::Object(),
          {.tag = text_of(data.mapping_start.tag), .anchor = text_of(data.mapping_start.anchor), .offset = offset});
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return builder.close();
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT: return;
  }
}

// YAML's printable characters, except those that libyaml treats as line ends, as older YAML did.
bool is_allowed(char32_t c) {
  const bool is_control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7F && c < 0xA0);
  return !is_control && c != 0x2028 && c != 0x2029 && c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

std::optional<Error> unreadable(std::string_view text, const Lines& lines) {
  if (const std::size_t at = utf8::first_invalid(text); at < text.size())
    return lines.error(ErrorCode::kInvalidArgument, "the text is not UTF-8", at);
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!is_allowed(next.code_point))
      return lines.error(ErrorCode::kInvalidArgument, "this character must be written as an escape in double quotes",
                         at);
    at += next.size;
  }
  return std::nullopt;
}

}  // namespace

Result<json::Value> read(std::string_view text, const Limits& limits) {
  const std::size_t shift = text.size() - utf8::without_mark(text).size();
  text.remove_prefix(shift);
  const Lines lines(text);
  if (auto error = unreadable(text, lines)) return *std::move(error);
  Builder builder(lines, shift, limits);
  EventSource source(text);
  Offsets offsets(text);
  for (bool is_done = false; !is_done;) {
    const yaml_event_t* event = source.next();
    if (event == nullptr)
      return lines.error(ErrorCode::kInvalidArgument, source.problem(), offsets.of(source.problem_index()));
    tell(*event, offsets.of(event->start_mark.index), builder);
    if (builder.error()) return *builder.error();
    is_done = event->type == YAML_STREAM_END_EVENT;
  }
  if (!builder.value()) return lines.error(ErrorCode::kInvalidArgument, "the document is empty", 0);
  return *std::move(builder.value());
}

}  // namespace rondo::yaml
