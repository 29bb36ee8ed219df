#include "analysis/analyse.h"

#include <algorithm>
#include <array>

#include "analysis/infer.h"
#include "format/units.h"

namespace rondo::analysis {
namespace {

using format::Format;
using format::is_blank;
using format::trimmed;

constexpr std::array<const char*, 3> kThinking = {"default", "on", "off"};

std::string without_prefix(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string trimmed_end(const std::string& text) { return text.substr(0, text.find_last_not_of(" \n\t\r") + 1); }

bool contains(const std::string& text, std::string_view part) {
  return !part.empty() && text.find(part) != std::string::npos;
}

class Analyst {
 public:
  Analyst(const jinja::Template& chat_template, const Options& options)
      : options_(options), prober_(chat_template, options) {}

  Result<std::shared_ptr<const Format>> run() {
    find_shape();
    find_reasoning_shape();
    find_generation_prompts();
    collect_variants();
    find_header();
    infer_content_and_reasoning();
    infer_stops();
    if (shows_calls_) infer_calls();
    infer_other_stops();
    infer_inline_reasoning();
    infer_trims();
    if (prober_.limit()) return *prober_.limit();
    finish();
    return std::make_shared<const Format>(std::move(format_));
  }

 private:
  void find_shape();
  [[nodiscard]] int shape_score(const Shape& shape);
  void find_reasoning_shape();
  void find_generation_prompts();
  void collect_variants();
  [[nodiscard]] std::optional<Variant> variant(bool reasoning, bool content, std::size_t calls);
  void find_header();
  [[nodiscard]] bool header_opens_block() const;
  void infer_content_and_reasoning();
  void split_reasoning_close(const std::string& between, const std::string& plain_lead);
  void infer_stops();
  void infer_calls();
  void infer_other_stops();
  [[nodiscard]] bool infer_pieces(const Turn& turn);
  [[nodiscard]] std::string before_calls(const VariantKey& key, const Turn& turn) const;
  void infer_inline_reasoning();
  void infer_trims();
  void finish();

  [[nodiscard]] const Variant* find(bool reasoning, bool content, std::size_t calls) const {
    const auto found = variants_.find({reasoning, content, calls});
    return found == variants_.end() ? nullptr : &found->second;
  }
  // The turn's literals before token `end`, without the header.
  [[nodiscard]] std::string lead(const Turn& turn, std::size_t end) const;
  void note(std::string sentence) { format_.notes.push_back(std::move(sentence)); }

  const Options& options_;
  Prober prober_;
  Shape shape_;
  bool shows_calls_ = false;
  bool shows_reasoning_ = false;
  Variants variants_;
  Format format_;
  std::string plain_tail_;  // what follows the content of a plain turn, behind content.close
};

// ---- What the template accepts -------------------------------------------------------------------------------------

std::vector<ProbeCall> probe_calls(std::size_t count) {
  std::vector<ProbeCall> calls;
  if (count > 0) calls.push_back({kFirstTool, json::Object{{"k0", "v0"}}});
  if (count > 1) calls.push_back({kSecondTool, json::Object{{"q0", "w0"}}});
  return calls;
}

int Analyst::shape_score(const Shape& shape) {
  ProbeMessage probe;
  probe.calls = probe_calls(1);
  int best = -1;
  for (const bool with_result : {false, true}) {
    const auto turn = prober_.turn(shape, probe, {"default", true, with_result, false});
    if (!turn) continue;
    int score = 0;
    if (turn->has(SlotKind::kName) || turn->has(SlotKind::kId)) score += 2;
    if (const std::size_t at = turn->first(SlotKind::kArguments); at != kNone) {
      score += 2;
      for (const ArgumentPart& part : turn->tokens[at].parts) {
        const bool wants_text =
            !shape.arguments_as_text && part.kind == text::RunKind::kSerialiser && contains(part.chain, "pyrepr");
        const bool wants_object = shape.arguments_as_text && contains(part.chain, "json");
        if (wants_text || wants_object) {
          score -= 2;
          break;
        }
      }
    }
    if (contains(turn->literals(0, turn->tokens.size()), "None")) --score;
    best = std::max(best, score);
    if (score >= 4) break;
  }
  return best;
}

void Analyst::find_shape() {
  int best = -2;
  for (const bool as_text : {false, true}) {
    for (const auto no_content : {format::NoContent::kEmpty, format::NoContent::kNull, format::NoContent::kAbsent}) {
      Shape shape;
      shape.arguments_as_text = as_text;
      shape.no_content = no_content;
      const int score = shape_score(shape);
      if (score > best) {
        best = score;
        shape_ = shape;
      }
    }
  }
  shows_calls_ = best >= 3;
}

void Analyst::find_reasoning_shape() {
  const auto shows = [this](const Shape& shape) -> std::optional<std::string> {
    for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
      if (calls > 0 && !shows_calls_) continue;
      for (const char* thinking : {"default", "on"}) {
        ProbeMessage probe;
        probe.reasoning = probe.content = true;
        probe.calls = probe_calls(calls);
        const auto turn = prober_.turn(shape, probe, {thinking, true, false, false});
        const std::size_t at = turn ? turn->first(SlotKind::kReasoning) : kNone;
        // A list of parts that is printed as a whole shows them, but not as reasoning.
        if (at != kNone && !contains(turn->tokens[at].chain, "json") && !contains(turn->tokens[at].chain, "pyrepr"))
          return turn->reasoning_name;
      }
    }
    return std::nullopt;
  };
  for (const char* field : {"reasoning_content", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_field = field;
    if (const auto name = shows(shape)) {
      shape_ = shape;
      format_.input.reasoning_field = *name;
      shows_reasoning_ = true;
      return;
    }
  }
  for (const char* part : {"thinking", "reasoning"}) {
    Shape shape = shape_;
    shape.reasoning_part = part;
    if (shows(shape)) {
      shape_ = shape;
      format_.input.reasoning_part = part;
      shows_reasoning_ = true;
      return;
    }
  }
}

void Analyst::find_generation_prompts() {
  for (const char* thinking : kThinking) {
    auto text = prober_.generation_prompt({thinking, false, false, false});
    if (!text) text = prober_.generation_prompt({thinking, true, false, false});
    if (text) format_.generation_prompts.push_back({thinking, *text});
  }
}

std::optional<Variant> Analyst::variant(bool reasoning, bool content, std::size_t calls) {
  ProbeMessage probe;
  probe.reasoning = reasoning;
  probe.content = content;
  probe.calls = probe_calls(calls);
  for (const char* thinking : {"default", "on"}) {
    for (const bool with_result : {false, true}) {
      if (with_result && calls == 0) continue;
      for (const bool with_tools : {calls > 0, calls == 0}) {
        const ProbeSetting setting{thinking, with_tools, with_result, false};
        auto turn = prober_.turn(shape_, probe, setting);
        if (!turn) continue;
        bool is_whole = turn->has(SlotKind::kReasoning) == reasoning && turn->has(SlotKind::kContent) == content;
        for (std::size_t i = 0; i < calls; ++i)
          is_whole = is_whole && (turn->has(SlotKind::kName, i) || turn->has(SlotKind::kId, i));
        if (is_whole) return Variant{std::move(*turn), setting};
      }
    }
  }
  return std::nullopt;
}

void Analyst::collect_variants() {
  for (const bool reasoning : {false, true}) {
    if (reasoning && !shows_reasoning_) continue;
    for (const bool content : {false, true}) {
      for (const std::size_t calls : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
        if (calls > 0 && !shows_calls_) continue;
        if (!reasoning && !content && calls == 0) continue;
        if (auto found = variant(reasoning, content, calls))
          variants_.emplace(VariantKey{reasoning, content, calls}, std::move(*found));
      }
    }
  }
  bool has_two = false;
  for (const auto& [key, found] : variants_) has_two = has_two || std::get<2>(key) == 2;
  format_.input.single_call = shows_calls_ && !has_two;
}

// ---- Header, content and reasoning ---------------------------------------------------------------------------------

std::size_t first_slot(const Turn& turn) {
  std::size_t i = 0;
  while (i < turn.tokens.size() &&
         (turn.tokens[i].kind == SlotKind::kLiteral || turn.tokens[i].kind == SlotKind::kIndex))
    ++i;
  return i;
}

// `text` cut at the last boundary that lies in the common prefix with `other`.
std::string common_start(const std::string& text, const std::string& other) {
  std::size_t same = 0;
  while (same < text.size() && same < other.size() && text[same] == other[same]) ++same;
  if (same == text.size()) return text;
  std::size_t cut = 0;
  for (const std::size_t boundary : format::unit_boundaries(text)) cut = boundary <= same ? boundary : cut;
  return text.substr(0, cut);
}

// What all generation prompts and all turns begin with.  A turn may have something of the turn before it in front
// (closers that a template writes late): it counts from where the generation prompt begins in it.
void Analyst::find_header() {
  std::optional<std::string> header;
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    if (!is_blank(prompt.text)) header = header ? common_start(*header, prompt.text) : prompt.text;
  }
  const bool has_prompt = header.has_value();
  for (const auto& [key, found] : variants_) {
    const std::string start = found.turn.literals(0, first_slot(found.turn));
    if (!header) {
      header = start;
      continue;
    }
    std::string shared = *header;
    while (!shared.empty() && start.find(shared) == std::string::npos) {
      const std::vector<std::size_t> cuts = format::unit_boundaries(shared);
      shared.resize(cuts.size() > 1 ? cuts[cuts.size() - 2] : 0);
    }
    if (!is_blank(shared) || !has_prompt) header = shared;
  }
  format_.header = header.value_or("");
  if (header_opens_block()) {
    const std::vector<std::size_t> cuts = format::unit_boundaries(trimmed_end(format_.header));
    std::size_t cut = cuts.size() - 2;
    while (cut > 0 && is_blank(std::string_view(format_.header).substr(cuts[cut]))) --cut;
    format_.header.resize(cuts[cut]);
  }
}

// True if the last unit of the header is what opens the reasoning, or a call.
bool Analyst::header_opens_block() const {
  if (is_blank(format_.header)) return false;
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    const Variant* calling = find(false, false, count);
    if (calling == nullptr) continue;
    const std::size_t slot = first_slot(calling->turn);
    if (slot < calling->turn.tokens.size() && is_blank(lead(calling->turn, slot))) return true;
  }
  const Variant* thinking = find(true, true, 0);
  if (thinking == nullptr) thinking = find(true, false, 1);
  if (thinking == nullptr || first_slot(thinking->turn) != thinking->turn.first(SlotKind::kReasoning)) return false;
  if (!is_blank(lead(thinking->turn, first_slot(thinking->turn)))) return false;
  // The reasoning's close is what a turn without reasoning begins with then.
  const std::size_t end = thinking->turn.last(SlotKind::kReasoning);
  const std::string behind = thinking->turn.literals(end + 1, end + 2);
  const std::string_view core = trimmed(behind);
  const std::vector<std::size_t> cuts = format::unit_boundaries(core);
  const std::string_view close = core.substr(0, cuts[std::min<std::size_t>(1, cuts.size() - 1)]);
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string rest = without_prefix(prompt.text, format_.header);
    if (!is_blank(rest) && !contains(rest, close)) return false;
  }
  const Variant* plain = find(false, true, 0);
  return plain == nullptr || contains(lead(plain->turn, first_slot(plain->turn)), close);
}

