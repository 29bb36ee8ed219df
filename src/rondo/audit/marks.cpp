#include "audit/marks.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "audit/source.h"
#include "audit/source_blocks.h"
#include "causes/places.h"
#include "probe/places.h"
#include "render/training.h"

namespace rondo::audit {
namespace {

using jinja::TokenKind;

// A byte that the template writes.  It belongs to a literal, or to the output of the expression at a token.
struct Place {
  std::size_t token = 0;
  std::optional<std::size_t> offset;  // in a literal's text; one past its last byte for ends
  auto operator<=>(const Place&) const = default;
};

// What a candidate template writes for the training conversations, and where its marks are wrong.
struct Trained {
  std::vector<std::string> texts;
  std::size_t gaps = 0;
  bool has_marks = false;
};

// How an old mark is removed: with the line that it has to itself, alone, or replaced by a comment that keeps the white
// space around it.
enum class Removal : std::uint8_t { kLine, kTag, kComment };

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Marker {
 public:
  Marker(const Stage& stage, const std::string& source) : stage_(stage), text_(source) {}

  std::optional<Marked> run(bool may_add) {
    const std::optional<Trained> before = train(text_, nullptr);
    if (!before || (before->has_marks ? before->gaps == 0 : !may_add)) return std::nullopt;
    Marked best;
    std::size_t fewest = before->has_marks ? before->gaps : kNone;
    for (const Removal removal : {Removal::kLine, Removal::kTag, Removal::kComment}) {
      const std::string bare = without_marks(removal);
      Places places;
      const std::optional<Trained> plain = train(bare, &places);
      if (!plain || plain->texts != before->texts || places.begins.empty()) continue;
      for (const std::string& marked : with_marks(Source(bare), places)) {
        const std::optional<Trained> after = train(marked, nullptr);
        if (!after || after->texts != before->texts || !after->has_marks || after->gaps >= fewest) continue;
        fewest = after->gaps;
        best.source = marked;
      }
      if (!before->has_marks || fewest == 0) break;
    }
    if (best.source.empty() || (fewest > 0 && !before->has_marks)) return std::nullopt;
    best.sentence = !before->has_marks ? "generation marks are added around what is sampled"
                    : fewest == 0      ? "generation marks cover what is sampled, and nothing else"
                                       : "generation marks cover less that is not sampled, or more that is";
    return best;
  }

 private:
  // The two marks as this template spells them.
  struct Tags {
    std::string begin;
    std::string end;
  };

  struct Places {
    std::set<Place> begins;
    std::set<Place> ends;
  };

  // nullopt if the template does not compile, or refuses a training conversation.
  [[nodiscard]] std::optional<Trained> train(const std::string& source, Places* places) const {
    auto compiled = jinja::Template::compile(source, {}, stage_.subject().chat_template->name());
    if (!compiled.ok()) return std::nullopt;
    Subject subject = stage_.subject();
    subject.chat_template = std::move(compiled).value();
    const std::unique_ptr<const Stage> stage = stage_.with(subject);
    const AuditContext context = stage->context(true);
    const Trials trials(context);
    Trained out;
    out.has_marks = subject.chat_template->has_generation_block();
    for (const bool with_calls : {false, true}) {
      if (with_calls && !trials.writes_calls()) continue;
      const TrialSetting setting{.tools = with_calls};
      const json::Array messages = training_messages(trials, with_calls);
      const auto encoded = trials.encode(messages, setting);
      const auto rendered = trials.render(messages, setting);
      if (!encoded.ok() || !rendered.ok()) return std::nullopt;
      out.texts.push_back(encoded.value().text);
      if (out.has_marks) out.gaps += render::generation_findings(encoded.value()).size();
      if (places != nullptr) add_places(context, Source(source), rendered.value(), messages, *places);
    }
    return out;
  }

  static void add_places(const AuditContext& context, const Source& source, const jinja::Rendered& rendered,
                         const json::Array& messages, Places& places) {
    for (const render::SampledExtent& extent : render::sampled_extents(context.turn(), rendered, messages)) {
      if (extent.begin >= extent.end) continue;
      if (const auto place = place_at(context, source, rendered, extent.begin, 0)) places.begins.insert(*place);
      if (const auto place = place_at(context, source, rendered, extent.end - 1, 1)) places.ends.insert(*place);
    }
  }

  static std::optional<Place> place_at(const AuditContext& context, const Source& source,
                                       const jinja::Rendered& rendered, std::size_t at, std::size_t behind) {
    const auto runs = rendered.text.runs();
    const probe::Spot spot = probe::spot_at(rendered, at);
    if (spot.run == nullptr) return std::nullopt;
    const auto token = token_of(context, source, rendered, *spot.run);
    if (!token) return std::nullopt;
    if (spot.run->kind == text::RunKind::kLiteral)
      return Place{*token, spot.run->source_offset + (at - spot.begin) + behind};
    // An output statement has one place for all values that it joins.  The text next to the value shows which of them
    // is meant.
    const auto index = static_cast<std::size_t>(spot.run - runs.data());
    const std::size_t beside = behind == 0 ? index - 1 : index + 1;  // wraps before the first
    if (beside < runs.size() && runs[beside].kind == text::RunKind::kLiteral) {
      const auto other = token_of(context, source, rendered, runs[beside]);
      const bool is_same =
          other && source.tag_of(*other).begin == source.tag_of(*token).begin && source.is(*other, TokenKind::kString);
      if (is_same) return Place{*other, runs[beside].source_offset + (behind == 0 ? runs[beside].size : 0)};
    }
    return Place{*token, std::nullopt};
  }

  static std::optional<std::size_t> token_of(const AuditContext& context, const Source& source,
                                             const jinja::Rendered& rendered, const text::Run& run) {
    const text::Literal where = causes::writer_of(context.chat_template, rendered, run);
    return source.token_at(where.line, where.column);
  }

  [[nodiscard]] std::string without_marks(Removal removal) const {
    const Source source(text_);
    std::vector<Edit> edits;
    for (std::size_t at = 0; at + 2 < source.tokens().size(); ++at) {
      const bool is_mark = source.is(at, TokenKind::kBlockBegin) &&
                           (source.is_name(at + 1, "generation") || source.is_name(at + 1, "endgeneration"));
      if (!is_mark) continue;
      std::size_t begin = source.tokens()[at].begin;
      std::size_t end = source.tokens()[at + 2].end;
      const std::string& text = source.text();
      const std::string tag = text.substr(begin, end - begin);
      std::string comment;
      if (removal == Removal::kComment) {
        comment = tag.starts_with("{%-") ? "{#-" : "{#";
        comment += tag.ends_with("-%}") ? " -#}" : " #}";
      }
      const std::size_t line = text.rfind('\n', begin) + 1;  // none before the first line, and 0 there
      const bool is_alone = text.find_first_not_of(' ', line) == begin && end < text.size() && text[end] == '\n';
      if (removal == Removal::kLine && is_alone) {
        begin = line;
        ++end;
      }
      edits.push_back({begin, end, std::move(comment)});
    }
    return source.apply(std::move(edits));
  }

  // The template with marks, once for each spelling of the white space around them.
  static std::vector<std::string> with_marks(const Source& source, const Places& places) {
    const SourceBlocks blocks(source);
    const Level level = common_level(source, blocks, places);
    std::vector<std::string> out;
    for (const char* const left : {"{%- ", "{% "}) {
      for (const char* const right : {" %}", " -%}"}) {
        std::vector<Edit> edits;
        const Tags tags{std::string(left) + "generation" + right, std::string(left) + "endgeneration" + right};
        if (!add_marks(source, level, places, tags, edits)) continue;
        out.push_back(source.apply(std::move(edits)));
      }
    }
    return out;
  }

  // The innermost body that contains all places: a statement, and which of its branches.
  struct Level {
    const SourceBlock* block = nullptr;  // nullptr: the whole template
    std::size_t branch = 0;
  };

  static std::size_t byte_of(const Source& source, const Place& place) { return source.tokens()[place.token].begin; }

  static std::vector<Level> levels_of(const SourceBlocks& blocks, std::size_t byte) {
    std::vector<Level> out;
    for (const SourceBlock* block : blocks.around(byte)) { out.push_back({block, blocks.branch_of(*block, byte)}); }
    out.push_back({});
    return out;
  }

  static Level common_level(const Source& source, const SourceBlocks& blocks, const Places& places) {
    std::vector<Level> common;
    bool is_first = true;
    for (const std::set<Place>* const set : {&places.begins, &places.ends}) {
      for (const Place& place : *set) {
        const std::vector<Level> levels = levels_of(blocks, byte_of(source, place));
        if (is_first) common = levels;
        is_first = false;
        std::erase_if(common, [&](const Level& level) {
          return std::ranges::none_of(
              levels, [&](const Level& other) { return other.block == level.block && other.branch == level.branch; });
        });
      }
    }
    return common.empty() ? Level{} : common.front();
  }

  // The statement around a place that is directly in the body; nullptr if the place itself is.
  static const SourceBlock* child_of(const SourceBlocks& blocks, const Level& level, std::size_t byte) {
    const SourceBlock* child = nullptr;
    for (const SourceBlock* block : blocks.around(byte)) {
      if (level.block != nullptr && block->begin == level.block->begin) return child;
      child = block;
    }
    return child;
  }

  static bool add_marks(const Source& source, const Level& level, const Places& places, const Tags& tags,
                        std::vector<Edit>& edits) {
    const SourceBlocks blocks(source);
    const Place& first = *places.begins.begin();
    const Place& last = *places.ends.rbegin();
    const SourceBlock* const from = child_of(blocks, level, byte_of(source, first));
    const SourceBlock* const to = child_of(blocks, level, byte_of(source, last));
    if (from != nullptr) edits.push_back({from->begin, from->begin, tags.begin});
    if (to != nullptr) edits.push_back({to->end, to->end, tags.end});
    const TokenRange tag = source.tag_of(first.token);
    const TokenRange last_tag = source.tag_of(last.token);
    const bool is_same = from == nullptr && to == nullptr && tag.begin == last_tag.begin && tag.begin < tag.end;
    if (is_same) return add_cut(source, &first, &last, tags, edits);
    if (from == nullptr && !add_cut(source, &first, nullptr, tags, edits)) return false;
    return to != nullptr || add_cut(source, nullptr, &last, tags, edits);
  }

  // A text of an output statement, and where the marks cut it: before the operand `at`, or inside a constant.
  struct Cut {
    std::size_t operand = 0;
    std::size_t offset = 0;  // in a constant's text
  };

  // Cuts the output statement, or the text between tags, that contains the places.  If both are given, they are in the
  // same output.
  static bool add_cut(const Source& source, const Place* first, const Place* last, const Tags& tags,
                      std::vector<Edit>& edits) {
    const Place& place = first != nullptr ? *first : *last;
    const SourceToken& token = source.tokens()[place.token];
    if (token.kind == TokenKind::kData) {
      const std::size_t at = token.begin + place.offset.value_or(0);
      edits.push_back({at, at, first != nullptr ? tags.begin : tags.end});
      return true;
    }
    const TokenRange tag = source.tag_of(place.token);
    if (tag.begin == tag.end || !source.is(tag.begin - 1, TokenKind::kVariableBegin)) return false;
    const std::vector<TokenRange> operands = operands_of(source, tag);
    const auto pieces = [&](const Place* at, bool behind) { return cut_of(source, operands, at, behind); };
    const Cut from = first != nullptr ? pieces(first, false) : Cut{0, 0};
    const Cut to = last != nullptr ? pieces(last, true) : Cut{operands.size(), 0};
    std::string out;
    const auto add = [&](const Cut& a, const Cut& b) {
      const std::string text = text_between(source, operands, a, b);
      if (!text.empty()) out += "{{- " + text + " }}";
    };
    if (first != nullptr) {
      add({0, 0}, from);
      out += tags.begin;
    }
    add(from, to);
    if (last != nullptr) {
      out += tags.end;
      add(to, {operands.size(), 0});
    }
    edits.push_back({source.tokens()[tag.begin - 1].begin, source.tokens()[tag.end].end, std::move(out)});
    return true;
  }

  // The operands that an output joins; the whole expression if it does something else.
  static std::vector<TokenRange> operands_of(const Source& source, TokenRange tag) {
    std::vector<TokenRange> out;
    std::size_t from = tag.begin;
    for (std::size_t at = tag.begin; at < tag.end; at = source.behind_group(at)) {
      if (source.is_name(at, "if")) return {tag};
      if (!source.is(at, TokenKind::kAdd) && !source.is(at, TokenKind::kTilde)) continue;
      out.push_back({from, at});
      from = at + 1;
    }
    out.push_back({from, tag.end});
    return out;
  }

  static Cut cut_of(const Source& source, const std::vector<TokenRange>& operands, const Place* place, bool behind) {
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (place->token < operands[i].begin || place->token >= operands[i].end) continue;
      const bool is_constant =
          operands[i].end - operands[i].begin == 1 && source.is(place->token, TokenKind::kString) && place->offset;
      const std::size_t size = is_constant ? source.tokens()[place->token].text.size() : 0;
      if (is_constant && *place->offset > 0 && *place->offset < size) return {i, *place->offset};
      if (is_constant) return {*place->offset == 0 ? i : i + 1, 0};
      return {behind ? i + 1 : i, 0};
    }
    return {behind ? operands.size() : 0, 0};
  }

