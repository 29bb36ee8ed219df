// Structs as JSON objects.  One description of a struct's members serves both writing and reading, so the two cannot
// differ.
//
//   struct Shapes {  // a tag; the two functions below are in its namespace
//     static constexpr bool kRefusesUnknown = true;  // an object with other members is a mistake
//   };
//   template <typename V>
//   void visit(V& v, Point& point) {
//     v.field("x", point.x);         // left out if it is 0, false or empty
//     v.always("name", point.name);
//   }
//   const auto& names_of(Shapes, Colour) { return kColours; }  // each value of an enumeration with its name
//
//   json::Value value = MemberWriter<Shapes>::write(point);
//   std::string wrong;                                          // the first mistake, empty if all fits
//   MemberReader<Shapes>::read(value, "point", point, wrong);
//
// A member is a string, a boolean, an integer from 0 on, an enumeration, JSON, a struct, an optional one of these, or a
// vector of these.  A member that is absent from the JSON keeps its value.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/printing.h"
#include "json/value.h"

namespace rondo::json {

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// The names of the values of an enumeration.
template <typename E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

template <typename Table, typename E>
std::string_view name_in(const Table& names, E value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  return "";
}

template <typename Tag>
class MemberWriter {
 public:
  template <typename T>
  static Value write(T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name_in(names_of(Tag{}, value), value);
    } else if constexpr (std::is_constructible_v<Value, T>) {
      return Value(value);
    } else if constexpr (kIsVector<T>) {
      Array array;
      for (auto& element : value) array.push_back(write(element));
      return array;
    } else {
      MemberWriter writer;
      visit(writer, value);
      return std::move(writer.object_);
    }
  }

  template <typename T>
  void always(const char* key, T& value) {
    object_.set(key, write(value));
  }
  template <typename T>
  void field(const char* key, T& value) {
    if constexpr (kIsOptional<T>) {
      if (value) always(key, *value);
    } else {
      Value written = write(value);
      if (std::is_enum_v<T> || !is_nothing(written)) object_.set(key, std::move(written));
    }
  }
  // Returns whether the next visited members are written.
  static bool wants(bool is_wanted) { return is_wanted; }

 private:
  static bool is_nothing(const Value& value) {
    return value == Value("") || value == Value(false) || value == Value(0) || value == Value(Array()) ||
           value == Value(Object());
  }

  Object object_;
};

template <typename Tag>
class MemberReader {
 public:
  // `place` names the value in messages.  `wrong` gets a message unless it already has one.  A value that cannot be
  // read is left unchanged.
  template <typename T>
  static void read(const Value& found, const std::string& place, T& out, std::string& wrong) {
    constexpr const char* kExpected = expected<T>();
    if (!fits<T>(found)) return note(wrong, place + " must be " + kExpected + ", found " + name_of(found));
    if constexpr (std::is_same_v<T, Value>) {
      out = found;
    } else if constexpr (std::is_same_v<T, std::string>) {
      out = found.as_string();
    } else if constexpr (std::is_same_v<T, bool>) {
      out = found.as_bool();
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(found, place, out, wrong);
    } else if constexpr (std::is_enum_v<T>) {
      read_name(found, place, out, wrong);
    } else if constexpr (kIsVector<T>) {
      for (const Value& element : found.as_array()) {
        const std::string here = place + "[" + std::to_string(out.size()) + "]";
        read(element, here, out.emplace_back(), wrong);
      }
    } else if constexpr (std::is_same_v<T, Object>) {
      out = found.as_object();
    } else {
      MemberReader reader(found.as_object(), place, wrong);
      visit(reader, out);
      if (Tag::kRefusesUnknown) reader.check_all_known();
    }
  }

  template <typename T>
  void always(const char* key, T& value) {
    field(key, value);
  }
  template <typename T>
  void field(const char* key, T& value) {
    known_.emplace_back(key);
    const Value* found = object_.find(key);
    if (found == nullptr) return;
    if constexpr (kIsOptional<T>) {
      read(*found, place_ + "." + key, value.emplace(), wrong_);
    } else {
      read(*found, place_ + "." + key, value, wrong_);
    }
  }
  static bool wants(bool /*is_wanted*/) { return true; }

 private:
  MemberReader(const Object& object, std::string place, std::string& wrong)
      : object_(object), place_(std::move(place)), wrong_(wrong) {}

  // What a value for a T must be.
  template <typename T>
  static constexpr const char* expected() {
    if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return "a string";
    if constexpr (std::is_same_v<T, bool>) return "a boolean";
    if constexpr (std::is_integral_v<T>) return "an integer";
    if constexpr (kIsVector<T>) return "an array";
    return "an object";
  }
  template <typename T>
  static bool fits(const Value& found) {
    if constexpr (std::is_same_v<T, Value>) return true;
    if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return found.is_string();
    if constexpr (std::is_same_v<T, bool>) return found.is_bool();
    if constexpr (std::is_integral_v<T>) return found.kind() == Kind::kInteger;
    if constexpr (kIsVector<T>) return found.is_array();
    return found.is_object();
  }
  static std::string name_of(const Value& found) { return std::string(describe(found.kind())); }

  template <typename T>
  static void read_integer(const Value& found, const std::string& place, T& out, std::string& wrong) {
    const auto number = found.to_int64();
    if (!number || *number < 0 || !std::in_range<T>(*number))
      return note(wrong, place + ": " + found.number() + " is out of range");
    out = static_cast<T>(*number);
  }
  template <typename T>
  static void read_name(const Value& found, const std::string& place, T& out, std::string& wrong) {
    for (const auto& [candidate, name] : names_of(Tag{}, out)) {
      if (name == found.as_string()) return void(out = candidate);
    }
    note(wrong, place + ": unknown value `" + printing::excerpt(found.as_string()) + "`");
  }

  static void note(std::string& wrong, std::string what) {
    if (wrong.empty()) wrong = std::move(what);
  }
  void check_all_known() {
    for (const Member& member : object_) {
      bool is_known = false;
      for (const std::string_view key : known_) is_known = is_known || key == member.key;
      if (!is_known) note(wrong_, place_ + ": unknown member `" + printing::excerpt(member.key) + "`");
    }
  }

  const Object& object_;
  std::string place_;
  std::string& wrong_;
  std::vector<std::string_view> known_;
};

}  // namespace rondo::json