std::string Analyst::lead(const Turn& turn, std::size_t end) const {
  std::string text = turn.literals(0, end);
  if (format_.header.empty()) return text;
  const std::size_t at = text.find(format_.header);
  return at == std::string::npos ? text : text.substr(at + format_.header.size());
}

// `between` stands between reasoning and content; `plain_lead` before the content of a turn without reasoning.
void Analyst::split_reasoning_close(const std::string& between, const std::string& plain_lead) {
  format::Reasoning& reasoning = format_.reasoning;
  const auto split = [&](const std::string& content_open) {
    format_.content.open = content_open;
    reasoning.close = between.substr(0, between.size() - content_open.size());
  };
  const std::string_view open = trimmed(reasoning.open);
  const auto is_split = [&](const std::string& candidate) {
    return !is_blank(candidate) && between.ends_with(candidate) &&
           !is_blank(between.substr(0, between.size() - candidate.size())) && !contains(candidate, open);
  };
  if (is_split(plain_lead)) {
    split(plain_lead);
  } else {
    reasoning.close = between;
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = without_prefix(prompt.text, format_.header);
      if (is_split(rest)) split(rest);
    }
  }
  // The next block's own header is recognised by itself.
  if (!is_blank(format_.header) && reasoning.close.size() > format_.header.size() &&
      reasoning.close.ends_with(format_.header)) {
    reasoning.close.resize(reasoning.close.size() - format_.header.size());
  }
}

