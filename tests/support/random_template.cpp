#include "tests/support/random_template.h"

#include <algorithm>
#include <utility>

#include "format/units.h"

namespace rondo::test {
namespace {

// Brackets for a word and its counterpart; `$` stands for the word.
struct Family {
  const char* open;
  const char* close;
  bool is_control = false;  // as vocabularies spell their added tokens
};
// Left out: closers that say nothing of what they close (`~~~` .. `~~~`), which content holds by chance.
constexpr Family kFamilies[] = {
    {"<$>", "</$>"},
    {"<$>", "</$>"},
    {"<|$|>", "<|/$|>", true},
    {"<|$|>", "<|end_$|>", true},
    {"[[$]]", "[[/$]]"},
    {"[$]", "[/$]"},
    {"{!$ ", " $!}"},
    {"#[$]", "#[/$]"},
    {"@@$@@", "@@/$@@"},
    {"%%$%%", "%%/$%%"},
    {"⟦$⟧", "⟦/$⟧"},
    {"«$»", "«/$»"},
    {"(*$ ", " $*)"},
    {"~~~$\n", "\n~~~/$\n"},
    {"::$::", "::/$::"},
    {"==$==", "==/$=="},
    {"\n## $\n", "\n## /$\n"},
    {"<:$:>", "<:/$:>"},
    {"【$】", "【/$】"},
    {"Begin $:\n", "\n:end $."},
    {"{{$}}", "{{/$}}"},
    {"<!--$-->", "<!--/$-->"},
    {"$(", ")$"},
    {"`$`", "`/$`"},
};

constexpr const char* kOwnField = "rationale";

std::string filled(std::string_view pattern, std::string_view word) {
  std::string out;
  for (const char c : pattern) out += c == '$' ? std::string(word) : std::string(1, c);
  return out;
}

// Draws one shape.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  TemplateShape shape() {
    for (;;) {
      out_ = {};
      draw_turns();
      draw_reasoning();
      if (random_.one_in(8)) out_.content = pair();
      if (random_.one_in(10)) out_.trims_content = true;
      out_.has_calls = !random_.one_in(25);
      if (out_.has_calls) draw_calls();
      if (random_.one_in(12)) draw_headings();
      if (random_.one_in(2)) spread_white_space();
      if (is_sound(out_)) break;
    }
    draw_filters();
    draw_late_choices();
    draw_counters();
    draw_text_filters();
    draw_constant();
    return out_;
  }

 private:
  // Words that no other one of the shape begins or ends with, and that texts do not hold.
  std::string word() {
    static constexpr const char* kBegins[] = {"b", "d", "f", "gr", "k", "l", "m", "pl", "r", "st", "t", "v", "z"};
    static constexpr const char* kMiddles[] = {"a", "e", "i", "o", "u", "ai", "ou"};
    for (;;) {
      std::string made;
      for (std::size_t i = 2 + random_.below(2); i > 0; --i) {
        made += random_.pick(kBegins);
        made += random_.pick(kMiddles);
      }
      if (random_.one_in(6)) std::ranges::transform(made, made.begin(), [](char c) { return c - 'a' + 'A'; });
      if (random_.one_in(8)) made += random_.one_in(2) ? "_x" : "2";
      const auto overlaps = [&made](const std::string& other) {
        return other.find(made) != std::string::npos || made.find(other) != std::string::npos;
      };
      if (std::ranges::any_of(words_, overlaps)) continue;
      words_.push_back(made);
      return made;
    }
  }

  const Family& family() { return random_.one_in(3) ? random_.pick(kFamilies) : kFamilies[favourite_]; }

  Brackets pair() {
    const Family& chosen = family();
    const std::string a = word();
    return {filled(chosen.open, a), filled(chosen.close, a)};
  }

  // Both from other words: <|begin_of_x|> .. <|done|>.
  Brackets odd_pair() {
    const Family& chosen = family();
    return {filled(chosen.open, word()), filled(chosen.open, word())};
  }

  Brackets some_pair() { return random_.one_in(5) ? odd_pair() : pair(); }

  std::string blank() {
    static constexpr const char* kBlanks[] = {"\n", "\n", "\n\n", " ", "  "};
    return random_.pick(kBlanks);
  }

