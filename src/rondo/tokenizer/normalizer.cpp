#include "tokenizer/normalizer.h"

#include <optional>

#include "base/base64.h"
#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/json_steps.h"
#include "unicode/classes.h"
#include "unicode/graphemes.h"
#include "unicode/reference.h"

namespace rondo::tokenizer {
namespace {

namespace reference = unicode::reference;

std::uint32_t size_of(const Aligned& text) { return static_cast<std::uint32_t>(text.text().size()); }

Aligned run(const Normalizer::Sentence& step, const Aligned& text) { return step.steps->apply(text); }

Aligned run(const Normalizer::Unicode& step, Aligned text) {
  if (unicode::is_normalised(text.text(), step.form)) return text;
  AlignedBuilder out(text);
  std::string bytes;
  for (const unicode::Normalised& unit : unicode::normalise_aligned(text.text(), step.form)) {
    bytes.clear();
    utf8::append(bytes, unit.code_point);
    out.put(bytes, {unit.begin, unit.end});
  }
  return out.finish();
}

Aligned replace_all(const Aligned& text, const std::vector<Range>& matches, const std::string& to) {
  AlignedBuilder out(text);
  std::uint32_t at = 0;
  for (const Range match : matches) {
    out.copy({at, match.begin});
    out.put_for_last(to, match);
    at = match.end;
  }
  out.copy({at, size_of(text)});
  return out.finish();
}

Aligned run(const Normalizer::ReplaceText& step, Aligned text) {
  std::vector<Range> matches;
  const std::string_view view = text.text();
  for (std::size_t at = view.find(step.from); at != std::string_view::npos && !step.from.empty();
       at = view.find(step.from, at + step.from.size())) {
    matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + step.from.size())});
  }
  return matches.empty() ? std::move(text) : replace_all(text, matches, step.to);
}

Aligned run(const Normalizer::ReplaceRegex& step, Aligned text) {
  if (text.text().empty()) return text;  // not even an empty match
  std::vector<Range> matches;
  std::string shadow;
  const bool substituted = unicode::substitute_newer(text.text(), shadow);
  step.from.find_all(substituted ? std::string_view(shadow) : text.text(), {0, size_of(text)}, matches);
  return matches.empty() ? std::move(text) : replace_all(text, matches, step.to);
}

Aligned run(const Normalizer::Prepend& step, Aligned text) {
  if (text.text().empty()) return text;
  AlignedBuilder out(text);
  out.put(step.text, {0, 0});
  out.copy({0, size_of(text)});
  return out.finish();
}

Aligned run(const Normalizer::Strip& step, Aligned text) {
  const std::string_view view = text.text();
  std::uint32_t begin = 0;
  std::uint32_t end = size_of(text);
  while (step.left && begin < end) {
    const utf8::Decoded decoded = utf8::decode(view, begin);
    if (!unicode::is_white_space(decoded.code_point)) break;
    begin += decoded.size;
  }
  while (step.right && begin < end) {
    std::uint32_t last = end - 1;
    while (last > begin && utf8::is_continuation(view[last])) --last;
    if (!unicode::is_white_space(utf8::decode(view, last).code_point)) break;
    end = last;
  }
  if (begin == 0 && end == size_of(text)) return text;
  AlignedBuilder out(text);
  out.copy({begin, end});
  return out.finish();
}

// What happens to a character: it stays, goes, or is replaced.
struct Change {
  static constexpr char32_t kStays = 0x110000;
  static constexpr char32_t kGoes = 0x110001;
};

// Rewrites every character by `change`.
template <typename ChangeOf>
Aligned change_characters(Aligned text, ChangeOf change) {
  std::optional<AlignedBuilder> out;
  const std::string_view view = text.text();
  std::uint32_t kept = 0;  // start of what is not yet copied
  std::string bytes;
  for (std::uint32_t at = 0; at < view.size();) {
    const utf8::Decoded decoded = utf8::decode(view, at);
    const Range range{at, at + decoded.size};
    at = range.end;
    const char32_t to = change(decoded.code_point);
    if (to == Change::kStays || to == decoded.code_point) continue;
    if (!out) out.emplace(text);
    out->copy({kept, range.begin});
    kept = range.end;
    if (to == Change::kGoes) continue;
    bytes.clear();
    utf8::append(bytes, to);
    out->put(bytes, range);
  }
  if (!out) return text;
  out->copy({kept, size_of(text)});
  return out->finish();
}

