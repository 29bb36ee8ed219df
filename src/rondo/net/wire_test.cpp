#include "net/wire.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace rondo::net {
namespace {

std::string shown(const Result<wire::RequestHead>& head) {
  if (!head.ok()) return "error: " + head.error().message;
  std::string out = head.value().method + " " + head.value().target + " " + std::to_string(head.value().minor);
  for (const Header& field : head.value().headers) out += " [" + field.name + "=" + field.value + "]";
  return out;
}

std::string request(const std::string& head) { return shown(wire::read_request(head, 8)); }

// The body after `framing`, then what is left; or the error.
std::string body_of(wire::Framing framing, const std::vector<std::string>& pieces) {
  wire::BodyReader reader(framing);
  std::string body;
  std::string rest;
  for (const std::string& piece : pieces) {
    const Result<std::size_t> used = reader.read(piece, [&](std::string_view bytes) {
      body += bytes;
      return true;
    });
    if (!used.ok()) return "error: " + used.error().message;
    rest += piece.substr(used.value());
  }
  return body + (reader.done() ? "|" + rest : "...");
}

constexpr wire::Framing kChunked{wire::Framing::Kind::kChunked, 0};

TEST_CASE("wire: heads of requests") {
  CHECK(request("GET /a?b=c HTTP/1.1\r\nHost: x\r\nAccept:  a b \t\r\n\r\n") == "GET /a?b=c 1 [Host=x] [Accept=a b]");
  // bug: the name in an absolute target was ignored, and `Host` counted
  CHECK(request("GET http://h:80/a HTTP/1.1\r\nHost: x\r\n\r\n") == "GET /a 1 [Host=h]");
  CHECK(request("GET http://h:81 HTTP/1.1\r\nA: b\r\nhost: x\r\n\r\n") == "GET / 1 [A=b] [Host=h:81]");
  CHECK(request("GET http://[::1]/ HTTP/1.0\r\n\r\n") == "GET / 0 [Host=[::1]]");
  CHECK(request("OPTIONS * HTTP/1.0\r\n\r\n") == "OPTIONS * 0");
  struct Row {
    std::string head;
    std::string error;
  };
  const std::vector<Row> rows = {
      {"GET /\r\n\r\n", "the first line is no HTTP"},
      {"GET / HTTP/2.0\r\n\r\n", "only HTTP/1.1 is spoken here"},
      {"GET / HTTQ/1.1\r\n\r\n", "the first line is no HTTP"},
      {"G(T / HTTP/1.1\r\n\r\n", "the method is not a word"},
      {"GET x HTTP/1.1\r\n\r\n", "the target does not begin with `/`"},
      {"GET /a b HTTP/1.1\r\n\r\n", "the target has a character that is not escaped"},
      {"GET /\x01 HTTP/1.1\r\n\r\n", "the target has a character that is not escaped"},
      {"GET / HTTP/1.1\r\n\r\n", "not exactly one `Host`"},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "not exactly one `Host`"},
      {"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "a header line is folded"},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "`Host ` is not the name of a header"},
      {"GET / HTTP/1.1\r\nHost\r\n\r\n", "a header line has no colon"},
      {"GET / HTTP/1.1\r\n: a\r\n\r\n", "`` is not the name of a header"},
      {"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", "the header `Host` has a control character"},
      {"GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", "the header `Host` has a control character"},
      {"GET / HTTP/1.1\r\na:1\r\nb:1\r\nc:1\r\nd:1\r\ne:1\r\nf:1\r\ng:1\r\nh:1\r\ni:1\r\n\r\n",
       "more than 8 header fields"},
  };
  for (const Row& row : rows) CHECK_MESSAGE(request(row.head) == "error: " + row.error, row.head);
}

TEST_CASE("wire: where a head ends") {
  const std::string head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  CHECK(wire::head_end(head + "rest", 100).value() == head.size());
  CHECK(wire::head_end(head, head.size()).value() == head.size());
  CHECK(wire::head_end(head, head.size() - 1).error().code == ErrorCode::kLimit);
  for (std::size_t cut = 0; cut < head.size(); ++cut) CHECK(wire::head_end(head.substr(0, cut), 100).value() == 0);
  CHECK(wire::head_end("GET / HTTP/1.1\nHost: x\n\n", 100).error().message == "a line feed without a carriage return");
  CHECK_FALSE(wire::head_end("\n", 100).ok());
}

TEST_CASE("wire: how long a body is, or that nobody knows") {
  struct Row {
    Headers headers;
    int minor;
    std::string expected;
  };
  const std::vector<Row> rows = {
      {{}, 1, "none"},
      {{{"content-length", "12"}}, 1, "length 12"},
      {{{"transfer-encoding", "Chunked"}}, 1, "chunked"},
      {{{"content-length", "12"}, {"content-length", "12"}}, 1, "more than one Content-Length"},
      {{{"content-length", "12, 12"}}, 1, "Content-Length is not a number"},
      {{{"content-length", "+12"}}, 1, "Content-Length is not a number"},
      {{{"content-length", "-1"}}, 1, "Content-Length is not a number"},
      {{{"content-length", ""}}, 1, "Content-Length is not a number"},
      {{{"content-length", "0x10"}}, 1, "Content-Length is not a number"},
      {{{"content-length", "99999999999999999999"}}, 1, "Content-Length is not a number"},
      {{{"content-length", "1"}, {"transfer-encoding", "chunked"}}, 1, "both Content-Length and Transfer-Encoding"},
      {{{"transfer-encoding", "gzip, chunked"}}, 1, "a Transfer-Encoding other than `chunked`"},
      {{{"transfer-encoding", "xchunked"}}, 1, "a Transfer-Encoding other than `chunked`"},
      {{{"transfer-encoding", "chunked"}, {"Transfer-Encoding", "chunked"}},
       1,
       "a Transfer-Encoding that is not understood"},
      {{{"transfer-encoding", "chunked"}}, 0, "a Transfer-Encoding that is not understood"},
  };
  for (const Row& row : rows) {
    const Result<wire::Framing> framing = wire::framing_of(wire::RequestHead{"POST", "/", row.minor, row.headers});
    std::string got = framing.ok() ? "" : framing.error().message;
    if (framing.ok()) {
      switch (framing.value().kind) {
        case wire::Framing::Kind::kNone: got = "none"; break;
        case wire::Framing::Kind::kLength: got = "length " + std::to_string(framing.value().length); break;
        case wire::Framing::Kind::kChunked: got = "chunked"; break;
        case wire::Framing::Kind::kUntilClose: got = "until close"; break;
      }
    }
    CHECK(got == row.expected);
  }
}

TEST_CASE("wire: chunks, cut anywhere") {
  const std::string bytes = "3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nnext";
  CHECK(body_of(kChunked, {bytes}) == "abc0123456789|next");
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    CHECK(body_of(kChunked, {bytes.substr(0, cut), bytes.substr(cut)}) == "abc0123456789|next");
  }
  CHECK(body_of(kChunked, {"3\r\nab"}) == "ab...");
}

