// Checks that every turn ends with a stop, and with only one.
#include <algorithm>
#include <set>

#include "audit/property_groups.h"
#include "format/units.h"

namespace rondo::audit {
namespace {

using tokenizer::TokenId;

struct Kind {
  std::string name;
  Saying parts;
};

std::vector<Kind> kinds(const Trials& trials) {
  const SaidCall call = first_call();
  const SaidCall second = second_call();
  const std::string answer(kAnswerWord);
  std::vector<Kind> out = {{"text", {"", answer, {}}}};
  if (!trials.format().input.reasoning_field.empty())
    out.push_back({"reasoning and text", {std::string(kThoughtWord), answer, {}}});
  if (!trials.writes_calls()) return out;
  out.push_back({"one call", {"", "", {call}}});
  out.push_back({"text and a call", {"", answer, {call}}});
  if (!trials.format().input.single_call) out.push_back({"two calls", {"", "", {call, second}}});
  return out;
}

// A turn with its neighbours.
struct Placed {
  jinja::Rendered render;
  std::size_t data_end = 0;    // after the turn's own data
  std::size_t own_end = 0;     // after what the template writes for the turn
  std::size_t next_begin = 0;  // the first data of the next message
};

class CloseAudit {
 public:
  CloseAudit(const Trials& trials, report::Report& report)
      : trials_(trials), report_(report), tokenizer_(trials.context().tokenizer) {
    const render::TurnProfile& profile = trials.context().profile;
    stops_.insert(profile.stop_ids.begin(), profile.stop_ids.end());
    if (profile.plain.marker) stops_.insert(profile.plain.marker->id);
  }

  void run() {
    find_inner();
    for (const Kind& kind : kinds(trials_)) {
      const auto placed = place(kind.parts);
      if (!placed) continue;
      const bool is_closed = check_stop(kind, *placed);
      if (is_closed && kind.parts.calls.empty()) plain_is_closed_ = true;
      if (is_closed) check_once(kind, *placed);
    }
    for (Fault& fault : faults_) {
      fault.finding.sentence += listed(fault.kinds);
      add_finding(report_, std::move(fault.finding));
    }
    check_last();
  }

 private:
  // The same fault in several kinds of turns is reported once.
  struct Fault {
    report::Finding finding;
    std::vector<std::string> kinds;
  };
  void keep(report::Finding finding, const Kind& kind) {
    for (Fault& known : faults_) {
      if (known.finding.sentence != finding.sentence || known.finding.place.line != finding.place.line) continue;
      known.kinds.push_back(kind.name);
      return;
    }
    faults_.push_back({std::move(finding), {kind.name}});
  }

  [[nodiscard]] std::optional<Placed> place(const Saying& parts) const {
    const TrialSetting setting{.generation_prompt = true, .tools = !parts.calls.empty()};
    json::Array messages = {user_message(), trials_.assistant(parts)};
    for (std::size_t i = 0; i < parts.calls.size(); ++i)
      messages.push_back(trials_.result(i, parts.calls[i].name, i == 0 ? kResultWord : kSecondResultWord));
    if (parts.calls.empty()) messages.push_back(plain_message("user", kSecondQuestionWord));
    auto rendered = trials_.render(messages, setting);
    if (!rendered.ok()) return std::nullopt;
    Placed out{std::move(rendered).value()};
    const auto own = render::data_extent(out.render, 1);
    const auto next = render::data_extent(out.render, 2);
    // This rule cannot judge turns that are written in another order than their messages.
    if (!own || !next || next->begin < own->end) return std::nullopt;
    if (!parts.calls.empty() && out.render.text.bytes().find(kToolName) > own->end) return std::nullopt;
    out.data_end = own->end;
    out.own_end = std::min(render::tail_end(out.render, 1, own->end), next->begin);
    out.next_begin = next->begin;
    return out;
  }

  [[nodiscard]] std::vector<render::Marker> stops_in(std::string_view text) const {
    std::vector<render::Marker> out;
    for (const render::Marker& marker : render::markers(tokenizer_, text)) {
      if (stops_.contains(marker.id)) out.push_back(marker);
    }
    return out;
  }

  // A token between two calls of a turn closes a call, not the turn.
  void find_inner() {
    if (!trials_.writes_calls() || trials_.format().input.single_call) return;
    const auto placed = place(kinds(trials_).back().parts);
    if (!placed) return;
    const std::string& text = placed->render.text.bytes();
    const std::size_t first = text.rfind(kToolName, placed->data_end);
    const std::size_t second = text.rfind(kSecondToolName, placed->data_end);
    if (first == std::string::npos || second == std::string::npos || first > second) return;
    for (const render::Marker& marker : stops_in(std::string_view(text).substr(first, second - first))) {
      if (!ends_generation(marker.id)) stops_.erase(marker.id);
    }
  }

  [[nodiscard]] bool ends_generation(TokenId id) const {
    const auto ends = tokenizer_.end_ids();
    const auto& plain = trials_.context().profile.plain.marker;
    return std::find(ends.begin(), ends.end(), id) != ends.end() || (plain && plain->id == id);
  }