void Analyst::infer_content_and_reasoning() {
  const Variant* plain = find(false, true, 0);
  const std::string plain_lead = plain != nullptr ? lead(plain->turn, plain->turn.first(SlotKind::kContent)) : "";
  const Variant* thinking = find(true, true, 0);
  if (thinking == nullptr) thinking = find(true, true, 1);
  if (thinking == nullptr) {
    for (const auto& [key, found] : variants_) {
      if (std::get<0>(key)) thinking = &found;
    }
  }
  if (thinking == nullptr) {
    format_.content.open = plain_lead;
  } else {
    const Turn& turn = thinking->turn;
    format_.reasoning.present = true;
    const std::size_t begin = turn.first(SlotKind::kReasoning);
    const std::size_t end = turn.last(SlotKind::kReasoning);
    const std::size_t content = turn.first(SlotKind::kContent);
    format_.reasoning.open = lead(turn, begin);
    const std::size_t name = std::min(turn.first(SlotKind::kName), turn.first(SlotKind::kId));
    if (content != kNone && content > end && name > content) {
      split_reasoning_close(turn.literals(end + 1, content), plain_lead);
    } else {
      std::size_t next = end + 1;
      while (next < turn.tokens.size() && turn.tokens[next].kind == SlotKind::kLiteral) ++next;
      const std::string rest = turn.literals(end + 1, next);
      const std::vector<std::size_t> cuts = format::unit_boundaries(trimmed(rest));
      format_.reasoning.close =
          next < turn.tokens.size()
              ? rest.substr(0, rest.find(trimmed(rest)) + cuts[std::min<std::size_t>(1, cuts.size() - 1)])
              : rest;
      format_.content.open = contains(plain_lead, trimmed(format_.reasoning.close)) ? "" : plain_lead;
    }
    // Nothing marks the beginning in history, but the prompt for an answer does.
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = without_prefix(prompt.text, format_.header);
      const bool is_other =
          contains(rest, trimmed(format_.reasoning.close)) || contains(rest, trimmed(format_.content.open));
      if (is_blank(format_.reasoning.open) && !is_blank(rest) && !is_other) format_.reasoning.open = rest;
    }
    if (is_blank(format_.reasoning.close)) {
      format_.reasoning = {};
      note("nothing that the template writes ends the reasoning");
    }
  }
  // What ends content stands behind it both before calls and before the turn's end.
  const Variant* calling = find(false, true, 1);
  if (calling == nullptr) calling = find(true, true, 1);
  if (plain == nullptr) plain = find(true, true, 0);
  if (plain == nullptr) return;
  const std::string tail = plain->turn.literals(plain->turn.last(SlotKind::kContent) + 1, plain->turn.tokens.size());
  plain_tail_ = tail;
  if (calling == nullptr) return;
  const std::size_t content = calling->turn.last(SlotKind::kContent);
  const std::size_t name = std::min(calling->turn.first(SlotKind::kName), calling->turn.first(SlotKind::kId));
  if (name < content) return;
  const std::string to_calls = calling->turn.literals(content + 1, name);
  const std::size_t same = format::common_prefix(tail, to_calls);
  if (is_blank(std::string_view(tail).substr(0, same))) return;
  format_.content.close = tail.substr(0, same);
  plain_tail_ = tail.substr(same);
}

