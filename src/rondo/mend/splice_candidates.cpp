#include "mend/splice_candidates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "causes/places.h"
#include "probe/places.h"
#include "probe/variables.h"

namespace rondo::mend {
namespace {

using jinja::TokenKind;

constexpr std::size_t kMostBlocks = 4;  // blocks around a place, before or after which an edit is made
constexpr std::size_t kMostShown = 40;  // bytes of a text that a sentence shows

// One way of writing the new text: an expression or a constant, and its condition.
struct Variation {
  std::string value;
  std::optional<std::string> constant;
  std::string condition;  // "": always
};

// Bytes [from, to) of a literal's text.
struct Part {
  std::size_t token = 0;
  std::size_t from = 0;
  std::size_t to = 0;
};

// Where a run was written: the token of a literal, or the first token of a value's expression.
struct RunPlace {
  const text::Run* run = nullptr;
  std::size_t begin = 0;  // in the text
  std::optional<std::size_t> token;
};

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

class Editor {
 public:
  Editor(const SpliceContext& context, const Splice& splice)
      : context_(context), source_(context.source), splice_(splice) {}

  std::vector<Candidate> run() {
    if (!is_sayable()) return {};
    find_prompt_condition();
    find_last_close();
    if (splice_.end > splice_.begin) {
      replace();
    } else {
      insert();
    }
    return std::move(out_);
  }

 private:
  // If reasoning is a part of content, an edit cannot name either as a field.
  [[nodiscard]] bool is_sayable() const {
    const bool has_field = std::ranges::any_of(
        splice_.pieces, [](const SplicePiece& piece) { return piece.kind != SplicePiece::Kind::kText; });
    return !has_field || context_.format.input.reasoning_part.empty();
  }

  [[nodiscard]] RunPlace place_of_run(const jinja::Rendered& rendered, std::size_t at) const {
    const probe::Spot spot = probe::spot_at(rendered, at);
    if (spot.run == nullptr) return {};
    const text::Literal place = causes::writer_of(context_.chat_template, rendered, *spot.run);
    return {spot.run, spot.begin, source_.token_at(place.line, place.column)};
  }

  // The condition under which the generation prompt writes the new text.
  void find_prompt_condition() {
    if (splice_.prompt_bytes == 0) return;
    const RunPlace last = place_of_run(context_.step.prompt, splice_.begin + splice_.prompt_bytes - 1);
    if (!last.token) return;
    prompt_condition_ = context_.blocks.condition_inside(source_.tokens()[*last.token].begin, "add_generation_prompt");
  }

  [[nodiscard]] bool is_literal(const RunPlace& place) const {
    return place.token && place.run->kind == text::RunKind::kLiteral &&
           (source_.is(*place.token, TokenKind::kData) || source_.is(*place.token, TokenKind::kString));
  }

  // ---- The new text

  [[nodiscard]] std::string field_of(SplicePiece::Kind kind, const std::string& message) const {
    if (kind == SplicePiece::Kind::kContent) return message + ".content";
    const std::string& field = context_.format.input.reasoning_field;
    return message + "." + (field.empty() ? "reasoning_content" : field);
  }

  [[nodiscard]] std::string joined(std::size_t first, const std::string& message, bool may_lack) const {
    std::vector<std::string> words;
    for (std::size_t i = first; i < splice_.pieces.size(); ++i) {
      const SplicePiece& piece = splice_.pieces[i];
      if (piece.kind == SplicePiece::Kind::kText) {
        words.push_back(said(piece.text));
      } else {
        const std::string field = field_of(piece.kind, message);
        words.push_back(may_lack ? "(" + field + " or '')" : field);
      }
    }
    return join(words, " ~ ");
  }

  // A text as an expression.  It uses the template's names for tokens at the beginning and end, if it has them.
  [[nodiscard]] std::string said(const std::string& text) const {
    const std::pair<std::string_view, const std::optional<std::string>&> tokens[] = {
        {"eos_token", context_.base.eos_token}, {"bos_token", context_.base.bos_token}};
    for (const auto& [name, token] : tokens) {
      const std::size_t at = token && !token->empty() ? text.find(*token) : std::string::npos;
      if (at == std::string::npos || !probe::reads_variable(context_.chat_template, name)) continue;
      const std::string before = text.substr(0, at);
      const std::string behind = text.substr(at + token->size());
      return join({before.empty() ? "" : quote(before), std::string(name), behind.empty() ? "" : said(behind)}, " ~ ");
    }
    return quote(text);
  }

