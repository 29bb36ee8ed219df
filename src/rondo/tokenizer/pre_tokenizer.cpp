#include "tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/utf8.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/json_steps.h"
#include "unicode/classes.h"
#include "unicode/reference.h"

namespace rondo::tokenizer {
namespace {

namespace reference = unicode::reference;

// The pattern by which the step ByteLevel splits.
constexpr std::string_view kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::optional<std::int64_t> kDefaultLength = 5;  // of FixedLength

std::uint32_t end_of(const Pieces& pieces) { return static_cast<std::uint32_t>(pieces.text.text().size()); }

void push(std::vector<Range>& out, Range range) {
  if (range.begin < range.end) out.push_back(range);
}

// Appends the parts into which `matches` (ordered, disjoint) cut `piece`.
void cut_isolated(Range piece, const std::vector<Range>& matches, std::vector<Range>& out) {
  std::uint32_t at = piece.begin;
  for (const Range match : matches) {
    push(out, {at, match.begin});
    push(out, match);
    at = match.end;
  }
  push(out, {at, piece.end});
}

// Adds a part to those before it: either the last of them absorbs it, or it stays separate.
void join(bool joins, Range part, bool backwards, std::vector<Range>& parts) {
  if (!joins || parts.empty()) {
    parts.push_back(part);
  } else if (backwards) {
    parts.back().begin = part.begin;
  } else {
    parts.back().end = part.end;
  }
}

// Appends what `behavior` makes of the matches in a piece.  Like the reference, it keeps empty matches until the end.
void cut(Range piece, const std::vector<Range>& matches, Behavior behavior, bool invert, std::vector<Range>& out) {
  if (behavior == Behavior::kIsolated) return cut_isolated(piece, matches, out);
  struct Part {
    Range range;
    bool is_match = false;
  };
  std::vector<Part> parts;
  std::uint32_t at = piece.begin;
  for (const Range match : matches) {
    if (at < match.begin) parts.push_back({{at, match.begin}, invert});
    parts.push_back({match, !invert});
    at = match.end;
  }
  if (at < piece.end) parts.push_back({{at, piece.end}, invert});
  const bool backwards = behavior == Behavior::kMergedWithNext;
  if (backwards) std::reverse(parts.begin(), parts.end());
  std::vector<Range> joined;
  bool after_match = false;
  for (const Part& part : parts) {
    if (behavior == Behavior::kRemoved) {
      if (!part.is_match) joined.push_back(part.range);
    } else if (behavior == Behavior::kContiguous) {
      join(part.is_match == after_match, part.range, false, joined);
    } else {
      join(part.is_match && !after_match, part.range, backwards, joined);
    }
    after_match = part.is_match;
  }
  if (backwards) std::reverse(joined.begin(), joined.end());
  for (const Range range : joined) push(out, range);
}

bool belongs(PreTokenizer::Class members, char32_t c) {
  switch (members) {
    case PreTokenizer::Class::kDigit: return reference::is_numeric(c);
    case PreTokenizer::Class::kPunctuation: return reference::is_punctuation(c);
    case PreTokenizer::Class::kWhiteSpace: return unicode::is_white_space(c);
  }
  return false;
}

// Replaces the ranges of `pieces` by what `split(range, out)` makes of each.
template <typename Split>
void split_all(Pieces& pieces, Split split) {
  std::vector<Range> out;
  out.reserve(pieces.ranges.size() + end_of(pieces) / 4);
  for (const Range range : pieces.ranges) split(range, out);
  pieces.ranges = std::move(out);
}

// Rewrites every piece by `write(range, builder)`.
template <typename Write>
void rewrite_all(Pieces& pieces, Write write) {
  AlignedBuilder builder(pieces.text);
  std::vector<Range> out;
  out.reserve(pieces.ranges.size());
  for (const Range range : pieces.ranges) {
    const std::uint32_t begin = builder.size();
    write(range, builder);
    push(out, {begin, builder.size()});
  }
  pieces.text = builder.finish();
  pieces.ranges = std::move(out);
}

void run(const PreTokenizer::SplitRegex& step, Pieces& pieces) {
  if (step.scanner) {
    const std::string_view text = pieces.text.text();
    return split_all(pieces, [&](Range range, std::vector<Range>& out) { step.scanner->split(text, range, out); });
  }
  std::string shadow;
  const bool substituted = unicode::substitute_newer(pieces.text.text(), shadow);
  const std::string_view subject = substituted ? std::string_view(shadow) : pieces.text.text();
  Effort effort(subject.size());
  std::vector<Range> matches;
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    matches.clear();
    step.regex.find_all(subject, range, matches, effort);
    cut(range, matches, step.behavior, step.invert, out);
  });
}

