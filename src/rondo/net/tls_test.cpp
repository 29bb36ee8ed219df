#include <doctest/doctest.h>

#include <string>

#include "net/client.h"
#include "net/server.h"
#include "tests/support/http.h"

namespace rondo::net {
namespace {

using testing::client_of;
using testing::get;

TEST_CASE("tls: requests and streams, verified against the given authority") {
  const testing::TestCertificate certificate = testing::make_certificate();
  Loop loop;
  const auto made = Server::make(
      loop, {.host = "localhost", .certificate_pem = certificate.certificate_pem, .key_pem = certificate.key_pem},
      [](Exchange exchange) { exchange.reply(200, {}, std::string(300'000, 'y') + exchange.request().body); });
  REQUIRE(made.ok());
  const std::string url = made.value()->url();
  CHECK(url.starts_with("https://localhost:"));
  const auto client = client_of(loop, {.ca_pem = certificate.certificate_pem});
  for (int i = 0; i < 2; ++i) {
    const Result<Response> response = testing::post(loop, *client, url + "/", std::string(300'000, 'x'));
    REQUIRE(response.ok());
    CHECK(response.value().body == std::string(300'000, 'y') + std::string(300'000, 'x'));
  }
  CHECK(client->connections() == 1);

  SUBCASE("another name") {
    const Result<Response> wrong =
        get(loop, *client, "https://127.0.0.1:" + std::to_string(made.value()->port()) + "/");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().message.starts_with("connect: no"));
  }
  SUBCASE("an authority that nobody knows") {
    const auto stranger = client_of(loop);
    const Result<Response> wrong = get(loop, *stranger, url + "/");
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().message.starts_with("connect: no TLS: its certificate was not accepted: "));
  }
  SUBCASE("not verified") {
    const auto careless = client_of(loop, {.insecure = true});
    CHECK(get(loop, *careless, url + "/").ok());
  }
  SUBCASE("no TLS at all") {
    const auto plain = client_of(loop);
    CHECK_FALSE(get(loop, *plain, "http://localhost:" + std::to_string(made.value()->port()) + "/").ok());
  }
}

TEST_CASE("tls: a paused stream, and one that is cancelled") {
  const testing::TestCertificate certificate = testing::make_certificate();
  Loop loop;
  std::optional<Exchange> exchange;
  bool was_gone = false;
  const auto server = Server::make(
      loop, {.host = "localhost", .certificate_pem = certificate.certificate_pem, .key_pem = certificate.key_pem},
      [&](Exchange got) {
        exchange = std::move(got);
        exchange->on_gone([&] {
          was_gone = true;
          loop.stop();
        });
        exchange->start(200, {});
        exchange->write("one");
      });
  REQUIRE(server.ok());
  const auto client = client_of(loop, {.insecure = true});
  testing::Recorder recorder(loop);
  Request request;
  request.url = server.value()->url() + "/";
  auto call = client->stream(std::move(request), recorder);
  recorder.data_seen = [&] { loop.stop(); };
  loop.run();
  CHECK(recorder.body == "one");
  call->pause();
  exchange->write("two");
  testing::settle(loop);
  CHECK(recorder.body == "one");
  call->resume();
  loop.run();
  CHECK(recorder.body == "onetwo");
  call.reset();
  loop.run();
  CHECK(was_gone);
}

TEST_CASE("tls: a connection ends in order behind its last answer") {
  const testing::TestCertificate certificate = testing::make_certificate();
  Loop loop;
  std::optional<Exchange> exchange;
  const auto server = Server::make(
      loop, {.host = "localhost", .certificate_pem = certificate.certificate_pem, .key_pem = certificate.key_pem},
      [&](Exchange got) {
        exchange = std::move(got);
        loop.stop();
      });
  REQUIRE(server.ok());
  const auto client = client_of(loop, {.insecure = true});
  std::string body;
  Request request;
  request.url = server.value()->url() + "/";
  const auto call = client->fetch(std::move(request), [&](const Result<Response>& response) {
    REQUIRE(response.ok());
    body = response.value().body;
  });
  loop.run();
  std::optional<std::size_t> cut;
  server.value()->drain(Milliseconds(60'000), [&](std::size_t count) {
    cut = count;
    loop.stop();
  });
  exchange->reply(200, {}, std::string(1'000'000, 'z'));
  loop.run();
  CHECK(cut == 0);
  testing::settle(loop);
  CHECK(body == std::string(1'000'000, 'z'));
}

TEST_CASE("tls: a renewed certificate is for new connections; those that are open go on") {
  const testing::TestCertificate old = testing::make_certificate();
  const testing::TestCertificate renewed = testing::make_certificate();
  Loop loop;
  const auto server =
      Server::make(loop, {.host = "localhost", .certificate_pem = old.certificate_pem, .key_pem = old.key_pem},
                   [](Exchange exchange) { exchange.reply(200, {}, "here"); });
  REQUIRE(server.ok());
  const std::string url = server.value()->url() + "/";
  const auto before = client_of(loop, {.ca_pem = old.certificate_pem});
  REQUIRE(get(loop, *before, url).ok());
  CHECK_FALSE(server.value()->renew_certificate("nonsense", renewed.key_pem).ok());
  CHECK_FALSE(server.value()->renew_certificate(renewed.certificate_pem, old.key_pem).ok());
  CHECK(get(loop, *client_of(loop, {.ca_pem = old.certificate_pem}), url).ok());
  REQUIRE(server.value()->renew_certificate(renewed.certificate_pem, renewed.key_pem).ok());
  CHECK(get(loop, *before, url).ok());
  CHECK(before->connections() == 1);
  CHECK(get(loop, *client_of(loop, {.ca_pem = renewed.certificate_pem}), url).ok());
  CHECK_FALSE(get(loop, *client_of(loop, {.ca_pem = old.certificate_pem}), url).ok());
}

TEST_CASE("tls: certificates and keys that cannot be read") {
  const testing::TestCertificate certificate = testing::make_certificate();
  const testing::TestCertificate other = testing::make_certificate();
  Loop loop;
  const auto failure = [&](const std::string& certificate_pem, const std::string& key_pem) {
    const auto server =
        Server::make(loop, {.certificate_pem = certificate_pem, .key_pem = key_pem}, [](const Exchange&) {});
    return server.ok() ? "" : server.error().message.substr(0, server.error().message.find(':'));
  };
  CHECK(failure("nonsense", certificate.key_pem) == "the server's certificate cannot be read");
  CHECK(failure(certificate.certificate_pem, "nonsense") ==
        "the server's key cannot be read, or is not the certificate's");
  CHECK(failure(certificate.certificate_pem, other.key_pem) ==
        "the server's key cannot be read, or is not the certificate's");
  const auto client = Client::make(loop, {.ca_pem = "nonsense"});
  REQUIRE_FALSE(client.ok());
  CHECK(client.error().code == ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace rondo::net