  void draw_turns() {
    favourite_ = random_.below(std::size(kFamilies));
    static const Brackets kHeaders[] = {{"<|", "|>"},      {"<|", "|>\n"}, {"[[", ">>"},   {"⟦", "⟧"},
                                        {"<turn:", ">\n"}, {"[", "]: "},   {"### ", "\n"}, {"**", "**: "},
                                        {"@", " says:\n"}, {"<<", ">> "},  {"«", "» "},    {"#[", "]\n"}};
    if (random_.one_in(3)) {
      const std::string open = filled("<|$|>", word());
      const char* close = random_.one_in(2) ? "<|$|>" : "<|$|>\n";
      out_.header = {open, filled(close, word())};
    } else {
      out_.header = random_.pick(kHeaders);
    }
    if (random_.one_in(5)) out_.assistant = word();
    if (random_.one_in(5)) out_.tool = word();
    out_.stop = random_.one_in(2) ? filled("<|$|>", word()) : std::string(format::trimmed(pair().close));
    // Only a header that no text holds by chance ends a turn as well.
    if (random_.one_in(12) && out_.header.open.size() > 3 && out_.header.open.starts_with("<|")) out_.stop.clear();
    if (random_.one_in(8) && !out_.stop.empty()) out_.call_stop = filled("<|$|>", word());
    if (random_.one_in(2) && !out_.stop.empty()) out_.gap = "\n";
    out_.result_has_id = random_.one_in(4);
    if (out_.result_has_id) out_.result_id = pair();
  }

  void draw_reasoning() {
    if (random_.one_in(3)) return;
    static constexpr const char* kFields[] = {"reasoning_content", "reasoning_content", "reasoning", "thinking",
                                              kOwnField};
    static constexpr ReasoningPlace kPlaces[] = {ReasoningPlace::kWhereThere, ReasoningPlace::kWhereThere,
                                                 ReasoningPlace::kAlways, ReasoningPlace::kByPrompt,
                                                 ReasoningPlace::kOpened};
    out_.reasoning = random_.pick(kPlaces);
    out_.reasoning_field = random_.pick(kFields);
    out_.thought = some_pair();
    out_.has_switch = random_.one_in(4);
    out_.forgets_thoughts = random_.one_in(4);
    out_.trims_reasoning = random_.one_in(8);
  }

  void draw_calls() {
    if (random_.one_in(2)) out_.section = some_pair();
    out_.call = some_pair();
    if (random_.one_in(4)) out_.call = {};
    if (random_.one_in(4)) out_.json_style = random_.one_in(2) ? JsonStyle::kCompact : JsonStyle::kIndented;
    if (random_.one_in(15)) out_.content_behind = true;
    if (random_.one_in(4)) out_.separator = random_.one_in(3) ? ", " : "\n";
    const std::size_t form = random_.below(8);
    out_.form = form < 2 ? CallForm::kJsonObject : form == 2 ? CallForm::kJsonArray : CallForm::kTags;
    if (form > 2) {
      draw_tags();
      return;
    }
    if (out_.form == CallForm::kJsonArray) {
      // A section opener alone is how most of them are written.
      if (random_.one_in(2)) out_.section.close.clear();
      out_.call = {};
      out_.separator.clear();
    }
    draw_json();
  }

  void draw_json() {
    static constexpr const char* kNames[] = {"name", "name", "name", "tool", "fn", "tool_name"};
    static constexpr const char* kArguments[] = {"arguments", "arguments", "parameters", "args", "input"};
    out_.keys = {random_.pick(kNames), random_.pick(kArguments), random_.one_in(3) ? "call_id" : "id"};
    for (std::string& key : out_.keys) {
      if (random_.one_in(6)) key = word();
    }
    for (std::size_t i = 2; i > 0; --i) std::swap(out_.order[i], out_.order[random_.below(i + 1)]);
    if (random_.one_in(2)) out_.order = {0, 1, 2};
    if (random_.one_in(6)) out_.wrapper = random_.one_in(2) ? "function" : word();
    out_.name_is_key = random_.one_in(8);
    if (out_.name_is_key) out_.wrapper.clear();
    out_.is_dumped = random_.one_in(2);
    out_.arguments = ArgumentType::kObject;
    if (random_.one_in(8)) out_.arguments = ArgumentType::kEscaped;
    if (!out_.is_dumped && random_.one_in(4))
      out_.arguments = random_.one_in(2) ? ArgumentType::kText : ArgumentType::kEither;
    if (random_.one_in(3)) out_.id = IdPlace::kShown;
  }

