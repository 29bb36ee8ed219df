// Infers tagged parameters: the texts around keys and values, for each type of value.
#include <algorithm>
#include <iterator>

#include "analysis/call_text.h"
#include "analysis/escapes.h"
#include "analysis/value_forms.h"
#include "format/escapes.h"
#include "json/parse.h"
#include "json/print.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

// A piece of a call with parameters: a literal, a key, a part of a value, or another slot.
struct Element {
  enum class Kind : std::uint8_t { kLiteral, kKey, kValue, kOther } kind = Kind::kLiteral;
  std::string key;
  std::string text;
  std::vector<std::size_t> begins = {};  // of kLiteral, as in Written
};

// Adds a key or a part of a value.  Consecutive parts of one value are joined.
void add_part(std::vector<Element>& elements, const ArgumentPart& part) {
  const bool is_key = part.is_key && part.path.size() == 1;
  const auto kind = is_key ? Element::Kind::kKey : Element::Kind::kValue;
  const std::string key = part.path.empty() ? "" : part.path.front();
  const bool goes_on = !elements.empty() && elements.back().kind == kind && elements.back().key == key;
  if (goes_on) {
    elements.back().text += part.text;
  } else {
    elements.push_back({kind, key, part.text});
  }
}

// Makes literals of the quotes of keys that are strings of JSON: they belong to the format.
std::vector<Element> with_bare_keys(std::vector<Element> elements) {
  std::vector<Element> out;
  for (Element& element : elements) {
    const std::string& text = element.text;
    const bool is_quoted = element.kind == Element::Kind::kKey && text.size() > 2 && text.starts_with('"') &&
                           text.ends_with('"') && !element.key.starts_with('"');
    if (!is_quoted) {
      out.push_back(std::move(element));
      continue;
    }
    out.push_back({Element::Kind::kLiteral, "", "\""});
    out.push_back({Element::Kind::kKey, element.key, text.substr(1, text.size() - 2)});
    out.push_back({Element::Kind::kLiteral, "", "\""});
  }
  return out;
}

// Returns the pieces of the turn in their order.  Only the name and the arguments of the first call are told apart from
// other slots.
std::vector<Element> elements_of(const Turn& turn) {
  std::vector<Element> out;
  for (const Token& token : turn.tokens) {
    if (token.kind == SlotKind::kArguments && token.call == 0) {
      for (const ArgumentPart& part : token.parts) add_part(out, part);
    } else if (token.kind == SlotKind::kLiteral || token.kind == SlotKind::kIndex) {
      Written literal;
      literal.append(counted_text(token), token.sources);
      out.push_back({Element::Kind::kLiteral, "", std::move(literal.text), std::move(literal.begins)});
    } else {
      const bool is_name = token.kind == SlotKind::kName && token.call == 0;
      out.push_back({Element::Kind::kOther, is_name ? "name" : "", token.text});
    }
  }
  return with_bare_keys(std::move(out));
}

// Where the key and the value of one parameter are, as indices of elements.
struct Place {
  std::size_t key = kNone;
  std::size_t first_value = kNone;
  std::size_t last_value = kNone;
};

Place place_of(const std::vector<Element>& elements, const std::string& key) {
  Place place;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].key != key) continue;
    if (elements[i].kind == Element::Kind::kKey && place.key == kNone) place.key = i;
    if (elements[i].kind == Element::Kind::kValue) {
      if (place.first_value == kNone) place.first_value = i;
      place.last_value = i;
    }
  }
  return place;
}

// Returns the literals in [begin, end), up to another slot.  A repeated key is written as kKeyMark.
Written written_between(const std::vector<Element>& elements, std::size_t begin, std::size_t end) {
  Written out;
  for (std::size_t i = begin; i < std::min(end, elements.size()); ++i) {
    if (elements[i].kind == Element::Kind::kLiteral) out.append(Written{elements[i].text, elements[i].begins});
    if (elements[i].kind == Element::Kind::kKey) out.text += kKeyMark;
    if (elements[i].kind == Element::Kind::kOther) break;
  }
  return out;
}
std::string text_between(const std::vector<Element>& elements, std::size_t begin, std::size_t end) {
  return written_between(elements, begin, end).text;
}

std::string all_text(const std::vector<Element>& elements, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += elements[i].text;
  return out;
}

class ParameterProber {
 public:
  ParameterProber(const Evidence& evidence, const Parts& parts)
      : evidence_(evidence), parts_(parts), setting_(evidence.variants.at(parts).setting) {}

