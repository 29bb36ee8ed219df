#include "tokenizer/rank_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tokenizer/bpe.h"

namespace rondo::tokenizer {
namespace {

// Bytes hashed to find the ways to build all tokens; real vocabularies need some 20 million.
constexpr std::size_t kMaxWork = std::size_t{1} << 30U;

// A class of characters in brackets, read into an expression that matches one character and uses no nested classes.
class CharacterClass {
 public:
  // REQUIRES: pattern[at] is the opening bracket.
  CharacterClass(std::string_view pattern, std::size_t at, int depth) : pattern_(pattern), at_(at + 1), depth_(depth) {}

  // Nothing if the class is not closed or nested too deep.
  std::optional<std::string> read() {
    if (depth_ > 16) return std::nullopt;
    const bool negated = take("^");
    bool is_plain = true;
    std::string result = operand(is_plain);
    bool whole = true;  // no operator was met
    while (!failed_ && at_ < pattern_.size() && pattern_[at_] != ']') {
      whole = false;
      const bool minus = take("--");
      if (!minus && !take("&&")) return std::nullopt;
      bool ignored = true;
      result = std::string(minus ? "(?!" : "(?=") + operand(ignored) + ")" + result;
    }
    if (failed_ || !take("]")) return std::nullopt;
    if (negated && whole && is_plain) return "[^" + result.substr(1);
    if (negated) return "(?:(?!" + result + ")(?s:.))";
    return whole ? result : "(?:" + result + ")";
  }
  // Behind the closing bracket, after read().
  [[nodiscard]] std::size_t end() const { return at_; }

 private:
  bool take(std::string_view text) {
    if (!pattern_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  // Items up to an operator or the closing bracket.
  std::string operand(bool& is_plain) {
    std::string plain;
    std::vector<std::string> nested;
    const std::size_t start = at_;
    while (at_ < pattern_.size()) {
      const std::string_view rest = pattern_.substr(at_);
      if (rest.starts_with("&&") || (at_ > start && rest.starts_with("--"))) break;
      if (rest[0] == ']' && (at_ > start || !plain.empty())) break;
      if (rest[0] == '[' && !rest.starts_with("[:")) {
        CharacterClass inner(pattern_, at_, depth_ + 1);
        const auto expression = inner.read();
        if (!expression) {
          failed_ = true;
          return plain;
        }
        nested.push_back(*expression);
        at_ = inner.end();
        continue;
      }
      const std::size_t size = item_size(rest);
      plain += rest.substr(0, size);
      at_ += size;
    }
    is_plain = nested.empty();
    if (plain.empty() && nested.size() == 1) return nested[0];
    std::string out = plain.empty() ? "" : "[" + plain + "]";
    if (is_plain) return out.empty() ? "[]" : out;
    for (const std::string& expression : nested) out += (out.empty() ? "" : "|") + expression;
    return "(?:" + out + ")";
  }

  // An escape with its braces, a named class such as [:alpha:], or one byte.
  static std::size_t item_size(std::string_view rest) {
    if (rest.starts_with("[:")) {
      const std::size_t close = rest.find(":]");
      return close == std::string_view::npos ? 2 : close + 2;
    }
    return rest[0] == '\\' ? std::min<std::size_t>(2, rest.size()) : 1;
  }

  std::string_view pattern_;
  std::size_t at_;
  int depth_;
  bool failed_ = false;
};

Error too_long() {
  Error error;
  error.code = ErrorCode::kLimit;
  error.message = "the tokens are too long to be split in all ways";
  return error;
}

// Every way to build a token of two others merges.
Status add_merges(std::span<const model::RankedToken> tokens, TokenId first_id, const Vocabulary& vocabulary,
                  Bpe& bpe) {
  std::size_t work = 0;
  for (const model::RankedToken& token : tokens) {
    work += token.bytes.size() * token.bytes.size();
    if (token.bytes.size() > kMaxWork || work > kMaxWork) return too_long();
  }
  bpe.reserve(tokens.size() * 4);
  for (const model::RankedToken& token : tokens) {
    const std::string_view bytes = token.bytes;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      const auto left = vocabulary.find(bytes.substr(0, cut));
      const auto right = left ? vocabulary.find(bytes.substr(cut)) : std::nullopt;
      if (!right) continue;
      bpe.add_merge(*left, *right, static_cast<std::uint32_t>(token.rank), token.rank + first_id, false);
    }
  }
  return Done{};
}

}  // namespace

std::string from_rust_dialect(std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '\\' && at + 1 < pattern.size()) {
      out += pattern.substr(at, 2);
      at += 2;
    } else if (c == '[') {
      CharacterClass members(pattern, at, 0);
      const auto expression = members.read();
      if (!expression) return std::string(pattern);  // the compiler says what is wrong
      out += *expression;
      at = members.end();
    } else {
      out += c == '$' ? "\\z" : c == '^' ? "\\A" : std::string(1, c);
      ++at;
    }
  }
  return out;
}

Status load_ranks(std::span<const model::RankedToken> tokens, TokenId first_id, std::string_view pattern,
                  Tokenizer::State& state) {
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (const model::RankedToken& token : tokens) state.vocabulary.add_bytes(token.bytes, token.rank + first_id);
  BpeOptions options;
  options.ignore_merges = true;
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  if (Status status = add_merges(tokens, first_id, state.vocabulary, *bpe); !status.ok()) return status;
  state.model = std::move(bpe);
  state.decoder.add(Decoder::Bytes{});
  // What the pattern does not match is lost in the reference; none that is in use leaves anything.
  return state.pre_tokenizer.add_regex(from_rust_dialect(pattern), Behavior::kRemoved, true);
}

}  // namespace rondo::tokenizer