  // A member that says nothing about the call.
  void draw_constant() {
    static constexpr const char* kConstants[] = {R"("jsonrpc": "2.0")", R"("strict": true)", R"("version": 2)",
                                                 R"("note": "")", R"("meta": {"tags": ["a"]})"};
    const bool may_have_one = out_.has_calls && out_.form != CallForm::kTags && !out_.name_is_key;
    if (may_have_one && random_.one_in(4)) out_.constant = random_.pick(kConstants);
  }

  void draw_tags() {
    if (random_.one_in(6)) {
      draw_python();
      return;
    }
    const bool has_call = !out_.call.open.empty();
    const std::string w = word();
    static constexpr const char* kAttributes[] = {"<$ name=\"", "<$=", "<$ ", "[$:", "«$ "};
    static constexpr const char* kEnds[] = {"\">", ">", ">", "]", "»"};
    static constexpr const char* kClosers[] = {"</$>", "</$>", "</$>", "[/$]", "«/$»"};
    const std::size_t style = random_.below(5);
    switch (random_.below(has_call ? 6 : 3)) {
      case 0:
      case 1:
      case 2:  // inside the opening tag
        out_.name = {filled(kAttributes[style], w), kEnds[style]};
        out_.call.close = filled(kClosers[style], w) + out_.call.close;
        break;
      case 3: out_.name = pair(); break;  // an element
      case 4: out_.name = {"", random_.one_in(2) ? pair().open : "\n"}; break;
      default: out_.name = {random_.one_in(2) ? "\n" : "", random_.one_in(3) ? " " : "\n"}; break;
    }
    draw_id_of_tags();
    if (random_.one_in(3)) {
      if (random_.one_in(3)) out_.argument_marks = pair();
      if (random_.one_in(3)) out_.arguments = random_.one_in(2) ? ArgumentType::kText : ArgumentType::kEither;
      return;
    }
    draw_parameters();
  }

  void draw_id_of_tags() {
    if (!random_.one_in(3)) return;
    static constexpr IdPlace kPlaces[] = {IdPlace::kShown, IdPlace::kBefore, IdPlace::kBehind, IdPlace::kInName,
                                          IdPlace::kCount};
    out_.id = random_.pick(kPlaces);
    out_.id_marks = pair();
    if (out_.id == IdPlace::kInName) out_.id_marks = {};
    if (out_.id == IdPlace::kCount) out_.id_marks = {random_.one_in(2) ? ":" : "#", ""};
    // As a further attribute of the tag.
    if (out_.id == IdPlace::kShown && out_.name.close == "\">") {
      out_.name.close = "\"";
      out_.id_marks = {" id=\"", "\">"};
    }
  }

  void draw_parameters() {
    out_.argument_form = ArgumentForm::kParameters;
    ParameterShape& to = out_.parameter;
    const std::string w = word();
    to.raw_strings = !random_.one_in(3);
    switch (random_.below(8)) {
      case 0: to = {"<" + w + " name=\"", "\">", "</" + w + ">", "", "", to.raw_strings}; break;
      case 1: to = {"<" + w + "=", ">", "</" + w + ">", "", "", to.raw_strings}; break;
      case 2: to = {"<", ">", ">", "</", "", to.raw_strings}; break;
      case 3: to = {"<" + w + ":", ">", ">", "</" + w + ":", "", to.raw_strings}; break;
      case 4: to = {"", ": ", "\n", "", "", to.raw_strings}; break;
      case 5: to = {"", " := ", ";\n", "", "", to.raw_strings}; break;
      case 6: {
        const Brackets key = pair();
        const Brackets value = pair();
        to = {key.open, key.close + value.open, value.close, "", "", to.raw_strings};
        break;
      }
      default: {
        const Brackets value = pair();
        to = {value.open, random_.one_in(2) ? " = " : "|", value.close, "", "", to.raw_strings};
        break;
      }
    }
    static constexpr const char* kFilters[] = {"|e", "|replace('&', '&amp;')|replace('<', '&lt;')",
                                               R"(|replace('\\', '\\\\')|replace('"', '\\"'))",
                                               R"(|replace('%', '%25')|replace('\n', '%0A'))"};
    // Escapes end with a semicolon: where values do too, a grammar can't tell which is which.  A value that ends with its
    // line can't be JSON of several lines, unless it begins like JSON.
    const bool may_escape = to.raw_strings && to.close.find_first_of(";\n") == std::string::npos;
    if (may_escape && random_.one_in(3)) to.filters = random_.pick(kFilters);
    if (random_.one_in(3)) out_.argument_marks = pair();
  }

