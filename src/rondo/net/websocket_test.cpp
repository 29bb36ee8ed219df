#include "net/websocket.h"

#include <doctest/doctest.h>

#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "net/asio.h"
#include "net/server.h"
#include "tests/support/http.h"

namespace rondo::net {
namespace {

using websocket::Failure;
using websocket::Message;
using websocket::Opcode;

// A client's frame.
std::string masked(unsigned first, std::string_view payload, std::string_view mask = "\x11\x22\x33\x44") {
  std::string plain = websocket::frame(Opcode::kText, payload);
  std::string out(1, static_cast<char>(first));
  const std::size_t head = plain.size() - payload.size();
  out += static_cast<char>(static_cast<unsigned char>(plain[1]) | 0x80U);
  out += plain.substr(2, head - 2);
  out += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) out += static_cast<char>(payload[i] ^ mask[i % 4]);
  return out;
}

// What a reader makes of the bytes, given this many at once: "text:abc", "ping:", "failed:1002".  Nothing is read
// after a failure.
std::string read(const std::string& bytes, std::size_t step,
                 websocket::ReaderOptions options = {.message_bytes = 1000}) {
  websocket::Reader reader(options);
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto failure = reader.read(std::string_view(bytes).substr(at, step), [&](const Message& message) {
      switch (message.opcode) {
        case Opcode::kText: out += "text:"; break;
        case Opcode::kBinary: out += "binary:"; break;
        case Opcode::kPing: out += "ping:"; break;
        case Opcode::kPong: out += "pong:"; break;
        case Opcode::kClose: out += "close:" + std::to_string(websocket::code_of(message.payload)); return true;
        case Opcode::kContinuation: out += "?"; break;
      }
      out += message.payload + " ";
      return true;
    });
    if (!failure) continue;
    const auto late = reader.read(masked(0x81, "late"), [&](const Message&) { return out += "late ", true; });
    return out + (late ? "failed again:" : "failed:") + std::to_string(failure->code);
  }
  return out;
}

std::string read_all(const std::string& bytes, websocket::ReaderOptions options = {.message_bytes = 1000}) {
  const std::string whole = read(bytes, bytes.size() + 1, options);
  for (const std::size_t step : {1U, 2U, 3U, 7U}) CHECK(read(bytes, step, options) == whole);
  return whole;
}

TEST_CASE("messages come out of their frames, however the bytes are cut") {
  const std::string a300(300, 'a');
  CHECK(read_all(masked(0x81, "hello") + masked(0x82, "x")) == "text:hello binary:x ");
  CHECK(read_all(masked(0x81, "")) == "text: ");
  CHECK(read_all(masked(0x81, a300)) == "text:" + a300 + " ");
  // In pieces, with a control frame between them.
  CHECK(read_all(masked(0x01, "he") + masked(0x89, "p") + masked(0x00, "ll") + masked(0x80, "o")) ==
        "ping:p text:hello ");
  CHECK(read_all(masked(0x88, std::string("\x03\xE8", 2) + "bye") + masked(0x81, "late")) == "close:1000");
  CHECK(read_all(masked(0x88, "")) == "close:1005");
}

TEST_CASE("what the protocol does not allow is a failure with its code") {
  const auto failed = [](const std::string& bytes, websocket::ReaderOptions options = {.message_bytes = 1000}) {
    const std::string out = read_all(bytes, options);
    const std::size_t at = out.find("failed:");
    return at == std::string::npos ? "read: " + out : out.substr(at + 7);
  };
  CHECK(failed("\x81\x01x") == "1002");        // not masked
  CHECK(failed(masked(0xC1, "x")) == "1002");  // compressed without agreement
  CHECK(failed(masked(0xA1, "x")) == "1002");  // reserved bits
  CHECK(failed(masked(0x83, "x")) == "1002");  // reserved opcodes
  CHECK(failed(masked(0x8B, "x")) == "1002");
  CHECK(failed(masked(0x80, "x")) == "1002");                      // there is nothing to continue
  CHECK(failed(masked(0x01, "x") + masked(0x81, "y")) == "1002");  // inside another message
  CHECK(failed(masked(0x09, "x")) == "1002");                      // control frames in pieces, and long ones
  CHECK(failed(masked(0x89, std::string(126, 'x'))) == "1002");
  CHECK(failed(masked(0x88, "x")) == "1002");
  CHECK(failed(masked(0x88, std::string("\x03\xED", 2))) == "1002");  // 1005 is never sent
  CHECK(failed(masked(0x88, std::string("\x03\xE8\xFF", 3))) == "1007");
  CHECK(failed(masked(0x81, "\xC3")) == "1007");
  CHECK(failed(masked(0x81, std::string(1001, 'x'))) == "1009");
  CHECK(failed(masked(0x01, std::string(600, 'x')) + masked(0x80, std::string(401, 'x'))) == "1009");
  CHECK(failed(std::string("\x81\xFE\x00\x05", 4) + "maskxxxxx") == "1002");  // a long size
  CHECK(failed(std::string("\x81\xFF\x00\x00\x00\x00\x00\x00\xFF\xFF", 10) + "mask") == "1002");
  CHECK(failed(std::string("\x81\xFF\x80\x00\x00\x00\x00\x00\x00\x00", 10) + "mask") == "1002");
  CHECK(failed(masked(0xC1, "no deflate"), {.message_bytes = 1000, .deflates = true}) == "1007");
  CHECK(failed(masked(0xC1, websocket::pack(std::string(1001, 'x'), 15)), {.message_bytes = 1000, .deflates = true}) ==
        "1009");
}

