// Finds texts that are one unit, whatever brackets they contain.
#include <cctype>

#include "analysis/evidence.h"

namespace rondo::analysis {
namespace {

using format::trimmed;

// Returns whether a word has the same punctuation at both ends, as `==/x==` has, or stands between signs that are not
// ASCII, as in `«/x»`.
bool is_framed(std::string_view text) {
  constexpr std::size_t kLeast = 4;
  if (text.size() < kLeast || text.find_first_of(" \n\t\r\"'{}<>[]()") != std::string::npos) return false;
  const auto is_ascii = [](char byte) { return (static_cast<unsigned char>(byte) & 0x80U) == 0; };
  const bool is_same = text.front() == text.back() && std::ispunct(static_cast<unsigned char>(text.front())) != 0;
  const bool has_word = std::ranges::any_of(text, format::is_word);
  return has_word && (is_same || (!is_ascii(text.front()) && !is_ascii(text.back())));
}

bool is_token(std::string_view text) {
  return text.size() > 2 && text.find_first_of(" \n\t\r\"'=/{}") == std::string::npos &&
         std::isalnum(static_cast<unsigned char>(text.front())) == 0 &&
         (!format::is_paired(text) || format::is_mark(text));
}

// Returns the template's literals that the token contains as a whole.
std::vector<std::string_view> whole_literals(const Token& token, const std::vector<std::string>& literals) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < token.sources.size(); ++i) {
    const Source& source = token.sources[i];
    const std::size_t end = i + 1 < token.sources.size() ? token.sources[i + 1].at : token.text.size();
    if (source.literal == kNoLiteral || source.offset != 0) continue;
    const std::string& text = literals[source.literal];
    if (text.size() == end - source.at) out.push_back(text);
  }
  return out;
}

}  // namespace

std::vector<std::string> find_atoms(const Prober& prober, const Variants& variants) {
  std::vector<std::string> atoms;
  const auto add = [&atoms](std::string_view text) {
    if ((is_token(text) || is_framed(text)) && std::ranges::find(atoms, text) == atoms.end()) atoms.emplace_back(text);
  };
  const Options& options = prober.options();
  if (options.bos_token) add(*options.bos_token);
  if (options.eos_token) add(*options.eos_token);
  for (const auto& [parts, variant] : variants) {
    std::map<std::string_view, int> whole;  // literals, and how often the turn contains them as a whole
    const std::vector<Token>& tokens = variant.turn.tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      // A literal that a number follows is the beginning of a unit.
      const bool goes_on = i + 1 < tokens.size() && tokens[i + 1].kind == SlotKind::kIndex;
      for (const std::string_view text : whole_literals(tokens[i], prober.chat_template().literal_texts())) {
        if (goes_on && tokens[i].text.ends_with(text)) continue;
        if (++whole[text] == 2 || is_framed(trimmed(text))) add(trimmed(text));
      }
    }
  }
  return atoms;
}

}  // namespace rondo::analysis
