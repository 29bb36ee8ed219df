// JSON as it was sent: ordered objects, numbers with their spelling, and the place of each value in the source.
//
//   Result<json::Value> parsed = json::parse(R"({"a": 1.0, "b": [1e5]})");
//   parsed.value().find("a")->number()      // "1.0", not 1
//   json::to_compact(parsed.value())        // {"a":1.0,"b":[1e5]}
//   json::to_python(parsed.value(), {})     // {"a": 1.0, "b": [100000.0]}, as json.dumps
//
// A Value owns everything below it; copying copies the tree.  Thread-compatible; threads may share a const Value.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::json {

class Value;
struct Member;

enum class Kind : std::uint8_t { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };

// Bytes [begin, end) of the text that a value was parsed from; both are 0 for a value that was not parsed.
struct SourceRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const SourceRange&) const = default;
};

using Array = std::vector<Value>;

// Members in source order.  Keys are unique: of duplicates the first position and the last value remain, as in Python.
//
// Lookup is linear in small objects and hashed in large ones.  Equality compares the order of members too.
class Object {
 public:
  Object() = default;
  // Makes an object with these members in this order, duplicates as above: Object{{"role", "user"}, {"content", text}}.
  Object(std::initializer_list<Member> members);
  // Takes the members over, where no key repeats as they are; faster than setting them one by one.
  [[nodiscard]] static Object from_members(std::vector<Member> members);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const Member* begin() const;
  [[nodiscard]] const Member* end() const;
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  // Returns the position of the member with that key; size() if there is none.
  [[nodiscard]] std::size_t position(std::string_view key) const;
  // Replaces the value of an existing key in place, or appends a member.  Returns the stored value.
  Value& set(std::string_view key, Value value);
  // Returns true if the key existed.
  bool erase(std::string_view key);

  bool operator==(const Object& other) const;

 private:
  // An entry of the hash table; empty if `next` is 0.
  struct Slot {
    std::uint32_t hash = 0;  // part of the key's hash, so that different keys are rarely compared
    std::uint32_t next = 0;  // position of the member + 1
  };
  struct KeyHash;

  [[nodiscard]] std::size_t find_slot(std::string_view key, KeyHash hash) const;
  void make_table(std::size_t capacity);
  void rebuild();
  bool enter(std::size_t position);
  bool is_new(std::size_t position);

  std::vector<Member> members_;
  std::vector<Slot> slots_;  // open addressing; the size is a power of two; empty while a linear search is faster
};

// A number keeps its spelling; only Python-style printing normalises it (1e5 -> 100000.0).
struct Number {
  std::string text;
  bool is_float = false;  // it has a fraction or an exponent, or is NaN or an infinity
  bool operator==(const Number&) const = default;
};

class Value {
 public:
  // Defined after Member: clang needs the complete type as soon as a constructor could destroy an Object.
  Value();                        // null
  Value(std::nullptr_t);          // NOLINT(google-explicit-constructor)
  Value(bool value);              // NOLINT(google-explicit-constructor)
  Value(std::string value);       // NOLINT(google-explicit-constructor)
  Value(std::string_view value);  // NOLINT(google-explicit-constructor)
  Value(const char* value);       // NOLINT(google-explicit-constructor)
  Value(std::int64_t value);      // NOLINT(google-explicit-constructor)
  Value(int value);               // NOLINT(google-explicit-constructor)
  Value(std::size_t value);       // NOLINT(google-explicit-constructor)
  Value(double value);            // NOLINT(google-explicit-constructor)
  Value(Array value);             // NOLINT(google-explicit-constructor)
  Value(Object value);            // NOLINT(google-explicit-constructor)
  Value(Number value);            // NOLINT(google-explicit-constructor)
  Value(const Value& other);
  // What is left is empty, and of the same kind.
  Value(Value&& other) noexcept;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_null() const { return kind_ == Kind::kNull; }
  [[nodiscard]] bool is_bool() const { return kind_ == Kind::kBool; }
  [[nodiscard]] bool is_number() const { return kind_ == Kind::kInteger || kind_ == Kind::kFloat; }
  [[nodiscard]] bool is_string() const { return kind_ == Kind::kString; }
  [[nodiscard]] bool is_array() const { return kind_ == Kind::kArray; }
  [[nodiscard]] bool is_object() const { return kind_ == Kind::kObject; }