// ---- Stops ---------------------------------------------------------------------------------------------------------

void Analyst::infer_stops() {
  format::Stops& stops = format_.stops;
  ProbeMessage probe;
  probe.content = true;
  const auto followed = prober_.turn(shape_, probe, {"default", false, false, true});
  if (!is_blank(plain_tail_)) {
    stops.content.push_back(trimmed_end(plain_tail_));
    if (followed) {
      std::string close = followed->literals(followed->last(SlotKind::kContent) + 1, followed->tokens.size());
      close = trimmed_end(without_prefix(close, format_.content.close));
      if (!is_blank(close) && close != stops.content.front()) stops.history_close.push_back(close);
    }
  } else if (followed) {
    // Nothing ends the turn but the next one's beginning.
    const std::string own = followed->literals(followed->last(SlotKind::kContent) + 1, followed->tokens.size());
    const std::string next =
        is_blank(own) ? followed->following : without_prefix(own, format_.content.close) + followed->following;
    const std::string_view core = trimmed(next);
    const std::vector<std::size_t> cuts = format::unit_boundaries(core);
    const std::string unit(core.substr(0, cuts[std::min<std::size_t>(1, cuts.size() - 1)]));
    const bool is_marker = unit.size() > 1 && std::string_view("<[{(").find(unit.front()) != std::string_view::npos;
    if (is_marker || (!unit.empty() && plain_tail_.empty())) {
      stops.content.push_back(unit);
    } else if (!plain_tail_.empty()) {
      stops.content.push_back(plain_tail_);
    }
  } else if (!plain_tail_.empty()) {
    stops.content.push_back(plain_tail_);
  }
}

