#include "tests/support/http.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <thread>

namespace rondo::testing {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

Result<net::Response> fetch(net::Loop& loop, net::Client& client, net::Request request) {
  std::optional<Result<net::Response>> answer;
  const auto call = client.fetch(std::move(request), [&](Result<net::Response> response) {
    answer = std::move(response);
    loop.stop();
  });
  while (!answer) loop.run();  // something else may stop it first
  return std::move(*answer);
}

Result<net::Response> get(net::Loop& loop, net::Client& client, std::string url) {
  net::Request request;
  request.url = std::move(url);
  return fetch(loop, client, std::move(request));
}

Result<net::Response> post(net::Loop& loop, net::Client& client, std::string url, std::string body) {
  net::Request request;
  request.method = "POST";
  request.url = std::move(url);
  request.body = std::move(body);
  return fetch(loop, client, std::move(request));
}

std::unique_ptr<net::Client> client_of(net::Loop& loop, net::ClientOptions options) {
  auto client = net::Client::make(loop, std::move(options));
  REQUIRE(client.ok());
  return std::move(client).value();
}

std::string raw_exchange(net::Loop& loop, std::uint16_t port, const std::vector<std::string>& pieces,
                         const std::string& until) {
  std::string answer;
  bool connected = false;
  std::thread client([&] {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const int one = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    for (const std::string& piece : pieces) {
      if (::send(descriptor, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
    }
    std::array<char, 4096> buffer{};
    while (until.empty() || answer.find(until) == std::string::npos) {
      const ssize_t size = ::recv(descriptor, buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
    ::close(descriptor);
    loop.stop();
  });
  loop.run();
  client.join();
  CHECK(connected);
  return answer;
}

void settle(net::Loop& loop) {
  // What arrives over a socket of this machine is ready by the time that the loop has gone round a few times.
  constexpr int kRounds = 50;
  int rounds = 0;
  std::function<void()> round = [&] {
    if (++rounds == kRounds) {
      loop.stop();
    } else {
      loop.post(round);
    }
  };
  loop.post(round);
  loop.run();
}

TestCertificate make_certificate() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509* made = certificate.get();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 3600);
  X509_set_pubkey(made, key.get());
  X509_NAME* name = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(made, name);
  X509_EXTENSION* names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "DNS:localhost");
  X509_add_ext(made, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(made, key.get(), EVP_sha256());
  const std::unique_ptr<BIO, decltype(&BIO_free)> certificate_text(BIO_new(BIO_s_mem()), &BIO_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> key_text(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio_X509(certificate_text.get(), made);
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(certificate_text.get()), text_of(key_text.get())};
}

}  // namespace rondo::testing