  void add_conditions(const Variation& plain, const std::string& message, std::vector<Variation>& out) const {
    const auto with = [&](const std::string& condition) {
      Variation made = plain;
      made.condition = condition;
      out.push_back(std::move(made));
    };
    const std::string role = message + ".role == 'assistant'";
    const std::string thought = field_of(SplicePiece::Kind::kReasoning, message);
    const std::string calls = message + ".tool_calls";
    out.push_back(plain);
    with(role);
    if (context_.format.reasoning.present) {
      with(role + " and not " + thought);
      with(thought);
      with(thought + " and " + calls);
    }
    with(calls);
    with(role + " and not " + calls);
    with(role + " and not " + message + ".content");
    if (!prompt_condition_.empty()) {
      with(prompt_condition_);
      with(role + " and " + prompt_condition_);
      if (context_.format.reasoning.present) with(role + " and " + prompt_condition_ + " and not " + thought);
    }
    with("loop.last");
  }

  // `is_inner`: inside another loop, which may run more than once for a message.
  [[nodiscard]] std::vector<Variation> variations(const std::string& message, bool is_inner) const {
    std::vector<Variation> out = variations(message);
    const bool has_field = std::ranges::any_of(
        splice_.pieces, [](const SplicePiece& piece) { return piece.kind != SplicePiece::Kind::kText; });
    if (!is_inner || !has_field) return out;
    for (Variation& variation : out) variation.condition += " and loop.first";
    return out;
  }

  [[nodiscard]] std::vector<Variation> variations(const std::string& message) const {
    std::vector<Variation> out;
    std::vector<SplicePiece::Kind> fields;
    std::string text;
    for (const SplicePiece& piece : splice_.pieces) {
      if (piece.kind != SplicePiece::Kind::kText) fields.push_back(piece.kind);
      text += piece.text;
    }
    if (fields.empty()) {
      const std::string value = said(text);
      add_conditions({value, value == quote(text) ? std::optional(text) : std::nullopt, ""}, message, out);
      return out;
    }
    const std::string role = message + ".role == 'assistant'";
    const std::string field = field_of(fields.front(), message);
    const std::string shown = fields.front() == SplicePiece::Kind::kContent ? field + " is string and " + field : field;
    const std::string whole = joined(0, message, fields.size() > 1);
    std::vector<std::string> more = {"", " and " + message + ".tool_calls", " and not " + message + ".tool_calls"};
    if (fields == std::vector{SplicePiece::Kind::kReasoning}) more.push_back(" and not " + message + ".content");
    if (!prompt_condition_.empty()) more.push_back(" and " + prompt_condition_);
    for (const std::string& also : more) out.push_back({whole, std::nullopt, shown + also});
    const bool has_opening = splice_.prompt_bytes > 0 && splice_.pieces.front().kind == SplicePiece::Kind::kText;
    if (has_opening) {
      // The prompt's part is always written, the rest only if there is any.
      const std::string& first = splice_.pieces.front().text;
      const std::string opening = quote(first.substr(0, splice_.prompt_bytes));
      const std::string own = first.substr(std::min(first.size(), splice_.prompt_bytes));
      const std::string rest = join({own.empty() ? "" : quote(own), joined(1, message, false)}, " ~ ");
      const std::string behind = " ~ (" + rest + " if " + shown + " else '')";
      out.push_back({opening + behind, std::nullopt, role});
      if (!prompt_condition_.empty())
        out.push_back({"(" + opening + " if " + prompt_condition_ + " else '')" + behind, std::nullopt, role});
    }
    out.push_back({joined(0, message, true), std::nullopt, role});
    if (!prompt_condition_.empty())
      out.push_back({joined(0, message, true), std::nullopt, role + " and " + prompt_condition_});
    return out;
  }

