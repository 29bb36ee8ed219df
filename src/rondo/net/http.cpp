#include "net/http.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hex.h"

namespace rondo::net {
namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether these are characters of a field's name or of a method (RFC 9110, `tchar`).
bool is_token(std::string_view text) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char letter) {
    return (letter >= '0' && letter <= '9') || (lower(letter) >= 'a' && lower(letter) <= 'z') ||
           kMarks.find(letter) != std::string_view::npos;
  });
}

Error bad_url(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalidArgument, "`" + shown_url(text) + "` is not an address: " + std::string(why)};
}

// Splits "host:port" or "[v6]:port"; the port is unchanged if none is given.
Status read_authority(std::string_view text, std::string_view authority, Url& url) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return bad_url(text, "`[` is not closed");
    url.host = authority.substr(1, end - 1);
    port = authority.substr(end + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    url.host = authority.substr(0, colon);
    port = authority.substr(colon);
  }
  if (url.host.empty()) return bad_url(text, "it names no host");
  if (port.empty()) return Done{};
  port.remove_prefix(port.starts_with(':') ? 1 : 0);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  if (error != std::errc() || end != port.data() + port.size() || url.port == 0) {
    return bad_url(text, "`" + std::string(port) + "` is not a port");
  }
  return Done{};
}

}  // namespace

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return left.size() == right.size() && std::equal(left.begin(), left.end(), right.begin(),
                                                   [](char one, char other) { return lower(one) == lower(other); });
}

void Headers::set(std::string_view name, std::string value) {
  remove(name);
  add(std::string(name), std::move(value));
}

void Headers::remove(std::string_view name) {
  std::erase_if(fields_, [&](const Header& field) { return equal_ignoring_case(field.name, name); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
  for (const Header& field : fields_) {
    if (equal_ignoring_case(field.name, name)) return field.value;
  }
  return std::nullopt;
}

std::size_t Headers::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(
      fields_.begin(), fields_.end(), [&](const Header& field) { return equal_ignoring_case(field.name, name); }));
}

bool Headers::has_word(std::string_view name, std::string_view word) const {
  for (const Header& field : fields_) {
    if (!equal_ignoring_case(field.name, name)) continue;
    std::string_view rest = field.value;
    while (true) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (equal_ignoring_case(trimmed(rest.substr(0, comma)), word)) return true;
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return false;
}

Status check_header(const Header& header) {
  if (!is_token(header.name)) {
    return Error(ErrorCode::kInvalidArgument, "`" + header.name + "` is not the name of a header");
  }
  for (const char letter : header.value) {
    const auto code = static_cast<unsigned char>(letter);
    if ((code < 0x20 && letter != '\t') || code == 0x7F) {
      return Error(ErrorCode::kInvalidArgument, "the header `" + header.name + "` has a control character");
    }
  }
  return Done{};
}

std::string shown_url(std::string_view text) {
  std::string out(text);
  const std::size_t scheme = out.find("://");
  const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
  // A password may have any character, also one that ends a host.
  const std::size_t user_end = out.find('@', begin);
  if (user_end != std::string::npos) out.replace(begin, user_end - begin, "...");
  return out;
}

Result<Url> Url::parse(std::string_view text) {
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (code <= 0x20 || code >= 0x7F) return bad_url(text, "a character in it needs to be escaped");
  }
  Url url;
  const std::size_t scheme_end = text.find("://");
  const std::string_view scheme = text.substr(0, std::min(scheme_end, text.size()));
  if (scheme_end == std::string_view::npos || !(scheme == "http" || scheme == "https")) {
    return bad_url(text, "it begins with neither `http://` nor `https://`");
  }
  url.tls = scheme == "https";
  url.port = url.tls ? 443 : 80;
  const std::string_view rest = text.substr(scheme_end + 3);
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos) return bad_url(text, "it names a user");
  if (const Status status = read_authority(text, authority, url); !status.ok()) return status.error();
  url.target = rest.substr(path);
  if (url.target.find('#') != std::string::npos) return bad_url(text, "it has a fragment (`#`)");
  if (!url.target.starts_with('/')) url.target.insert(0, 1, '/');
  return url;
}

std::string Url::authority() const {
  std::string out = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != (tls ? 443 : 80)) out += ":" + std::to_string(port);
  return out;
}

std::string Url::origin() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return (tls ? "https://" : "http://") + name + ":" + std::to_string(port);
}

Result<std::string> percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const std::optional<char> byte = hex::byte(text, at + 1);
    if (!byte) return Error(ErrorCode::kInvalidArgument, "`%` without two hexadecimal digits").at_offset(at);
    out += *byte;
    at += 2;
  }
  return out;
}

namespace {

// Calls `take` with the value of each pair that is called `name`, until it returns false.
template <typename Take>
void each_value(std::string_view query, std::string_view name, const Take& take) {
  const auto decoded = [](std::string_view text) {
    std::string spaced(text);
    std::replace(spaced.begin(), spaced.end(), '+', ' ');
    return percent_decoded(spaced);
  };
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const Result<std::string> key = decoded(pair.substr(0, equals));
    if (!key.ok() || key.value() != name) continue;
    if (!take(decoded(pair.substr(std::min(equals + 1, pair.size()))))) return;
  }
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string> out;
  each_value(query, name, [&out](Result<std::string> value) {
    if (value.ok()) out = std::move(value).value();
    return false;
  });
  return out;
}

std::vector<std::string> query_values(std::string_view query, std::string_view name) {
  std::vector<std::string> out;
  each_value(query, name, [&out](Result<std::string> value) {
    if (value.ok()) out.push_back(std::move(value).value());
    return true;
  });
  return out;
}

std::string_view reason_phrase(int status) {
  struct Named {
    int status;
    std::string_view phrase;
  };
  static constexpr std::array kNames = {
      Named{100, "Continue"},
      Named{101, "Switching Protocols"},
      Named{200, "OK"},
      Named{201, "Created"},
      Named{202, "Accepted"},
      Named{204, "No Content"},
      Named{304, "Not Modified"},
      Named{400, "Bad Request"},
      Named{401, "Unauthorized"},
      Named{403, "Forbidden"},
      Named{404, "Not Found"},
      Named{405, "Method Not Allowed"},
      Named{408, "Request Timeout"},
      Named{409, "Conflict"},
      Named{413, "Content Too Large"},
      Named{415, "Unsupported Media Type"},
      Named{417, "Expectation Failed"},
      Named{422, "Unprocessable Content"},
      Named{426, "Upgrade Required"},
      Named{429, "Too Many Requests"},
      Named{431, "Request Header Fields Too Large"},
      Named{500, "Internal Server Error"},
      Named{501, "Not Implemented"},
      Named{502, "Bad Gateway"},
      Named{503, "Service Unavailable"},
      Named{504, "Gateway Timeout"},
      Named{505, "HTTP Version Not Supported"},
  };
  for (const Named& name : kNames) {
    if (name.status == status) return name.phrase;
  }
  return "";
}

}  // namespace rondo::net
