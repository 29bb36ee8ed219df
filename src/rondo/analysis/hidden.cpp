// Infers reasoning that no message shows.
#include "analysis/cuts.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// Returns the text of a generation prompt after the header, without the opener of content.  A tag that stands alone
// there is no opener of content, even if history writes content after it.
std::string behind_header(const Prompt& prompt, const Blocks& blocks) {
  const std::string all = without_prefix(prompt.written.text, blocks.header);
  const std::string rest = without_prefix(all, blocks.content.open);
  return is_blank(rest) && !closing_of(std::string(trimmed(all))).empty() ? all : rest;
}

// Looks for a prompt that opens the block and closes it with one of the marks.
std::optional<Tags> tags_in_prompt(const Evidence& evidence, const Blocks& blocks,
                                   const std::vector<std::string>& marks) {
  std::optional<Tags> out;
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = behind_header(prompt, blocks);
    for (const std::string& mark : marks) {
      const std::size_t at = rest.find(trimmed(mark));
      if (at == std::string::npos || (out && out->close != mark)) continue;
      if (!is_blank(rest.substr(0, at))) out = Tags{rest.substr(0, at), mark};
    }
  }
  return out;
}

// Looks for a prompt that leaves the block open.  Its close is a mark that the prompt does not have: the first one up
// to which content is left out, or else simply the first.
std::optional<Tags> opener_in_prompt(const Evidence& evidence, const Blocks& blocks,
                                     const std::vector<std::string>& marks) {
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = behind_header(prompt, blocks);
    if (is_blank(rest) || !prompt.written.text.starts_with(blocks.header)) continue;
    std::vector<std::string> closers;
    for (const std::string& mark : marks) {
      if (!contains(rest, trimmed(mark))) closers.push_back(mark);
    }
    if (closers.empty()) continue;
    auto close = closers.begin();
    if (closers.size() > 1)
      close = std::ranges::find_if(
          closers, [&](const std::string& mark) { return cut_between(evidence, "", mark).is_left_out; });
    return Tags{rest, close == closers.end() ? closers.front() : *close};
  }
  return std::nullopt;
}

// Looks for a tag that a generation prompt leaves open, or for an empty pair of tags in it.
std::optional<Tags> pair_in_prompt(const Evidence& evidence, const Blocks& blocks) {
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = behind_header(prompt, blocks);
    const std::string_view core = trimmed(rest);
    const std::vector<std::size_t> cuts = evidence.boundaries(core);
    if (cuts.size() < 2) continue;
    const std::string first(core.substr(0, cuts[1]));
    const std::string second(trimmed(core.substr(cuts[1])));
    const std::string closing = second.empty() ? closing_of(first) : second;
    const bool is_pair = closing == closing_of(first) || opening_of(closing) == first;
    if (!closing.empty() && is_pair) return Tags{second.empty() ? rest : first, closing};
  }
  return std::nullopt;
}

// Looks for a block that one prompt opens and another one closes.
std::optional<Tags> closed_by_other_prompt(const Evidence& evidence, const Blocks& blocks) {
  for (const Prompt& prompt : evidence.prompts) {
    const std::string opened = behind_header(prompt, blocks);
    if (is_blank(opened)) continue;
    for (const Prompt& other : evidence.prompts) {
      const std::string whole = behind_header(other, blocks);
      if (!trimmed(whole).starts_with(trimmed(opened))) continue;
      const std::string_view rest = trimmed(trimmed(whole).substr(trimmed(opened).size()));
      if (!rest.empty()) return Tags{opened, std::string(rest)};
    }
  }
  return std::nullopt;
}

// Returns whether a word neither begins nor ends with a letter.  If nothing else stands beside it, such a word is a
// mark.
bool is_sign(std::string_view text) {
  return text.size() > 2 && !format::is_word(text.front()) && !format::is_word(text.back()) &&
         std::ranges::none_of(text, format::is_space);
}

// Returns the prompts.  If the template adds nothing for a prompt, what it adds where thinking is off counts as one.
std::vector<Prompt> prompts_without_thinking(const Evidence& evidence) {
  std::vector<Prompt> out = evidence.prompts;
  if (std::ranges::any_of(out, [](const Prompt& prompt) { return !is_blank(prompt.written.text); })) return out;
  const auto text = [&evidence](const char* thinking) {
    return evidence.prober.text_of({probe::plain_message("user", probe::kQuestionText)},
                                   {.thinking = thinking, .tools = false});
  };
  const auto usual = text("default");
  const auto off = text("off");
  if (usual && off && off->starts_with(*usual)) out.push_back({"off", Written{off->substr(usual->size()), {}}});
  return out;
}

