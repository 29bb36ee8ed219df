// What the HTTP client and server share: header fields, addresses, names of statuses.
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

// Ignores the case of ASCII letters only.
[[nodiscard]] bool equal_ignoring_case(std::string_view left, std::string_view right);

struct Header {
  std::string name;
  std::string value;
};

// Header fields in order.  Names are compared without regard to case.
class Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<Header> fields) : fields_(fields) {}

  void add(std::string name, std::string value) { fields_.push_back({std::move(name), std::move(value)}); }
  // Replaces all fields of that name.
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);

  // Returns the first field of that name; nullopt if there is none.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
  [[nodiscard]] std::size_t count(std::string_view name) const;
  // Returns true if a field of that name contains `word` in its comma-separated list.
  [[nodiscard]] bool has_word(std::string_view name, std::string_view word) const;

  [[nodiscard]] std::size_t size() const { return fields_.size(); }
  [[nodiscard]] bool empty() const { return fields_.empty(); }
  [[nodiscard]] auto begin() const { return fields_.begin(); }
  [[nodiscard]] auto end() const { return fields_.end(); }

 private:
  std::vector<Header> fields_;
};

// Checks that a field can be sent: its name has only token characters, and its value no control characters.
[[nodiscard]] Status check_header(const Header& header);

// An address as `https://host:port/path?query`.
struct Url {
  bool tls = false;
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string target = "/";  // path and query; never empty

  // Parses an address.  Fails with kInvalidArgument for schemes other than http and https, user names, fragments, and
  // characters that an address cannot have.
  [[nodiscard]] static Result<Url> parse(std::string_view text);
  // Returns "https://host:port", always with the port.
  [[nodiscard]] std::string origin() const;
  // Returns the value of the header field `Host`: with the port only if it is not the scheme's default.
  [[nodiscard]] std::string authority() const;
};

// Returns an address for people: without the name and password of a user, even if the address is malformed.
[[nodiscard]] std::string shown_url(std::string_view text);

// Returns `text` with %XX decoded.  Fails with kInvalidArgument for a % without two hexadecimal digits.
[[nodiscard]] Result<std::string> percent_decoded(std::string_view text);

// Returns the decoded value of `name` in "a=1&b=2", with + as a space; nullopt if there is none or it is malformed.
[[nodiscard]] std::optional<std::string> query_value(std::string_view query, std::string_view name);

// Returns all of them that are not malformed, in their order.
[[nodiscard]] std::vector<std::string> query_values(std::string_view query, std::string_view name);

// Returns "Not Found" for 404; "" for a number without a name.
[[nodiscard]] std::string_view reason_phrase(int status);

}  // namespace rondo::net