TEST_CASE("wire: odd chunks are refused") {
  const std::vector<std::vector<std::string>> rows = {
      {" 3\r\nabc\r\n", "a chunk without a size"},
      {"3 \r\nabc\r\n", "a chunk without a size"},
      {"0x3\r\nabc\r\n", "a chunk without a size"},
      {"-3\r\nabc\r\n", "a chunk without a size"},
      {"+3\r\nabc\r\n", "a chunk without a size"},
      {"\r\nabc\r\n", "a chunk without a size"},
      {"fffffffffffffffff\r\n", "a chunk without a size"},
      {"3\nabc\r\n", "a line feed without a carriage return"},
      {"3\r\nabcd\r\n", "a chunk that is longer than its size"},
      {"3\r\nabc\n0\r\n", "a line feed without a carriage return"},
      {"3;a\rb\r\nabc\r\n", "a control character after a chunk's size"},
      {"3;" + std::string(300, 'x') + "\r\n", "a line of a chunk's size that is too long"},
      {"0\r\n folded\r\n\r\n", "a header line is folded"},
      {"0\r\n" + std::string(9000, 'x') + "\r\n\r\n", "trailers that are too long"},
  };
  for (const auto& row : rows) CHECK_MESSAGE(body_of(kChunked, {row[0]}) == "error: " + row[1], row[0]);
}

