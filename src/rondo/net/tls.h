// Certificates and keys for both sides of TLS.
#pragma once

#include <memory>
#include <string>

#include "net/asio.h"
#include "rondo/result.h"

namespace rondo::net {

using TlsContext = std::shared_ptr<asio::ssl::context>;

// For clients: servers are verified with the certificates of `ca_pem`, or, where that is empty, with those that are added
// with `trust_system`; not at all if `insecure`.
[[nodiscard]] Result<TlsContext> client_tls(const std::string& ca_pem, bool insecure);
void trust_system(asio::ssl::context& context);

// For servers: kInvalidArgument if certificate and key cannot be read or do not fit each other.
[[nodiscard]] Result<TlsContext> server_tls(const std::string& certificate_pem, const std::string& key_pem);

}  // namespace rondo::net