TEST_CASE("what is packed is unpacked, in any window") {
  std::string text;
  for (unsigned i = 0, random = 1; i < 200'000; ++i) {
    random = random * 1664525U + 1013904223U;
    text += static_cast<char>('a' + (random >> 28U));
  }
  for (const std::string& one : {std::string(), std::string("x"), std::string(100'000, 'y'), text}) {
    for (int bits = 9; bits <= 15; ++bits) {
      bool is_too_big = false;
      const std::string packed = websocket::pack(one, bits);
      CHECK(websocket::unpack(packed, one.size(), is_too_big) == one);
      CHECK(!is_too_big);
    }
  }
  bool is_too_big = false;
  CHECK(!websocket::unpack(websocket::pack(std::string(100'000, 'y'), 15), 50'000, is_too_big));
  CHECK(is_too_big);
  // A final block followed by an empty one, as RFC 7692 allows.
  CHECK(websocket::unpack(std::string("\xf3\x48\xcd\xc9\xc9\x07\x00\x00", 8), 99, is_too_big) == "Hello");
  CHECK(read_all(masked(0xC1, std::string("\xf2\x48\xcd\xc9\xc9\x07\x00", 7)),
                 {.message_bytes = 1000, .deflates = true}) == "text:Hello ");
}

TEST_CASE("the first offer of packing that can be met is taken") {
  const auto agreed = [](const std::string& offers) {
    return websocket::agree_on_deflate({{"Sec-WebSocket-Extensions", offers}}).answer;
  };
  const std::string plain = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
  CHECK(agreed("permessage-deflate") == plain);
  CHECK(agreed("permessage-deflate; client_max_window_bits") == plain);
  CHECK(agreed("x-other\t, permessage-deflate ; client_max_window_bits = 15 ,other") == plain);
  CHECK(agreed("x-other, permessage-deflate; server_no_context_takeover") == plain);
  CHECK(agreed("permessage-deflate; server_max_window_bits=\"10\"") == plain + "; server_max_window_bits=10");
  CHECK(agreed("permessage-deflate; server_max_window_bits=8, permessage-deflate") == plain);
  CHECK(agreed("") == "");
  for (const char* bad :
       {"permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; client_max_window_bits=16", "permessage-deflate; client_max_window_bits=010",
        "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover"}) {
    CHECK_MESSAGE(agreed(bad) == "", bad);
  }
}

constexpr const char* kHandshake =
    "GET /chat HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";

// A server that sends back what it receives.
class Echo {
 public:
  explicit Echo(const WebSocketOptions& options = {}, const ServerOptions& server_options = {}) {
    auto server = Server::make(loop, server_options, [this, options](Exchange exchange) {
      auto socket = WebSocket::accept(std::move(exchange), options);
      if (!socket) return;
      socket_.emplace(*std::move(socket));
      socket_->on_message([this](const std::string& text) { socket_->send("<" + text + ">"); });
      socket_->on_gone([this] { gone = true; });
      socket_->on_drain([this] { socket_->close(websocket::kGoingAway, "drained"); });
      if (accepted) loop.post(accepted);
    });
    REQUIRE(server.ok());
    server_ = std::move(server).value();
  }
  ~Echo() { server_.reset(); }
  std::string say(const std::vector<std::string>& pieces, const std::string& until = {}) {
    return testing::raw_exchange(loop, server_->port(), pieces, until);
  }
  Server& server() { return *server_; }

  Loop loop;
  bool gone = false;
  std::function<void()> accepted;  // called once there is a socket

 private:
  std::optional<WebSocket> socket_;
  std::unique_ptr<Server> server_;
};

TEST_CASE("a connection is upgraded, and messages go both ways") {
  Echo echo;
  const std::string all = echo.say(
      {std::string(kHandshake) + "\r\n" + masked(0x81, "one"), masked(0x89, "ping"), masked(0x81, "two")}, "<two>");
  CHECK(all.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  CHECK(all.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
  CHECK(all.find("Sec-WebSocket-Extensions") == std::string::npos);
  const std::string rest = all.substr(all.find("\r\n\r\n") + 4);
  CHECK(rest.find("\x81\x05<one>") != std::string::npos);
  CHECK(rest.find("\x8A\x04ping") != std::string::npos);
  CHECK(rest.ends_with("\x81\x05<two>"));
  const std::string end = masked(0x88, std::string("\x03\xE8", 2));
  CHECK(echo.say({std::string(kHandshake) + "\r\n", end}).ends_with(std::string("\x88\x02\x03\xE8", 4)));
  testing::settle(echo.loop);
  CHECK(echo.gone);
}

TEST_CASE("long messages are packed where that was agreed on") {
  Echo echo;
  const std::string handshake =
      std::string(kHandshake) + "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n";
  const std::string text(5000, 'x');
  const std::string all = echo.say({handshake + masked(0xC1, websocket::pack(text, 15))}, "\r\n\r\n\xC1");
  const std::string rest = all.substr(all.find("\r\n\r\n") + 4);
  REQUIRE(rest.size() > 6);
  CHECK(static_cast<unsigned char>(rest[0]) == 0xC1U);
  bool is_too_big = false;
  CHECK(websocket::unpack(rest.substr(2, static_cast<unsigned char>(rest[1])), 9999, is_too_big) == "<" + text + ">");
}

TEST_CASE("a wrong handshake is refused, and wrong frames close the connection") {
  Echo echo;
  const std::string good = std::string(kHandshake) + "\r\n";
  const auto without = [&](std::string_view line) {
    std::string out = good;
    const std::size_t at = out.find(line);
    out.erase(at, out.find("\r\n", at) + 2 - at);
    return out;
  };
  CHECK(echo.say({without("Connection")}, "\r\n\r\n").starts_with("HTTP/1.1 400"));
  CHECK(echo.say({without("Sec-WebSocket-Key")}, "\r\n\r\n").starts_with("HTTP/1.1 400"));
  const std::string old = echo.say({without("Sec-WebSocket-Version")}, "\r\n\r\n");
  CHECK(old.starts_with("HTTP/1.1 426"));
  CHECK(old.find("Sec-WebSocket-Version: 13") != std::string::npos);
  const auto closed_with = [&](const std::string& frames) {
    const std::string all = echo.say({good + frames});
    const std::string rest = all.substr(all.find("\r\n\r\n") + 4);
    return rest.size() < 4 ? 0U : static_cast<unsigned>(websocket::code_of(std::string_view(rest).substr(2)));
  };
  CHECK(closed_with("\x81\x01x") == 1002);
  CHECK(closed_with(masked(0x82, "bytes")) == 1003);
  CHECK(closed_with(masked(0x81, "\xFF")) == 1007);
}

TEST_CASE("tls: a connection is upgraded just the same") {
  const testing::TestCertificate certificate = testing::make_certificate();
  Echo echo({}, {.certificate_pem = certificate.certificate_pem, .key_pem = certificate.key_pem});
  std::string all;
  std::thread client([&] {
    asio::io_context context;
    asio::ssl::context tls(asio::ssl::context::tls_client);
    asio::ssl::stream<asio::ip::tcp::socket> stream(context, tls);
    stream.next_layer().connect({asio::ip::make_address("127.0.0.1"), echo.server().port()});
    stream.handshake(asio::ssl::stream_base::client);
    asio::write(stream, asio::buffer(std::string(kHandshake) + "\r\n" + masked(0x81, std::string(100'000, 'x'))));
    boost::system::error_code ignored;
    asio::read_until(stream, asio::dynamic_buffer(all), "x>", ignored);
    echo.loop.post([&] { echo.loop.stop(); });
  });
  echo.loop.run();
  client.join();
  CHECK(all.starts_with("HTTP/1.1 101"));
  CHECK(all.ends_with("<" + std::string(100'000, 'x') + ">"));
}

TEST_CASE("a quiet client is asked, then cut; a server that drains says so") {
  Echo echo({.quiet = Milliseconds(20)});
  const std::string all = echo.say({std::string(kHandshake) + "\r\n"});
  CHECK(all.ends_with(std::string("\x89\x00", 2)));
  Echo other;
  other.accepted = [&] { other.server().drain(Milliseconds(10'000), [](std::size_t) {}); };
  CHECK(other.say({std::string(kHandshake) + "\r\n"}).ends_with(std::string("\x88\x09\x03\xE9", 4) + "drained"));
}

}  // namespace
}  // namespace rondo::net