  std::optional<std::vector<Element>> elements(json::Object arguments, std::size_t calls) {
    ProbeMessage message = message_of({parts_.reasoning, parts_.content, calls});
    message.calls.front().arguments = std::move(arguments);
    const auto turn = evidence_.ask(message, setting_);
    if (!turn || !(turn->has(SlotKind::kName, 0) || turn->has(SlotKind::kId, 0))) return std::nullopt;
    reads_ = turn->reads;
    return elements_of(*turn);
  }

  // Returns the line of the last condition in the last probe that read that argument; 0 if there is none.
  [[nodiscard]] std::int32_t line_of(const std::string& key) const {
    std::int32_t line = 0;
    for (const FieldRead& read : reads_) {
      if (read.field == "arguments." + key) line = read.line;
    }
    return line;
  }

  // Renders a call with the value between two others, and returns how it is written; nullopt if it is left out.
  std::optional<Seen> see(ValueType type, json::Value value) {
    const auto found = elements(json::Object{{"k0", "v0"}, {"k1", value}, {"k2", "v2"}}, 1);
    if (!found) return std::nullopt;
    const Place previous = place_of(*found, "k0");
    const Place place = place_of(*found, "k1");
    const Place next = place_of(*found, "k2");
    if (next.key == kNone || next.key < place.key) return std::nullopt;
    Seen seen;
    seen.type = type;
    seen.value = std::move(value);
    if (previous.last_value < place.key) seen.key_front = text_between(*found, previous.last_value, place.key);
    seen.has_value = place.first_value != kNone;
    seen.keys = static_cast<std::size_t>(std::ranges::count_if(
        *found, [](const Element& element) { return element.kind == Element::Kind::kKey && element.key == "k1"; }));
    if (seen.has_value) {
      seen.before = text_between(*found, place.key + 1, place.first_value);
      seen.after = text_between(*found, place.last_value, next.key);
      seen.text = all_text(*found, place.first_value, place.last_value + 1);
      for (std::size_t i = place.first_value; i < place.last_value; ++i) {
        if ((*found)[i].kind == Element::Kind::kLiteral) seen.inner.push_back((*found)[i].text);
      }
    } else {
      seen.before = text_between(*found, place.key + 1, next.key);
    }
    return seen;
  }

 private:
  const Evidence& evidence_;
  Parts parts_;
  const ProbeSetting& setting_;
  std::vector<FieldRead> reads_;
};

json::Value parsed(const char* text) { return json::parse(text).value(); }

// Returns whether the string begins with a quote and is written as JSON.
bool is_quoted_again(const Seen& seen) {
  if (!seen.value.is_string() || !seen.value.as_string().starts_with('"') || !seen.inner.empty()) return false;
  const auto parsed = json::parse(seen.text);
  return parsed.ok() && parsed.value() == seen.value;
}

// Renders each type once.  Further strings, with characters that templates may escape, count only if they are written
// as they are, with their lines indented, or as JSON where others that begin with no quote are not.
std::vector<Seen> see_types(ParameterProber& prober, const std::vector<format::Escape>& escapes, Remarks& remarks) {
  // Inside objects and arrays, escapes show only if the values have characters with escapes.
  std::string inner = "y";
  for (const format::Escape& escape : escapes) {
    if (escape.text != "\"" && escape.text != "'" && escape.text != "\\") inner += escape.text + "y";
  }
  const std::vector<std::pair<ValueType, json::Value>> values = {
      {ValueType::kString, "v1"},
      {ValueType::kInteger, parsed("7")},
      {ValueType::kFloat, parsed("2.5")},
      {ValueType::kTrue, true},
      {ValueType::kFalse, false},
      {ValueType::kNull, nullptr},
      {ValueType::kObject, json::Object{{"x", inner}, {"z", 1}}},
      {ValueType::kArray, json::Array{inner, 1, nullptr}},
      {ValueType::kString, "a\nb"},
      {ValueType::kString, "<b>"},
      {ValueType::kString, "q\"q"},
      {ValueType::kString, "&"},
      {ValueType::kString, "\"q\""}};
  std::vector<Seen> out;
  for (const auto& [type, value] : values) {
    auto seen = prober.see(type, value);
    if (!seen && out.empty()) return out;
    if (!seen) {
      const std::string name(format::to_string(type));
      remarks.lose(name + " arguments", "arguments of type " + name + " are left out", prober.line_of("k1"));
    } else if (out.size() < 8 || type != ValueType::kString || seen->text == value.as_string() ||
               !indented_line_end(*seen).empty() || (is_quoted_again(*seen) && out.front().text == "v1")) {
      out.push_back(std::move(*seen));
    }
  }
  return out;
}

