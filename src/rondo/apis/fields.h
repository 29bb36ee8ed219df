// Reads typed members of a request's body.  A member may be absent, null or of the right type; anything else is a
// fault.  The first fault is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apis/errors.h"
#include "json/value.h"

namespace rondo::apis {

class Fields {
 public:
  // `place` is the path of `object`, to be put before its members: "" or "reasoning.".  `object` may be null or absent
  // and then has no members.
  //
  // REQUIRES: `object` and `fault` outlive this.
  Fields(const json::Value* object, std::string place, std::optional<Fault>& fault);

  // Returns nullptr if the member is absent or null.
  [[nodiscard]] const json::Value* any(std::string_view key);
  [[nodiscard]] std::optional<bool> boolean(std::string_view key);
  [[nodiscard]] bool is_set(std::string_view key, bool otherwise = false) { return boolean(key).value_or(otherwise); }
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                                    std::int64_t most = std::numeric_limits<std::int64_t>::max());
  [[nodiscard]] std::optional<double> number(std::string_view key, double least, double most);
  [[nodiscard]] std::optional<std::string> text(std::string_view key);
  // Returns one of these words.
  [[nodiscard]] std::optional<std::string> word(std::string_view key, std::initializer_list<std::string_view> words);
  [[nodiscard]] const json::Array* array(std::string_view key, std::size_t most);
  [[nodiscard]] const json::Value* object(std::string_view key);
  // Returns the members of an object that is itself a member.
  [[nodiscard]] Fields inside(std::string_view key);
  // Reads the objects of an array, until one of them has a fault.  An element of another type is a fault.
  void each(std::string_view key, std::size_t most,
            const std::function<void(Fields& element, std::size_t index)>& read);

  // Records a fault of member `key`, unless there is one already.
  void refuse(std::string_view key, std::string message, std::string code = "invalid_value");
  // Records that the member is missing.
  void refuse_missing(std::string_view key) { refuse(key, "is missing", "missing_required_parameter"); }
  // Records that the member has another type than `expected`.
  void refuse_type(std::string_view key, std::string_view expected);
  // Records a fault that was found elsewhere, unless there is one already.
  void take(Fault fault) {
    if (!fault_) fault_ = std::move(fault);
  }
  [[nodiscard]] bool failed() const { return fault_.has_value(); }
  [[nodiscard]] std::string path(std::string_view key) const { return place_ + std::string(key); }

 private:
  const json::Value* typed(std::string_view key, bool (json::Value::*is)() const, std::string_view expected);

  const json::Value* object_;
  std::string place_;
  std::optional<Fault>& fault_;
};

}  // namespace rondo::apis