Aligned run(const Normalizer::Lowercase&, const Aligned& text) {
  AlignedBuilder out(text);
  const std::string_view view = text.text();
  std::string lower;
  for (std::uint32_t at = 0; at < view.size();) {
    const utf8::Decoded decoded = utf8::decode(view, at);
    const std::uint32_t end = at + decoded.size;
    const unicode::CaseImage image = reference::to_lower(decoded.code_point);
    lower.clear();
    for (std::size_t i = 0; i < image.count; ++i) utf8::append(lower, image.code_points[i]);
    out.put(lower, {at, end});
    at = end;
  }
  return out.finish();
}

Aligned run(const Normalizer::StripAccents&, Aligned text) {
  return change_characters(std::move(text),
                           [](char32_t c) { return reference::is_accent(c) ? Change::kGoes : Change::kStays; });
}

Aligned run(const Normalizer::StripMarks&, Aligned text) {
  return change_characters(std::move(text),
                           [](char32_t c) { return reference::is_nonspacing(c) ? Change::kGoes : Change::kStays; });
}

Aligned run(const Normalizer::CleanText&, Aligned text) {
  return change_characters(std::move(text), [](char32_t c) {
    if (reference::is_control(c)) return Change::kGoes;
    return unicode::is_white_space(c) ? U' ' : Change::kStays;
  });
}

