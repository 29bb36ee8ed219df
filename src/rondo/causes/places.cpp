#include "causes/places.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "probe/places.h"

namespace rondo::causes {
namespace {

// The offset in the source; one past its end if there is no such place.
std::size_t offset_of(std::string_view source, const text::Literal& place) {
  std::size_t at = 0;
  for (std::int32_t line = 1; line < place.line && at < source.size(); ++line)
    at = std::min(source.find('\n', at), source.size() - 1) + 1;
  return at + static_cast<std::size_t>(std::max(place.column, 1) - 1);
}

// The place after `text`, which begins at `place`.
text::Literal behind(text::Literal place, std::string_view text) {
  for (const char c : text) {
    place.column = c == '\n' ? 1 : place.column + 1;
    place.line += c == '\n' ? 1 : 0;
  }
  return place;
}

// The place of byte `offset` of a literal.  Template text appears in the source unchanged.  A string constant may have
// escapes, so it counts as one place.
text::Literal literal_place(const jinja::Template& chat_template, std::size_t literal, std::size_t offset) {
  const text::Literal at = chat_template.literals()[literal];
  const std::string_view before = std::string_view(chat_template.literal_texts()[literal]).substr(0, offset);
  const std::string_view source = chat_template.source();
  return source.substr(std::min(offset_of(source, at), source.size())).starts_with(before) ? behind(at, before) : at;
}

// Two decisions of two renders correspond if the same condition was evaluated for the same input element, for the same
// number of times.
class DecisionKeys {
 public:
  using Key = std::tuple<std::uint32_t, std::string, std::int32_t, std::uint32_t>;

  explicit DecisionKeys(const jinja::Rendered& rendered) : rendered_(rendered) {}

  // REQUIRES: called once for each decision, in order.
  Key next(const jinja::Decision& decision) {
    const text::Context& context = rendered_.origins.contexts.at(decision.context);
    Key key{decision.node, rendered_.origins.paths.to_string(context.element), context.message, {}};
    std::get<3>(key) = seen_[key]++;
    return key;
  }

 private:
  const jinja::Rendered& rendered_;
  std::map<Key, std::uint32_t> seen_;
};

}  // namespace

text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered, const text::Run& run) {
  if (run.kind == text::RunKind::kLiteral) return rendered.origins.literals[run.origin];
  const auto expressions = chat_template.expressions();
  const std::size_t number = run.expression;
  return number > 0 && number <= expressions.size() ? expressions[number - 1] : text::Literal{};
}

text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered, std::size_t at) {
  const probe::Spot spot = probe::spot_at(rendered, at);
  if (spot.run == nullptr) return {};
  text::Literal place = writer_of(chat_template, rendered, *spot.run);
  if (spot.run->kind != text::RunKind::kLiteral) return place;
  const std::string_view source = chat_template.source();
  const std::size_t from = offset_of(source, place);
  // A string constant has one place.  In text between tags each line has its own.
  if (from < source.size() && (source[from] == '\'' || source[from] == '"')) return place;
  const std::string_view text = chat_template.literal_texts()[spot.run->origin];
  return behind(place, text.substr(0, spot.run->source_offset + (at - spot.begin)));
}

TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal) {
  TemplatePlace place;
  if (literal.line <= 0) return place;
  place.line = literal.line;
  place.column = literal.column;
  place.source = source_line(chat_template, literal.line);
  return place;
}

TemplatePlace place_of(const jinja::Template& chat_template, const Error& error) {
  return place_of(chat_template, text::Literal{error.line, error.column});
}

TemplatePlace place_at(const jinja::Template& chat_template, const jinja::Rendered& rendered, std::size_t at) {
  if (rendered.text.empty()) return {};
  at = std::min(at, rendered.text.size() - 1);
  const probe::Spot spot = probe::spot_at(rendered, at);
  const text::Run& run = *spot.run;
  return place_of(chat_template, run.kind == text::RunKind::kLiteral
                                     ? literal_place(chat_template, run.origin, run.source_offset + (at - spot.begin))
                                     : writer_of(chat_template, rendered, run));
}

