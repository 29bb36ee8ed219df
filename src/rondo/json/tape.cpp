#include "json/tape.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "json/reader.h"

namespace rondo::json {
namespace {

enum Tag : std::int32_t { kNull = -1, kFalse = -2, kTrue = -3, kNumber = -4, kArray = -5, kObject = -6, kKey = -7 };

constexpr std::size_t kHead = 8;         // bytes before the items
constexpr std::size_t kBelieved = 1024;  // parts that room is made for before they are seen
constexpr std::size_t kUsualKeys = 64;   // of messages and tools together

// A part of the text.
struct Units {
  std::string_view bytes;
  bool is_ascii = false;
};

// Recursive descent, one function per kind of value.  Each returns false after a failure.
class Tape {
 public:
  // Whatever the block says of its sizes is held against what it has.
  Tape(std::string_view block, int max_depth) : block_(block), depth_left_(max_depth), max_depth_(max_depth) {
    if (block.size() < kHead || !is_tape(block) || (block[1] != 1 && block[1] != 2)) return;
    width_ = static_cast<units::Width>(block[1]);
    std::uint32_t count = 0;
    std::memcpy(&count, block.data() + 4, sizeof count);
    if (count > (block.size() - kHead) / sizeof(std::int32_t)) return;
    items_end_ = kHead + count * sizeof(std::int32_t);
    text_at_ = items_end_;
    ascii_end_ = skip_ascii(text_at_);
  }

  Result<Value> read() {
    Value out;
    if (value(out) && (at_ != items_end_ || text_at_ != block_.size())) fail("it goes on behind its value");
    if (error_) return *error_;
    return out;
  }

 private:
  bool fail(std::string message, ErrorCode code = ErrorCode::kJson) {
    if (!error_) error_ = Error(code, code == ErrorCode::kJson ? "a damaged tape: " + message : std::move(message));
    return false;
  }

  // Not inline, so that what calls it can be.
  [[gnu::noinline]] bool fail_early() { return fail("it ends too early"); }

  bool item(std::int32_t& out) {
    if (at_ == items_end_) return fail_early();
    std::memcpy(&out, block_.data() + at_, sizeof out);
    at_ += sizeof out;
    return true;
  }

  // How many parts follow, each of which takes an item at least.
  bool count(std::size_t& out) {
    std::int32_t found = 0;
    if (!item(found)) return false;
    out = static_cast<std::size_t>(found);
    return (found >= 0 && out <= (items_end_ - at_) / sizeof found) || fail_early();
  }

  // Where the characters end that are ASCII from `at` on, as far as they are their own units.
  [[nodiscard]] std::size_t skip_ascii(std::size_t at) const {
    return width_ == units::Width::kLatin1 ? utf8::skip_ascii(block_, at) : at;
  }

  // Takes the next units of the text.
  bool take(std::int32_t size, Units& out) {
    const std::size_t bytes = static_cast<std::size_t>(size) * static_cast<std::size_t>(width_);
    if (size < 0 || bytes > block_.size() - text_at_) return fail("its text ends too early");
    out.bytes = block_.substr(text_at_, bytes);
    text_at_ += bytes;
    out.is_ascii = text_at_ <= ascii_end_;
    if (!out.is_ascii) ascii_end_ = skip_ascii(text_at_);
    return true;
  }

  [[nodiscard]] std::string string_of(const Units& found) const {
    if (found.is_ascii) return std::string(found.bytes);
    std::string out;
    units::append(out, found.bytes, width_);
    return out;
  }

  // out = content, without a value in between.
  template <typename Content>
  static void put(Value& out, Content content) {
    std::destroy_at(&out);
    std::construct_at(&out, std::move(content));
  }

  bool value(Value& out) {
    std::int32_t tag = 0;
    if (!item(tag)) return false;
    switch (tag) {
      case kNull: return true;
      case kFalse:
      case kTrue: out = Value(tag == kTrue); return true;
      case kNumber: return number(out);
      case kArray: return nested(out, &Tape::array);
      case kObject: return nested(out, &Tape::object);
      default: break;
    }
    Units text;
    if (!take(tag, text)) return false;
    put(out, string_of(text));
    return true;
  }

  bool nested(Value& out, bool (Tape::*rule)(Value&)) {
    if (depth_left_ == 0)
      return fail("nested deeper than " + std::to_string(max_depth_) + " levels", ErrorCode::kLimit);
    --depth_left_;
    const bool ok = (this->*rule)(out);
    ++depth_left_;
    return ok;
  }

  bool number(Value& out) {
    std::int32_t size = 0;
    Units text;
    if (!item(size) || !take(size, text)) return false;
    const std::string spelled = string_of(text);
    Reader in(spelled);
    return (in.value(out) && in.finish() && out.is_number()) || fail("`" + spelled + "` is no number");
  }

  bool array(Value& out) {
    std::size_t size = 0;
    if (!count(size)) return false;
    Array& elements = out.make_array();
    elements.reserve(std::min(size, kBelieved));
    while (elements.size() < size) {
      if (!value(elements.emplace_back())) return false;
    }
    return true;
  }

  bool object(Value& out) {
    std::size_t size = 0;
    if (!count(size)) return false;
    std::vector<Member> members;
    members.reserve(std::min(size, kBelieved));
    while (members.size() < size) {
      Units name;
      if (!key(name)) return false;
      Member& member = members.emplace_back();
      member.key = string_of(name);
      if (!value(member.value)) return false;
    }
    put(out, Object::from_members(std::move(members)));
    return true;
  }

  bool key(Units& out) {
    std::int32_t tag = 0;
    if (!item(tag)) return false;
    if (tag == kKey) {
      std::int32_t size = 0;
      if (!item(size) || !take(size, out)) return false;
      if (keys_.empty()) keys_.reserve(kUsualKeys);
      keys_.push_back(out);
      return true;
    }
    if (tag < 0 || static_cast<std::size_t>(tag) >= keys_.size()) return fail("it names a key that it has not");
    out = keys_[static_cast<std::size_t>(tag)];
    return true;
  }

  std::string_view block_;
  units::Width width_ = units::Width::kLatin1;
  std::size_t at_ = kHead;  // of the next item
  std::size_t items_end_ = kHead;
  std::size_t text_at_ = kHead;    // of the next unit
  std::size_t ascii_end_ = kHead;  // before it there is only ASCII, from the next unit on
  std::vector<Units> keys_;
  int depth_left_;
  int max_depth_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> parse_tape(std::string_view block, const ParseOptions& options) {
  return Tape(block, options.max_depth).read();
}

}  // namespace rondo::json