void run(const PreTokenizer::SplitText& step, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  std::vector<Range> matches;
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    matches.clear();
    const std::string_view view = text.substr(0, range.end);
    for (std::size_t at = range.begin; !step.text.empty();) {
      at = view.find(step.text, at);
      if (at == std::string_view::npos) break;
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + step.text.size())});
      at += step.text.size();
    }
    cut(range, matches, step.behavior, step.invert, out);
  });
}

void run(const PreTokenizer::SplitClass& step, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  std::vector<Range> matches;
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    matches.clear();
    for (std::uint32_t at = range.begin; at < range.end;) {
      const utf8::Decoded decoded = utf8::decode(text, at);
      const std::uint32_t end = at + decoded.size;
      if (belongs(step.members, decoded.code_point)) matches.push_back({at, end});
      at = end;
    }
    cut(range, matches, step.behavior, false, out);
  });
}

void run(const PreTokenizer::Words&, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    int kind = 0;  // of the current run: 0 white space, 1 word, 2 other
    std::uint32_t begin = range.begin;
    for (std::uint32_t at = range.begin; at < range.end;) {
      const utf8::Decoded decoded = utf8::decode(text, at);
      const int next = reference::is_word(decoded.code_point) ? 1 : unicode::is_white_space(decoded.code_point) ? 0 : 2;
      if (next != kind) {
        if (kind != 0) push(out, {begin, at});
        begin = at;
        kind = next;
      }
      at += decoded.size;
    }
    if (kind != 0) push(out, {begin, range.end});
  });
}

void run(const PreTokenizer::PrependSpace&, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  bool needed = false;
  for (const Range range : pieces.ranges) needed = needed || text[range.begin] != ' ';
  if (!needed) return;
  rewrite_all(pieces, [&](Range range, AlignedBuilder& out) {
    if (text[range.begin] != ' ') out.put(" ", {range.begin, range.begin});
    out.copy(range);
  });
}

void run(const PreTokenizer::SpellBytes& step, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  rewrite_all(pieces, [&](Range range, AlignedBuilder& out) {
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      std::string spelled;
      utf8::append(spelled, byte_level::to_char(static_cast<unsigned char>(text[at])));
      out.put(spelled, {at, at + 1});
    }
  });
  pieces.byte_spelled = step.as_bytes;
}

void run(const PreTokenizer::Metaspace& step, Pieces& pieces) {
  using Prepend = PreTokenizer::Metaspace::Prepend;
  const std::string_view text = pieces.text.text();
  rewrite_all(pieces, [&](Range range, AlignedBuilder& out) {
    const std::string_view view = text.substr(range.begin, range.end - range.begin);
    const bool marked = view.starts_with(' ') || view.starts_with(step.replacement);
    const bool wanted =
        step.prepend == Prepend::kAlways || (step.prepend == Prepend::kFirst && pieces.text.leads(range.begin));
    if (wanted && !marked) out.put(step.replacement, {range.begin, range.begin});
    std::uint32_t from = range.begin;
    for (std::uint32_t at = range.begin; at < range.end; ++at) {
      if (text[at] != ' ') continue;
      out.copy({from, at});
      out.put(step.replacement, {at, at + 1});
      from = at + 1;
    }
    out.copy({from, range.end});
  });
  if (step.split) run(PreTokenizer::SplitText{step.replacement, Behavior::kMergedWithNext, false}, pieces);
}

// Cuts where the script changes.  As in the reference, text before the first character of a script vanishes.
void run(const PreTokenizer::Scripts&, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    std::optional<std::uint32_t> begin;
    std::uint8_t last = 0;
    for (std::uint32_t at = range.begin; at < range.end;) {
      const utf8::Decoded decoded = utf8::decode(text, at);
      const std::uint8_t script = reference::script(decoded.code_point);
      if (script != 0 && script != last) {
        if (begin) push(out, {*begin, at});
        begin = at;
        last = script;
      }
      at += decoded.size;
    }
    if (begin) push(out, {*begin, range.end});
  });
}

