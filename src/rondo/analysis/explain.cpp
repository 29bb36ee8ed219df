#include "analysis/explain.h"

#include <algorithm>

#include "analysis/parts.h"

namespace rondo::analysis {
namespace {

// The neighbour of the template's text in a turn.
enum class Edge : std::uint8_t { kAny, kTurn, kReasoning, kContent, kName, kId, kIndex, kKey, kValue };

// Template text between two slots of a turn, with its sources.
struct Area {
  Edge left = Edge::kTurn;
  Edge right = Edge::kTurn;
  std::string text;
  std::vector<Source> sources;
};

Edge edge_of(const Token& token, bool at_end) {
  switch (token.kind) {
    case SlotKind::kReasoning: return Edge::kReasoning;
    case SlotKind::kContent: return Edge::kContent;
    case SlotKind::kName: return Edge::kName;
    case SlotKind::kId: return Edge::kId;
    case SlotKind::kIndex: return Edge::kIndex;
    case SlotKind::kArguments: {
      const ArgumentPart& part = at_end ? token.parts.back() : token.parts.front();
      return part.is_key ? Edge::kKey : Edge::kValue;
    }
    case SlotKind::kLiteral: break;
  }
  return Edge::kAny;
}

void add_areas(const Turn& turn, std::vector<Area>& areas) {
  Area area;
  for (const Token& token : turn.tokens) {
    if (token.kind == SlotKind::kLiteral) {
      for (const Source& source : token.sources)
        area.sources.push_back({area.text.size() + source.at, source.literal, source.offset});
      area.text += token.text;
      continue;
    }
    area.right = edge_of(token, false);
    areas.push_back(std::move(area));
    area = Area{};
    area.left = edge_of(token, true);
  }
  areas.push_back(std::move(area));
  if (!turn.following.empty()) areas.push_back({Edge::kTurn, Edge::kTurn, turn.following, turn.following_sources});
}

// Where to look for a field's text: the slots to its left and right.
struct Look {
  Edge left = Edge::kAny;
  Edge right = Edge::kAny;
};

class Explainer {
 public:
  Explainer(const jinja::Template& chat_template, const std::vector<ProbeTrial>& trials) : template_(chat_template) {
    for (const ProbeTrial& trial : trials) {
      if (trial.turn) add_areas(*trial.turn, areas_);
    }
    for (const ProbeTrial& trial : trials) {
      if (!trial.generation_prompt.empty())
        areas_.push_back({Edge::kTurn, Edge::kTurn, trial.generation_prompt, trial.prompt_sources});
    }
  }

  std::vector<FieldOrigin> origins(const format::Format& format) {
    for (std::size_t i = 0; i < format.generation_prompts.size(); ++i)
      add("generation_prompts[" + std::to_string(i) + "].text", format.generation_prompts[i].text,
          {Edge::kTurn, Edge::kTurn});
    add("header", format.header, {Edge::kTurn, Edge::kAny});
    add("reasoning.open", format.reasoning.open, {Edge::kAny, Edge::kReasoning});
    add("reasoning.absent", format.reasoning.absent, {Edge::kAny, Edge::kContent});
    add("reasoning.close", format.reasoning.close, {Edge::kReasoning, Edge::kAny});
    add("content.open", format.content.open, {Edge::kAny, Edge::kContent});
    add("content.close", format.content.close, {Edge::kContent, Edge::kAny});
    add("content.preamble_open", format.content.preamble_open, {Edge::kAny, Edge::kContent});
    add("content.preamble_close", format.content.preamble_close, {Edge::kContent, Edge::kAny});
    add("content.absent", format.content.absent, {Edge::kAny, Edge::kAny});
    if (format.calls.present) add_calls(format.calls);
    add_all("stops.content", format.stops.content);
    add_all("stops.tool", format.stops.tool);
    add_all("stops.history_close", format.stops.history_close);
    return std::move(origins_);
  }

  // Returns the place of a literal's byte.  Text outside of tags stands in the source as it is.  A string constant may
  // not, because its newlines are escapes, so all of it counts as one place.
  [[nodiscard]] text::Literal place(const Source& source) const {
    if (source.literal == kNoLiteral) return {};
    text::Literal at = template_.literals()[source.literal];
    const std::string_view before =
        std::string_view(template_.literal_texts()[source.literal]).substr(0, source.offset);
    if (before.empty() || !stands_in_source(at, before)) return at;
    const std::size_t newline = before.rfind('\n');
    at.line += static_cast<std::int32_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t in_line = newline == std::string_view::npos ? before.size() : before.size() - newline;
    at.column = static_cast<std::int32_t>(in_line) + (newline == std::string_view::npos ? at.column : 0);
    return at;
  }

