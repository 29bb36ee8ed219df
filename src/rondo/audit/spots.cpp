#include "audit/spots.h"

#include <algorithm>
#include <tuple>

#include "render/explain.h"

namespace rondo::audit {
namespace {

// The byte of the source at a place.
char source_at(std::string_view source, const text::Literal& place) {
  std::size_t at = 0;
  for (std::int32_t line = 1; line < place.line; ++line) {
    at = source.find('\n', at);
    if (at == std::string_view::npos) return '\0';
    ++at;
  }
  at += static_cast<std::size_t>(std::max(place.column, 1) - 1);
  return at < source.size() ? source[at] : '\0';
}

}  // namespace

Spot spot_at(const jinja::Rendered& rendered, std::size_t at) {
  std::size_t begin = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (at < begin + run.size) return {&run, begin};
    begin += run.size;
  }
  return {nullptr, begin};
}

Spot input_from(const jinja::Rendered& rendered, std::size_t at, std::size_t reach) {
  std::size_t begin = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t end = begin + run.size;
    if (begin > at + reach) break;
    if (end > at && run.path() != text::PathId::kNone) return {&run, begin};
    begin = end;
  }
  return {};
}

text::Literal writer_of(const jinja::Template& chat_template, const jinja::Rendered& rendered, const text::Run& run) {
  if (run.kind == text::RunKind::kLiteral) return rendered.origins.literals[run.origin];
  const auto expressions = chat_template.expressions();
  const std::size_t number = run.expression;
  return number > 0 && number <= expressions.size() ? expressions[number - 1] : text::Literal{};
}

text::Literal written_at(const jinja::Template& chat_template, const jinja::Rendered& rendered, std::size_t at) {
  const Spot spot = spot_at(rendered, at);
  if (spot.run == nullptr) return {};
  text::Literal place = writer_of(chat_template, rendered, *spot.run);
  if (spot.run->kind != text::RunKind::kLiteral) return place;
  const char first = source_at(chat_template.source(), place);
  // A string constant has its place; of text between tags each line has its own.
  if (first == '\'' || first == '"') return place;
  const std::string& text = chat_template.literal_texts()[spot.run->origin];
  const std::size_t until = std::min(text.size(), spot.run->source_offset + (at - spot.begin));
  for (std::size_t i = 0; i < until; ++i) {
    place.column = text[i] == '\n' ? 1 : place.column + 1;
    place.line += text[i] == '\n' ? 1 : 0;
  }
  return place;
}

TemplatePlace place_of(const jinja::Template& chat_template, const text::Literal& literal) {
  TemplatePlace place;
  if (literal.line <= 0) return place;
  place.line = literal.line;
  place.column = literal.column;
  place.source = render::source_line(chat_template, literal.line);
  return place;
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
  std::tuple<bool, std::size_t> best_rank;  // of another message; how far
  const std::vector<const jinja::Decision*> flips = render::flips(before, after);
  for (const jinja::Decision* flip : flips) {
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
  // What the condition asks may be a variable that another flip has set, for the same message.
  const auto message_of_decision = [&](const jinja::Decision* decision) {
    return after.origins.contexts.at(decision->context).message;
  };
  for (const jinja::Decision* flip : flips) {
    if (flip == best || best == nullptr) break;
    if (message_of_decision(flip) != message_of_decision(best)) continue;
    if (outline.assigns_for({flip->line, flip->column}, {best->line, best->column})) return flip;
  }
  return best;
}

}  // namespace rondo::audit