std::vector<format::Escape> value_escapes(ParameterProber& probes) {
  std::vector<format::Escape> out;
  for (const std::string_view characters : {kVisibleSigns, kWhiteSigns}) {
    const auto seen = probes.see(ValueType::kString, with_words(characters));
    if (!seen) continue;
    std::vector<format::Escape> found = escapes_between(characters, seen->text);
    if (found.empty()) found = escapes_in_json_string(characters, seen->text);
    for (format::Escape& escape : found) {
      if (std::ranges::find(out, escape) == out.end()) out.push_back(std::move(escape));
    }
  }
  return out;
}

std::vector<format::Escape> escapes_in_key(ParameterProber& probes, std::string_view characters) {
  const std::string key = with_words(characters);
  const auto elements = probes.elements(json::Object{{key, "v0"}}, 1);
  if (!elements) return {};
  const Place place = place_of(*elements, key);
  if (place.first_value == kNone || place.first_value < place.key) return {};
  std::size_t end = place.first_value;
  while (end > place.key && (*elements)[end - 1].kind != Element::Kind::kKey) --end;
  return escapes_between(characters, all_text(*elements, place.key, end));
}

std::vector<format::Escape> key_escapes(ParameterProber& probes) {
  if (escapes_in_key(probes, kSignsInNames.substr(0, 1)).empty()) return {};
  return escapes_in_key(probes, kSignsInNames);
}

// Returns how the template writes `text` in a string, where it has more of it than the escapes of single characters;
// "" otherwise.
std::string written_longer(ParameterProber& probes, const std::string& text, std::span<const format::Escape> escapes) {
  const auto seen = probes.see(ValueType::kString, "w0" + text + "w1");
  const std::size_t begin = seen ? seen->text.find("w0") : std::string::npos;
  const std::size_t end = seen ? seen->text.rfind("w1") : std::string::npos;
  if (end == std::string::npos || end < begin) return "";
  std::string written = seen->text.substr(begin + 2, end - begin - 2);
  return written.size() > text.size() && written != format::escaped(text, escapes) ? written : "";
}

// Finds how the template writes, in a string, the mark that closes strings: `]]>` as `]]]]><![CDATA[>`.
void find_escaped_close(ParameterProber& probes, format::Parameters& parameters) {
  const auto string = std::ranges::find_if(parameters.forms, [](const ValueForm& form) {
    return form.type == ValueType::kString && form.style == ValueStyle::kRaw;
  });
  constexpr std::size_t kLongestMark = 12;
  if (string == parameters.forms.end() || !parameters.key_in_close.empty()) return;
  const std::string whole(format::trimmed(string->close + parameters.close));
  const std::vector<format::Escape> signs = string->escapes;
  if (whole.size() < 2 || written_longer(probes, whole, signs).empty()) return;
  for (std::size_t size = 2; size <= std::min(whole.size(), kLongestMark); ++size) {
    const std::string mark = whole.substr(0, size);
    const std::string written = written_longer(probes, mark, signs);
    if (written.empty()) continue;
    for (ValueForm& form : parameters.forms) {
      const bool is_closed_so = format::trimmed(form.close + parameters.close) == whole;
      if (is_closed_so && form.style != ValueStyle::kConstant) form.escapes.push_back({mark, written});
    }
    return;
  }
}

bool is_quote(char byte) { return byte == '"' || byte == '\''; }

// Handles values that are all in quotes.  The quotes then belong to the values, and values of other types than string
// may also be written without them.
void quote_values(format::Parameters& parameters) {
  const std::string quote = std::exchange(parameters.close, "");
  parameters.key_close.pop_back();
  std::vector<ValueForm> bare;
  for (ValueForm& form : parameters.forms) {
    if (form.type != ValueType::kString) bare.push_back(form);
    form.open.insert(0, quote);
    form.close += quote;
  }
  parameters.forms.insert(parameters.forms.end(), bare.begin(), bare.end());
}