void run(const PreTokenizer::FixedLength& step, Pieces& pieces) {
  const std::string_view text = pieces.text.text();
  split_all(pieces, [&](Range range, std::vector<Range>& out) {
    std::uint32_t begin = range.begin;
    std::size_t count = 0;
    for (std::uint32_t at = range.begin; at < range.end;) {
      at += utf8::decode(text, at).size;
      if (++count % step.length != 0) continue;
      push(out, {begin, at});
      begin = at;
    }
    push(out, {begin, range.end});
  });
}

Result<Behavior> behavior_of(const json::Value& description, Behavior otherwise) {
  const auto name = description.find_string("behavior");
  if (!name) return otherwise;
  if (*name == "Isolated") return Behavior::kIsolated;
  if (*name == "Removed") return Behavior::kRemoved;
  if (*name == "Contiguous") return Behavior::kContiguous;
  if (*name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (*name == "MergedWithNext") return Behavior::kMergedWithNext;
  return damaged("the split behavior `" + std::string(*name) + "` is not supported");
}

Status add_split(const json::Value& description, PreTokenizer& to) {
  const json::Value* pattern = description.find("pattern");
  if (pattern == nullptr) return damaged("the pre-tokenizer `Split` has no pattern");
  Result<Behavior> behavior = behavior_of(description, Behavior::kIsolated);
  if (!behavior.ok()) return behavior.error();
  const bool invert = step_flag(description, "invert", false);
  auto regex = pattern->find_string("Regex");
  if (const auto text = pattern->find_string("String")) {
    if (!text->empty()) {
      to.add(PreTokenizer::SplitText{std::string(*text), behavior.value(), invert});
      return Done{};
    }
    regex = text;  // matches everywhere, as an expression does
  }
  if (!regex) return damaged("the pattern of the pre-tokenizer `Split` is of an unknown kind");
  return to.add_regex(*regex, behavior.value(), invert, Dialect::kOniguruma);
}

Status add_byte_level(const json::Value& description, PreTokenizer& to) {
  if (step_flag(description, "add_prefix_space", true)) to.add(PreTokenizer::PrependSpace{});
  if (step_flag(description, "use_regex", true)) {
    if (Status status = to.add_regex(kByteLevelPattern, Behavior::kIsolated, false); !status.ok()) return status;
  }
  to.add(PreTokenizer::SpellBytes{});
  return Done{};
}

Status add_metaspace(const json::Value& description, PreTokenizer& to) {
  using Prepend = PreTokenizer::Metaspace::Prepend;
  Result<std::string> replacement = step_character(description, "replacement", "\u2581");
  if (!replacement.ok()) return replacement.error();
  PreTokenizer::Metaspace step;
  step.replacement = std::move(replacement).value();
  step.split = step_flag(description, "split", true);
  // Files older than the scheme say whether there is a space in front at all; later ones may say both.
  const auto scheme = description.find_string("prepend_scheme");
  if (scheme == "never" || (!scheme && !step_flag(description, "add_prefix_space", true))) {
    step.prepend = Prepend::kNever;
  } else if (scheme == "first") {
    step.prepend = Prepend::kFirst;
  } else if (scheme && scheme != "always") {
    return damaged("the prepend scheme `" + std::string(*scheme) + "` is not known");
  }
  to.add(std::move(step));
  return Done{};
}

Status add_fixed_length(const json::Value& description, PreTokenizer& to) {
  const json::Value* length = description.find("length");
  const auto value = length == nullptr ? kDefaultLength : length->to_int64();
  if (!value || *value < 1) return damaged("the pre-tokenizer `FixedLength` has no usable length");
  to.add(PreTokenizer::FixedLength{static_cast<std::size_t>(*value)});
  return Done{};
}

Status add_delimiter(const json::Value& description, PreTokenizer& to) {
  Result<std::string> delimiter = step_character(description, "delimiter", "");
  if (!delimiter.ok()) return delimiter.error();
  to.add(PreTokenizer::SplitText{std::move(delimiter).value(), Behavior::kRemoved, false});
  return Done{};
}

Status add_step(std::string_view type, const json::Value& description, PreTokenizer& to) {
  using Class = PreTokenizer::Class;
  if (type == "Split") return add_split(description, to);
  if (type == "ByteLevel") return add_byte_level(description, to);
  if (type == "Metaspace") return add_metaspace(description, to);
  if (type == "FixedLength") return add_fixed_length(description, to);
  if (type == "CharDelimiterSplit") return add_delimiter(description, to);
  if (type == "Digits") {
    const bool single = step_flag(description, "individual_digits", false);
    to.add(PreTokenizer::SplitClass{Class::kDigit, single ? Behavior::kIsolated : Behavior::kContiguous});
  } else if (type == "Punctuation") {
    Result<Behavior> behavior = behavior_of(description, Behavior::kIsolated);
    if (!behavior.ok()) return behavior.error();
    to.add(PreTokenizer::SplitClass{Class::kPunctuation, behavior.value()});
  } else if (type == "WhitespaceSplit") {
    to.add(PreTokenizer::SplitClass{Class::kWhiteSpace, Behavior::kRemoved});
  } else if (type == "BertPreTokenizer") {
    to.add(PreTokenizer::SplitClass{Class::kWhiteSpace, Behavior::kRemoved});
    to.add(PreTokenizer::SplitClass{Class::kPunctuation, Behavior::kIsolated});
  } else if (type == "Whitespace") {
    to.add(PreTokenizer::Words{});
  } else if (type == "UnicodeScripts") {
    to.add(PreTokenizer::Scripts{});
  } else {
    return damaged("the pre-tokenizer `" + std::string(type) + "` is not known");
  }
  return Done{};
}

}  // namespace

