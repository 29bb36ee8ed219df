#include <bit>
#include <limits>

#include "spans/bytes.h"
#include "spans/span.h"

namespace rondo::spans {
namespace {

constexpr std::string_view kMagic = "RSPN";
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 8;
constexpr HashKey kChecksumKey = {};

// Bits of the byte after the version.
constexpr std::uint64_t kHasParent = 1;
constexpr std::uint64_t kHasContext = 2;
constexpr std::uint64_t kHasLogprobs = 4;
constexpr std::uint64_t kIsInexact = 8;
constexpr std::uint64_t kAllFlags = 15;

std::string checksum(std::string_view bytes) {
  return std::string(keyed_hash(kChecksumKey, bytes).view().substr(0, kChecksumBytes));
}

void put_ids(std::string& out, const std::vector<TokenId>& ids) {
  put_number(out, ids.size());
  for (const TokenId id : ids) put_number(out, static_cast<std::uint32_t>(id));
}

std::vector<TokenId> read_ids(ByteReader& in) {
  std::vector<TokenId> out(in.count());
  for (TokenId& id : out) id = static_cast<TokenId>(in.number(std::numeric_limits<TokenId>::max()));
  return out;
}

void put_texts(std::string& out, const std::vector<std::string>& texts) {
  put_number(out, texts.size());
  for (const std::string& text : texts) put_text(out, text);
}

std::vector<std::string> read_texts(ByteReader& in) {
  std::vector<std::string> out(in.count());
  for (std::string& text : out) text = in.text();
  return out;
}

void put_stretches(std::string& out, const std::vector<Stretch>& stretches) {
  put_number(out, stretches.size());
  std::int32_t last = 0;
  for (const Stretch& stretch : stretches) {
    put_number(out, (static_cast<std::uint64_t>(stretch.length) << 1U) | (stretch.sampled ? 1U : 0U));
    put_signed(out, static_cast<std::int64_t>(stretch.owner) - last);
    last = stretch.owner;
  }
}

// Reads stretches of exactly `count` ids; false if they have more or fewer.
bool read_stretches(ByteReader& in, std::size_t count, std::vector<Stretch>& out) {
  out.resize(in.count());
  std::int64_t owner = 0;
  std::size_t sum = 0;
  for (Stretch& stretch : out) {
    const std::uint64_t length = in.number();
    const std::int64_t step = in.signed_number();
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (step > kMost + 1 || step < -kMost - 1) return false;
    owner += step;
    if (owner < -1 || owner > kMost || (length >> 1U) > count - sum) return false;
    sum += static_cast<std::size_t>(length >> 1U);
    stretch = {static_cast<std::size_t>(length >> 1U), static_cast<std::int32_t>(owner), (length & 1U) != 0};
  }
  return sum == count;
}

void put_logprobs(std::string& out, const std::vector<float>& logprobs) {
  for (const float logprob : logprobs) {
    const auto bits = std::bit_cast<std::uint32_t>(logprob);
    for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>((bits >> shift) & 255U);
  }
}

std::vector<float> read_logprobs(ByteReader& in, std::size_t count) {
  const std::string_view bytes = in.bytes(count * 4);
  std::vector<float> out;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t bits = 0;
    for (unsigned j = 0; j < 4; ++j)
      bits |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + j])) << (8 * j);
    out.push_back(std::bit_cast<float>(bits));
  }
  return out;
}

TurnKey read_key(ByteReader& in) {
  TurnKey out;
  const std::string_view bytes = in.bytes(out.bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) out.bytes[i] = static_cast<std::uint8_t>(bytes[i]);
  return out;
}

Error damaged(const std::string& what) { return Error(ErrorCode::kIo, "a stored turn is damaged: " + what); }

void read_reply(ByteReader& in, std::uint64_t flags, Record& out) {
  out.key = read_key(in);
  if ((flags & kHasParent) != 0) out.parent = read_key(in);
  out.inexact = (flags & kIsInexact) != 0;
  out.finish = static_cast<Finish>(in.number(kFinishNames.size() - 1));
  out.time_ms = in.signed_number();
  const std::string_view visible = in.bytes(sizeof(Digest));
  if (visible.size() == sizeof(Digest)) out.visible = digest_of(visible);
  out.completion = read_ids(in);
  if ((flags & kHasLogprobs) != 0) out.logprobs = read_logprobs(in, out.completion.size());
  out.prefill = static_cast<std::size_t>(in.number());
  out.message = in.text();
  out.notes = read_texts(in);
  out.facts = in.text();
}

}  // namespace

std::string encode_record(const Record& record) {
  std::string out(kMagic);
  const bool has_logprobs = !record.logprobs.empty() && record.logprobs.size() == record.completion.size();
  put_number(out, kVersion);
  put_number(out, (record.parent ? kHasParent : 0) | (record.context ? kHasContext : 0) |
                      (has_logprobs ? kHasLogprobs : 0) | (record.inexact ? kIsInexact : 0));
  out += record.key.view();
  if (record.parent) out += record.parent->view();
  put_number(out, static_cast<std::uint64_t>(record.finish));
  put_signed(out, record.time_ms);
  out += record.visible.view();
  put_ids(out, record.completion);
  if (has_logprobs) put_logprobs(out, record.logprobs);
  put_number(out, record.prefill);
  put_text(out, record.message);
  put_texts(out, record.notes);
  put_text(out, record.facts);
  put_number(out, record.kept_ids);
  put_ids(out, record.ids);
  put_stretches(out, record.stretches);
  put_number(out, record.kept_messages);
  put_texts(out, record.messages);
  put_number(out, record.reasoned.size());
  for (const std::size_t message : record.reasoned) put_number(out, message);
  if (record.context) put_text(out, *record.context);
  out += checksum(out);
  return out;
}

Result<Record> decode_record(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + kChecksumBytes)
    return damaged("it does not begin as one");
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (checksum(body) != bytes.substr(body.size())) return damaged("its checksum is not that of its bytes");
  ByteReader in(body.substr(kMagic.size()));
  const std::uint64_t version = in.number();
  if (in.ok() && version != kVersion)
    return Error(ErrorCode::kUnsupported, "a stored turn has version " + std::to_string(version) + " of the format");
  const std::uint64_t flags = in.number(kAllFlags);
  Record out;
  read_reply(in, flags, out);
  out.kept_ids = static_cast<std::size_t>(in.number());
  out.ids = read_ids(in);
  const bool covered = read_stretches(in, out.ids.size(), out.stretches);
  out.kept_messages = static_cast<std::size_t>(in.number());
  out.messages = read_texts(in);
  out.reasoned.resize(in.count());
  for (std::size_t& message : out.reasoned) message = static_cast<std::size_t>(in.number());
  if ((flags & kHasContext) != 0) out.context = std::string(in.text());
  if (!in.at_end()) return damaged("its fields do not fit its size");
  if (!covered) return damaged("its ids and their owners are not equally many");
  return out;
}

}  // namespace rondo::spans