// Handles values without markers around them.  Something must separate them, and strings among them must have quotes,
// even if the template writes neither.  Values that each have a line need neither.
void allow_bare_values(format::Parameters& parameters, Remarks& remarks) {
  const auto is_bare = [](const ValueForm& form) {
    return form.type == ValueType::kString && form.style == ValueStyle::kRaw && format::is_blank(form.open);
  };
  const bool has_bare_strings = std::ranges::any_of(parameters.forms, is_bare);
  if (parameters.close.find('\n') != std::string::npos) {
    const bool has_quoted_too = std::ranges::any_of(parameters.forms, [](const ValueForm& form) {
      return form.type == ValueType::kString && form.style == ValueStyle::kJson;
    });
    if (has_bare_strings && !has_quoted_too)
      remarks.lose("lines in strings", "a string ends with its line, whatever it holds");
    return;
  }
  if (parameters.separator.empty()) {
    parameters.separator = ", ";
    remarks.lose("several arguments", "nothing is written between two arguments; a comma is taken as meant");
  }
  if (has_bare_strings) {
    parameters.forms.push_back({ValueType::kString, ValueStyle::kPython, "", "", "", {}});
    remarks.lose("bare strings",
                 "strings stand without quotes: what ends an argument ends them, and quotes around them are dropped");
  }
}

// Returns the size of the string in quotes, those of `string` too, at the start of `text`; nullopt if none begins there, or
// if it does not end.
std::optional<std::size_t> quoted_size(std::string_view text, const ValueForm& string) {
  const std::string_view open = format::trimmed(string.open);
  const bool is_own = !open.empty() && !format::is_blank(string.close) && text.starts_with(open);
  if (!is_own && !is_quote(text.front())) return std::nullopt;
  const std::string_view close = is_own ? format::trimmed(string.close) : text.substr(0, 1);
  const std::size_t end = text.find(close, is_own ? open.size() : 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(end + close.size());
}

// Returns whether `text` has the shape that an object or array is read in: the brackets, commas and colons of JSON, around
// words, numbers and strings in quotes, of which no two are neighbours.
bool has_literal_shape(std::string_view text, const ValueForm& string) {
  text = format::trimmed(text);
  if (text.empty() || std::string_view("{[(").find(text.front()) == std::string_view::npos) return false;
  bool is_behind_value = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (const auto size = quoted_size(text.substr(at), string)) {
      at += *size;
    } else {
      while (at < text.size() &&
             (format::is_word(text[at]) || std::string_view(".-+").find(text[at]) != std::string_view::npos))
        ++at;
    }
    if (at > begin && std::exchange(is_behind_value, true)) return false;
    if (at > begin || format::is_space(text[at])) {
      at = std::max(at, begin + 1);
    } else {
      if (std::string_view("{}[]():,").find(text[at]) == std::string_view::npos) return false;
      is_behind_value = false;
      ++at;
    }
  }
  return true;
}

// Says which of objects and arrays are written in a syntax of the template that is not read back.  `shared` is what
// all values have behind them.
void tell_of_unread(const std::vector<Seen>& all, const std::string& shared, const format::Parameters& parameters,
                    std::int32_t line, Remarks& remarks) {
  const std::string_view open = format::trimmed(parameters.open);
  for (const Seen& seen : all) {
    const auto form = std::ranges::find(parameters.forms, seen.type, &ValueForm::type);
    if (form == parameters.forms.end() || form->style != format::ValueStyle::kNested || !seen.has_value) continue;
    const bool is_array = seen.type == ValueType::kArray;
    std::string text = seen.before.substr(std::min(parameters.key_close.size(), seen.before.size()));
    text += seen.text;
    text.append(seen.after, 0, seen.after.size() - std::min(shared.size(), seen.after.size()));
    const bool is_as_parameters = !is_array && !open.empty() && format::trimmed(text).starts_with(open);
    if (!format::is_blank(form->open) || (is_array && !format::is_blank(parameters.item_open)) || is_as_parameters ||
        has_literal_shape(text, parameters.forms.front()))
      continue;
    std::string meaning = is_array ? "arrays" : "objects";
    std::string what = meaning + " in arguments";
    meaning += " are written in a syntax of the template that is not read back: ";
    remarks.lose(std::move(what), meaning + text, line);
  }
}

// Finds out whether an array, which the probe gives three items, is written as the parameter once for each of them.
void find_repeated_items(const std::vector<Seen>& all, format::Parameters& parameters, Remarks& remarks) {
  const auto array = std::ranges::find(all, ValueType::kArray, &Seen::type);
  if (array == all.end() || array->keys != 3 * all.front().keys || !format::is_blank(parameters.separator)) return;
  parameters.repeats_items = true;
  std::erase_if(parameters.forms, [](const ValueForm& form) { return form.type == ValueType::kArray; });
  remarks.lose(
      "arrays in arguments",
      "an array is written as its parameter once for each item: it is read back where the tool's schema wants an "
      "array, and one without items is left out");
}

