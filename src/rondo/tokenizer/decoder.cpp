#include "tokenizer/decoder.h"

#include <optional>

#include "base/hex.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/json_steps.h"
#include "tokenizer/vocabulary.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

std::optional<char> fallback_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  unsigned value = 0;
  // The reference also reads "+5" as a number.
  for (const char c : token.substr(token[3] == '+' ? 4 : 3, token[3] == '+' ? 1 : 2)) {
    const std::optional<unsigned> digit = hex::digit(c);
    if (!digit) return std::nullopt;
    value = value * 16 + *digit;
  }
  return static_cast<char>(value);
}

std::string replaced(std::string_view text, const std::string& from, std::string_view to) {
  std::string out;
  std::size_t at = 0;
  while (!from.empty()) {
    const std::size_t found = text.find(from, at);
    if (found == std::string_view::npos) break;
    out.append(text.substr(at, found - at)).append(to);
    at = found + from.size();
  }
  return out.append(text.substr(at));
}

std::string replaced(std::string_view text, const Decoder::ReplaceRegex& step) {
  if (text.empty()) return {};  // not even an empty match
  const std::string valid = utf8::to_valid(text);
  std::string shadow;
  const bool substituted = unicode::substitute_newer(valid, shadow);
  std::vector<Range> matches;
  step.from->find_all(substituted ? shadow : valid, {0, static_cast<std::uint32_t>(valid.size())}, matches);
  std::string out;
  std::size_t at = 0;
  for (const Range match : matches) {
    out.append(valid, at, match.begin - at).append(step.to);
    at = match.end;
  }
  return out.append(valid, at);
}

// The bytes of a token in the byte-level alphabet; other tokens keep their own bytes.
std::string spelled_bytes(std::string_view token) {
  auto bytes = byte_level::to_bytes(token);
  return bytes ? std::move(*bytes) : std::string(token);
}