// ---- Calls ---------------------------------------------------------------------------------------------------------

// What the template writes between whatever precedes the calls and the first slot of the first call.
std::string Analyst::before_calls(const VariantKey& key, const Turn& turn) const {
  const std::size_t name =
      std::min({turn.first(SlotKind::kName), turn.first(SlotKind::kId), turn.first(SlotKind::kArguments)});
  const std::size_t content = turn.last(SlotKind::kContent);
  const auto behind_header = [this](const std::string& text) {
    const std::size_t at = is_blank(format_.header) ? std::string::npos : text.rfind(format_.header);
    return at == std::string::npos ? text : text.substr(at + format_.header.size());
  };
  if (std::get<1>(key) && content < name)
    return behind_header(without_prefix(turn.literals(content + 1, name), format_.content.close));
  std::string text;
  const std::size_t reasoning = turn.last(SlotKind::kReasoning);
  if (std::get<0>(key) && reasoning < name) {
    text = without_prefix(turn.literals(reasoning + 1, name), format_.reasoning.close);
  } else {
    text = lead(turn, name);
    // An empty reasoning block.
    const std::string_view close = trimmed(format_.reasoning.close);
    if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos) {
      text = text.substr(at + close.size());
      const std::string trail = format_.reasoning.close.substr(format_.reasoning.close.find(close) + close.size());
      text = without_prefix(text, trail);
    }
  }
  // Content that is always written, also when it is empty.
  const std::string_view close = trimmed(format_.content.close);
  if (const std::size_t at = close.empty() ? std::string::npos : text.rfind(close); at != std::string::npos)
    text = text.substr(at + close.size());
  const std::string empty = format_.content.open + format_.content.close;
  if (!is_blank(format_.content.open)) text = without_prefix(text, empty);
  return behind_header(text);
}

bool is_call_slot(const Token& token, std::size_t call) {
  const bool is_slot =
      token.kind == SlotKind::kName || token.kind == SlotKind::kId || token.kind == SlotKind::kArguments;
  return is_slot && token.call == call;
}