TemplatePlace last_look(const jinja::Template& chat_template, const jinja::Rendered& rendered, std::int32_t message,
                        std::string_view field) {
  const text::PathTable& paths = rendered.origins.paths;
  text::Literal last;
  for (const jinja::Decision& decision : rendered.decisions) {
    for (const text::PathId path : rendered.reads_of(decision)) {
      if (paths.message(path) == message && paths.step_name(path) == field) last = {decision.line, decision.column};
    }
  }
  return place_of(chat_template, last);
}

bool is_at_mark(std::string_view text, std::size_t at, std::string_view mark) {
  if (mark.empty() || at >= text.size()) return false;
  for (std::size_t back = 0; back < mark.size() && back <= at; ++back) {
    if (text.substr(at - back).starts_with(mark)) return true;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n", at);
  return first != std::string_view::npos && text.substr(first).starts_with(mark);
}

std::string in_words(const TemplatePlace& place) {
  if (place.line <= 0) return "the template";
  return "line " + std::to_string(place.line) + " `" + place.source + "`";
}

const jinja::Decision* flip_around(const jinja::Outline& outline, const jinja::Rendered& before,
                                   const jinja::Rendered& after, std::int32_t message,
                                   const std::vector<text::Literal>& places) {
  const jinja::Decision* best = nullptr;
  std::tuple<bool, std::size_t> best_rank;  // whether it is of another message; distance
  const std::vector<const jinja::Decision*> all = flips(before, after);
  for (const jinja::Decision* flip : all) {
    const jinja::Decision& decision = *flip;
    const bool is_other = after.origins.contexts.at(decision.context).message != message;
    for (const text::Literal& place : places) {
      if (place.line == 0 || !outline.decides({decision.line, decision.column}, place)) continue;
      const std::tuple rank{is_other, outline.distance({decision.line, decision.column}, place)};
      if (best != nullptr && rank >= best_rank) continue;
      best = &decision;
      best_rank = rank;
    }
  }
  // The condition may ask about a variable that another flip has set for the same message.
  const auto message_of_decision = [&](const jinja::Decision* decision) {
    return after.origins.contexts.at(decision->context).message;
  };
  for (const jinja::Decision* flip : all) {
    if (flip == best || best == nullptr) break;
    if (message_of_decision(flip) != message_of_decision(best)) continue;
    if (outline.assigns_for({flip->line, flip->column}, {best->line, best->column})) return flip;
  }
  return best;
}

std::string source_line(const jinja::Template& chat_template, std::int32_t line) {
  const std::string_view source = chat_template.source();
  std::size_t begin = 0;
  for (std::int32_t i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == std::string_view::npos) return "";
    ++begin;
  }
  std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::string describe_origin(const jinja::Rendered& rendered, std::size_t at) {
  const text::Run* run = probe::spot_at(rendered, at).run;
  if (run == nullptr) return "end of the prompt";
  if (run->kind == text::RunKind::kLiteral) {
    return "template line " + std::to_string(rendered.origins.literals[run->origin].line);
  }
  std::string out = rendered.origins.paths.to_string(run->path());
  if (out.empty()) return "computed by the template";
  if (run->chain != text::ChainId::kNone) out += " via " + rendered.origins.chains.to_string(run->chain);
  return out;
}

std::vector<const jinja::Decision*> flips(const jinja::Rendered& before, const jinja::Rendered& after) {
  std::map<DecisionKeys::Key, bool> earlier;
  DecisionKeys before_keys(before);
  for (const jinja::Decision& decision : before.decisions) {
    earlier.emplace(before_keys.next(decision), decision.outcome);
  }
  std::vector<const jinja::Decision*> out;
  DecisionKeys after_keys(after);
  for (const jinja::Decision& decision : after.decisions) {
    const auto found = earlier.find(after_keys.next(decision));
    if (found != earlier.end() && found->second != decision.outcome) out.push_back(&decision);
  }
  return out;
}

const jinja::Decision* first_flip(const jinja::Rendered& before, const jinja::Rendered& after, std::int32_t message) {
  const std::vector<const jinja::Decision*> all = flips(before, after);
  const auto wanted = std::ranges::find_if(all, [&](const jinja::Decision* decision) {
    return message == text::kNoMessage || after.origins.contexts.at(decision->context).message == message;
  });
  if (wanted != all.end()) return *wanted;
  return all.empty() ? nullptr : all.front();
}

}  // namespace rondo::causes