// English as tokens spell it, without spaces before punctuation and contractions.
std::string cleaned(std::string text) {
  static constexpr std::pair<const char*, const char*> kChanges[] = {
      {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
      {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kChanges) text = replaced(text, from, to);
  return text;
}

std::string run(const Decoder::WordPiece& step, std::string token, bool first) {
  if (!first) {
    const bool continues = token.starts_with(step.prefix);
    token = continues ? token.substr(step.prefix.size()) : " " + token;
  }
  return step.cleanup ? cleaned(std::move(token)) : token;
}

std::string run(const Decoder::Ctc& step, const std::string& token) {
  std::string text = replaced(token, step.padding, "");
  return step.cleanup ? replaced(cleaned(std::move(text)), step.delimiter, " ") : text;
}

std::size_t number(const json::Value& description, std::string_view key) {
  const json::Value* value = description.find(key);
  const auto found = value == nullptr ? std::nullopt : value->to_int64();
  return found && *found > 0 ? static_cast<std::size_t>(*found) : 0;
}

Status add_replace(const json::Value& description, Decoder& to) {
  const json::Value* pattern = description.find("pattern");
  const auto content = description.find_string("content");
  if (pattern == nullptr || !content) return damaged("the decoder `Replace` lacks a pattern or a content");
  auto source = pattern->find_string("Regex");
  if (const auto text = pattern->find_string("String")) {
    if (!text->empty()) {
      to.add(Decoder::Replace{std::string(*text), std::string(*content)});
      return Done{};
    }
    source = text;  // matches everywhere, as an expression does
  }
  if (!source) return damaged("the pattern of the decoder `Replace` is of an unknown kind");
  Result<Regex> regex = Regex::compile(*source, Dialect::kOniguruma);
  if (!regex.ok()) return regex.error();
  to.add(Decoder::ReplaceRegex{std::make_shared<const Regex>(std::move(regex).value()), std::string(*content)});
  return Done{};
}

Status add_metaspace(const json::Value& description, Decoder& to) {
  Result<std::string> replacement = step_character(description, "replacement", "\u2581");
  if (!replacement.ok()) return replacement.error();
  Decoder::Metaspace step;
  step.replacement = std::move(replacement).value();
  const auto scheme = description.find_string("prepend_scheme");
  step.drop_first = scheme ? *scheme != "never" : step_flag(description, "add_prefix_space", true);
  to.add(std::move(step));
  return Done{};
}

Status add_strip(const json::Value& description, Decoder& to) {
  Result<std::string> content = step_character(description, "content", " ");
  if (!content.ok()) return content.error();
  to.add(Decoder::Strip{std::move(content).value(), number(description, "start"), number(description, "stop")});
  return Done{};
}

std::string text_of(const json::Value& description, std::string_view key, std::string_view otherwise) {
  return std::string(description.find_string(key).value_or(otherwise));
}

Status add_step(std::string_view type, const json::Value& description, Decoder& to) {
  if (type == "Replace") return add_replace(description, to);
  if (type == "Metaspace") return add_metaspace(description, to);
  if (type == "Strip") return add_strip(description, to);
  const bool cleanup = step_flag(description, "cleanup", true);
  if (type == "ByteLevel")
    to.add(Decoder::Bytes{});
  else if (type == "ByteFallback")
    to.add(Decoder::ByteFallback{});
  else if (type == "Fuse")
    to.add(Decoder::Fuse{});
  else if (type == "WordPiece")
    to.add(Decoder::WordPiece{text_of(description, "prefix", "##"), cleanup});
  else if (type == "BPEDecoder")
    to.add(Decoder::WordEnds{text_of(description, "suffix", "</w>")});
  else if (type == "CTC")
    to.add(Decoder::Ctc{text_of(description, "pad_token", "<pad>"), text_of(description, "word_delimiter_token", "|"),
                        cleanup});
  else
    return damaged("the decoder `" + std::string(type) + "` is not known");
  return Done{};
}

}  // namespace

Result<Decoder> Decoder::from_json(const json::Value* description) {
  Decoder made;
  if (description == nullptr || description->is_null()) {
    made.add(Join{});
    return made;
  }
  const auto add = [&made](std::string_view type, const json::Value& step) { return add_step(type, step, made); };
  if (Status status = for_each_step(*description, "decoder", "decoders", add); !status.ok()) return status.error();
  return made;
}

std::string Decoder::inner_bytes(std::string_view text) const {
  std::string bytes(text);
  for (const Step& step : steps_) {
    if (std::holds_alternative<Bytes>(step)) {
      bytes = spelled_bytes(bytes);
    } else if (std::holds_alternative<ByteFallback>(step)) {
      if (const auto byte = fallback_byte(bytes)) return std::string(1, *byte);
    } else if (const auto* replace = std::get_if<Replace>(&step)) {
      bytes = replaced(bytes, replace->from, replace->to);
    } else if (const auto* regex = std::get_if<ReplaceRegex>(&step)) {
      bytes = replaced(bytes, *regex);
    } else if (const auto* space = std::get_if<Metaspace>(&step)) {
      bytes = replaced(bytes, space->replacement, " ");
    } else if (const auto* word = std::get_if<WordPiece>(&step)) {
      bytes = run(*word, std::move(bytes), false);
    } else if (const auto* ends = std::get_if<WordEnds>(&step)) {
      bytes = replaced(bytes, ends->suffix, " ");
    } else if (const auto* ctc = std::get_if<Ctc>(&step)) {
      bytes = run(*ctc, bytes);
    } else if (std::holds_alternative<Fuse>(step)) {
      break;  // the following steps work on the whole text
    }
  }
  return bytes;
}

Decoder::Run::Run(const Decoder& decoder) : decoder_(decoder), states_(decoder.steps_.size()) {
  bool fused = false;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    states_[i].fused = fused;
    fused =
        fused || std::holds_alternative<Fuse>(decoder.steps_[i]) || std::holds_alternative<Bytes>(decoder.steps_[i]);
  }
}