  // `old`: the text to write there if the condition does not hold.
  [[nodiscard]] static std::string expression(const Variation& variation, const std::string& old) {
    if (variation.condition.empty()) return variation.value;
    return "(" + variation.value + " if " + variation.condition + " else " + quote(old) + ")";
  }

  // ---- Its place

  // Replaces a part of a literal by the variation.
  [[nodiscard]] std::optional<Edit> with_part(const Part& part, const Variation& variation) const {
    const SourceToken& token = source_.tokens()[part.token];
    if (part.to > token.text.size()) return std::nullopt;
    const std::string old = token.text.substr(part.from, part.to - part.from);
    const bool is_plain = variation.condition.empty() && variation.constant;
    if (token.kind == TokenKind::kData) {
      const std::size_t begin = token.begin + part.from;
      if (source_.text().compare(begin, old.size(), old) != 0) return std::nullopt;
      const bool is_raw = is_plain && variation.constant->find('{') == std::string::npos;
      return Edit{begin, begin + old.size(), is_raw ? *variation.constant : "{{ " + expression(variation, old) + " }}"};
    }
    const std::string before = token.text.substr(0, part.from);
    const std::string behind = token.text.substr(part.to);
    if (is_plain) return source_.replace({part.token, part.token + 1}, quote(before + *variation.constant + behind));
    const std::string words = join(
        {before.empty() ? "" : quote(before), expression(variation, old), behind.empty() ? "" : quote(behind)}, " ~ ");
    return source_.replace({part.token, part.token + 1}, "(" + words + ")");
  }

  void add(std::vector<Edit> edits, const Variation& variation, std::size_t token) {
    std::string what = sentence(variation, token);
    if (last_close_) {
      std::vector<Edit> both = edits;
      both.push_back(*last_close_);
      out_.push_back({std::move(both), what + ", and not once more behind the last one", false});
    }
    out_.push_back({std::move(edits), std::move(what), false});
  }

  // A close that the template writes after all messages, if the conversation ends with the turn.  Once each turn has
  // its own close, this one must not be written too.
  void find_last_close() {
    const auto& alone = context_.step.alone;
    if (!splice_.is_close || !alone || splice_.begin >= alone->text.size()) return;
    const RunPlace place = place_of_run(*alone, splice_.begin);
    const auto index = static_cast<std::int32_t>(context_.step.history.size());
    if (!place.token || place.begin != splice_.begin) return;
    if (alone->origins.contexts.at(place.run->context).message == index) return;
    const TokenRange tag = source_.tag_of(*place.token);
    if (tag.begin == tag.end) return;
    last_close_ = source_.replace(tag, operand(tag) + " if messages[-1].role != 'assistant' else ''");
  }

  [[nodiscard]] std::string sentence(const Variation& variation, std::size_t token) const {
    std::string what;
    std::string text;
    for (const SplicePiece& piece : splice_.pieces) {
      text += piece.text;
      if (piece.kind == SplicePiece::Kind::kText) continue;
      what += std::string(what.empty() ? "" : " and ") +
              (piece.kind == SplicePiece::Kind::kContent ? "content" : "reasoning");
    }
    const std::string line = " on line " + std::to_string(source_.line_of(source_.tokens()[token].begin));
    if (!what.empty()) return what + " is written where there is some" + line;
    const std::string when = variation.condition.empty() ? "" : ", where `" + variation.condition + "`";
    if (text.empty()) return "what no model wrote is left out" + line + when;
    if (splice_.prompt_bytes > 0) return "the turn begins as the generation prompt does" + line + when;
    const bool is_long = text.size() > kMostShown;
    return (is_long ? "what the model wrote is kept" : "`" + said(text) + "` is written") + line + when;
  }

  // All names that may hold the message at a token, the most likely first.
  [[nodiscard]] std::vector<std::string> messages_at(std::size_t token) const {
    return context_.blocks.loop_names(source_.tokens()[token].begin);
  }

