// Values of a running template, with Python's semantics.  Each knows the place in the input that it came from.
//
// A Value is 16 bytes and trivially copyable.  What it points to (strings, lists, dicts, objects) is in the Heap of the
// render, which frees everything at once.  There are no reference counts and no cycles to collect, and slices of
// strings share bytes with the original.  A value must not outlive its Runtime.
//
//   Value content = get_attr(runtime, message, "content");   // path messages[3].content
//   Value text = call_method(runtime, content, "strip", {});  // same path; runs name the bytes kept
//
// Every value keeps its path, also numbers and None.  Values that the template computed have no path.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "jinja/value/bigint.h"
#include "json/value.h"
#include "text/text.h"

namespace rondo::jinja {

class Runtime;
class Object;
struct Dict;
struct List;
struct String;

enum class Kind : std::uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // an int beyond 64 bits; never one that fits
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kNamespace,
  kObject,  // everything else: functions, bound methods, macros, loops, generators, ranges, dict views, cyclers
};

// Why a value is undefined, for the message when it is used.  It is a variable (`object_type` is empty), an attribute
// or element of an object ("dict object"), or has a complete hint.
struct UndefinedInfo {
  std::string_view name;         // the name, or the repr if `element` is set
  std::string_view object_type;  // "dict object"
  std::string_view hint;         // the whole message, if not empty
  bool element = false;          // `name` is the repr of a subscript that is not a string
  bool unsafe = false;           // any use is a security error
};

class Value {
 public:
  Value() = default;  // undefined without a name

  [[nodiscard]] static Value undefined(const UndefinedInfo* info);
  [[nodiscard]] static Value none() { return Value(Kind::kNone); }
  [[nodiscard]] static Value boolean(bool value);
  [[nodiscard]] static Value integer(std::int64_t value);
  [[nodiscard]] static Value floating(double value);
  [[nodiscard]] static Value big(const BigInt* value);
  [[nodiscard]] static Value string(String* value);
  [[nodiscard]] static Value list(List* value);
  [[nodiscard]] static Value tuple(List* value);
  [[nodiscard]] static Value dict(Dict* value);
  [[nodiscard]] static Value name_space(Dict* value);
  [[nodiscard]] static Value object(Object* value);

  [[nodiscard]] Kind kind() const { return static_cast<Kind>(head_ & kKindMask); }
  [[nodiscard]] bool is_undefined() const { return kind() == Kind::kUndefined; }
  [[nodiscard]] bool is_none() const { return kind() == Kind::kNone; }
  [[nodiscard]] bool is_bool() const { return kind() == Kind::kBool; }
  [[nodiscard]] bool is_string() const { return kind() == Kind::kString; }
  [[nodiscard]] bool is_list() const { return kind() == Kind::kList; }
  [[nodiscard]] bool is_tuple() const { return kind() == Kind::kTuple; }
  [[nodiscard]] bool is_sequence() const { return is_list() || is_tuple(); }
  [[nodiscard]] bool is_dict() const { return kind() == Kind::kDict; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::kObject; }
  [[nodiscard]] bool is_float() const { return kind() == Kind::kFloat; }
  // Python's isinstance(x, int): true for bools.
  [[nodiscard]] bool is_integral() const {
    return kind() == Kind::kInt || kind() == Kind::kBigInt || kind() == Kind::kBool;
  }
  [[nodiscard]] bool is_number() const { return is_integral() || kind() == Kind::kFloat; }
  // An int or bool that fits 64 bits.
  [[nodiscard]] bool is_small_int() const { return kind() == Kind::kInt || kind() == Kind::kBool; }

  // REQUIRES of each: the value is of that kind.
  [[nodiscard]] bool as_bool() const { return payload_ != 0; }
  [[nodiscard]] std::int64_t as_int() const { return static_cast<std::int64_t>(payload_); }  // bools as 0 and 1
  [[nodiscard]] double as_float() const { return std::bit_cast<double>(payload_); }
  [[nodiscard]] const BigInt& as_big() const { return *pointer<const BigInt>(); }
  [[nodiscard]] String& as_string() const { return *pointer<String>(); }
  [[nodiscard]] List& as_list() const { return *pointer<List>(); }  // lists and tuples
  [[nodiscard]] Dict& as_dict() const { return *pointer<Dict>(); }  // dicts and namespaces
  [[nodiscard]] Object& as_object() const { return *pointer<Object>(); }
  [[nodiscard]] const UndefinedInfo* undefined_info() const { return pointer<const UndefinedInfo>(); }

  [[nodiscard]] text::PathId path() const { return static_cast<text::PathId>(head_ >> kPathShift); }
  [[nodiscard]] bool has_path() const { return path() != text::PathId::kNone; }
  [[nodiscard]] Value with_path(text::PathId path) const;

  // A string that is markup already (`safe`, escaped text): adding to it escapes the other side.
  [[nodiscard]] bool is_markup() const { return (head_ & kMarkup) != 0; }
  [[nodiscard]] Value with_markup(bool markup) const;

  // The same heap object, or the same scalar of the same kind (Python's `is`).
  [[nodiscard]] bool is_same(const Value& other) const { return kind() == other.kind() && payload_ == other.payload_; }

