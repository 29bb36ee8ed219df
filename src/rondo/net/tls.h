// Certificates and keys for both sides of TLS.
#pragma once

#include <memory>
#include <string>

#include "net/asio.h"
#include "rondo/result.h"

namespace rondo::net {

using TlsContext = std::shared_ptr<asio::ssl::context>;

// For clients.  Servers are verified with the certificates in `ca_pem` or, if it is empty, with those that
// `trust_system` adds.  With `insecure` they are not verified.
[[nodiscard]] Result<TlsContext> client_tls(const std::string& ca_pem, bool insecure);
void trust_system(asio::ssl::context& context);

// For servers.  Fails with kInvalidArgument if the certificate or key cannot be read, or if they do not belong
// together.
[[nodiscard]] Result<TlsContext> server_tls(const std::string& certificate_pem, const std::string& key_pem);

}  // namespace rondo::net