// The texts around the parameters of a call: after its name, between two parameters, and after the last value.
struct Around {
  Written after_name, between, after;
};

// How many bytes at the end of `after_name` open the first parameter, and how many at the beginning of `after` close
// the last one.
struct Cut {
  std::size_t open = 0;
  std::size_t close = 0;
  bool operator==(const Cut&) const = default;
};

Cut cut_by_units(const Around& around, std::span<const std::string> atoms) {
  // If only white space is between two parameters, it separates them.
  if (format::is_blank(around.between.text)) return {};
  Cut out;
  out.open = same_back(around.after_name, around.between, atoms);
  out.close = same_front(around.between.before(around.between.text.size() - out.open), around.after, atoms);
  return out;
}

// Derives the cut from `none`, the text after the name of a call without arguments.  That text is the rest of
// `after_name` and the rest of `after`.  If more than one cut fits, the one by units counts.
Cut cut_by_empty_call(const Around& around, const std::string& none, std::span<const std::string> atoms) {
  const Cut by_units = cut_by_units(around, atoms);
  const std::string_view after_name = around.after_name.text;
  const std::string_view between = around.between.text;
  const std::string_view after = around.after.text;
  if (format::is_blank(between) && between.find('\n') == std::string_view::npos) return by_units;
  const std::vector<std::size_t> units = cuts_of(around.between, atoms);
  std::optional<Cut> best;
  bool is_whole = false;  // the best cut tears no unit
  for (std::size_t open = 0; open <= std::min(after_name.size(), between.size()); ++open) {
    const std::string_view kept = after_name.substr(0, after_name.size() - open);
    const std::string_view rest = std::string_view(none).substr(std::min(kept.size(), none.size()));
    if (!none.starts_with(kept) || !after.ends_with(rest)) continue;
    const std::size_t close = after.size() - rest.size();
    if (open + close > between.size() || !after.starts_with(between.substr(0, close)) ||
        !after_name.ends_with(between.substr(between.size() - open)))
      continue;
    // A closing bracket does not open the first parameter, unless a mark begins with it.
    const std::string_view opening = between.substr(between.size() - open);
    const bool is_closer = open > 0 && std::string_view(">])}").find(opening.front()) != std::string::npos &&
                           std::ranges::none_of(atoms, [&](const auto& atom) { return opening.starts_with(atom); });
    const Cut cut{open, close};
    const bool is_unit = !is_closer && std::ranges::binary_search(units, between.size() - open);
    if (!best || (cut == by_units && !is_closer) || (is_unit && !is_whole && *best != by_units)) best = cut;
    is_whole = is_whole || is_unit;
  }
  return best.value_or(by_units);
}

// Returns the index of the last name or id before element `end`; kNone if there is none.
std::size_t last_name_before(const std::vector<Element>& elements, std::size_t end) {
  std::size_t name = kNone;
  for (std::size_t i = 0; i < end; ++i) {
    if (elements[i].kind == Element::Kind::kOther) name = i;
  }
  return name;
}

// Sets open, separator and close of the parameters.  Returns the text that closes the last parameter, including a quote
// if quotes surround all values.
std::string split_separator(const Around& around, const Cut& cut, format::Parameters& parameters) {
  const std::string& between = around.between.text;
  parameters.open = between.substr(between.size() - cut.open);
  const std::string sep = between.substr(0, between.size() - cut.open);
  const bool is_quoted = cut.close <= 1 && !sep.empty() && is_quote(sep.front()) &&
                         around.after.text.starts_with(sep.front()) && parameters.key_close.ends_with(sep.front());
  const std::size_t close = is_quoted ? 1 : cut.close;
  parameters.close = sep.substr(0, close);
  parameters.separator = sep.substr(close);
  std::string behind_all = parameters.close;
  if (is_quoted) quote_values(parameters);
  // The white space of `a="1" b="2"` separates.  Without the quotes, only that is between two parameters.
  if (is_quoted && parameters.separator.empty() && format::is_blank(parameters.open))
    parameters.separator = std::exchange(parameters.open, "");
  return behind_all;
}

// Finds the types whose parameters have an opener of their own: `<num k="` beside the `<str k="` of strings.
void find_key_openers(const std::vector<Seen>& all, format::Parameters& parameters) {
  const std::string& usual = all.front().key_front;
  if (!usual.ends_with(parameters.open)) return;
  const std::string_view closing = std::string_view(usual).substr(0, usual.size() - parameters.open.size());
  for (ValueForm& form : parameters.forms) {
    const auto seen = std::ranges::find(all, form.type, &Seen::type);
    if (seen == all.end() || seen->key_front == usual || !seen->key_front.starts_with(closing)) continue;
    const std::string opener = seen->key_front.substr(closing.size());
    if (!format::is_blank(opener)) form.key_open = opener;
  }
}

