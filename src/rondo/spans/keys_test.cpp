#include "spans/keys.h"

#include <doctest/doctest.h>

#include "spans/bytes.h"

namespace rondo::spans {
namespace {

TurnKey key_of(std::uint8_t first) {
  TurnKey out;
  for (std::size_t i = 0; i < out.bytes.size(); ++i) out.bytes[i] = static_cast<std::uint8_t>(first + (37 * i));
  return out;
}

TEST_CASE("keyed hashes are those of the published vectors") {
  HashKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  CHECK(to_hex(keyed_hash(key, "")) == "a3817f04ba25a8e66df67214c7550293");
  CHECK(to_hex(keyed_hash(key, std::string(1, '\0'))) == "da87c1d86b99af44347659119b22fc45");
  CHECK(to_hex(keyed_hash(key, std::string("\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15))) ==
        "5493e99933b0a8117e08ec0f97cfc3d9");
  CHECK(to_hex(keyed_hash(key, "12345678")) != to_hex(keyed_hash(key, "1234567")));
}

TEST_CASE("a scope hashes the purpose and the bytes as one text") {
  const HashKey secret = {1, 2, 3};
  const Scope scope(secret, "tenant", "model");
  std::string name = "scope";
  put_text(name, "tenant");
  put_text(name, "model");
  const HashKey key = keyed_hash(secret, name).bytes;
  std::string text = "m";
  for (int size = 0; size < 40; ++size, text += static_cast<char>('A' + size))
    CHECK(scope.hash('m', std::string_view(text).substr(1)) == keyed_hash(key, text));
}

TEST_CASE("numbers and texts are read as they were written") {
  std::string bytes;
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}})
    put_number(bytes, value);
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN, INT64_MAX}) put_signed(bytes, value);
  put_text(bytes, "text");
  ByteReader in(bytes);
  CHECK(in.number() == 0);
  CHECK(in.number() == 127);
  CHECK(in.number() == 128);
  CHECK(in.number() == ~std::uint64_t{0});
  CHECK(in.signed_number() == 0);
  CHECK(in.signed_number() == -1);
  CHECK(in.signed_number() == INT64_MIN);
  CHECK(in.signed_number() == INT64_MAX);
  CHECK(in.text() == "text");
  CHECK(in.at_end());
  CHECK(in.number() == 0);
  CHECK(!in.ok());
  ByteReader too_long("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02");
  CHECK(too_long.number() == 0);
  CHECK(!too_long.ok());
}

TEST_CASE("an id holds the key of its turn, and nothing else is taken for one") {
  const Scope scope({}, "tenant", "model");
  for (const int first : {0, 1, 99, 255}) {
    const TurnKey key = key_of(static_cast<std::uint8_t>(first));
    for (const std::size_t index : {std::size_t{0}, std::size_t{7}, std::size_t{65535}}) {
      const std::string id = mint_call_id(scope, key, index, CallIdShape::kAny);
      CHECK(id.starts_with("call_"));
      CHECK(id.size() == 28);
      REQUIRE(key_in(id));
      CHECK(*key_in(id) == key);
      CHECK(key_in(mint_id("rs", key, index)) == key);
      CHECK(key_in(mint_id("chatcmpl-", key, index)) == key);
    }
  }
  for (const char* id : {"", "call_", "call_abc", "call_aaaaaaaaaaaaaaaaaaaaaa1", "call_AAAAAAAAAAAAAAAAAAAAAAA",
                         "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "call_aaaaaaaaaaaaaaaaaaaaaab"})
    CHECK_MESSAGE(!key_in(id), id);
}

TEST_CASE("short ids are nine letters, others in each scope, turn and place") {
  const Scope scope({}, "tenant", "model");
  const Scope other({}, "tenant2", "model");
  const std::string id = mint_call_id(scope, key_of(1), 0, CallIdShape::kNineLetters);
  CHECK(is_short_id(id));
  CHECK(id != mint_call_id(scope, key_of(1), 1, CallIdShape::kNineLetters));
  CHECK(id != mint_call_id(scope, key_of(2), 0, CallIdShape::kNineLetters));
  CHECK(id != mint_call_id(other, key_of(1), 0, CallIdShape::kNineLetters));
  CHECK(short_id_digest(scope, id) != short_id_digest(other, id));
  CHECK(!is_short_id("12345678"));
  CHECK(!is_short_id("1234-6789"));
}

TEST_CASE("scopes are told apart by tenant and by model, however these are cut") {
  const Scope scope({}, "ab", "c");
  CHECK(scope.id() != Scope({}, "a", "bc").id());
  CHECK(scope.id() != Scope({1}, "ab", "c").id());
  CHECK(scope.id() == Scope({}, "ab", "c").id());
  CHECK(turn_digest(scope, key_of(1)) != turn_digest(Scope({}, "a", "bc"), key_of(1)));
}

}  // namespace
}  // namespace rondo::spans