 private:
  [[nodiscard]] bool stands_in_source(const text::Literal& at, std::string_view bytes) const {
    const std::string_view source = template_.source();
    std::size_t begin = 0;
    for (std::int32_t line = 1; line < at.line && begin < source.size(); ++line)
      begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
    return source.substr(std::min(begin + static_cast<std::size_t>(at.column) - 1, source.size())).starts_with(bytes);
  }

  void add_calls(const format::Calls& calls) {
    const bool is_json = calls.envelope != format::Envelope::kTags;
    const Look before{Edge::kAny, is_json || calls.pieces.empty() ? Edge::kAny : slot_edge(calls.pieces.front())};
    add("calls.section_open", calls.section_open, before);
    add("calls.call_open", calls.call_open, before);
    for (std::size_t i = 0; i < calls.pieces.size(); ++i) {
      const Edge left = i > 0 ? slot_edge(calls.pieces[i - 1]) : Edge::kAny;
      add("calls.pieces[" + std::to_string(i) + "].text", calls.pieces[i].text, {left, Edge::kAny});
    }
    add("calls.call_close", calls.call_close, {Edge::kValue, Edge::kAny});
    add("calls.separator", calls.separator, {Edge::kValue, before.right});
    add("calls.section_close", calls.section_close, {Edge::kValue, Edge::kAny});
    if (calls.arguments != format::ArgumentStyle::kParameters) return;
    const format::Parameters& parameters = calls.parameters;
    add("calls.parameters.open", parameters.open, {Edge::kAny, Edge::kKey});
    add("calls.parameters.key_close", parameters.key_close, {Edge::kKey, Edge::kAny});
    add("calls.parameters.key_in_close", parameters.key_in_close, {Edge::kValue, Edge::kKey});
    add("calls.parameters.close", parameters.close,
        {parameters.key_in_close.empty() ? Edge::kValue : Edge::kKey, Edge::kAny});
    add("calls.parameters.separator", parameters.separator, {Edge::kAny, Edge::kKey});
    add("calls.parameters.item_open", parameters.item_open, {Edge::kAny, Edge::kAny});
    add("calls.parameters.item_close", parameters.item_close, {Edge::kAny, Edge::kAny});
    add("calls.parameters.member_open", parameters.member_open, {Edge::kAny, Edge::kAny});
    add("calls.parameters.member_key_close", parameters.member_key_close, {Edge::kAny, Edge::kAny});
    add("calls.parameters.member_close", parameters.member_close, {Edge::kAny, Edge::kAny});
    for (std::size_t i = 0; i < parameters.forms.size(); ++i) {
      const std::string field = "calls.parameters.forms[" + std::to_string(i) + "].";
      add(field + "key_open", parameters.forms[i].key_open, {Edge::kAny, Edge::kKey});
      add(field + "open", parameters.forms[i].open, {Edge::kKey, Edge::kAny});
      add(field + "close", parameters.forms[i].close, {Edge::kValue, Edge::kAny});
      add(field + "constant", parameters.forms[i].constant, {Edge::kKey, Edge::kAny});
    }
  }

  static Edge slot_edge(const format::CallPiece& piece) {
    using enum format::CallPiece::Kind;
    switch (piece.kind) {
      case kName: return Edge::kName;
      case kId:
      case kNameInId: return Edge::kId;
      case kIndex: return Edge::kIndex;
      default: return Edge::kAny;
    }
  }

  void add_all(const std::string& field, const std::vector<std::string>& texts) {
    for (std::size_t i = 0; i < texts.size(); ++i) add(field + "[" + std::to_string(i) + "]", texts[i], {});
  }

  // Looks for the text beside the wanted slots, nearest first.  If there is no such place, looks anywhere.
  void add(std::string field, const std::string& text, Look look) {
    if (text.empty()) return;
    FieldOrigin origin{std::move(field), text, {}};
    for (const Look wanted : {look, Look{}}) {
      for (const Area& area : areas_) {
        if (wanted.left != Edge::kAny && wanted.left != area.left) continue;
        if (wanted.right != Edge::kAny && wanted.right != area.right) continue;
        const bool from_end = wanted.left == Edge::kAny || (wanted.left == Edge::kTurn && wanted.right == Edge::kTurn);
        const std::size_t at = from_end ? area.text.rfind(text) : area.text.find(text);
        if (at == std::string::npos) continue;
        origin.pieces = pieces(area, at, text.size());
        origins_.push_back(std::move(origin));
        return;
      }
    }
    origins_.push_back(std::move(origin));
  }