  // Strings have quotes there: without them nobody could tell where they end.
  void draw_python() {
    out_.name = {};
    out_.id = IdPlace::kNone;
    out_.argument_form = ArgumentForm::kParameters;
    out_.argument_marks = {"(", ")"};
    out_.parameter = {"", "=", "", "", ", ", false};
    if (random_.one_in(3)) out_.call = {};
    if (random_.one_in(3)) out_.section = {"[", "]"};
    if (out_.call.open.empty()) out_.separator = random_.one_in(2) ? ", " : "\n";
  }

  // Last of all, so that a seed's other choices stay what they are.  Whatever is drawn is sound.
  void draw_late_choices() {
    // A field of the template's own is known as reasoning by its place before the content.
    const bool may_be_behind =
        out_.reasoning == ReasoningPlace::kWhereThere && !out_.content_behind && out_.reasoning_field != kOwnField;
    if (may_be_behind && random_.one_in(8)) out_.reasoning_behind = true;
    ParameterShape& parameter = out_.parameter;
    const bool has_parameters = out_.has_calls && out_.argument_form == ArgumentForm::kParameters;
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const auto last = std::find_if(parameter.open.rbegin(), parameter.open.rend(), is_letter);
    if (!has_parameters || last == parameter.open.rend() || !parameter.again.empty() || !random_.one_in(5)) return;
    parameter.typed_open = parameter.open;
    parameter.typed_open.insert(static_cast<std::size_t>(parameter.open.rend() - last), "_j");
  }

  // Numbers in marks of calls, behind their last word: `<call#1>`, `<call n="1">`.
  void draw_counters() {
    if (!out_.has_calls || !random_.one_in(8)) return;
    const Brackets written = random_.one_in(2) ? Brackets{"#", ""} : Brackets{" n=\"", "\""};
    std::vector<std::string*> marks = {&out_.call.open, &out_.call.close, &out_.section.open};
    const bool has_parameters = out_.form == CallForm::kTags && out_.argument_form == ArgumentForm::kParameters;
    if (has_parameters && out_.parameter.typed_open.empty() && out_.parameter.again.empty())
      marks.insert(marks.end(), {&out_.parameter.open, &out_.parameter.close});
    for (std::string* mark : marks) {
      const auto last = std::find_if(mark->rbegin(), mark->rend(), format::is_word);
      if (last == mark->rend() || random_.one_in(3)) continue;
      mark->insert(static_cast<std::size_t>(mark->rend() - last), written.open + format::kCounter + written.close);
    }
  }

  // Texts that are strings of JSON, or escaped as in markup.
  void draw_text_filters() {
    static constexpr const char* kFilters[] = {"|tojson", "|tojson", "|e",
                                               "|replace('&', '&amp;')|replace('<', '&lt;')"};
    if (random_.one_in(10)) out_.content_filter = random_.pick(kFilters);
    // A prompt that opens the reasoning has no quote.
    const bool is_opened = out_.reasoning == ReasoningPlace::kByPrompt || out_.reasoning == ReasoningPlace::kOpened;
    if (out_.reasoning != ReasoningPlace::kNone && !is_opened && !out_.has_switch && random_.one_in(10))
      out_.reasoning_filter = random_.pick(kFilters);
  }