std::size_t first_call_slot(const Turn& turn, std::size_t call) {
  for (std::size_t i = 0; i < turn.tokens.size(); ++i) {
    if (is_call_slot(turn.tokens[i], call)) return i;
  }
  return kNone;
}

std::size_t last_call_slot(const Turn& turn, std::size_t call) {
  for (std::size_t i = turn.tokens.size(); i-- > 0;) {
    if (is_call_slot(turn.tokens[i], call)) return i;
  }
  return kNone;
}

// The pieces of the first call, arguments as one piece.
bool Analyst::infer_pieces(const Turn& turn) {
  format::Calls& calls = format_.calls;
  bool has_arguments = false;
  const std::size_t end = last_call_slot(turn, 0);
  const std::size_t last_argument = turn.last(SlotKind::kArguments, 0);
  using Kind = format::CallPiece::Kind;
  for (std::size_t i = first_call_slot(turn, 0); i <= end; ++i) {
    const Token& token = turn.tokens[i];
    switch (token.kind) {
      case SlotKind::kLiteral: calls.pieces.push_back({Kind::kLiteral, token.text}); break;
      case SlotKind::kName: calls.pieces.push_back({Kind::kName, ""}); break;
      case SlotKind::kId: calls.pieces.push_back({Kind::kId, ""}); break;
      case SlotKind::kIndex: calls.pieces.push_back({Kind::kIndex, ""}); break;
      case SlotKind::kArguments:
        if (!has_arguments) calls.pieces.push_back({Kind::kArguments, ""});
        has_arguments = true;
        i = std::max(i, last_argument);
        break;
      default: return false;
    }
  }
  // A template that shows an id and no name expects the name in the id.
  const bool has_name = std::any_of(calls.pieces.begin(), calls.pieces.end(),
                                    [](const auto& piece) { return piece.kind == Kind::kName; });
  for (format::CallPiece& piece : calls.pieces) {
    if (!has_name && piece.kind == Kind::kId) piece.kind = Kind::kNameInId;
  }
  return has_arguments;
}

std::string behind_calls(const Turn& turn, std::size_t last) {
  const std::size_t content = turn.first(SlotKind::kContent);
  return turn.literals(last + 1, content != kNone && content > last ? content : turn.tokens.size());
}

// Serialised by the template, copied as text, or written parameter by parameter.
format::ArgumentStyle argument_style(const Token& arguments) {
  const bool is_serialised = std::any_of(arguments.parts.begin(), arguments.parts.end(), [](const ArgumentPart& part) {
    return part.path.empty() && part.kind == text::RunKind::kSerialiser && contains(part.chain, "json");
  });
  if (is_serialised) return format::ArgumentStyle::kJson;
  const bool is_copied = std::all_of(arguments.parts.begin(), arguments.parts.end(),
                                     [](const ArgumentPart& part) { return part.path.empty(); });
  return is_copied ? format::ArgumentStyle::kJsonText : format::ArgumentStyle::kParameters;
}