  std::vector<OriginPiece> pieces(const Area& area, std::size_t at, std::size_t size) const {
    std::vector<OriginPiece> out;
    for (std::size_t i = 0; i < area.sources.size(); ++i) {
      const std::size_t begin = std::max(area.sources[i].at, at);
      const std::size_t end =
          std::min(i + 1 < area.sources.size() ? area.sources[i + 1].at : area.text.size(), at + size);
      if (begin >= end) continue;
      Source source = area.sources[i];
      source.offset += static_cast<std::uint32_t>(begin - source.at);
      out.push_back({area.text.substr(begin, end - begin), place(source)});
    }
    return out;
  }

  const jinja::Template& template_;
  std::vector<Area> areas_;
  std::vector<FieldOrigin> origins_;
};

std::string reasoning_place(const Shape& shape) {
  if (!shape.reasoning_part.empty()) return " as a content part of type " + shape.reasoning_part;
  return shape.reasoning_field.empty() ? "" : " in " + shape.reasoning_field;
}

std::string name_of(const ProbeTrial& trial) {
  std::string out;
  const auto add = [&out](const std::string& what, const char* between) { out += (out.empty() ? "" : between) + what; };
  const ProbeMessage& message = trial.message;
  if (message.reasoning) add("reasoning" + reasoning_place(trial.shape), ", ");
  if (message.content) add("content", ", ");
  const char* as_text = trial.shape.arguments_as_text ? " with arguments as text" : "";
  if (message.calls.size() == 1) add("1 call" + std::string(as_text), ", ");
  if (message.calls.size() > 1) add(std::to_string(message.calls.size()) + " calls" + as_text, ", ");
  if (out.empty()) out = "generation prompt";
  if (trial.setting.thinking != "default") add("thinking " + trial.setting.thinking, "; ");
  if (!trial.setting.tools) add("without tools", "; ");
  if (trial.setting.with_result) add("with a tool result behind it", "; ");
  if (trial.setting.with_user) add("with a user message behind it", "; ");
  return out;
}

const char* slot_name(const Token& token) {
  switch (token.kind) {
    case SlotKind::kReasoning: return "reasoning";
    case SlotKind::kContent: return "content";
    case SlotKind::kName: return "name";
    case SlotKind::kId: return "id";
    case SlotKind::kIndex: return "index";
    case SlotKind::kArguments: return "arguments";
    case SlotKind::kLiteral: break;
  }
  return "";
}

void add_literal(const Explainer& explainer, const std::string& text, const std::vector<Source>& sources,
                 std::vector<ProbePart>& parts) {
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::size_t end = i + 1 < sources.size() ? sources[i + 1].at : text.size();
    parts.push_back({"", text.substr(sources[i].at, end - sources[i].at), explainer.place(sources[i])});
  }
}

bool is_other_shape(const ProbeTrial& trial, const format::InputShape& input) {
  const ProbeMessage& message = trial.message;
  if (message.reasoning && trial.shape.reasoning_part != input.reasoning_part) return true;
  return !message.calls.empty() && trial.shape.arguments_as_text != input.arguments_as_text;
}

ProbeRecord record_of(const Explainer& explainer, const ProbeTrial& trial, const format::InputShape& input) {
  ProbeRecord record;
  record.name = name_of(trial);
  record.is_message = trial.message.reasoning || trial.message.content || !trial.message.calls.empty();
  if (!record.is_message) add_literal(explainer, trial.generation_prompt, trial.prompt_sources, record.parts);
  record.is_refused = record.is_message && !trial.turn;
  record.refusal = trial.refusal;
  record.is_other_shape = record.is_message && is_other_shape(trial, input);
  if (!trial.turn) return record;
  for (const Token& token : trial.turn->tokens) {
    if (token.kind == SlotKind::kLiteral) {
      add_literal(explainer, token.text, token.sources, record.parts);
    } else if (token.kind == SlotKind::kArguments) {
      for (const ArgumentPart& part : token.parts)
        record.parts.push_back({part.is_key ? "key" : "arguments", part.text, {}});
    } else {
      record.parts.push_back({slot_name(token), token.text, {}});
    }
  }
  return record;
}

}  // namespace

Result<Explanation> explain(const jinja::Template& chat_template, const Options& options) {
  Prober prober(chat_template, options, true);
  auto format = infer_format(prober);
  if (!format.ok()) return format.error();
  Explainer explainer(chat_template, prober.trials());
  Explanation out;
  out.format = std::move(format).value();
  out.origins = explainer.origins(*out.format);
  for (const ProbeTrial& trial : prober.trials()) out.probes.push_back(record_of(explainer, trial, out.format->input));
  return out;
}

}  // namespace rondo::analysis