  // The literals that the splice replaces; none if it would also replace something else.
  [[nodiscard]] std::vector<Part> replaced_parts() const {
    std::vector<Part> parts;
    for (std::size_t at = splice_.begin; at < splice_.end;) {
      const RunPlace place = place_of_run(*context_.step.again, at);
      if (place.run == nullptr || !is_literal(place)) return {};
      const std::size_t end = std::min(splice_.end, place.begin + place.run->size);
      const std::size_t offset = place.run->source_offset + (at - place.begin);
      parts.push_back({*place.token, offset, offset + (end - at)});
      at = end;
    }
    return parts;
  }

  // The edits with which the parts say `variation`; nullopt if one of them cannot.
  [[nodiscard]] std::optional<std::vector<Edit>> with_parts(const std::vector<Part>& parts,
                                                            const std::vector<std::string>& shares,
                                                            const Variation& variation) const {
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Variation share = variation;
      if (variation.constant) share = {quote(shares[i]), shares[i], variation.condition};
      if (!variation.constant && i > 0) share = {"''", "", variation.condition};
      if (share.constant && *share.constant == text_of(parts[i])) continue;
      const auto edit = with_part(parts[i], share);
      if (!edit) return std::nullopt;
      edits.push_back(*edit);
    }
    return edits;
  }

  // Replaces literals; if something else would have to go, it does nothing.
  void replace() {
    const std::vector<Part> parts = replaced_parts();
    if (parts.empty()) return;
    const std::vector<std::string> shares = shares_of(parts);
    const std::vector<std::string> messages = messages_at(parts.front().token);
    for (const std::string& message : messages) {
      for (const Variation& variation : variations(message, message != messages.front())) {
        std::optional<std::vector<Edit>> edits = with_parts(parts, shares, variation);
        if (!edits) return;
        add(*std::move(edits), variation, parts.front().token);
      }
    }
  }

  [[nodiscard]] std::string text_of(const Part& part) const {
    return source_.tokens()[part.token].text.substr(part.from, part.to - part.from);
  }

  // Distributes the new text over the literals that it replaces, so that they change as little as possible.
  [[nodiscard]] std::vector<std::string> shares_of(const std::vector<Part>& parts) const {
    std::string text;
    for (const SplicePiece& piece : splice_.pieces) text += piece.text;
    std::vector<std::string> out(parts.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::size_t best = text.size();
      std::size_t least = std::string::npos;
      for (std::size_t size = 0; i + 1 < parts.size() && size <= text.size(); ++size) {
        const std::size_t changed =
            difference(text.substr(0, size), text_of(parts[i])) + difference(text.substr(size), text_of(parts[i + 1]));
        if (changed >= least) continue;
        least = changed;
        best = size;
      }
      out[i] = text.substr(0, best);
      text.erase(0, best);
    }
    return out;
  }