  // Behind the choices that make a shape sound.
  void draw_filters() {
    if (!out_.has_calls || out_.arguments == ArgumentType::kEscaped) return;
    static constexpr const char* kFilters[] = {
        "|replace('&', '&amp;')|replace('<', '&lt;')",
        "|replace('&', '&amp;')|replace('<', '&lt;')|replace('\"', '&#34;')|replace(\"'\", '&#39;')"};
    const bool is_python = out_.argument_marks.open.starts_with("(");
    if (random_.one_in(20) && !is_python && out_.id != IdPlace::kInName) out_.name_filter = random_.pick(kFilters);
    const bool is_apart = out_.form == CallForm::kTags ? out_.argument_form == ArgumentForm::kJson : !out_.is_dumped;
    if (random_.one_in(10) && is_apart) out_.argument_filter = random_.pick(kFilters);
  }

  // One heading for every block, which says what it is; one text ends them all.
  void draw_headings() {
    const std::string open = filled("<|$|>", word());
    const std::string middle = filled("<|$|>", word());
    const std::string close = filled("<|$|>", word());
    const auto heading = [&](const std::string& what) { return Brackets{open + what + middle, close}; };
    if (out_.reasoning != ReasoningPlace::kNone) out_.thought = heading(word());
    out_.content = heading(word());
    if (!out_.has_calls) return;
    out_.section = {};
    out_.separator.clear();
    if (out_.form == CallForm::kTags && out_.argument_form == ArgumentForm::kJson) {
      out_.name = {open + "to=" + (random_.one_in(2) ? "functions." : ""), middle};
      out_.id = IdPlace::kNone;
      out_.argument_marks = {};
      out_.call = {"", close};
    } else {
      out_.section = heading(word());
    }
  }

  // Before or behind any piece; never where it would part a tag.
  void spread_white_space() {
    const std::size_t rarity = 2 + random_.below(6);
    const auto before = [&](std::string& mark) {
      if (!mark.empty() && random_.one_in(rarity)) mark = blank() + mark;
    };
    const auto behind = [&](std::string& mark) {
      if (!mark.empty() && random_.one_in(rarity)) mark += blank();
    };
    for (Brackets* pair : {&out_.thought, &out_.content, &out_.section, &out_.call, &out_.argument_marks}) {
      for (std::string* mark : {&pair->open, &pair->close}) {
        before(*mark);
        behind(*mark);
      }
    }
    if (out_.argument_marks.open.starts_with("(")) return;
    before(out_.name.open);
    behind(out_.name.close);
    if (out_.argument_form == ArgumentForm::kParameters && !out_.parameter.open.empty()) {
      before(out_.parameter.open);
      behind(out_.parameter.key_close);
      behind(out_.parameter.close);
      before(out_.parameter.again.empty() ? out_.parameter.close : out_.parameter.again);
    }
  }

  Random random_;
  TemplateShape out_;
  std::vector<std::string> words_ = {"get_weather", "search", "user", "system", "assistant", "tool", "name", "id"};
  std::size_t favourite_ = 0;
};

}  // namespace

TemplateShape random_shape(std::uint64_t seed) { return Maker(seed).shape(); }

bool TemplateShape::has_bare_calls() const { return has_calls && format::is_blank(calls_begin()); }

bool TemplateShape::writes_ids() const {
  if (id == IdPlace::kNone || id == IdPlace::kCount) return false;
  return form == CallForm::kTags || !name_is_key;
}

std::string TemplateShape::calls_begin() const {
  std::string marks = section.open + call.open;
  if (form == CallForm::kTags)
    marks += (id == IdPlace::kBefore ? id_marks.open : "") + (id == IdPlace::kBefore ? "" : name.open);
  const std::string_view trimmed = format::trimmed(marks);
  return std::string(trimmed.substr(0, trimmed.find('\n')));
}

std::vector<std::string*> marks_of(TemplateShape& shape) {
  return {&shape.header.open,
          &shape.header.close,
          &shape.stop,
          &shape.call_stop,
          &shape.thought.open,
          &shape.thought.close,
          &shape.content.open,
          &shape.content.close,
          &shape.section.open,
          &shape.section.close,
          &shape.call.open,
          &shape.call.close,
          &shape.separator,
          &shape.id_marks.open,
          &shape.id_marks.close,
          &shape.name.open,
          &shape.name.close,
          &shape.argument_marks.open,
          &shape.argument_marks.close,
          &shape.parameter.open,
          &shape.parameter.key_close,
          &shape.parameter.close,
          &shape.parameter.again,
          &shape.parameter.separator,
          &shape.result_id.open,
          &shape.result_id.close};
}

