// Reasoning that no message shows: what asks for an answer opens it.
#include "analysis/parts.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

struct Tags {
  std::string open;
  std::string close;
};

// What the template looks for in the texts of an assistant message.
std::vector<std::string> searched_constants(const Variants& variants) {
  std::vector<std::string> out;
  for (const auto& [parts, variant] : variants) {
    for (const jinja::Probe& probe : variant.turn.probes) {
      const bool searches = probe.operation == "in" || probe.operation == "split" || probe.operation == "find";
      if (searches && trimmed(probe.constant).size() > 2 && std::ranges::find(out, probe.constant) == out.end())
        out.push_back(probe.constant);
    }
  }
  return out;
}

// What a generation prompt has behind the header, without what opens content; but a tag that stands alone there is no
// such thing, even if history writes content behind it.
std::string behind_header(const Prompt& prompt, const Blocks& blocks) {
  const std::string all = without_prefix(prompt.written.text, blocks.header);
  const std::string rest = without_prefix(all, blocks.content.open);
  return is_blank(rest) && !closing_of(std::string(trimmed(all))).empty() ? all : rest;
}

// A prompt that closes the block with one of the constants.
std::optional<Tags> tags_in_prompt(const Evidence& evidence, const Blocks& blocks,
                                   const std::vector<std::string>& constants) {
  std::optional<Tags> out;
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = behind_header(prompt, blocks);
    for (const std::string& constant : constants) {
      const std::size_t at = rest.find(trimmed(constant));
      if (at == std::string::npos || (out && out->close != constant)) continue;
      if (!is_blank(rest.substr(0, at))) out = Tags{rest.substr(0, at), constant};
    }
  }
  return out;
}

// A prompt that leaves the block open, which the first of the constants closes that it does not have.
std::optional<Tags> opener_in_prompt(const Evidence& evidence, const Blocks& blocks,
                                     const std::vector<std::string>& constants) {
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = behind_header(prompt, blocks);
    if (is_blank(rest) || !prompt.written.text.starts_with(blocks.header)) continue;
    for (const std::string& constant : constants) {
      if (!contains(rest, trimmed(constant))) return Tags{rest, constant};
    }
  }
  return std::nullopt;
}

// A tag that a generation prompt leaves open, or a pair with nothing in it.
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

// What one prompt opens and another one closes.
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

// `<|END_X|>` to `<|START_X|>`: how control tokens name pairs; "" if `close` is none of these.
std::string starting_of(const std::string& close) {
  constexpr std::string_view kEnd = "END_";
  const std::size_t at = close.find(kEnd);
  if (at == std::string::npos || format::is_word(close.front()) || format::is_word(close.back())) return "";
  return close.substr(0, at) + "START_" + close.substr(at + kEnd.size());
}

// A closing tag among the constants.
std::optional<Tags> closing_tag(const std::vector<std::string>& constants, const Blocks& blocks) {
  for (const std::string& constant : constants) {
    const std::string close(trimmed(constant));
    std::string open = opening_of(close);
    if (!open.empty()) return Tags{std::move(open), constant};
    open = starting_of(close);
    // What opens turns opens no reasoning.
    if (!open.empty() && !contains(blocks.header, open)) return Tags{std::move(open), constant};
  }
  return std::nullopt;
}

// History may write a whole block without reasoning before the content, and all generation prompts its opening.
void settle(Blocks& blocks) {
  format::Reasoning& reasoning = blocks.reasoning;
  const std::string close(trimmed(reasoning.close));
  std::string& before = blocks.content.open;
  if (const std::size_t at = before.find(close);
      at != std::string::npos && is_blank(before.substr(at + close.size()))) {
    const std::size_t from = at == 0 ? 0 : before.find_last_not_of(" \n\t\r", at - 1) + 1;
    reasoning.close = before.substr(from);
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

Blocks add_hidden_reasoning(const Evidence& evidence, const Blocks& shown) {
  if (shown.reasoning.present) return shown;
  const std::vector<std::string> constants = searched_constants(evidence.variants);
  auto tags = tags_in_prompt(evidence, shown, constants);
  if (!tags) tags = opener_in_prompt(evidence, shown, constants);
  if (!tags) tags = pair_in_prompt(evidence, shown);
  if (!tags) tags = closed_by_other_prompt(evidence, shown);
  if (!tags) tags = closing_tag(constants, shown);
  if (!tags) return mine_reasoning(evidence, shown).value_or(shown);
  Blocks out = shown;
  out.reasoning = {true, std::move(tags->open), std::move(tags->close), true};
  settle(out);
  return out;
}

}  // namespace rondo::analysis