  static std::string text_between(const Source& source, const std::vector<TokenRange>& operands, const Cut& from,
                                  const Cut& to) {
    std::string out;
    for (std::size_t i = from.operand; i < operands.size() && (i < to.operand || (i == to.operand && to.offset > 0));
         ++i) {
      std::string text(source.text_of(operands[i]));
      const std::size_t begin = i == from.operand ? from.offset : 0;
      const bool is_cut = begin > 0 || i == to.operand;
      if (is_cut) {
        const std::string& constant = source.tokens()[operands[i].begin].text;
        text = quote(constant.substr(begin, (i == to.operand ? to.offset : constant.size()) - begin));
      }
      const std::string sign(source.text_of({operands[i].begin - 1, operands[i].begin}));
      if (!out.empty()) out.append(" ").append(sign).append(" ");
      out += text;
    }
    return out;
  }

  const Stage& stage_;
  const std::string& text_;
};

}  // namespace

json::Array training_messages(const Trials& trials, bool with_calls) {
  const std::string thought = trials.format().input.reasoning_field.empty() ? "" : std::string(kThoughtWord);
  json::Array out = {user_message()};
  if (with_calls) {
    const SaidCall call = first_call();
    out.push_back(trials.assistant({"", "", {call}}));
    out.push_back(trials.result(0, kToolName, kResultWord));
  }
  out.push_back(trials.assistant({thought, std::string(kAnswerWord), {}}));
  out.push_back(plain_message("user", kSecondQuestionWord));
  out.push_back(plain_message("assistant", kSecondAnswerWord));
  return out;
}

std::optional<Marked> mend_marks(const Stage& stage, const std::string& source, bool may_add) {
  return Marker(stage, source).run(may_add);
}

}  // namespace rondo::audit
