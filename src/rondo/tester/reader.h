// Reads the members of an object in a suite one by one.  The first that does not fit is reported with its place.
//
//   ObjectReader reader(value, "a case", problems);
//   const auto name = reader.text("name");
//   reader.finish();                       // every member that was not read is unknown
//   if (problems.error) return *problems.error;
//
// Getters never fail: after a fault they return empty values.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"
#include "tester/suite.h"

namespace rondo::tester {

// The first fault.
class Problems {
 public:
  explicit Problems(const SuiteText& text);

  // Adds a fault at `at`, or at the member `key` with that value.
  void add(const json::Value& at, const std::string& message);
  void add_key(const json::Member& member, const std::string& message);
  // Returns the line of a value; 0 if it was not read from the text.
  [[nodiscard]] int line(const json::Value& at) const;
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void add_at(std::size_t offset, const std::string& message);
  [[nodiscard]] std::size_t lines_before(std::size_t offset) const;

  const SuiteText& text_;
  std::vector<std::size_t> line_ends_;
  std::optional<Error> error_;
};

class ObjectReader {
 public:
  // `what` names the object in messages: "a case".  `value` must outlive this.
  ObjectReader(const json::Value& value, std::string what, Problems& problems);

  // Returns nullptr if it is absent.
  [[nodiscard]] const json::Value* find(std::string_view key);
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  [[nodiscard]] std::optional<bool> flag(std::string_view key);
  [[nodiscard]] std::optional<int> number(std::string_view key);
  [[nodiscard]] std::optional<json::Array> objects(std::string_view key);
  [[nodiscard]] std::optional<json::Object> object(std::string_view key);
  // Returns a text, or a list of texts, as a list.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key);
  // Returns one of `choices`.
  [[nodiscard]] std::optional<std::string> choice(std::string_view key,
                                                  std::initializer_list<std::string_view> choices);
  void fail(const json::Value& at, const std::string& message) { problems_.add(at, message); }
  // Reports members that were not read.
  void finish();

 private:
  void wrong_type(std::string_view key, std::string_view expected, const json::Value& found);

  const json::Value& value_;
  std::string what_;
  Problems& problems_;
  std::vector<std::string_view> known_;
};

// Returns whether `value` is an object, and reports a fault if not.
[[nodiscard]] bool check_object(const json::Value& value, const std::string& what, Problems& problems);
// Returns the texts in a text or a list of texts.
[[nodiscard]] std::vector<std::string> texts_of(const json::Value& value, const std::string& what, Problems& problems);

}  // namespace rondo::tester
