// Reads the fields of a JSON object, such as a request of the line protocol, and complains about the first that does not fit.
//
//   Fields fields(request);
//   const std::string text = fields.required_text("text");
//   const bool offsets = fields.flag("offsets", false);
//   if (Status status = fields.finish(); !status.ok()) return status.error();
//
// Getters never fail: after a complaint they return empty values, and finish() tells.  A field that no getter asked
// for is unknown, so every field of an op must be read before finish().  A field that is null counts as absent.
#pragma once

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

// "YYYY-MM-DDTHH:MM:SS"; nullopt for anything else, and for a day that there is not.
[[nodiscard]] std::optional<jinja::LocalTime> parse_time(std::string_view text);

class Fields {
 public:
  // `request` must outlive this.
  explicit Fields(const json::Object& request);

  // nullptr if absent.
  [[nodiscard]] const json::Value* value(std::string_view name);
  [[nodiscard]] bool has(std::string_view name) { return value(name) != nullptr; }
  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  [[nodiscard]] std::string required_text(std::string_view name);
  [[nodiscard]] bool flag(std::string_view name, bool otherwise);
  // One of `choices`; the first when absent.
  [[nodiscard]] std::string choice(std::string_view name, std::initializer_list<std::string_view> choices);
  // An array of objects.
  [[nodiscard]] std::optional<json::Array> objects(std::string_view name);
  [[nodiscard]] json::Object object(std::string_view name);
  [[nodiscard]] std::vector<std::string> required_texts(std::string_view name);
  [[nodiscard]] std::vector<tokenizer::TokenId> required_ids(std::string_view name);
  // See parse_time().
  [[nodiscard]] std::optional<jinja::LocalTime> time(std::string_view name);

  // Records a complaint, unless there already is one.
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
