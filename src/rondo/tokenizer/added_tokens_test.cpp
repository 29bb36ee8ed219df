#include "tokenizer/added_tokens.h"

#include <doctest/doctest.h>

#include <random>

namespace rondo::tokenizer {
namespace {

struct Found {
  Range range;
  TokenId id = 0;
  bool operator==(const Found&) const = default;
};

std::vector<Found> find(const std::vector<AddedToken>& tokens, std::string_view text, const EncodeOptions& options) {
  AddedMatcher matcher;
  for (const AddedToken& token : tokens) matcher.add(token.content, &token);
  matcher.finish();
  std::vector<AddedMatch> matches;
  matcher.find_all(Aligned(text, 0), options, matches);
  std::vector<Found> out;
  for (const AddedMatch& match : matches) out.push_back({match.range, match.token->id});
  return out;
}

// The slow twin, without white space and words: the longest allowed token at every place.
std::vector<Found> find_slowly(const std::vector<AddedToken>& tokens, std::string_view text,
                               const EncodeOptions& options) {
  std::vector<bool> allowed(text.size(), options.allowed == nullptr);
  if (options.allowed != nullptr) {
    for (const ByteRange& range : *options.allowed) {
      for (std::size_t i = range.begin; i < range.end; ++i) allowed[i] = true;
    }
  }
  std::vector<Found> out;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* best = nullptr;
    for (const AddedToken& token : tokens) {
      if (!text.substr(at).starts_with(token.content)) continue;
      bool is_allowed = true;
      for (std::size_t i = 0; i < token.content.size(); ++i) is_allowed = is_allowed && allowed[at + i];
      if (is_allowed && (best == nullptr || token.content.size() > best->content.size())) best = &token;
    }
    if (best == nullptr) {
      ++at;
      continue;
    }
    const auto begin = static_cast<std::uint32_t>(at);
    const auto end = static_cast<std::uint32_t>(at + best->content.size());
    if (best->special ? options.parse_special : options.parse_added) out.push_back({{begin, end}, best->id});
    at = end;
  }
  return out;
}

std::shared_ptr<const Tokenizer> with_added(const std::string& added, const std::string& rest = "") {
  const std::string text = R"({"added_tokens": [)" + added + "]" + rest + R"(, "decoder": {"type": "Fuse"},
    "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0, "x": 1, " ": 2, "b": 3, "q": 4}, "merges": []}})";
  model::TokenizerSource source;
  source.tokenizer_json = std::make_shared<const std::string>(text);
  auto tokenizer = Tokenizer::load(source);
  if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
  return tokenizer.value();
}

// Only ids that the small vocabulary does not have.
std::string added_in(const std::string& added, std::string_view text, const std::string& rest = "") {
  std::string out;
  for (const Piece& piece : with_added(added, rest)->encode(text, {})) {
    if (piece.id < 5) continue;
    out += std::to_string(piece.id) + "[" + std::to_string(piece.begin) + "," + std::to_string(piece.end) + ")";
  }
  return out;
}

}  // namespace

