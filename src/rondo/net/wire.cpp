#include "net/wire.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace rondo::net::wire {
namespace {

constexpr std::size_t kChunkLineBytes = 256;  // the size and extensions, which nobody uses
constexpr std::size_t kTrailerBytes = std::size_t{8} << 10U;

Error bad(std::string message) { return {ErrorCode::kInvalidArgument, std::move(message)}; }

// Removes the next line from `rest`, and returns it without its end.  REQUIRES: there is one.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

Status read_field(std::string_view line, Headers& headers) {
  if (line.front() == ' ' || line.front() == '\t') return bad("a header line is folded");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return bad("a header line has no colon");
  std::string_view value = line.substr(colon + 1);
  const std::size_t begin = std::min(value.find_first_not_of(" \t"), value.size());
  value.remove_prefix(begin);
  value = value.substr(0, value.find_last_not_of(" \t") + 1);
  Header header{std::string(line.substr(0, colon)), std::string(value)};
  if (Status status = check_header(header); !status.ok()) return status;
  headers.add(std::move(header.name), std::move(header.value));
  return Done{};
}

Status read_fields(std::string_view rest, std::size_t most, Headers& headers) {
  while (true) {
    const std::string_view line = take_line(rest);
    if (line.empty()) return Done{};
    if (headers.size() == most) {
      return Error(ErrorCode::kLimit, "more than " + std::to_string(most) + " header fields");
    }
    if (Status status = read_field(line, headers); !status.ok()) return status;
  }
}

// The number after "HTTP/1.".
Result<int> read_version(std::string_view text) {
  if (text == "HTTP/1.1") return 1;
  if (text == "HTTP/1.0") return 0;
  if (text.starts_with("HTTP/")) return Error(ErrorCode::kUnsupported, "only HTTP/1.1 is spoken here");
  return bad("the first line is no HTTP");
}

// What a request asks for: of an absolute target the part after the authority, and that.
struct Target {
  std::string path;
  std::string authority{};
};

Result<Target> read_target(std::string_view target) {
  for (const char letter : target) {
    const auto code = static_cast<unsigned char>(letter);
    if (code <= 0x20 || code >= 0x7F || letter == '#') return bad("the target has a character that is not escaped");
  }
  if (target.starts_with('/') || target == "*") return Target{.path = std::string(target)};
  if (target.starts_with("http://") || target.starts_with("https://")) {
    Result<Url> url = Url::parse(target);
    if (!url.ok()) return url.error();
    return Target{.path = url.value().target, .authority = url.value().authority()};
  }
  return bad("the target does not begin with `/`");
}

Result<Framing> framing_of_fields(const Headers& headers, int minor) {
  const std::size_t lengths = headers.count("content-length");
  const std::size_t codings = headers.count("transfer-encoding");
  if (lengths > 0 && codings > 0) return bad("both Content-Length and Transfer-Encoding");
  if (lengths > 1) return bad("more than one Content-Length");
  if (codings > 1 || (codings == 1 && minor == 0)) return bad("a Transfer-Encoding that is not understood");
  if (codings == 1) {
    if (!equal_ignoring_case(*headers.find("transfer-encoding"), "chunked")) {
      return bad("a Transfer-Encoding other than `chunked`");
    }
    return Framing{Framing::Kind::kChunked, 0};
  }
  if (lengths == 0) return Framing{};
  const std::string_view text = *headers.find("content-length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) return bad("Content-Length is not a number");
  return Framing{Framing::Kind::kLength, length};
}

// Reads the line with a chunk's size and ignores the rest.
Result<std::uint64_t> read_chunk_size(std::string_view line) {
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  // from_chars accepts no sign for unsigned numbers, no spaces and no 0x.
  if (error != std::errc() || !(rest.empty() || rest.front() == ';')) return bad("a chunk without a size");
  if (!rest.empty() && !check_header({"x", std::string(rest)}).ok()) {
    return bad("a control character after a chunk's size");
  }
  return size;
}

void append_fields(std::string& out, const Headers& headers) {
  for (const Header& field : headers) {
    if (!check_header(field).ok()) continue;
    out.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  out += "\r\n";
}

}  // namespace

Result<std::size_t> head_end(std::string_view bytes, std::size_t most) {
  bytes = bytes.substr(0, most);
  for (std::size_t at = bytes.find('\n'); at != std::string_view::npos; at = bytes.find('\n', at + 1)) {
    if (at == 0 || bytes[at - 1] != '\r') return bad("a line feed without a carriage return");
    if (at >= 3 && bytes[at - 2] == '\n') return at + 1;
  }
  if (bytes.size() == most) return Error(ErrorCode::kLimit, "a head of more than " + std::to_string(most) + " bytes");
  return std::size_t{0};
}

Result<RequestHead> read_request(std::string_view head, std::size_t most_fields) {
  RequestHead request;
  const std::string_view line = take_line(head);
  const std::size_t method_end = line.find(' ');
  const std::size_t target_end = line.rfind(' ');
  if (method_end == std::string_view::npos || method_end == target_end) return bad("the first line is no HTTP");
  const Result<int> minor = read_version(line.substr(target_end + 1));
  if (!minor.ok()) return minor.error();
  request.minor = minor.value();
  request.method = line.substr(0, method_end);
  if (!check_header({request.method, ""}).ok()) return bad("the method is not a word");
  Result<Target> target = read_target(line.substr(method_end + 1, target_end - method_end - 1));
  if (!target.ok()) return target.error();
  request.target = std::move(target.value().path);
  if (const Status status = read_fields(head, most_fields, request.headers); !status.ok()) return status.error();
  const std::size_t hosts = request.headers.count("host");
  if (hosts > 1 || (hosts == 0 && request.minor == 1)) return bad("not exactly one `Host`");
  // RFC 9112, 3.2.2: the name in the target counts, whatever `Host` says.
  if (!target.value().authority.empty()) request.headers.set("Host", std::move(target.value().authority));
  return request;
}

Result<ResponseHead> read_response(std::string_view head, std::size_t most_fields) {
  ResponseHead response;
  const std::string_view line = take_line(head);
  const Result<int> minor = read_version(line.substr(0, line.find(' ')));
  if (!minor.ok()) return minor.error();
  response.minor = minor.value();
  const std::string_view rest = line.substr(std::min<std::size_t>(line.size(), 9));
  const std::string_view digits = rest.substr(0, 3);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), response.status);
  if (error != std::errc() || end != digits.data() + 3 || response.status < 100 ||
      (rest.size() > 3 && rest[3] != ' ')) {
    return bad("the first line of the answer has no status");
  }
  if (const Status status = read_fields(head, most_fields, response.headers); !status.ok()) return status.error();
  return response;
}

