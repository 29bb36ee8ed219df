// Reads the fields of a JSON object, such as a request of the line protocol, and reports the first field that does not
// fit.
//
//   Fields fields(request);
//   const std::string text = fields.required_text("text");
//   const bool offsets = fields.flag("offsets", false);
//   if (Status status = fields.finish(); !status.ok()) return status.error();
//
// Getters never fail.  After the first fault they return empty values, and finish() returns the error.  A field that no
// getter read is an unknown field, so read every field of an operation before finish().  A null field counts as absent.
#pragma once

#include <ctime>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

// Parses "YYYY-MM-DDTHH:MM:SS".  Returns nullopt for anything else, and for a date that does not exist.
[[nodiscard]] std::optional<jinja::LocalTime> parse_time(std::string_view text);
// Returns the time as parse_time() reads it.
[[nodiscard]] std::string time_text(const jinja::LocalTime& time);
// Returns the time that a clock of the C library shows.
[[nodiscard]] jinja::LocalTime local_time(const std::tm& time);

class Fields {
 public:
  // `request` must outlive this.
  explicit Fields(const json::Object& request);

  // Returns the field's value; nullptr if it is absent.
  [[nodiscard]] const json::Value* value(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) { return value(name) != nullptr; }
  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::string required_text(std::string_view name);
  [[nodiscard]] bool flag(std::string_view name, bool otherwise);
  // Returns one of `choices`; the first one if the field is absent.
  [[nodiscard]] std::string choice(std::string_view name, std::initializer_list<std::string_view> choices);
  // Returns the elements of an array of objects.
  [[nodiscard]] std::optional<json::Array> objects(std::string_view name);
  [[nodiscard]] json::Object object(std::string_view name);
  [[nodiscard]] std::vector<std::string> required_texts(std::string_view name);
  [[nodiscard]] std::vector<tokenizer::TokenId> required_ids(std::string_view name);
  // Returns the field's time; see parse_time().
  [[nodiscard]] std::optional<jinja::LocalTime> time(std::string_view name);

  // Records a fault, unless one is already recorded.
  void fail(std::string message);
  void fail(const Error& error);
  void require(std::string_view name);
  [[nodiscard]] Status finish() const;

 private:
  void wrong_type(std::string_view name, std::string_view expected, const json::Value& found);

  const json::Object& request_;
  std::set<std::string, std::less<>> known_;
  std::optional<Error> error_;
};

}  // namespace rondo::core