// Looks for a block that only a prompt without thinking has: a pair of tags with any text between them, or just two
// marks that are kin or stand apart.
std::optional<Tags> closed_block(const Evidence& evidence, const Blocks& blocks) {
  for (const Prompt& prompt : prompts_without_thinking(evidence)) {
    const std::string rest = behind_header(prompt, blocks);
    const std::string core(trimmed(rest));
    const bool is_always = std::ranges::any_of(evidence.prompts, [&](const Prompt& other) {
      return other.thinking == "on" && contains(other.written.text, core);
    });
    if (core.empty() || is_always || format::is_word(core.front())) continue;
    for (std::size_t at = 1; at < core.size(); ++at) {
      std::string open(trimmed(core.substr(0, at)));
      std::string close(trimmed(core.substr(at)));
      const bool is_apart = format::is_space(core[at]) && is_sign(open) && is_sign(close);
      if (is_apart || are_kin(open, close)) return Tags{std::move(open), std::move(close)};
      open = opening_of(close);
      if (!open.empty() && core.starts_with(open)) return Tags{std::move(open), std::move(close)};
    }
  }
  return std::nullopt;
}

// Returns `<|START_X|>` for `<|END_X|>`, because control tokens name pairs like that; "" if `close` is not of this
// kind.
std::string starting_of(const std::string& close) {
  constexpr std::string_view kEnd = "END_";
  const std::size_t at = close.find(kEnd);
  if (at == std::string::npos || !is_sign(close)) return "";
  return close.substr(0, at) + "START_" + close.substr(at + kEnd.size());
}

// Looks for a closing tag among the marks: the first one up to which content is cut, or else the first one that does
// not follow text that is kept.
std::optional<Tags> closing_tag(const Evidence& evidence, const std::string& header,
                                const std::vector<std::string>& marks) {
  std::optional<Tags> first;
  for (const std::string& mark : marks) {
    const std::string close(trimmed(mark));
    std::string open = opening_of(close);
    if (open.empty()) {
      open = starting_of(close);
      if (open.empty() || contains(header, open)) continue;  // a mark that opens turns opens no reasoning
    }
    const ContentCut cut = cut_between(evidence, "", mark);
    if (cut.is_cut()) return Tags{std::move(open), mark};
    if (!cut.is_kept && !first) first = Tags{std::move(open), mark};
  }
  return first;
}

// Fits the blocks around the reasoning.  History may write an empty reasoning block before content, and the header may
// contain the opener because all generation prompts have it.
void settle(Blocks& blocks) {
  format::Reasoning& reasoning = blocks.reasoning;
  const std::string close(trimmed(reasoning.close));
  std::string& before = blocks.content.open;
  if (const std::size_t at = before.find(close);
      at != std::string::npos && is_blank(before.substr(at + close.size()))) {
    reasoning.close = before.substr(trimmed_end(before.substr(0, at)).size());
    before.clear();
  }
  const std::string_view open = trimmed(reasoning.open);
  if (trimmed(before) == open) before.clear();
  std::string& header = blocks.header;
  const std::size_t block = open.empty() ? std::string::npos : header.find(open);
  if (block != std::string::npos && block > 0 && header.find(close, block) != std::string::npos) {
    header.resize(block);
    return;
  }
  const std::string_view core = trimmed(header);
  if (open.empty() || core.size() <= open.size() || !core.ends_with(open)) return;
  const std::size_t at = header.rfind(open);
  reasoning.open = header.substr(at);
  header.resize(at);
}

}  // namespace

Blocks add_hidden_reasoning(const Evidence& evidence, const Blocks& shown, const Ending& ending,
                            const format::Calls& calls) {
  if (shown.reasoning.present) return shown;
  const std::vector<std::string> marks = searched_marks(evidence, ending, calls);
  auto tags = tags_in_prompt(evidence, shown, marks);
  if (!tags) tags = opener_in_prompt(evidence, shown, marks);
  if (!tags) tags = pair_in_prompt(evidence, shown);
  if (!tags) tags = closed_by_other_prompt(evidence, shown);
  if (!tags) tags = closed_block(evidence, shown);
  if (!tags) tags = closing_tag(evidence, shown.header, marks);
  if (!tags) tags = cut_out_of_content(evidence, marks);
  if (!tags) return mine_reasoning(evidence, shown).value_or(shown);
  Blocks out = shown;
  out.reasoning = {true, std::move(tags->open), std::move(tags->close), true};
  settle(out);
  return out;
}

}  // namespace rondo::analysis
