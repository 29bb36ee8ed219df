#include "model/rank_file.h"

#include <charconv>
#include <optional>
#include <unordered_set>

#include "base/base64.h"

namespace rondo::model {
namespace {

constexpr std::string_view kBlank = " \t\r\f\v";

Error damaged(int line, std::string message) {
  return Error(ErrorCode::kTokenizer, "damaged rank file: " + std::move(message)).at(line, 1);
}

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The two words of a line; the second is empty if there are more or fewer.
struct Words {
  std::string_view token;
  std::string_view rank;
};

Words split(std::string_view line) {
  const std::size_t gap = line.find_first_of(kBlank);
  if (gap == std::string_view::npos) return {line, {}};
  const std::string_view rest = stripped(line.substr(gap));
  return {line.substr(0, gap), rest.find_first_of(kBlank) == std::string_view::npos ? rest : std::string_view()};
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<RankedToken> parse_line(std::string_view line, int number) {
  const Words words = split(line);
  if (words.rank.empty()) return damaged(number, "a line is a token and its rank, and this one is not");
  auto bytes = base64::decode(words.token);
  if (!bytes) return damaged(number, "`" + std::string(words.token.substr(0, 80)) + "` is no base64");
  if (bytes->empty()) return damaged(number, "the token is empty");
  const auto rank = to_number(words.rank);
  if (!rank) return damaged(number, "the rank `" + std::string(words.rank.substr(0, 80)) + "` is not a number");
  if (*rank < 0 || *rank > kMaxTokenId)
    return damaged(number, "the rank " + std::to_string(*rank) + " is out of range");
  return RankedToken{std::move(*bytes), static_cast<std::int32_t>(*rank)};
}

// Passes each line that is not blank to `take`, until that returns false.
template <typename Take>
void each_line(std::string_view text, Take take) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = stripped(text.substr(at, end - at));
    at = end + 1;
    ++number;
    if (!line.empty() && !take(line, number)) return;
  }
}

}  // namespace

Result<RankFile> parse_rank_file(std::string_view text) {
  RankFile file;
  std::optional<Error> error;
  std::vector<bool> ranks;
  each_line(text, [&](std::string_view line, int number) {
    Result<RankedToken> token = parse_line(line, number);
    if (!token.ok()) {
      error = token.error();
      return false;
    }
    const auto rank = static_cast<std::size_t>(token.value().rank);
    if (rank >= ranks.size()) ranks.resize(rank + 1 + rank / 2);
    if (ranks[rank]) {
      error = damaged(number, "the rank " + std::to_string(rank) + " occurs twice");
      return false;
    }
    ranks[rank] = true;
    file.tokens.push_back(std::move(token).value());
    return true;
  });
  if (error) return *error;
  if (file.tokens.empty()) return damaged(1, "there is no token");
  // The views stay valid, because nothing more is added to the vector.
  std::unordered_set<std::string_view> seen;
  seen.reserve(file.tokens.size());
  for (const RankedToken& token : file.tokens) {
    if (seen.insert(token.bytes).second) continue;
    return damaged(0, "the token of rank " + std::to_string(token.rank) + " has the bytes of an earlier one");
  }
  return file;
}

bool is_rank_file(std::string_view text) {
  bool found = false;
  each_line(text.substr(0, 65536), [&](std::string_view line, int number) {
    found = parse_line(line, number).ok();
    return false;
  });
  return found;
}

}  // namespace rondo::model