void Analyst::infer_calls() {
  using Parts = std::pair<bool, bool>;
  const auto first_of = [this](std::initializer_list<std::size_t> counts, std::initializer_list<Parts> order) {
    for (const std::size_t count : counts) {
      for (const auto& [reasoning, content] : order) {
        if (find(reasoning, content, count) != nullptr) return std::optional(VariantKey{reasoning, content, count});
      }
    }
    return std::optional<VariantKey>();
  };
  // Behind content stands what tells the calls from it; without content, what ends a turn of calls alone.
  const auto lead_key = first_of({1, 2}, {{false, true}, {false, false}, {true, true}, {true, false}});
  const auto base_key = first_of({2, 1}, {{false, false}, {false, true}, {true, false}, {true, true}});
  if (!lead_key || !base_key) return;
  const Variant& base = variants_.at(*base_key);
  const std::size_t count = std::get<2>(*base_key);
  const Turn& turn = base.turn;
  format::Calls& calls = format_.calls;
  CallText text;
  text.before = before_calls(*lead_key, variants_.at(*lead_key).turn);
  const std::size_t slot = turn.first(SlotKind::kArguments, 0);
  if (slot == kNone) return;

  calls.present = true;
  calls.arguments = argument_style(turn.tokens[slot]);
  const std::string stop = format_.stops.content.empty() ? "" : format_.stops.content.front();
  if (calls.arguments != format::ArgumentStyle::kParameters &&
      find_json_envelope(turn, variants_.at(*lead_key).turn, count, text.before, calls, text)) {
    split_call_text(text, stop, calls, format_.stops);
    return;
  }
  if (!infer_pieces(turn)) {
    calls = {};
    note("the arguments of tool calls are written in a way that could not be understood");
    return;
  }
  const std::size_t last = last_call_slot(turn, count - 1);
  text.after = behind_calls(turn, last);
  if (count == 2) {
    text.between = turn.literals(last_call_slot(turn, 0) + 1, first_call_slot(turn, 1));
    text.has_between = true;
  }
  if (calls.arguments == format::ArgumentStyle::kParameters) {
    ProbeMessage message;
    message.reasoning = std::get<0>(*base_key);
    message.content = std::get<1>(*base_key);
    ParameterText parameters;
    if (!infer_parameters({prober_, shape_, message, base.setting, count == 1}, calls.parameters, parameters,
                          format_.notes)) {
      calls = {};
      note("the parameters of tool calls are written in a way that could not be understood");
      return;
    }
    if (calls.pieces.size() > 1 && calls.pieces[calls.pieces.size() - 2].kind == format::CallPiece::Kind::kLiteral) {
      // The literal before the arguments ends with the opening of the first parameter.
      std::string& literal = calls.pieces[calls.pieces.size() - 2].text;
      if (literal.ends_with(calls.parameters.open)) literal.resize(literal.size() - calls.parameters.open.size());
      if (literal.empty()) calls.pieces.erase(calls.pieces.end() - 2);
    }
    text.after = parameters.after;
    if (parameters.has_between) text.between = parameters.between;
  }
  split_call_text(text, stop, calls, format_.stops);
}

// Variables that only this template knows may end a turn of calls in another way.
void Analyst::infer_other_stops() {
  if (!format_.calls.present) return;
  ProbeMessage probe;
  probe.calls = probe_calls(1);
  for (const bool with_result : {false, true}) {
    const auto turn = prober_.turn(shape_, probe, {"default", true, with_result, false, true});
    if (!turn || !turn->has(SlotKind::kName) || !turn->has(SlotKind::kArguments)) continue;
    const std::string behind = behind_calls(*turn, last_call_slot(*turn, 0));
    if (with_result && format_.stops.tool.empty()) {
      // Nothing of the turn itself ends it: the model stops with what begins the result.
      const std::string_view next = trimmed(turn->following);
      const std::vector<std::size_t> ends = format::unit_boundaries(next);
      const std::string unit(next.substr(0, ends[std::min<std::size_t>(1, ends.size() - 1)]));
      if (unit.size() > 2 && std::string_view("<[{(").find(unit.front()) != std::string_view::npos)
        format_.stops.tool.push_back(unit);
      continue;
    }
    const std::string_view core = trimmed(behind);
    const std::vector<std::size_t> cuts = format::unit_boundaries(core);
    if (core.empty() || cuts.size() < 2) continue;
    const std::string unit(core.substr(cuts[cuts.size() - 2]));
    bool is_known =
        contains(format_.calls.call_close, unit) || contains(format_.calls.section_close, unit) || unit.size() < 3;
    for (const auto* stops : {&format_.stops.content, &format_.stops.tool}) {
      for (const std::string& stop : *stops) is_known = is_known || contains(stop, unit);
    }
    if (!is_known) format_.stops.tool.push_back(unit);
  }
}

// ---- Reasoning that has no field of its own ------------------------------------------------------------------------

// `</x>` to `<x>`: how markup writes pairs; "" if `close` is no closing tag.
std::string opening_of(const std::string& close) {
  const std::size_t slash = close.find('/');
  if (close.size() < 3 || slash == std::string::npos || slash > 2) return "";
  return close.substr(0, slash) + close.substr(slash + 1);
}