Result<Framing> framing_of(const RequestHead& head) { return framing_of_fields(head.headers, head.minor); }

Result<Framing> framing_of(const ResponseHead& head, std::string_view method) {
  if (method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304) return Framing{};
  Result<Framing> framing = framing_of_fields(head.headers, head.minor);
  if (framing.ok() && framing.value().kind == Framing::Kind::kNone) { return Framing{Framing::Kind::kUntilClose, 0}; }
  return framing;
}

bool keeps_alive(const Headers& headers, int minor) {
  if (headers.has_word("connection", "close")) return false;
  return minor == 1 || headers.has_word("connection", "keep-alive");
}

BodyReader::BodyReader(Framing framing) : left_(framing.length) {
  switch (framing.kind) {
    case Framing::Kind::kNone: state_ = State::kDone; break;
    case Framing::Kind::kLength: state_ = framing.length == 0 ? State::kDone : State::kLength; break;
    case Framing::Kind::kChunked: state_ = State::kSize; break;
    case Framing::Kind::kUntilClose: state_ = State::kUntilClose; break;
  }
}

// line_ holds a whole line of the framing, with its line feed.
Status BodyReader::end_line() {
  std::string line = std::move(line_);
  line_.clear();
  if (!line.ends_with("\r\n")) return bad("a line feed without a carriage return");
  line.resize(line.size() - 2);
  if (state_ == State::kSize) {
    const Result<std::uint64_t> size = read_chunk_size(line);
    if (!size.ok()) return size.error();
    left_ = size.value();
    state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  } else if (state_ == State::kChunkEnd) {
    if (!line.empty()) return bad("a chunk that is longer than its size");
    state_ = State::kSize;
  } else if (line.empty()) {
    state_ = State::kDone;
  } else {
    Headers trailer;  // checked and then unused
    return read_field(line, trailer);
  }
  return Done{};
}

std::string_view BodyReader::take_content(std::string_view rest) {
  if (state_ == State::kUntilClose) return rest;
  const std::string_view piece = rest.substr(0, std::min<std::uint64_t>(left_, rest.size()));
  left_ -= piece.size();
  if (left_ == 0) state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
  return piece;
}

Result<std::size_t> BodyReader::take_framing(std::string_view rest) {
  const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
  line_.append(rest.substr(0, end));
  const bool is_trailer = state_ == State::kTrailer;
  if (is_trailer) trailer_bytes_ += end;
  if ((is_trailer ? trailer_bytes_ : line_.size()) > (is_trailer ? kTrailerBytes : kChunkLineBytes))
    return bad(is_trailer ? "trailers that are too long" : "a line of a chunk's size that is too long");
  if (line_.back() != '\n') return end;
  if (const Status status = end_line(); !status.ok()) return status.error();
  return end;
}

Result<std::size_t> BodyReader::read(std::string_view bytes, const std::function<bool(std::string_view)>& take) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::kDone) {
    const std::string_view rest = bytes.substr(at);
    if (state_ == State::kUntilClose || state_ == State::kLength || state_ == State::kChunk) {
      const std::string_view piece = take_content(rest);
      at += piece.size();
      if (!take(piece)) return at;
      continue;
    }
    const Result<std::size_t> size = take_framing(rest);
    if (!size.ok()) return size.error();
    at += size.value();
  }
  return at;
}

void append_request(std::string& out, const std::string& method, const std::string& target, const Headers& headers) {
  out.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
  append_fields(out, headers);
}

void append_response(std::string& out, int status, const Headers& headers) {
  out.append("HTTP/1.1 ").append(std::to_string(status)).append(" ").append(reason_phrase(status)).append("\r\n");
  append_fields(out, headers);
}

void append_chunk(std::string& out, std::string_view bytes) {
  std::array<char, 16> digits{};
  const auto result = std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
  out.append(digits.data(), result.ptr).append("\r\n").append(bytes).append("\r\n");
}

}  // namespace rondo::net::wire