TEST_CASE("added tokens: the fast search finds what the slow one does") {
  std::mt19937 random(7);
  const auto below = [&random](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  for (int round = 0; round < 4000; ++round) {
    const std::size_t letters = 1 + below(4);
    const auto word = [&](std::size_t size) {
      std::string out;
      for (std::size_t i = 0; i < size; ++i) out.push_back(static_cast<char>('a' + below(letters)));
      return out;
    };
    std::vector<AddedToken> tokens;
    const std::size_t count = 1 + below(12);
    for (std::size_t i = 0; i < count; ++i) {
      AddedToken token;
      token.id = static_cast<TokenId>(i);
      token.content = word(1 + below(6));
      token.special = below(2) == 0;
      const auto same = [&token](const AddedToken& other) { return other.content == token.content; };
      if (std::none_of(tokens.begin(), tokens.end(), same)) tokens.push_back(token);
    }
    const std::string text = std::string(below(3) * 40, 'z') + word(below(60)) + std::string(below(2) * 70, 'z');
    EncodeOptions options;
    options.parse_special = below(4) != 0;
    options.parse_added = below(4) != 0;
    std::vector<ByteRange> allowed;
    for (std::size_t at = below(5); at < text.size(); at += below(7)) {
      const std::size_t end = std::min(text.size(), at + 1 + below(9));
      allowed.push_back({at, end});
      at = end;
    }
    if (below(2) == 0) options.allowed = &allowed;
    REQUIRE(find(tokens, text, options) == find_slowly(tokens, text, options));
  }
}

TEST_CASE("added tokens: so many, and such, that looking at each or starting over would not end") {
  std::vector<AddedToken> tokens;
  for (int i = 0; i < 100000; ++i) {
    AddedToken token;
    token.id = i;
    token.content = "<token_" + std::to_string(i) + ">";
    tokens.push_back(token);
  }
  for (const std::string& content : {std::string("a"), std::string(100000, 'a') + "b", std::string(50000, '<') + "t"}) {
    AddedToken token;
    token.id = static_cast<TokenId>(tokens.size());
    token.content = content;
    tokens.push_back(token);
  }
  const auto found =
      find(tokens, "<token_99999><token_1>" + std::string(1 << 20U, 'a') + std::string(1 << 20U, '<'), {});
  REQUIRE(found.size() == 2 + (1U << 20U));
  CHECK(found[0].id == 99999);
  CHECK(found[1].id == 1);
  CHECK(found.back() == Found{{21 + (1U << 20U), 22 + (1U << 20U)}, 100000});
}

// The expectations are the results of the reference.
TEST_CASE("added tokens: white space, words, and what stands in stripped white space") {
  CHECK(added_in(R"({"content": "[A]", "rstrip": true}, {"content": "  "})", "x[A]  b") == "5[1,6)6[4,6)");
  CHECK(added_in(R"({"content": "[A]", "rstrip": true}, {"content": " q"})", "x[A]  q b") == "5[1,6)6[5,7)");
  CHECK(added_in(R"({"content": "[A]", "rstrip": true}, {"content": "  q", "lstrip": true})", "x[A]   q b") ==
        "5[1,7)6[7,8)");
  CHECK(added_in(R"({"content": "[A]", "rstrip": true}, {"content": "[B]", "lstrip": true})", "x[A]   [B] b") ==
        "5[1,7)6[7,10)");
  CHECK(added_in(R"({"content": "\n", "rstrip": true})", "x\n\n\n b") == "5[1,5)5[2,5)5[3,5)");
  CHECK(added_in(R"({"content": " <", "rstrip": true}, {"content": "\n", "lstrip": true})", "x <   \nx") == "5[1,7)");
  CHECK(added_in(R"({"content": "w", "single_word": true})", "w \u24B6w w\u00B2 _w w") == "5[0,1)5[7,8)5[14,15)");
}

TEST_CASE("added tokens: the same content twice, ids and normalised text") {
  CHECK(added_in(R"({"content": "[A]"}, {"content": "[A]", "lstrip": true})", "x [A]") == "5[1,5)");
  CHECK(with_added(R"({"content": "[A]", "special": true}, {"content": "[A]"})")->is_special(5));
  // The ids in the file do not count.
  CHECK(with_added(R"({"content": "[A]", "id": 77}, {"content": "q", "id": 9}, {"content": "[B]", "id": 3})")
            ->find("[B]") == 6);
  const std::string lower = R"(, "normalizer": {"type": "Lowercase"})";
  CHECK(added_in(R"({"content": "[A]", "normalized": true})", "[a]x[A]", lower) == "5[0,3)5[4,7)");
  const auto tokenizer = with_added(
      R"({"content": "[A]", "special": true, "normalized": true}, {"content": "[B]", "special": true})", lower);
  const std::vector<TokenId> ids = {5, 6};
  CHECK(tokenizer->decode(ids, {}).value() == "[a][B]");
  CHECK(tokenizer->decode(ids, {.skip_special = true}).value() == "[a]");
}

TEST_CASE("added tokens: a mask on text that was changed") {
  const auto tokenizer =
      with_added(R"({"content": "<s>", "normalized": true})", R"(, "normalizer": {"type": "StripAccents"})");
  const std::string text = "<s><\u0301s><s>";
  std::vector<ByteRange> allowed = {{0, 4}, {6, 11}};
  const auto added = [&] {
    std::string out;
    for (const Piece& piece : tokenizer->encode(text, {.allowed = &allowed})) {
      if (piece.id >= 5) out += std::to_string(piece.begin) + " ";
    }
    return out;
  };
  CHECK(added() == "0 8 ");
  allowed = {{0, 11}};
  CHECK(added() == "0 3 8 ");
  allowed = {};
  CHECK(added().empty());
}

}  // namespace rondo::tokenizer
