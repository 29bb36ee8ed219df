#include "net/tls.h"

#include <openssl/ssl.h>

namespace rondo::net {
namespace {

// TLS 1.2 or later, as far as the system's settings allow.
Result<TlsContext> make_tls(asio::ssl::context::method method) {
  try {
    auto context = std::make_shared<asio::ssl::context>(method);
    if (SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION) != 1) {
      return Error(ErrorCode::kUnsupported, "TLS 1.2 is not to be had");
    }
    return context;
  } catch (const boost::system::system_error& error) {
    return Error(ErrorCode::kUnsupported, std::string("no TLS: ") + error.what());
  }
}

Error bad_pem(const std::string& what, const ErrorValue& error) {
  return {ErrorCode::kInvalidArgument, what + ": " + error.message()};
}

}  // namespace

Result<TlsContext> client_tls(const std::string& ca_pem, bool insecure) {
  Result<TlsContext> made = make_tls(asio::ssl::context::tls_client);
  if (!made.ok()) return made;
  asio::ssl::context& context = *made.value();
  ErrorValue error;
  context.set_verify_mode(insecure ? asio::ssl::verify_none : asio::ssl::verify_peer, error);
  if (!error && !ca_pem.empty()) context.add_certificate_authority(asio::buffer(ca_pem), error);
  if (error) return bad_pem("the certificates of authorities cannot be read", error);
  return made;
}

void trust_system(asio::ssl::context& context) {
  ErrorValue ignored;  // without any, no server is accepted, and that error names its address
  context.set_default_verify_paths(ignored);
  // An OpenSSL that came with this program looks in Debian's folder, which Fedora and its kin do not fill.
  context.load_verify_file("/etc/pki/tls/certs/ca-bundle.crt", ignored);
}

Result<TlsContext> server_tls(const std::string& certificate_pem, const std::string& key_pem) {
  Result<TlsContext> made = make_tls(asio::ssl::context::tls_server);
  if (!made.ok()) return made;
  asio::ssl::context& context = *made.value();
  ErrorValue error;
  context.use_certificate_chain(asio::buffer(certificate_pem), error);
  if (error) return bad_pem("the server's certificate cannot be read", error);
  context.use_private_key(asio::buffer(key_pem), asio::ssl::context::pem, error);
  if (error) return bad_pem("the server's key cannot be read, or is not the certificate's", error);
  return made;
}

}  // namespace rondo::net