  // How many bytes are left without the common beginning and the common end.
  [[nodiscard]] static std::size_t difference(std::string_view a, std::string_view b) {
    std::size_t shortest = std::min(a.size(), b.size());
    const std::size_t all = a.size() + b.size();
    std::size_t head = 0;
    while (head < shortest && a[head] == b[head]) ++head;
    shortest -= head;
    std::size_t tail = 0;
    while (tail < shortest && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
    return all - 2 * (head + tail);
  }

  void insert() {
    const RunPlace next = place_of_run(*context_.step.again, splice_.begin);
    const RunPlace before = splice_.begin == 0 ? RunPlace{} : place_of_run(*context_.step.again, splice_.begin - 1);
    const bool is_between = next.run == nullptr || next.begin == splice_.begin;
    if (is_between && before.token) insert_behind(before);
    if (next.token) insert_before(next);
    if (is_between && before.token) insert_beside_blocks(before, next, true);
    if (is_between && next.token) insert_beside_blocks(next, before, false);
  }

  void insert_behind(const RunPlace& place) {
    const bool is_literal = this->is_literal(place);
    const std::size_t offset = place.run->source_offset + place.run->size;
    for_each(*place.token, [&](const Variation& variation) {
      if (is_literal) return with_part({*place.token, offset, offset}, variation);
      return beside_tag(*place.token, expression(variation, ""), false);
    });
  }

  void insert_before(const RunPlace& place) {
    if (!is_literal(place) && place.begin != splice_.begin) return;
    const bool is_literal = this->is_literal(place);
    const std::size_t offset = place.run->source_offset + (splice_.begin - place.begin);
    for_each(*place.token, [&](const Variation& variation) {
      if (is_literal) return with_part({*place.token, offset, offset}, variation);
      return beside_tag(*place.token, expression(variation, ""), true);
    });
    if (is_literal) return;
    for (const TokenRange& operand : joined_texts(source_, source_.tag_of(*place.token))) {
      for_each(*place.token, [&](const Variation& variation) {
        const std::string text(source_.text_of(operand));
        return std::optional(source_.replace(operand, "(" + expression(variation, "") + " ~ " + text + ")"));
      });
    }
  }

  // The value that a tag writes, to be joined with something else.
  [[nodiscard]] std::string operand(TokenRange tag) const {
    static const std::set<std::string, std::less<>> kWords = {"if", "or", "and", "not", "in", "is"};
    std::string text(source_.text_of(tag));
    for (std::size_t at = tag.begin; at < tag.end; ++at) {
      const SourceToken& part = source_.tokens()[at];
      if (part.kind == TokenKind::kName && kWords.contains(part.text)) return "(" + text + ")";
    }
    return text;
  }

  // Inserts before or after what the tag of a token writes.
  [[nodiscard]] std::optional<Edit> beside_tag(std::size_t token, const std::string& expression, bool in_front) const {
    const TokenRange tag = source_.tag_of(token);
    if (tag.begin == tag.end) return std::nullopt;
    const std::string whole = operand(tag);
    return source_.replace(tag, in_front ? expression + " ~ " + whole : whole + " ~ " + expression);
  }

  // Inserts after the statements around `place` that end before `other`, or before those that begin after it.
  void insert_beside_blocks(const RunPlace& place, const RunPlace& other, bool behind) {
    const std::size_t byte = source_.tokens()[*place.token].begin;
    std::size_t count = 0;
    for (const audit::SourceBlock* block : context_.blocks.around(byte)) {
      if (other.token) {
        const std::size_t beside = source_.tokens()[*other.token].begin;
        if (block->begin <= beside && beside < block->end) break;
      }
      if (++count > kMostBlocks) break;
      const std::size_t at = behind ? block->end : block->begin;
      // The loop's own variable does not exist there.
      for_each(context_.blocks.loop_names(at), *place.token, [&](const Variation& variation) {
        return std::optional(statement(at, expression(variation, ""), behind));
      });
    }
  }

  // An output statement at a byte between two tokens.
  [[nodiscard]] Edit statement(std::size_t at, const std::string& expression, bool behind) const {
    const auto next = std::ranges::lower_bound(source_.tokens(), at, {}, &SourceToken::begin);
    if (behind && next != source_.tokens().end()) {
      if (next->kind == TokenKind::kData) return {next->begin, next->begin, "{{ " + expression + " }}"};
      at = next->begin;
    }
    const bool has_text = next != source_.tokens().begin() && std::prev(next)->kind == TokenKind::kData;
    return {at, at, (has_text ? "{{ " : "{{- ") + expression + " }}"};
  }

  template <typename Make>
  void for_each(std::size_t token, const Make& make) {
    for_each(messages_at(token), token, make);
  }

  // `messages`: names that may hold the message there, the most likely first.
  template <typename Make>
  void for_each(const std::vector<std::string>& messages, std::size_t token, const Make& make) {
    for (const std::string& message : messages) {
      for (const Variation& variation : variations(message, message != messages.front())) {
        if (const std::optional<Edit> edit = make(variation)) add({*edit}, variation, token);
      }
    }
  }

  const SpliceContext& context_;
  const Source& source_;
  const Splice& splice_;
  std::string prompt_condition_;
  std::optional<Edit> last_close_;
  std::vector<Candidate> out_;
};

}  // namespace

std::vector<Candidate> splice_candidates(const SpliceContext& context, const Splice& splice) {
  return Editor(context, splice).run();
}

}  // namespace rondo::mend
