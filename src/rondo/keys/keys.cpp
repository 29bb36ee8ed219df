#include "keys/keys.h"

#include <sodium.h>

#include <algorithm>

namespace rondo::keys {
namespace {

using Hash = std::array<std::uint8_t, 32>;

constexpr std::size_t kSecretBytes = 32;
constexpr std::string_view kPrefix = "rk-";
constexpr std::string_view kPurpose = "rondo: API keys";  // so that hashes made for other purposes never match

Status ready() {
  if (sodium_init() < 0) return Error(ErrorCode::kInternal, "no random numbers are to be had");
  return Done{};
}

Hash hash_of(std::string_view secret) {
  static_assert(kPurpose.size() <= crypto_generichash_KEYBYTES_MAX);
  Hash hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                     reinterpret_cast<const unsigned char*>(kPurpose.data()), kPurpose.size());
  return hash;
}

bool is_name(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMostNameBytes && std::all_of(name.begin(), name.end(), fits);
}

std::string hex_of(const Hash& hash) {
  std::string hex(2 * hash.size() + 1, '\0');
  sodium_bin2hex(hex.data(), hex.size(), hash.data(), hash.size());
  hex.pop_back();
  return hex;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

constexpr std::string_view kNameRule = "a name has 1 to 64 letters, digits, `.`, `_` and `-`";

}  // namespace

Result<NewKey> make_key(std::string_view name) {
  if (!is_name(name)) return Error(ErrorCode::kInvalidArgument, std::string(kNameRule));
  if (const Status status = ready(); !status.ok()) return status.error();
  std::array<unsigned char, kSecretBytes> bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  constexpr int kVariant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
  std::string text(sodium_base64_encoded_len(bytes.size(), kVariant), '\0');
  sodium_bin2base64(text.data(), text.size(), bytes.data(), bytes.size(), kVariant);
  text.pop_back();
  sodium_memzero(bytes.data(), bytes.size());
  NewKey key{.secret = std::string(kPrefix) + text, .line = {}};
  key.line = std::string(name) + " " + hex_of(hash_of(key.secret)) + "\n";
  return key;
}

Result<KeyRing> KeyRing::read(std::string_view text, const std::string& source) {
  if (const Status status = ready(); !status.ok()) return status.error();
  KeyRing ring;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    const auto fault = [&](std::string_view sentence) {
      return Error(ErrorCode::kInvalidArgument, std::string(sentence), source).at(number, 1);
    };
    const std::size_t blank = line.find_first_of(" \t");
    if (blank == std::string_view::npos) return fault("a line is a name and a hash: `NAME HASH`");
    Entry entry{.name = std::string(line.substr(0, blank)), .hash = {}};
    if (!is_name(entry.name)) return fault(kNameRule);
    const std::string_view hex = trimmed(line.substr(blank));
    std::size_t size = 0;
    const char* last = nullptr;
    const bool is_hash =
        sodium_hex2bin(entry.hash.data(), entry.hash.size(), hex.data(), hex.size(), nullptr, &size, &last) == 0 &&
        size == entry.hash.size() && last == hex.data() + hex.size();
    if (!is_hash) return fault("a hash is 64 hexadecimal digits, as --add-key writes them");
    ring.entries_.push_back(std::move(entry));
  }
  return ring;
}

std::optional<std::string> KeyRing::tenant_of(std::string_view secret) const {
  if (secret.empty() || secret.size() > kMostSecretBytes) return std::nullopt;
  const Hash hash = hash_of(secret);
  const Entry* found = nullptr;
  for (const Entry& entry : entries_) {
    if (sodium_memcmp(entry.hash.data(), hash.data(), hash.size()) == 0) found = &entry;
  }
  return found == nullptr ? std::nullopt : std::optional(found->name);
}

}  // namespace rondo::keys