// Byte tokens count only together: they become their text if that is well-formed, otherwise one U+FFFD each.
void Decoder::Run::flush_bytes(std::size_t step, std::string& out) {
  std::string held;
  held.swap(states_[step].held);
  if (held.empty()) return;
  if (utf8::is_valid(held)) return feed(step + 1, std::move(held), out);
  for (std::size_t i = 0; i < held.size(); ++i) {
    std::string bad;
    utf8::append(bad, utf8::kReplacement);
    feed(step + 1, std::move(bad), out);
  }
}

// Passes on what later bytes can no longer change.
void Decoder::Run::release_bytes(std::size_t step, std::string& out) {
  std::string& held = states_[step].held;
  const std::size_t complete = utf8::complete_prefix(held);
  if (complete == 0) return;
  const std::string_view ready = std::string_view(held).substr(0, complete);
  feed(step + 1, utf8::is_valid(ready) ? std::string(ready) : utf8::to_valid(ready), out);
  held.erase(0, complete);
}

void Decoder::Run::strip(std::size_t step, const Strip& options, std::string text, std::string& out) {
  StepState& state = states_[step];
  if (options.content.empty()) return feed(step + 1, std::move(text), out);
  std::string_view rest = text;
  std::size_t stripped = state.fused ? state.count : 0;
  for (; stripped < options.start && rest.starts_with(options.content); ++stripped)
    rest.remove_prefix(options.content.size());
  if (state.fused) state.count = rest.empty() ? stripped : options.start;
  std::string kept = state.held + std::string(rest);
  state.held.clear();
  std::size_t end = kept.size();
  for (std::size_t i = 0; i < options.stop && std::string_view(kept).substr(0, end).ends_with(options.content); ++i) {
    end -= options.content.size();
  }
  // At the end of the whole text these are stripped.  Before that they may still turn out to be inside.
  if (state.fused) state.held = kept.substr(end);
  kept.resize(end);
  feed(step + 1, std::move(kept), out);
}

void Decoder::Run::feed(std::size_t step, std::string text, std::string& out) {
  if (step == states_.size()) {
    out += text;
    return;
  }
  StepState& state = states_[step];
  const Step& kind = decoder_.steps_[step];
  if (const auto* options = std::get_if<Strip>(&kind)) return strip(step, *options, std::move(text), out);
  if (!state.fused) return feed_token(step, std::move(text), out);
  // From here on the whole text is one token.
  if (std::holds_alternative<Fuse>(kind) || std::holds_alternative<Join>(kind)) {
    feed(step + 1, std::move(text), out);
  } else if (const auto* space = std::get_if<Metaspace>(&kind)) {
    feed(step + 1, replaced(text, space->replacement, space->drop_first ? "" : " "), out);
  } else {
    state.held += text;
    state.holds = true;
  }
}

