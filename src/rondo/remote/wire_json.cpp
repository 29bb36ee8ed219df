#include "remote/wire_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/hex.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::remote {
namespace {

constexpr unsigned kThousand = 1000;

// A number below a thousand, as written alone and after other digits, each with a comma behind it.
struct Digits {
  std::array<char, 4> alone;
  std::array<char, 4> behind;
  std::uint8_t size;  // of `alone`, with its comma
};
constexpr std::array<Digits, kThousand> kDigits = [] {
  std::array<Digits, kThousand> out{};
  for (unsigned i = 0; i < kThousand; ++i) {
    Digits& one = out[i];
    one.behind = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
                  static_cast<char>('0' + i % 10), ','};
    one.size = i < 10 ? 2 : i < 100 ? 3 : 4;
    for (unsigned k = 0; k < one.size; ++k) one.alone[k] = one.behind[4 - one.size + k];
  }
  return out;
}();

// A long prompt is mostly ids.  Ids of vocabularies have at most two halves, which are looked up.  Writes the id and a
// comma; always touches up to `kMostBytes` bytes, however many the number has.
constexpr std::size_t kMostBytes = 12;
char* write_id(char* at, engine::TokenId id) {
  const auto number = static_cast<unsigned>(id);
  if (number < kThousand) {
    const Digits& all = kDigits[number];
    std::memcpy(at, all.alone.data(), 4);
    return at + all.size;
  }
  if (number >= kThousand * kThousand) {  // negative numbers too
    at = std::to_chars(at, at + kMostBytes - 1, id).ptr;
    *at = ',';
    return at + 1;
  }
  const Digits& high = kDigits[number / kThousand];
  std::memcpy(at, high.alone.data(), 4);
  at += high.size - 1;
  std::memcpy(at, kDigits[number % kThousand].behind.data(), 4);
  return at + 4;
}

}  // namespace

std::string object_with_ids(std::string_view key, std::span<const engine::TokenId> ids, const json::Object& rest) {
  constexpr std::size_t kPiece = 4096;
  std::string out = "{\"" + std::string(key) + "\":[";
  const std::string members = json::to_compact(json::Value(rest));
  out.reserve(out.size() + ids.size() * 7 + members.size() + 1);
  // Works in pieces, because an append for each id costs more than its digits.
  std::array<char, kPiece> piece;
  char* at = piece.data();
  char* const full = piece.data() + kPiece - kMostBytes;
  for (const engine::TokenId id : ids) {
    if (at > full) {
      out.append(piece.data(), at);
      at = piece.data();
    }
    at = write_id(at, id);
  }
  if (at != piece.data()) out.append(piece.data(), at - 1);
  out += ']';
  if (!rest.empty()) out += ',';
  return out.append(members, 1);
}

bool append_ids(std::string_view text, std::vector<engine::SampledToken>& out) {
  const char* at = text.data();
  const char* end = at + text.size();
  const auto is_between = [](char c) { return c == ' ' || c == ',' || c == '[' || c == ']' || c == '\n' || c == '\t'; };
  while (true) {
    while (at < end && is_between(*at)) ++at;
    if (at == end) return true;
    engine::SampledToken token;
    const auto [behind, error] = std::from_chars(at, end, token.id);
    if (error != std::errc{} || token.id < 0) return false;
    at = behind;
    out.push_back(std::move(token));
  }
}

void read_count(json::Reader& in, std::optional<std::size_t>& out) {
  const char first = in.peek();
  std::int64_t number = -1;
  if ((first < '0' || first > '9') && first != '-') {
    in.skip();
  } else if (in.integer(number) && number >= 0) {
    out = static_cast<std::size_t>(number);
  }
}

void read_text(json::Reader& in, std::string& out) {
  std::string_view text;
  if (in.peek() != '"') {
    in.skip();
  } else if (in.string(text)) {
    out = text;
  }
}

std::optional<engine::TokenId> id_in(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  const std::optional<std::int64_t> number = found == nullptr ? std::nullopt : found->to_int64();
  if (!number || *number < 0 || *number > std::numeric_limits<engine::TokenId>::max()) return std::nullopt;
  return static_cast<engine::TokenId>(*number);
}

float number_in(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  const std::optional<double> number = found == nullptr ? std::nullopt : found->to_double();
  return number ? static_cast<float>(*number) : std::numeric_limits<float>::quiet_NaN();
}

std::string sentence_of(const json::Value& body) {
  if (body.is_string()) return body.as_string();
  for (const char* key : {"error", "message", "detail"}) {
    const json::Value* found = body.find(key);
    if (found == nullptr || found->is_null()) continue;
    return found->is_string() ? found->as_string() : sentence_of(*found);
  }
  return json::to_compact(body);
}

std::string sentence_of(std::string_view body) {
  constexpr std::size_t kShown = 300;
  const auto parsed = json::parse(body);
  const std::string sentence = parsed.ok() ? sentence_of(parsed.value()) : std::string(body);
  return std::string(utf8::head(sentence, kShown));
}

Result<json::Value> schema_of(const engine::Grammar& grammar) {
  auto schema = json::parse(grammar.text);
  if (!schema.ok()) return Error(ErrorCode::kInvalidArgument, "the schema is no JSON: " + schema.error().message);
  return std::move(schema).value();
}

std::string salt_of(std::string_view tenant) {
  constexpr std::size_t kWhole = 56;  // servers accept 128 characters
  if (tenant.size() > kWhole)
    return hex_digest({tenant}) + hex_digest({"salt", tenant}) + std::to_string(tenant.size());
  std::string out = "t";
  for (const char c : tenant) hex::append(out, static_cast<unsigned char>(c), 2);
  return out;
}

std::string session_of(const engine::Request& request) {
  return request.affinity.empty() ? "" : "s" + hex_digest({"session", request.tenant, request.affinity});
}

Status add_numbers(const engine::Sampling& sampling, std::span<const SpelledNumber> names, std::string_view server,
                   json::Object& out) {
  static const engine::Sampling kDefaults;
  for (const engine::SamplingNumber& number : engine::kSamplingNumbers) {
    const float value = sampling.*number.value;
    const auto spelled = std::ranges::find(names, number.name, &SpelledNumber::name);
    if (spelled != names.end()) {
      out.set(spelled->here, static_cast<double>(value));
    } else if (value != kDefaults.*number.value) {
      return no_word_for(server, number.name);
    }
  }
  return Done{};
}

json::Object bias_of(const engine::Request& request, float most) {
  json::Object out;
  for (const engine::Sampling::Bias& each : request.sampling.bias)
    out.set(std::to_string(each.id), static_cast<double>(std::clamp(each.value, -most, most)));
  for (const std::vector<engine::TokenId>& row : request.bad_ids) {
    if (row.size() == 1) out.set(std::to_string(row.front()), static_cast<double>(-most));
  }
  return out;
}

bool has_long_rows(const engine::Request& request) {
  return std::ranges::any_of(request.bad_ids, [](const auto& row) { return row.size() > 1; });
}

Error no_word_for(std::string_view server, std::string_view what) {
  return {ErrorCode::kInvalidArgument, std::string(what) + " cannot be asked of " + std::string(server)};
}

}  // namespace rondo::remote