  // History may end turns with another token than the model does.  That token shows when nothing follows the turn.
  [[nodiscard]] bool is_closed_alone(const Kind& kind) const {
    const TrialSetting setting{.tools = !kind.parts.calls.empty()};
    const auto alone = trials_.render({user_message(), trials_.assistant(kind.parts)}, setting);
    if (!alone.ok()) return false;
    const auto own = render::data_extent(alone.value(), 1);
    if (!own) return false;
    const std::string_view tail = std::string_view(alone.value().text.bytes()).substr(own->end);
    return !stops_in(tail).empty() || has_stop_text(tail);
  }

  // The format's stops, which may be plain text, in the text that the template writes for the turn itself.
  [[nodiscard]] bool has_stop_text(std::string_view own) const {
    const format::Stops& stops = trials_.format().stops;
    for (const auto* list : {&stops.content, &stops.tool, &stops.history_close}) {
      for (const std::string& stop : *list) {
        const std::string_view core = format::trimmed(stop);
        if (core.size() > 1 && own.find(core) != std::string_view::npos) return true;
      }
    }
    return false;
  }

  // Without the model's vocabulary, any bracketed word may be a token.
  [[nodiscard]] bool may_have_token(std::string_view text) const {
    if (trials_.context().has_tokenizer) return false;
    const std::vector<std::size_t> cuts = format::unit_boundaries(text);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const std::string_view unit = text.substr(cuts[i], cuts[i + 1] - cuts[i]);
      if (unit.size() > 2 && std::string_view("<[{").find(unit.front()) != std::string_view::npos) return true;
    }
    return false;
  }

  [[nodiscard]] bool check_stop(const Kind& kind, const Placed& placed) {
    const std::string& text = placed.render.text.bytes();
    const std::string_view between =
        std::string_view(text).substr(placed.data_end, placed.next_begin - placed.data_end);
    const std::string_view own = between.substr(0, placed.own_end - placed.data_end);
    if (!stops_in(between).empty() || has_stop_text(own) || is_closed_alone(kind) || may_have_token(between))
      return true;
    const bool is_call = !kind.parts.calls.empty();
    if (is_call && !plain_is_closed_) return false;  // plain turns already report it
    report::Finding finding = finding_of("unclosed-turn", is_call ? report::Level::kError : report::Level::kWarning);
    finding.sentence = "no stop token stands behind a turn with ";
    finding.proof = "between the turn and what follows stands " + shortened(between);
    if (is_call && trials_.context().profile.plain.marker)
      finding.proof += "; behind a turn with text there is " +
                       text::quoted(tokenizer_.token_bytes(trials_.context().profile.plain.marker->id));
    finding.place =
        causes::place_at(trials_.context().chat_template, placed.render, std::min(placed.data_end, text.size() - 1));
    finding.path = "messages[1]";
    keep(std::move(finding), kind);
    return false;
  }

  void check_once(const Kind& kind, const Placed& placed) {
    const std::string& text = placed.render.text.bytes();
    const std::string_view own = std::string_view(text).substr(placed.data_end, placed.own_end - placed.data_end);
    // A block inside the turn may close before the turn does.  Only a token that ends generation, or a repeated one, is
    // too many.
    const std::vector<render::Marker> all = stops_in(own);
    std::vector<render::Marker> stops;
    for (const render::Marker& stop : all) {
      if (ends_generation(stop.id) || std::ranges::count(all, stop.id, &render::Marker::id) > 1) stops.push_back(stop);
    }
    if (stops.size() < 2) return;
    report::Finding finding = finding_of("double-close", report::Level::kWarning);
    finding.sentence = "a second stop token stands behind a turn with ";
    finding.proof = "behind the turn stands " + shortened(own);
    finding.place = causes::place_at(trials_.context().chat_template, placed.render, placed.data_end + stops[1].begin);
    finding.path = "messages[1]";
    keep(std::move(finding), kind);
  }

  // The last turn of a conversation that nobody continues, as in training data.
  void check_last() {
    if (!plain_is_closed_) return;
    const auto rendered = trials_.render({user_message(), plain_message("assistant", kAnswerWord)}, {});
    if (!rendered.ok()) return;
    const std::string& text = rendered.value().text.bytes();
    const std::size_t at = text.rfind(kAnswerWord);
    if (at == std::string::npos) return;
    const std::string_view tail = std::string_view(text).substr(at + kAnswerWord.size());
    if (!stops_in(tail).empty() || has_stop_text(tail) || may_have_token(tail)) return;
    report::Finding finding = finding_of("unclosed-turn", report::Level::kNote);
    finding.sentence = "no stop token stands behind the last turn of a conversation: training data needs one added";
    finding.proof = "the conversation ends with " + excerpt(text, at, text.size());
    finding.place = causes::place_at(trials_.context().chat_template, rendered.value(), at);
    finding.path = "messages[1]";
    add_finding(report_, std::move(finding));
  }

  const Trials& trials_;
  report::Report& report_;
  const tokenizer::Tokenizer& tokenizer_;
  std::set<TokenId> stops_;
  std::vector<Fault> faults_;
  bool plain_is_closed_ = false;
};

}  // namespace

void find_close_faults(const Trials& trials, report::Report& report) { CloseAudit(trials, report).run(); }

}  // namespace rondo::audit