// Returns the text after the name of a call without arguments; nullopt if the template does not write such a call.  `call`
// is one with arguments, whose name is the element `at`: a name may also stand before that, or in what closes the call.
std::optional<std::string> behind_empty_call(ParameterProber& probes, const std::vector<Element>& call,
                                             std::size_t at) {
  const auto empty = probes.elements(json::Object{}, 1);
  if (!empty) return std::nullopt;
  const auto is_name = [&](const Element& element) {
    return element.kind == Element::Kind::kOther && element.text == call[at].text;
  };
  auto names = std::count_if(call.begin(), call.begin() + static_cast<std::ptrdiff_t>(at) + 1, is_name);
  const auto found =
      std::ranges::find_if(*empty, [&](const Element& element) { return is_name(element) && --names == 0; });
  if (found == empty->end()) return std::nullopt;
  return text_between(*empty, static_cast<std::size_t>(found - empty->begin()) + 1, empty->size());
}

}  // namespace

// Probes three parameters, then each type of value, then an empty call and two calls, because each shows another
// border.
std::optional<ParameterPart> infer_parameters(const Evidence& evidence, const Parts& parts, Remarks& remarks) {
  ParameterProber probes(evidence, parts);
  const auto three = probes.elements(json::Object{{"k0", "v0"}, {"k1", "v1"}, {"k2", "v2"}}, 1);
  if (!three) return std::nullopt;
  const Place first = place_of(*three, "k0");
  const Place last = place_of(*three, "k2");
  if (first.key == kNone || first.first_value == kNone || last.last_value == kNone) return std::nullopt;
  const std::size_t name = last_name_before(*three, first.key);
  if (name == kNone) return std::nullopt;

  const std::vector<format::Escape> escapes = value_escapes(probes);
  const std::vector<Seen> all = see_types(probes, escapes, remarks);
  if (all.empty() || !all.front().has_value) return std::nullopt;
  ParameterPart out;
  format::Parameters& parameters = out.parameters;
  std::string sep = shared_after(all, evidence);
  infer_forms(all, sep, escapes, parameters);
  const std::string shared = sep;
  parameters.key_escapes = key_escapes(probes);

  // `sep` is the close, the separator and the opener of the next parameter.  The close may repeat the key.
  if (const std::size_t mark = sep.find(kKeyMark); mark != std::string::npos) {
    parameters.key_in_close = sep.substr(0, mark);
    sep = sep.substr(mark + 1);
  }
  const auto behind_value = [&, close = parameters.forms.front().close](const Written& rest) {
    const std::size_t begin = rest.text.starts_with(close) ? close.size() : 0;
    const std::size_t mark = rest.text.find(kKeyMark, begin);
    return rest.from(mark == std::string::npos || parameters.key_in_close.empty() ? begin : mark + 1);
  };
  const Around around{written_between(*three, name + 1, first.key),
                      written_between(*three, first.last_value, place_of(*three, "k1").key).ending(sep),
                      behind_value(written_between(*three, last.last_value, three->size()))};
  const auto none = behind_empty_call(probes, *three, name);
  const Cut cut = none ? cut_by_empty_call(around, *none, evidence.atoms) : cut_by_units(around, evidence.atoms);
  const std::string behind_all = split_separator(around, cut, parameters);
  find_key_openers(all, parameters);
  find_escaped_close(probes, parameters);
  find_repeated_items(all, parameters, remarks);
  tell_of_unread(all, shared, parameters, probes.line_of("k1"), remarks);
  if (format::is_blank(parameters.open) && format::is_blank(parameters.close)) allow_bare_values(parameters, remarks);
  out.after = around.after.from(std::min(behind_all.size(), around.after.text.size()));
  if (parts.calls == 1) return out;
  const auto two = probes.elements(json::Object{{"k0", "v0"}}, 2);
  if (!two) return out;
  const Place only = place_of(*two, "k0");
  if (only.last_value == kNone) return out;
  const Written between = behind_value(written_between(*two, only.last_value + 1, two->size()));
  out.between = between.text.starts_with(behind_all) ? between.from(behind_all.size()) : between;
  return out;
}

}  // namespace rondo::analysis