TEST_CASE("wire: answers") {
  const auto read = [](const std::string& head) { return wire::read_response(head, 8); };
  CHECK(read("HTTP/1.1 200 OK\r\nA: b\r\n\r\n").value().status == 200);
  CHECK(read("HTTP/1.0 404\r\n\r\n").value().minor == 0);
  CHECK_FALSE(read("HTTP/1.1 20\r\n\r\n").ok());
  CHECK_FALSE(read("HTTP/1.1 2000\r\n\r\n").ok());
  CHECK_FALSE(read("HTTP/1.1\r\n\r\n").ok());
  CHECK_FALSE(read("ICY 200 OK\r\n\r\n").ok());
  using Kind = wire::Framing::Kind;
  CHECK(wire::framing_of(wire::ResponseHead{200, 1, {}}, "GET").value().kind == Kind::kUntilClose);
  CHECK(wire::framing_of(wire::ResponseHead{200, 1, {{"Content-Length", "5"}}}, "HEAD").value().kind == Kind::kNone);
  CHECK(wire::framing_of(wire::ResponseHead{204, 1, {}}, "GET").value().kind == Kind::kNone);
}

TEST_CASE("http: addresses") {
  const auto shown_url = [](std::string_view text) -> std::string {
    const Result<Url> url = Url::parse(text);
    if (!url.ok()) return url.error().message;
    return url.value().origin() + " " + url.value().authority() + " " + url.value().target;
  };
  CHECK(shown_url("http://host") == "http://host:80 host /");
  CHECK(shown_url("https://host:8443/a?b") == "https://host:8443 host:8443 /a?b");
  CHECK(shown_url("http://[::1]:80?x") == "http://[::1]:80 [::1] /?x");
  CHECK(shown_url("ftp://host") == "`ftp://host` is not an address: it begins with neither `http://` nor `https://`");
  CHECK(shown_url("http://u:PW@host/a@b") == "`http://...@host/a@b` is not an address: it names a user");
  CHECK(net::shown_url("http://u:P/W@host:8000/v1") == "http://...@host:8000/v1");
  CHECK(net::shown_url("https://host/v1") == "https://host/v1");
  CHECK(shown_url("http://u:P W@host") == "`http://...@host` is not an address: a character in it needs to be escaped");
  CHECK(shown_url("http://host:0") == "`http://host:0` is not an address: `0` is not a port");
  CHECK(shown_url("http://host:99999") == "`http://host:99999` is not an address: `99999` is not a port");
  CHECK(shown_url("http://") == "`http://` is not an address: it names no host");
  CHECK(shown_url("http://[::1") == "`http://[::1` is not an address: `[` is not closed");
  CHECK(shown_url("http://h/#f") == "`http://h/#f` is not an address: it has a fragment (`#`)");
  CHECK(shown_url("http://h/a b") == "`http://h/a b` is not an address: a character in it needs to be escaped");
}

TEST_CASE("http: headers and queries") {
  Headers headers{{"A", "1"}, {"a", "2"}, {"Connection", "x, Close"}};
  CHECK(headers.find("a") == "1");
  CHECK(headers.count("A") == 2);
  CHECK(headers.has_word("connection", "close"));
  CHECK_FALSE(headers.has_word("connection", "clos"));
  headers.set("A", "3");
  CHECK(headers.count("a") == 1);
  CHECK(query_value("a=1&b=x%20y+z&c", "b") == "x y z");
  CHECK(query_value("a=1&c", "c") == "");
  CHECK(query_value("a=1&c", "d") == std::nullopt);
  CHECK(query_value("a=%4", "a") == std::nullopt);
  CHECK(query_values("a[]=1&b=2&a%5B%5D=3&a[]=%4", "a[]") == std::vector<std::string>{"1", "3"});
  CHECK(percent_decoded("%e2%82%AC").value() == "\xE2\x82\xAC");
  CHECK_FALSE(percent_decoded("%g0").ok());
}

}  // namespace
}  // namespace rondo::net