void Decoder::Run::feed_token(std::size_t step, std::string text, std::string& out) {
  StepState& state = states_[step];
  const Step& kind = decoder_.steps_[step];
  if (std::holds_alternative<Bytes>(kind)) {
    state.held += spelled_bytes(text);
    release_bytes(step, out);
  } else if (std::holds_alternative<ByteFallback>(kind)) {
    if (const auto byte = fallback_byte(text)) {
      state.held.push_back(*byte);
      return;
    }
    flush_bytes(step, out);
    feed(step + 1, std::move(text), out);
  } else if (std::holds_alternative<Fuse>(kind)) {
    feed(step + 1, std::move(text), out);
  } else if (std::holds_alternative<Join>(kind)) {
    feed(step + 1, state.count++ == 0 ? std::move(text) : " " + text, out);
  } else if (const auto* space = std::get_if<Metaspace>(&kind)) {
    const bool first = state.count++ == 0 && space->drop_first;
    feed(step + 1, replaced(text, space->replacement, first ? "" : " "), out);
  } else if (const auto* word = std::get_if<WordPiece>(&kind)) {
    feed(step + 1, run(*word, std::move(text), state.count++ == 0), out);
  } else if (const auto* ends = std::get_if<WordEnds>(&kind)) {
    // It was not the last token after all.
    if (state.holds) feed(step + 1, replaced(state.held, ends->suffix, " "), out);
    state.held = std::move(text);
    state.holds = true;
  } else if (const auto* ctc = std::get_if<Ctc>(&kind)) {
    if (state.holds && state.held == text) return;
    state.held = text;
    state.holds = true;
    if (std::string kept = run(*ctc, text); !kept.empty()) feed(step + 1, std::move(kept), out);
  } else if (const auto* replace = std::get_if<Replace>(&kind)) {
    feed(step + 1, replaced(text, replace->from, replace->to), out);
  } else {
    feed(step + 1, replaced(text, std::get<ReplaceRegex>(kind)), out);
  }
}

void Decoder::Run::flush(std::size_t step, std::string& out) {
  const Step& kind = decoder_.steps_[step];
  StepState& state = states_[step];
  if (state.fused && state.holds) {
    std::string whole;
    whole.swap(state.held);
    state.holds = false;
    feed_token(step, std::move(whole), out);
  }
  if (std::holds_alternative<ByteFallback>(kind)) return flush_bytes(step, out);
  std::string held;
  held.swap(state.held);
  if (std::holds_alternative<Bytes>(kind)) {
    if (!held.empty()) feed(step + 1, utf8::to_valid(held), out);
  } else if (const auto* ends = std::get_if<WordEnds>(&kind)) {
    if (state.holds) feed(step + 1, replaced(held, ends->suffix, ""), out);
  }
}

void Decoder::Run::push(std::string_view token, std::string& out) { feed(0, std::string(token), out); }

void Decoder::Run::push_bytes(std::string_view bytes, std::string& out) {
  // Whole characters need not be held back.
  if (states_.size() == 1 && states_[0].held.empty() && utf8::is_valid(bytes)) {
    out += bytes;
    return;
  }
  states_[0].held += bytes;
  release_bytes(0, out);
}

void Decoder::Run::finish(std::string& out) {
  for (std::size_t step = 0; step < states_.size(); ++step) flush(step, out);
}

std::optional<char> Decoder::fallback_byte(std::string_view token) { return tokenizer::fallback_byte(token); }

void Decoder::add_marks(bool byte_fallback, bool strips_first) {
  add(Replace{std::string(kSpaceMark), " "});
  if (byte_fallback) add(ByteFallback{});
  add(Fuse{});
  if (strips_first) add(Strip{" ", 1, 0});
}

bool Decoder::joins_inner_bytes() const {
  std::size_t step = 0;
  while (step < steps_.size() && std::holds_alternative<Replace>(steps_[step])) ++step;
  if (steps_.size() < step + 2) return false;
  if (!std::holds_alternative<ByteFallback>(steps_[step]) || !std::holds_alternative<Fuse>(steps_[step + 1]))
    return false;
  step += 2;
  while (step < steps_.size() && std::holds_alternative<Strip>(steps_[step])) ++step;
  return step == steps_.size();
}

void Decoder::strip_joined(std::string& text) const {
  for (const Step& step : steps_) {
    const auto* strip = std::get_if<Strip>(&step);
    if (strip == nullptr || strip->content.empty()) continue;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < strip->start && std::string_view(text).substr(begin).starts_with(strip->content); ++i) {
      begin += strip->content.size();
    }
    text.erase(0, begin);
    for (std::size_t i = 0; i < strip->stop && text.ends_with(strip->content); ++i) {
      text.resize(text.size() - strip->content.size());
    }
  }
}

}  // namespace rondo::tokenizer