 private:
  // Two words, so that values travel in registers.  The head has the kind in its first byte, the markup flag in the
  // second, and the path in its upper half.  The payload is a number or a pointer.
  static constexpr std::uint64_t kKindMask = 0xFF;
  static constexpr std::uint64_t kMarkup = 0x100;
  static constexpr unsigned kPathShift = 32;

  explicit Value(Kind kind, std::uint64_t payload = 0) : head_(static_cast<std::uint64_t>(kind)), payload_(payload) {}
  Value(Kind kind, const void* pointer) : Value(kind, reinterpret_cast<std::uintptr_t>(pointer)) {}
  template <typename T>
  [[nodiscard]] T* pointer() const {
    return reinterpret_cast<T*>(payload_);  // the value that was put in
  }

  std::uint64_t head_ = 0;
  std::uint64_t payload_ = 0;
};
static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value>);

// Immutable text with its runs.  A concatenation stays a pair until somebody needs the bytes, so that building a long
// string piece by piece takes linear time.
struct String {
  // The two parts of a concatenation.  When it is joined, input runs without an owner get `stamp`.
  struct Pair {
    String* left;
    String* right;
    text::ContextId stamp;
  };

  const char* data = nullptr;  // nullptr while this is an unjoined pair
  std::uint32_t size = 0;      // bytes
  std::uint32_t run_count = 0;
  const text::Run* runs = nullptr;  // &single for one run
  union {
    text::Run single;
    Pair pair;
  };
  std::int32_t code_points = -1;  // -1: not counted yet; equal to `size` for ASCII
  std::uint32_t spare = 0;        // free bytes after the data, for one string that continues this one
  bool is_constant = false;       // a constant of the template that several contexts share
  bool has_dumps = false;         // some runs may be of kind kDump; for an unjoined pair: unknown

  String() : single() {}
};

// Elements; the heap owns their memory.
using Values = std::pmr::vector<Value>;

// Elements of a list or tuple.  An input list is wrapped on first use; read it with items_of() of input.h.
struct List {
  explicit List(std::pmr::memory_resource* memory) : items(memory) {}

  Values items;
  const json::Array* source = nullptr;  // not wrapped yet
  text::PathId source_path = text::PathId::kNone;
  bool is_group = false;  // a tuple made by groupby, with .grouper and .list
};

// A dict in insertion order.  Keys compare as in Python: 1, 1.0 and True are the same key.
//
// A dict of the input stays in the input while its members are only looked up by name.  Each member becomes a Value on
// its first use.  It becomes an Entry when the template iterates over the dict or changes it.
struct Dict {
  struct Entry {
    Value key;
    Value value;
    std::size_t hash = 0;
  };
  explicit Dict(std::pmr::memory_resource* memory) : entries(memory), slots(memory) {}

  std::pmr::vector<Entry> entries;
  std::pmr::vector<std::uint32_t> slots;            // open addressing, entry number + 1; empty while small
  const json::Object* source = nullptr;             // still in the input
  Value* members = nullptr;                         // the members of `source`, in its order; undefined: not read yet
  text::PathId path = text::PathId::kNone;          // for an input dict: its keys have the paths key_of(path, key)
  text::PathId first_member = text::PathId::kNone;  // path of the first member, if the others follow it
};

struct NamedValue {
  std::string_view name;
  Value value;
};

// Arguments of a call.  Names are unique.
struct Args {
  std::span<const Value> positional;
  std::span<const NamedValue> named;

  [[nodiscard]] std::size_t size() const { return positional.size() + named.size(); }
  [[nodiscard]] const Value* find(std::string_view name) const;
};

inline Value Value::undefined(const UndefinedInfo* info) { return Value(Kind::kUndefined, info); }
inline Value Value::boolean(bool value) { return Value(Kind::kBool, static_cast<std::uint64_t>(value ? 1 : 0)); }
inline Value Value::integer(std::int64_t value) { return Value(Kind::kInt, static_cast<std::uint64_t>(value)); }
inline Value Value::floating(double value) { return Value(Kind::kFloat, std::bit_cast<std::uint64_t>(value)); }
inline Value Value::big(const BigInt* value) { return Value(Kind::kBigInt, value); }
inline Value Value::string(String* value) { return Value(Kind::kString, value); }
inline Value Value::list(List* value) { return Value(Kind::kList, value); }
inline Value Value::tuple(List* value) { return Value(Kind::kTuple, value); }
inline Value Value::dict(Dict* value) { return Value(Kind::kDict, value); }
inline Value Value::name_space(Dict* value) { return Value(Kind::kNamespace, value); }
inline Value Value::object(Object* value) { return Value(Kind::kObject, value); }
inline Value Value::with_path(text::PathId path) const {
  Value out = *this;
  out.head_ = (head_ & 0xFFFFFFFFU) | (static_cast<std::uint64_t>(path) << kPathShift);
  return out;
}
inline Value Value::with_markup(bool markup) const {
  Value out = *this;
  out.head_ = markup ? head_ | kMarkup : head_ & ~kMarkup;
  return out;
}
inline const Value* Args::find(std::string_view name) const {
  for (const NamedValue& argument : named) {
    if (argument.name == name) return &argument.value;
  }
  return nullptr;
}

}  // namespace rondo::jinja