Result<PreTokenizer> PreTokenizer::from_json(const json::Value* description) {
  PreTokenizer made;
  if (description == nullptr || description->is_null()) return made;
  const auto add = [&made](std::string_view type, const json::Value& step) { return add_step(type, step, made); };
  const Status status = for_each_step(*description, "pre_tokenizer", "pretokenizers", add);
  if (!status.ok()) return status.error();
  return made;
}

bool PreTokenizer::can_leave_bytes() const {
  std::size_t spelled = 0;
  for (const Step& step : steps_) {
    const bool rewrites = std::holds_alternative<PrependSpace>(step) || std::holds_alternative<Metaspace>(step);
    if (spelled > 0 && rewrites) return false;
    if (std::holds_alternative<SpellBytes>(step)) ++spelled;
  }
  return spelled == 1;
}

void PreTokenizer::leave_bytes() {
  if (std::holds_alternative<SpellBytes>(steps_.back())) return steps_.pop_back();
  for (Step& step : steps_) {
    if (auto* spell = std::get_if<SpellBytes>(&step)) spell->as_bytes = true;
  }
}

Status PreTokenizer::add_regex(std::string_view pattern, Behavior behavior, bool invert, Dialect dialect) {
  Result<Regex> regex = Regex::compile(pattern, dialect);
  if (!regex.ok()) return regex.error();
  SplitRegex step{std::move(regex).value(), behavior, invert, std::nullopt};
  // A scanner's matches leave no gaps, so it is enough to keep them.
  if (behavior == Behavior::kIsolated || (behavior == Behavior::kRemoved && invert))
    step.scanner = Scanner::find(pattern);
  add(std::move(step));
  return Done{};
}

Pieces PreTokenizer::apply(Aligned text) const {
  Pieces pieces{std::move(text), {}, false};
  push(pieces.ranges, {0, end_of(pieces)});
  for (const Step& step : steps_) {
    std::visit([&pieces](const auto& kind) { run(kind, pieces); }, step);
  }
  return pieces;
}

const Scanner* PreTokenizer::only_scanner() const {
  if (steps_.size() != 1) return nullptr;
  const auto* step = std::get_if<SplitRegex>(steps_.data());
  return step != nullptr && step->scanner ? &*step->scanner : nullptr;
}

std::string PreTokenizer::to_string() const {
  static constexpr auto kStepNames =
      std::to_array<const char*>({"split by regex", "split at text", "split by class", "words", "prepend space",
                                  "spell bytes", "metaspace", "fixed length", "scripts"});
  static_assert(kStepNames.size() == std::variant_size_v<Step>);
  std::string out;
  for (const Step& step : steps_) out += (out.empty() ? "" : ", ") + std::string(kStepNames.at(step.index()));
  return out.empty() ? "none" : out;
}

}  // namespace rondo::tokenizer
