// What HTTP's client and server share: header fields, addresses, names of statuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/result.h"

namespace rondo::net {

// ASCII letters alone have a case here.
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);

struct Header {
  std::string name;
  std::string value;
};

// Header fields in their order.  Names are compared without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  // Replaces all fields of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);

  // The first field of that name; nothing if there is none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  // True if a field of that name has `word` among its comma-separated words.
  [[nodiscard]] bool has_word(std::string_view name, std::string_view word) const;

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] bool empty() const { return fields_.empty(); }
  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::vector<Header> fields_;
};

// Checks that a field can be sent: a name of token characters, a value without control characters.
[[nodiscard]] Status check_header(const Header& header);

// An address as `https://host:port/path?query`.
struct Url {
  bool tls = false;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string target = "/";  // path and query; never empty

  // kInvalidArgument for anything but http and https, user names, fragments, and characters that no address has.
  [[nodiscard]] static Result<Url> parse(std::string_view text);
  // "https://host:port", the port always.
  [[nodiscard]] std::string origin() const;
  // As the header field `Host` has it: the port only where it is not the scheme's own.
  [[nodiscard]] std::string authority() const;
};

// `text` with %XX replaced; kInvalidArgument for a % without two hexadecimal digits.
[[nodiscard]] Result<std::string> percent_decoded(std::string_view text);

// The value of `name` in "a=1&b=2", decoded, with + as space; nothing if there is none or it is malformed.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

// "Not Found" for 404; "" for a number without a name.
[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace rondo::net
