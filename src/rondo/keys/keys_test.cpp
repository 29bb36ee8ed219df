#include "keys/keys.h"

#include <doctest/doctest.h>

namespace rondo::keys {
namespace {

std::string fault_of(std::string_view text) {
  const auto ring = KeyRing::read(text, "keys.txt");
  REQUIRE(!ring.ok());
  return ring.error().to_string();
}

TEST_CASE("a key is found by its secret, and by nothing else") {
  const NewKey ann = make_key("ann").value();
  const NewKey other = make_key("ann").value();
  const NewKey bob = make_key("bob.2").value();
  CHECK(ann.secret.size() == 46);
  CHECK(ann.secret != other.secret);
  const auto ring = KeyRing::read("# people\n\n" + ann.line + "  " + bob.line + other.line, "keys.txt");
  REQUIRE(ring.ok());
  CHECK(ring.value().size() == 3);
  CHECK(ring.value().tenant_of(ann.secret) == "ann");
  CHECK(ring.value().tenant_of(other.secret) == "ann");
  CHECK(ring.value().tenant_of(bob.secret) == "bob.2");
  CHECK(!ring.value().tenant_of(""));
  CHECK(!ring.value().tenant_of(ann.secret + "x"));
  CHECK(!ring.value().tenant_of(ann.line.substr(4, 64)));
  CHECK(!ring.value().tenant_of(std::string(kMostSecretBytes + 1, 'x')));
  CHECK(!KeyRing().tenant_of(ann.secret));
}

TEST_CASE("a secret has at most 512 bytes") {
  const auto ring = KeyRing::read(  // the hashes of 512 and of 513 times `x`
      "most c86ce8fbdf292a9e6bc2c33adeac0eef9bebca6ccaf5d5cfc93c18c2680f7000\n"
      "more 96676860e7d3b80fa952d70d270d4944a9d64c8a6a0ac239d68bd2604cb9401a\n",
      "keys.txt");
  REQUIRE(ring.ok());
  CHECK(ring.value().tenant_of(std::string(512, 'x')) == "most");
  CHECK(!ring.value().tenant_of(std::string(513, 'x')));
}

TEST_CASE("a file of keys says where it is wrong, and repeats nothing of it") {
  CHECK(fault_of("\nsecret-secret\n").find("keys.txt:2:1: a line is a name and a hash") != std::string::npos);
  CHECK(fault_of("a/b 00\n").find("a name has 1 to 64 letters") != std::string::npos);
  CHECK(fault_of("ann 00ff\n").find("64 hexadecimal digits") != std::string::npos);
  CHECK(fault_of("ann " + std::string(64, 'g') + "\n").find("64 hexadecimal digits") != std::string::npos);
  CHECK(fault_of("secret-secret\n").find("secret-secret") == std::string::npos);
  CHECK(fault_of("ann rk-secret\n").find("rk-secret") == std::string::npos);
  CHECK(!make_key("").ok());
  CHECK(!make_key("a b").ok());
  CHECK(!make_key(std::string(65, 'a')).ok());
}

}  // namespace
}  // namespace rondo::keys
