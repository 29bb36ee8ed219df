#include "tokenizer/cached_model.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/pages.h"

namespace rondo::tokenizer {
namespace {

constexpr std::array<char, 8> kMagic = {'r', 'o', 'n', 'd', 'o', 't', 'o', 'k'};
// Raise it whenever the same tokenizer.json would make another file, or a file would be read differently.
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kByteOrder = 0x01020304;

struct Header {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t byte_order = kByteOrder;
  ContentKey key;
  std::uint64_t checksum = 0;  // of the whole file, with this field 0
  std::uint64_t is_byte_level = 0;
  std::uint64_t document = 0;  // counts of what follows
  std::uint64_t pool = 0;
  std::uint64_t entries = 0;
  std::uint64_t merges = 0;
  std::uint64_t scores = 0;
};
static_assert(std::has_unique_object_representations_v<Header>);

std::uint64_t load(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

constexpr std::array<std::uint64_t, 4> kPrimes = {0xA0761D6478BD642FU, 0xE7037ED1A0B428DBU, 0x8EBC6AF09C88C6E3U,
                                                  0x589965CC75374CC3U};

// Four lanes, so that the multiplications overlap.
ContentKey hash(std::string_view bytes) {
  std::array<std::uint64_t, 4> lanes = kPrimes;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 64; left -= 64, at += 64) {
    for (std::size_t i = 0; i < 4; ++i)
      lanes[i] = mix(load(at + 16 * i) ^ kPrimes[i], load(at + 16 * i + 8) ^ lanes[i]);
  }
  std::array<char, 64> last{};
  std::memcpy(last.data(), at, left);
  for (std::size_t i = 0; i < 4; ++i) {
    lanes[i] = mix(load(last.data() + 16 * i) ^ kPrimes[i], load(last.data() + 16 * i + 8) ^ lanes[i]);
  }
  const std::uint64_t size = bytes.size();
  return {mix(lanes[0] ^ size, lanes[1] ^ kPrimes[2]) ^ mix(lanes[2] ^ kPrimes[0], lanes[3]),
          mix(lanes[0] ^ kPrimes[3], lanes[2] ^ size) ^ mix(lanes[1], lanes[3] ^ kPrimes[1])};
}

std::uint64_t checksum(std::string_view file) {
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  header.checksum = 0;
  const ContentKey first = hash({reinterpret_cast<const char*>(&header), sizeof header});
  const ContentKey rest = hash(file.substr(sizeof header));
  return mix(first.high ^ rest.low, first.low ^ rest.high);
}

template <typename T>
void put(std::string& out, const T* values, std::size_t count) {
  out.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

// Removes `count` values from the front of `rest`.
template <typename Values>
bool take(std::string_view& rest, std::uint64_t count, Values& out) {
  using T = typename Values::value_type;
  static_assert(std::is_trivially_copyable_v<T>);
  if (count > rest.size() / sizeof(T)) return false;
  out.reserve(static_cast<std::size_t>(count));
  make_resident(out.data(), static_cast<std::size_t>(count) * sizeof(T));
  out.resize(static_cast<std::size_t>(count));
  if (count == 0) return true;
  const std::string_view bytes = rest.substr(0, out.size() * sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  rest.remove_prefix(bytes.size());
  return true;
}

bool is_sound(const CachedModel& model) {
  const auto size = static_cast<TokenId>(model.entries.size());
  const auto is_token = [&](TokenId id) {
    return id >= 0 && id < size && model.entries[static_cast<std::size_t>(id)].used != 0;
  };
  for (const Vocabulary::Entry& entry : model.entries) {
    if (entry.offset > model.pool.size() || entry.size > model.pool.size() - entry.offset) return false;
    if (entry.odd != 0 && !model.is_byte_level) return false;
  }
  for (const std::array<TokenId, 3>& merge : model.merges) {
    if (!is_token(merge[0]) || !is_token(merge[1]) || !is_token(merge[2])) return false;
  }
  for (const double score : model.scores) {
    if (!std::isfinite(score)) return false;
  }
  return model.scores.empty() || model.scores.size() == model.entries.size();
}

}  // namespace

ContentKey content_key(std::string_view content) { return hash(content); }

std::string cache_name(ContentKey key) {
  char name[64];
  std::snprintf(name, sizeof name, "tokenizer-v%u-%016llx%016llx", kVersion, static_cast<unsigned long long>(key.high),
                static_cast<unsigned long long>(key.low));
  return name;
}

void seal(std::string& file) {
  if (file.size() < sizeof(Header)) return;
  Header header;
  std::memcpy(&header, file.data(), sizeof header);
  header.checksum = checksum(file);
  std::memcpy(file.data(), &header, sizeof header);
}

std::string to_file(const CachedModel& model, ContentKey key) {
  Header header;
  header.key = key;
  header.is_byte_level = model.is_byte_level ? 1 : 0;
  header.document = model.document.size();
  header.pool = model.pool.size();
  header.entries = model.entries.size();
  header.merges = model.merges.size();
  header.scores = model.scores.size();
  std::string out;
  put(out, &header, 1);
  put(out, model.document.data(), model.document.size());
  put(out, model.pool.data(), model.pool.size());
  put(out, model.entries.data(), model.entries.size());
  put(out, model.merges.data(), model.merges.size());
  put(out, model.scores.data(), model.scores.size());
  seal(out);
  return out;
}

std::optional<CachedModel> from_file(std::string_view file, ContentKey key) {
  Header header;
  if (file.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic || header.version != kVersion || header.byte_order != kByteOrder || header.key != key ||
      header.is_byte_level > 1 || header.checksum != checksum(file)) {
    return std::nullopt;
  }
  CachedModel model;
  model.is_byte_level = header.is_byte_level != 0;
  std::string_view rest = file.substr(sizeof header);
  const bool is_whole = take(rest, header.document, model.document) && take(rest, header.pool, model.pool) &&
                        take(rest, header.entries, model.entries) && take(rest, header.merges, model.merges) &&
                        take(rest, header.scores, model.scores) && rest.empty();
  if (!is_whole || !is_sound(model)) return std::nullopt;
  return model;
}

}  // namespace rondo::tokenizer