  // REQUIRES of each: the value is of that kind.
  [[nodiscard]] bool as_bool() const { return assert(is_bool()), truth_; }
  [[nodiscard]] const std::string& number() const { return assert(is_number()), text_; }
  [[nodiscard]] const std::string& as_string() const { return assert(is_string()), text_; }
  [[nodiscard]] const Array& as_array() const { return assert(is_array()), array_; }
  [[nodiscard]] Array& as_array() { return assert(is_array()), array_; }
  [[nodiscard]] const Object& as_object() const { return assert(is_object()), object_; }
  [[nodiscard]] Object& as_object() { return assert(is_object()), object_; }

  // Makes it an empty array, to be filled where it stands.
  Array& make_array();

  // Returns the integer, if the value is one that fits 64 bits.
  [[nodiscard]] std::optional<std::int64_t> to_int64() const;
  // Returns the nearest double of any number ("1e400" is infinity).
  [[nodiscard]] std::optional<double> to_double() const;

  // Returns the member of an object; nullptr if this is not an object or has no such key.
  [[nodiscard]] const Value* find(std::string_view key) const;
  // Returns the member `key` if it is a string.
  [[nodiscard]] std::optional<std::string_view> find_string(std::string_view key) const;
  // Returns whether the member `key` is true.
  [[nodiscard]] bool is_true(std::string_view key) const;

  [[nodiscard]] SourceRange source() const { return source_; }
  void set_source(SourceRange source) { source_ = source; }

  // Structural equality: ignores source ranges, but compares the spellings of numbers.
  bool operator==(const Value& other) const;

 private:
  void clear() noexcept;
  // REQUIRES: this has nothing to be destroyed.
  void take(Value& other) noexcept;

  // The part that kind_ names; numbers are in text_.  Not a std::variant, because its moves and its end are calls through
  // tables, which take longer than the work itself, most of all in WebAssembly.
  // NOLINTBEGIN(readability-identifier-naming): the check takes private members of a union for public ones
  union {
    bool truth_ = false;
    std::string text_;
    Array array_;
    Object object_;
  };
  // NOLINTEND(readability-identifier-naming)
  Kind kind_ = Kind::kNull;
  SourceRange source_;
};

struct Member {
  std::string key;
  Value value;
  bool operator==(const Member&) const = default;
};

inline Value::Value() {}  // NOLINT(modernize-use-equals-default): the parts of the union have constructors
inline Value::Value(std::nullptr_t) {}
inline Value::Value(bool value) : truth_(value), kind_(Kind::kBool) {}
inline Value::Value(std::string value) : text_(std::move(value)), kind_(Kind::kString) {}
inline Value::Value(std::string_view value) : text_(value), kind_(Kind::kString) {}
inline Value::Value(const char* value) : text_(value), kind_(Kind::kString) {}
inline Value::Value(int value) : Value(static_cast<std::int64_t>(value)) {}
inline Value::Value(Array value) : array_(std::move(value)), kind_(Kind::kArray) {}
inline Value::Value(Object value) : object_(std::move(value)), kind_(Kind::kObject) {}
inline Value::Value(Number value)
    : text_(std::move(value.text)), kind_(value.is_float ? Kind::kFloat : Kind::kInteger) {}
inline Value::Value(Value&& other) noexcept : source_(other.source_) { take(other); }
inline Value::~Value() {
  if (kind_ > Kind::kBool) clear();
}

inline std::size_t Object::size() const { return members_.size(); }
inline bool Object::empty() const { return members_.empty(); }
inline const Member* Object::begin() const { return members_.data(); }
inline const Member* Object::end() const { return members_.data() + members_.size(); }

// Returns "null", "a boolean", "an integer", ..., for messages such as "expected an array, found a string".
[[nodiscard]] std::string_view describe(Kind kind);

}  // namespace rondo::json