namespace {

bool is_pair(const Brackets& brackets) { return !format::is_blank(brackets.open) && !format::is_blank(brackets.close); }

bool is_pair_or_nothing(const Brackets& brackets) { return brackets == Brackets{} || is_pair(brackets); }

bool has_sound_turns(const TemplateShape& shape) {
  if (format::is_blank(shape.header.open) || shape.header.close.empty() || !is_pair(shape.result_id)) return false;
  // White space in front of the next header, where that is the stop, would be content as well.
  if (shape.stop.empty() ? !shape.call_stop.empty() || !shape.gap.empty() : format::is_blank(shape.stop)) return false;
  return is_pair(shape.thought) && is_pair_or_nothing(shape.content);
}

// f(a=1, b="x")
bool has_sound_python(const TemplateShape& shape) {
  return shape.parameter == ParameterShape{"", "=", "", "", ", ", false} && shape.name == Brackets{} &&
         shape.id == IdPlace::kNone && shape.argument_form == ArgumentForm::kParameters &&
         shape.argument_marks.close.starts_with(")");
}

bool has_sound_parameters(const TemplateShape& shape) {
  const ParameterShape& parameter = shape.parameter;
  if (format::is_blank(parameter.key_close) || parameter.close.empty()) return false;
  // Only a line end ends without being seen.
  if (format::is_blank(parameter.close) && parameter.close.find('\n') == std::string::npos) return false;
  if (!format::is_blank(parameter.open)) return true;
  // Keys that nothing announces: the name must end before them, and what ends them all must not read like a key.
  if (format::is_blank(shape.name.close + shape.argument_marks.open) &&
      shape.name.close.find('\n') == std::string::npos)
    return false;
  return !format::is_blank(shape.argument_marks.close + shape.call.close);
}

bool has_sound_tags(const TemplateShape& shape) {
  // A name that nothing announces is a word of the content.
  if (shape.has_bare_calls()) return false;
  const bool has_id_marks = shape.id == IdPlace::kShown || shape.id == IdPlace::kBefore || shape.id == IdPlace::kBehind;
  if (has_id_marks && !is_pair(shape.id_marks)) return false;
  if (shape.id == IdPlace::kCount && format::is_blank(shape.id_marks.open)) return false;
  const bool has_json = shape.argument_form == ArgumentForm::kJson;
  // A name and what follows it are one word.
  const std::string behind_name = shape.id == IdPlace::kShown ? shape.id_marks.open : "";
  if ((shape.name.close + behind_name + shape.argument_marks.open).empty() && !has_json) return false;
  // Nothing would stand between two calls, or between the last parameter and the next name.
  const std::string between =
      shape.argument_marks.close + shape.call.close + shape.separator + shape.call.open + shape.name.open;
  if (format::is_blank(between) && (!has_json || between.empty())) return false;
  return has_json || has_sound_parameters(shape);
}

}  // namespace

bool is_sound(const TemplateShape& shape) {
  if (!has_sound_turns(shape) || (shape.reasoning_behind && shape.content_behind)) return false;
  if (!shape.has_calls) return true;
  // Content behind calls that nothing closes would be part of them.
  if (shape.content_behind && format::is_blank(shape.section.close) && format::is_blank(shape.call.close)) return false;
  if (format::is_blank(shape.section.open) != shape.section.open.empty()) return false;
  const bool is_array = shape.form == CallForm::kJsonArray;
  if (shape.section.open.empty() ? !shape.section.close.empty() : shape.section.close.empty() && !is_array)
    return false;
  if (shape.form != CallForm::kTags) return is_pair_or_nothing(shape.call);
  if (!is_pair_or_nothing(shape.argument_marks)) return false;
  return shape.argument_marks.open.starts_with("(") ? has_sound_python(shape) && is_pair_or_nothing(shape.call)
                                                    : has_sound_tags(shape);
}

}  // namespace rondo::test