// The character lists are those of SentencePiece's rule "nmt".
Aligned run(const Normalizer::Nmt&, Aligned text) {
  return change_characters(std::move(text), [](char32_t c) {
    const bool drops =
        (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    const bool is_space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                          (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF ||
                          c == 0xFFFD;
    return drops ? Change::kGoes : is_space ? U' ' : Change::kStays;
  });
}

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

Aligned run(const Normalizer::SpaceChinese&, Aligned text) {
  std::optional<AlignedBuilder> out;
  const std::string_view view = text.text();
  std::uint32_t kept = 0;
  for (std::uint32_t at = 0; at < view.size();) {
    const utf8::Decoded decoded = utf8::decode(view, at);
    const Range range{at, at + decoded.size};
    at = range.end;
    if (!is_chinese(decoded.code_point)) continue;
    if (!out) out.emplace(text);
    out->copy({kept, range.begin});
    out->put(" " + std::string(view.substr(range.begin, decoded.size)) + " ", range);
    kept = range.end;
  }
  if (!out) return text;
  out->copy({kept, size_of(text)});
  return out->finish();
}

Aligned run(const Normalizer::SpellBytes&, const Aligned& text) {
  AlignedBuilder out(text);
  const std::string_view view = text.text();
  std::string spelled;
  for (std::uint32_t at = 0; at < view.size(); ++at) {
    spelled.clear();
    utf8::append(spelled, byte_level::to_char(static_cast<unsigned char>(view[at])));
    out.put(spelled, {at, at + 1});
  }
  return out.finish();
}

Aligned run(const Normalizer::MapCharacters& step, Aligned text) {
  constexpr std::size_t kLongest = 5;  // bytes of a cluster that is looked up as a whole
  std::optional<AlignedBuilder> out;
  const std::string_view view = text.text();
  std::uint32_t kept = 0;
  const auto mapped = [&](Range range) {
    const auto match = step.map->shortest_prefix(view.substr(range.begin, range.end - range.begin));
    if (!match) return false;
    if (!out) out.emplace(text);
    out->copy({kept, range.begin});
    if (out->size() == 0 && match->replacement.empty()) out->drop_front();
    out->put(match->replacement, range);
    kept = range.end;
    return true;
  };
  for (std::uint32_t at = 0; at < view.size();) {
    const auto end = static_cast<std::uint32_t>(unicode::grapheme_end(view, at));
    const bool whole = end - at <= kLongest && mapped({at, end});
    for (std::uint32_t next = at; !whole && at < end; at = next) {
      next = at + utf8::decode(view, at).size;
      mapped({at, next});
    }
    at = end;
  }
  if (!out) return text;
  out->copy({kept, size_of(text)});
  return out->finish();
}

Status add_replace(const json::Value& description, Normalizer& to) {
  const json::Value* pattern = description.find("pattern");
  const auto content = description.find_string("content");
  if (pattern == nullptr || !content) return damaged("the normalizer `Replace` lacks a pattern or a content");
  auto source = pattern->find_string("Regex");
  if (const auto text = pattern->find_string("String")) {
    if (!text->empty()) {
      to.add(Normalizer::ReplaceText{std::string(*text), std::string(*content)});
      return Done{};
    }
    source = text;  // matches everywhere, as an expression does
  }
  if (!source) return damaged("the pattern of the normalizer `Replace` is of an unknown kind");
  Result<Regex> regex = Regex::compile(*source, Dialect::kOniguruma);
  if (!regex.ok()) return regex.error();
  to.add(Normalizer::ReplaceRegex{std::move(regex).value(), std::string(*content)});
  return Done{};
}

void add_bert(const json::Value& description, Normalizer& to) {
  const bool lowercase = step_flag(description, "lowercase", true);
  if (step_flag(description, "clean_text", true)) to.add(Normalizer::CleanText{});
  if (step_flag(description, "handle_chinese_chars", true)) to.add(Normalizer::SpaceChinese{});
  if (step_flag(description, "strip_accents", lowercase)) {
    to.add(Normalizer::Unicode{unicode::Form::kNfd});
    to.add(Normalizer::StripMarks{});
  }
  if (lowercase) to.add(Normalizer::Lowercase{});
}

Status add_precompiled(const json::Value& description, Normalizer& to) {
  const auto text = description.find_string("precompiled_charsmap");
  if (text.value_or("").empty()) return Done{};  // converters write this for "no map"
  const auto blob = base64::decode(*text);
  if (!blob) return damaged("the `precompiled_charsmap` of the normalizer `Precompiled` is no base64");
  Result<Charsmap> map = Charsmap::parse(*blob);
  if (!map.ok()) return map.error();
  to.add(Normalizer::MapCharacters{std::make_shared<const Charsmap>(std::move(map).value())});
  return Done{};
}

Status add_step(std::string_view type, const json::Value& description, Normalizer& to) {
  if (type == "NFC")
    to.add(Normalizer::Unicode{unicode::Form::kNfc});
  else if (type == "NFD")
    to.add(Normalizer::Unicode{unicode::Form::kNfd});
  else if (type == "NFKC")
    to.add(Normalizer::Unicode{unicode::Form::kNfkc});
  else if (type == "NFKD")
    to.add(Normalizer::Unicode{unicode::Form::kNfkd});
  else if (type == "Lowercase")
    to.add(Normalizer::Lowercase{});
  else if (type == "StripAccents")
    to.add(Normalizer::StripAccents{});
  else if (type == "Nmt")
    to.add(Normalizer::Nmt{});
  else if (type == "ByteLevel")
    to.add(Normalizer::SpellBytes{});
  else if (type == "BertNormalizer")
    add_bert(description, to);
  else if (type == "Precompiled")
    return add_precompiled(description, to);
  else if (type == "Replace")
    return add_replace(description, to);
  else if (type == "Prepend")
    to.add(Normalizer::Prepend{std::string(description.find_string("prepend").value_or(""))});
  else if (type == "Strip")
    to.add(Normalizer::Strip{step_flag(description, "strip_left", true), step_flag(description, "strip_right", true)});
  else
    return damaged("the normalizer `" + std::string(type) + "` is not known");
  return Done{};
}

constexpr std::size_t kLongestReplacement = 4096;  // in bytes; the longest real one has 9
constexpr std::size_t kMostGrowth = 1024;          // times; real ones make a text three times as long

}  // namespace

// Each replacement may hold what the next one replaces, so that a short list of them could make a text of any size.
Status Normalizer::check_growth() const {
  std::string probe;
  for (char c = ' '; c <= '~'; ++c) probe += c;
  for (const Step& step : steps_) {
    const auto* text = std::get_if<ReplaceText>(&step);
    const auto* regex = std::get_if<ReplaceRegex>(&step);
    if (text == nullptr && regex == nullptr) continue;
    const std::string& to = text != nullptr ? text->to : regex->to;
    if (to.size() > kLongestReplacement)
      return damaged("the normalizer `Replace` has a content of " + std::to_string(to.size()) + " bytes");
    if (text != nullptr) probe += text->from;
  }
  Aligned grown(probe, 0);
  for (const Step& step : steps_) {
    grown = std::visit([&grown](const auto& kind) { return run(kind, std::move(grown)); }, step);
    if (grown.text().size() > kMostGrowth * probe.size())
      return damaged("the normalizer makes texts more than " + std::to_string(kMostGrowth) + " times as long");
  }
  return Done{};
}

Result<Normalizer> Normalizer::from_json(const json::Value* description) {
  Normalizer made;
  if (description == nullptr || description->is_null()) return made;
  const auto add = [&made](std::string_view type, const json::Value& step) { return add_step(type, step, made); };
  if (Status status = for_each_step(*description, "normalizer", "normalizers", add); !status.ok())
    return status.error();
  if (Status growth = made.check_growth(); !growth.ok()) return growth.error();
  return made;
}

Aligned Normalizer::apply(Aligned text) const {
  for (const Step& step : steps_) {
    text = std::visit([&text](const auto& kind) { return run(kind, std::move(text)); }, step);
  }
  return text;
}

std::string Normalizer::apply(std::string_view text) const { return std::string(apply(Aligned(text, 0)).text()); }

}  // namespace rondo::tokenizer