// The generation prompt opens a block that history does not have; what closes it is a constant that the template looks
// for in an assistant message's content.
void Analyst::infer_inline_reasoning() {
  if (format_.reasoning.present) return;
  std::vector<std::string> constants;
  for (const auto& [key, found] : variants_) {
    for (const jinja::Probe& probe : found.turn.probes) {
      const bool searches = probe.operation == "in" || probe.operation == "split" || probe.operation == "find";
      if (searches && trimmed(probe.constant).size() > 2 &&
          std::find(constants.begin(), constants.end(), probe.constant) == constants.end()) {
        constants.push_back(probe.constant);
      }
    }
  }
  std::string open;
  std::string close;
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string rest = without_prefix(without_prefix(prompt.text, format_.header), format_.content.open);
    if (is_blank(rest)) continue;
    for (const std::string& constant : constants) {
      const std::size_t at = rest.find(trimmed(constant));
      if (at == std::string::npos || !(close.empty() || close == constant)) continue;
      if (at > 0 && !is_blank(rest.substr(0, at))) {
        open = rest.substr(0, at);
        close = constant;
      }
    }
  }
  if (close.empty()) {
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = without_prefix(without_prefix(prompt.text, format_.header), format_.content.open);
      if (is_blank(rest) || !prompt.text.starts_with(format_.header)) continue;
      for (const std::string& constant : constants) {
        if (open.empty() && !contains(rest, trimmed(constant))) {
          open = rest;
          close = constant;
        }
      }
    }
  }
  for (const std::string& constant : constants) {
    if (close.empty() && !opening_of(std::string(trimmed(constant))).empty()) {
      close = constant;
      open = opening_of(std::string(trimmed(constant)));
    }
  }
  if (is_blank(close)) return;
  format_.reasoning = {true, open, close, true};
}

// ---- The rest ------------------------------------------------------------------------------------------------------

void Analyst::infer_trims() {
  for (const auto& [key, found] : variants_) {
    for (const Token& token : found.turn.tokens) {
      const bool begin = token.chain.starts_with("strip") || contains(token.chain, "lstrip") ||
                         contains(token.chain, ", strip") || contains(token.chain, "trim");
      const bool end = token.chain.starts_with("strip") || contains(token.chain, "rstrip") ||
                       contains(token.chain, ", strip") || contains(token.chain, "trim");
      if (token.kind == SlotKind::kContent) {
        format_.trims.content_begin |= begin;
        format_.trims.content_end |= end;
      } else if (token.kind == SlotKind::kReasoning) {
        format_.trims.reasoning_begin |= begin;
        format_.trims.reasoning_end |= end;
      }
    }
  }
}

void Analyst::finish() {
  format_.input.arguments_as_text = shape_.arguments_as_text;
  format_.input.no_content = shape_.no_content;
  const auto add_stop = [this](std::string_view text) {
    for (const auto* stops : {&format_.stops.content, &format_.stops.tool}) {
      for (const std::string& known : *stops) {
        if (trimmed(known) == trimmed(text)) return;
      }
    }
    if (!is_blank(text)) format_.stops.content.emplace_back(text);
  };
  if (options_.eos_token) add_stop(*options_.eos_token);
  if (options_.tokenizer != nullptr) {
    for (const tokenizer::TokenId id : options_.tokenizer->end_ids()) add_stop(options_.tokenizer->token_bytes(id));
  }
  if (variants_.empty()) note("the template refuses every probe: " + prober_.refusal());
  if (auto wrong = format_.verify()) {
    note(*wrong);
    if (format_.reasoning.present && is_blank(format_.reasoning.close)) format_.reasoning = {};
    if (format_.verify()) format_.calls = {};
  }
}

}  // namespace

Result<std::shared_ptr<const Format>> analyse(const jinja::Template& chat_template, const Options& options) {
  return Analyst(chat_template, options).run();
}

}  // namespace rondo::analysis
