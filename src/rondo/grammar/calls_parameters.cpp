// Arguments as one construct per parameter.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/utf8.h"
#include "format/units.h"
#include "grammar/calls.h"
#include "grammar/pattern.h"

namespace rondo::grammar {
namespace {

// A text may quote as many other parameters where the close of each has its name: each text then has all their tags.
constexpr std::size_t kMostQuoted = 8;

using format::before_counter;
using format::is_blank;
using format::trailing_space;
using format::trimmed;
using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

TypeSet types_of(ValueType type) {
  switch (type) {
    case ValueType::kString: return kStringType;
    case ValueType::kInteger: return kIntegerType;
    case ValueType::kFloat: return kNumericTypes;
    case ValueType::kTrue:
    case ValueType::kFalse: return kBooleanType;
    case ValueType::kNull: return kNullType;
    case ValueType::kObject: return kObjectType;
    case ValueType::kArray: return kArrayType;
  }
  return 0;
}

// Returns whether the schema lists values and none of them can be written in `form`.  True and false have one type but
// a form each.
bool is_excluded(ValueType form, const std::optional<std::vector<json::Value>>& listed) {
  const auto is_written = [&](const json::Value& value) {
    return !value.is_bool() || value.as_bool() == (form == ValueType::kTrue);
  };
  return listed && std::none_of(listed->begin(), listed->end(), is_written);
}

// Returns the openers that some types of values have of their own, and "" for Parameters::open.
std::vector<std::string> key_openers(const format::Parameters& syntax) {
  std::vector<std::string> out{""};
  for (const ValueForm& form : syntax.forms) {
    if (std::ranges::find(out, form.key_open) == out.end()) out.push_back(form.key_open);
  }
  return out;
}

// Returns `marker` with other white space in place of the first that it has: a parser reads these as well.
std::vector<std::string> respaced(const std::string& marker) {
  const std::size_t begin = marker.find_first_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  const std::size_t end = marker.find_first_not_of(" \t\r\n", begin);
  std::vector<std::string> out;
  for (const char* space : {"", " ", "\n"}) {
    std::string other = marker.substr(0, begin) + space + marker.substr(std::min(end, marker.size()));
    if (other != marker) out.push_back(std::move(other));
  }
  return out;
}

// Returns what stands before each further line of a string; "" where its lines are not indented.
std::string indentation_of(const std::vector<format::Escape>& escapes) {
  const auto found = std::ranges::find(escapes, "\n", &format::Escape::text);
  const bool is_indented = found != escapes.end() && found->written.size() > 1 && found->written.front() == '\n';
  return is_indented ? found->written.substr(1) : "";
}

// Adds a marker, with white space before it if the template writes some.
void mark(Line& line, std::string_view text) {
  if (!text.empty() && format::is_space(text.front())) line.space();
  line.marker(trimmed(text));
  if (ends_with_word(text)) line.space(1);
}

// Adds the text that closes a value.  Where it is white space, the value does not end without it; a line end stands for
// itself.  It is the first one, so that a lexer does not take the indentation of the next line for more of it.
void close_value(Line& line, Grammar& g, const std::string& ending) {
  const bool is_line = is_blank(ending) && ending.find('\n') != std::string::npos;
  if (is_line) {
    const NodeId before = g.repeat(g.chars(CharSet::any_of(" \t\r")), 0, kMostSpace);
    line.add(g.token(g.sequence({before, g.literal("\n")})));
  } else {
    line.space(is_blank(ending) && !ending.empty() ? 1 : 0).marker(trimmed(ending));
  }
}

// Returns the escapes of the form's single characters.  Others are those of its close, which a grammar need not write.
std::vector<format::Escape> escapes_of_signs(const ValueForm& form) {
  std::vector<format::Escape> out;
  std::ranges::copy_if(form.escapes, std::back_inserter(out),
                       [](const format::Escape& one) { return one.text.size() == 1; });
  return out;
}

// Returns whether each escape of JSON in the form stands for one ASCII character, as grammars can write it.
bool may_escape(const ValueForm& form) {
  return form.style == ValueStyle::kJson && std::ranges::all_of(escapes_of_signs(form), [](const format::Escape& one) {
           return static_cast<unsigned char>(one.text.front()) < 0x80;
         });
}

// Returns whether the template writes a line end before the marker.
bool begins_line(std::string_view marker) {
  return marker.substr(0, marker.find_first_not_of(" \t\r\n")).find('\n') != std::string_view::npos;
}

// A key ends where `key_close` begins.
CharSet key_characters(std::string_view key_close) {
  CharSet out = CharSet::any_of("<>{}[]()\"'`,=|:");
  out.add(0, 0x20);
  if (!is_blank(key_close)) {
    const char32_t first = utf8::decode(trimmed(key_close), 0).code_point;
    if (first >= 0x80 || !format::is_word(static_cast<char>(first))) out = out.united(CharSet::of(first));
  }
  return out.complement();
}

}  // namespace

bool CallBuilder::leaves_open(const format::Parameters& syntax) {
  return std::ranges::any_of(syntax.forms, [&syntax](const ValueForm& form) {
    const std::string ending = form.close + syntax.key_in_close + syntax.close;
    return form.style == ValueStyle::kRaw && is_blank(ending) && ending.find('\n') == std::string::npos;
  });
}

bool CallBuilder::has_no_close(const format::Parameters& syntax) {
  return !syntax.forms.empty() && std::ranges::all_of(syntax.forms, [&syntax](const ValueForm& form) {
    const std::string ending = form.close + syntax.key_in_close + syntax.close;
    return is_blank(ending) && ending.find('\n') == std::string::npos;
  });
}

void CallBuilder::behind_value(Line& line, const std::string& text) const {
  if (!is_open_ended_ && has_no_close_ && begins_line(text)) {
    line.space().literal("\n").space().marker(trimmed(text));
  } else if (!is_open_ended_) {
    line.space().marker(trimmed(text));
  } else if (begins_line(text)) {
    line.add(grammar_.token(Line(grammar_).literal("\n").marker(trimmed(text)).node()));
  } else {
    line.marker(trimmed(text));
  }
}

void CallBuilder::open_parameter(Line& line, const std::string& open) const {
  behind_value(line, open);
  // What separates two parameters may end with white space, which then stands before the next key.
  const std::string& before_key = open.empty() ? format_.calls.parameters.separator : open;
  const bool is_needed = ends_with_word(open) || (is_blank(open) && !open.empty());
  if (!format::trailing_space(before_key).empty()) line.space(is_needed ? 1 : 0);
}

// Adds the text after a parameter's name.  Where a value ends only before the next marker, more white space is the value's.
void CallBuilder::close_key(Line& line) const {
  const std::string& close = format_.calls.parameters.key_close;
  if (!is_blank(close)) return mark(line, close);
  if (!is_open_ended_) {
    line.space(1);
  } else {
    line.add(white_space(grammar_, 1, 1));
  }
}

// Returns the texts that may follow a value and its closing.
std::vector<std::string> CallBuilder::followers() const {
  const format::Calls& calls = format_.calls;
  std::vector<std::string> out;
  std::string behind;
  bool is_behind = false;
  for (const format::CallPiece& piece : calls.pieces) {
    if (is_behind && piece.kind == format::CallPiece::Kind::kLiteral) behind += piece.text;
    is_behind = is_behind || piece.kind == format::CallPiece::Kind::kArguments;
  }
  std::vector<std::string> texts = key_openers(calls.parameters);
  texts.insert(texts.end(), {calls.parameters.separator, calls.parameters.open, behind, calls.call_close});
  for (const std::string& marker : texts) {
    const std::string text(before_counter(marker));
    if (is_blank(text)) continue;
    if (is_open_ended_ && begins_line(text)) {
      out.push_back("\n" + std::string(trimmed(text)));
      continue;
    }
    out.emplace_back(trimmed(text));
    if (format::is_space(text.front())) out.push_back(text.substr(0, text.find(trimmed(text)) + trimmed(text).size()));
  }
  return out;
}

// Returns the names of the parameters whose tags no text without quotes may hold: those that a call of the tool may lack.
// A parser takes their tags for parameters before which nothing closed a value.
std::vector<std::string> CallBuilder::loose_keys(const std::vector<Properties>& alternatives) const {
  std::vector<std::string> out;
  if (trimmed(format_.calls.parameters.open).empty() || trimmed(format_.calls.parameters.key_close).empty()) return out;
  for (const Properties& all : alternatives) {
    for (const Property& property : all.known) {
      const auto is_required = [&property](const Properties& other) {
        const auto found = std::ranges::find(other.known, property.name, &Property::name);
        return found != other.known.end() && found->required;
      };
      const bool is_tag = !property.name.empty() && std::ranges::all_of(property.name, format::is_tag_byte);
      if (is_tag && !std::ranges::all_of(alternatives, is_required)) out.push_back(property.name);
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

// Returns the tag of parameter `key` as a parser looks for it in values: with the white space around the name that the
// format writes, and without.
std::vector<std::string> CallBuilder::tags_of(const std::string& key) const {
  const format::Parameters& syntax = format_.calls.parameters;
  const std::string open(trimmed(syntax.open));
  const std::string close(trimmed(syntax.key_close));
  std::vector<std::string> out;
  for (const std::string& before : {std::string(trailing_space(syntax.open)), std::string()}) {
    for (const std::string& after : {syntax.key_close.substr(0, syntax.key_close.find(close)), std::string()}) {
      std::string tag = open;
      for (const std::string& part : {before, key, after, close}) tag += part;
      out.push_back(std::move(tag));
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

// Any text, then `close`, which contains the name of the parameter.  Other parameters may be in it as a whole.
NodeId CallBuilder::quoting_text(const std::string& close) {
  Grammar& g = grammar_;
  const format::Parameters& syntax = format_.calls.parameters;
  const RuleId rule = g.declare("value");
  std::vector<std::string> markers = respaced(close);
  markers.push_back(close);
  std::vector<NodeId> ways{g.literal(close)};
  for (const std::string& key : loose_keys_) {
    const std::string end = std::string(trimmed(syntax.key_in_close)) + key + std::string(trimmed(syntax.close));
    if (close.ends_with(end)) continue;
    std::vector<NodeId> begins;
    for (const std::string& tag : tags_of(key)) {
      markers.push_back(tag);
      begins.push_back(g.literal(tag));
    }
    ways.push_back(g.sequence({g.choice(begins), g.token(g.text({close}, end)), g.reference(rule)}));
  }
  g.define(rule, g.sequence({g.text(markers, ""), g.choice(ways)}));
  return g.reference(rule);
}

// Any text, then `closing`.  A closing that ordinary text may contain, such as a quote, ends the value only if
// something follows that can come after a value.
NodeId CallBuilder::raw_text(const std::string& closing, const std::vector<format::Escape>& escapes) {
  Grammar& g = grammar_;
  const std::string core(trimmed(closing));
  constexpr std::size_t kWeak = 2;
  const std::string head(before_counter(core));
  const bool names_key = !format_.calls.parameters.key_in_close.empty();
  if (names_key && head == core && head.size() > kWeak && !loose_keys_.empty() && loose_keys_.size() <= kMostQuoted)
    return quoting_text(head);
  std::vector<std::string> tags;
  for (const std::string& key : names_key ? std::vector<std::string>() : loose_keys_) {
    const std::vector<std::string> of_key = tags_of(key);
    tags.insert(tags.end(), of_key.begin(), of_key.end());
  }
  if (head.size() > (head == core ? kWeak : 0)) {
    const std::vector<std::string> others = respaced(head);
    tags.insert(tags.end(), others.begin(), others.end());
    return Line(g).add(g.token(g.text(tags, head))).marker(std::string_view(core).substr(head.size())).node();
  }
  if (core.empty() && closing.find('\n') != std::string::npos) {
    const NodeId line = g.text({}, "\n");
    const std::string indentation = indentation_of(escapes);
    if (indentation.empty()) return g.token(line);
    // Each line is a token of its own, because the next parameter may begin with white space too.
    return g.sequence({g.token(line), g.any_number(g.token(g.sequence({g.literal(indentation), line})))});
  }
  // A value that writes the closing as an escape ends at the first one.
  const bool is_escaped = !core.empty() && std::ranges::any_of(escapes, [&core](const format::Escape& one) {
    return one.text == core && one.written.find(core) == std::string::npos;
  });
  // Where nothing opens or parts parameters, a value ends at the first closing, whatever follows it.
  const bool has_marks = !is_blank(format_.calls.parameters.open) || !is_blank(format_.calls.parameters.separator);
  if (is_escaped || (!core.empty() && !has_marks)) return g.token(g.text(tags, core));
  std::vector<std::string> ends;
  const std::string written = closing.substr(closing.find(core));  // with the template's white space after it
  for (const std::string& follower : followers()) {
    ends.push_back(core + follower);
    if (written != core) ends.push_back(written + follower);
  }
  if (ends.empty()) ends.emplace_back(core.empty() ? "\n" : core);
  ends.insert(ends.end(), tags.begin(), tags.end());
  return core.empty() ? g.text(ends, "") : g.token(g.sequence({g.text(ends, ""), g.literal(core)}));
}

// Any markup, then `closing`.  If the closing contains the key, inner constructs with the same key must be closed
// first.
NodeId CallBuilder::markup_text(const std::string& closing, const std::vector<format::Escape>& escapes,
                                const std::string& name) {
  Grammar& g = grammar_;
  const format::Parameters& syntax = format_.calls.parameters;
  const std::size_t key_at = syntax.key_in_close.empty() ? std::string::npos : closing.find(syntax.key_in_close);
  if (key_at == std::string::npos || !closing.ends_with(syntax.close)) return raw_text(closing, escapes);
  const std::size_t key_begin = key_at + syntax.key_in_close.size();
  const std::string key =
      closing.substr(key_begin, std::max(key_begin, closing.size() - syntax.close.size()) - key_begin);
  if (key.empty()) return raw_text(closing, escapes);
  const std::string open(trimmed(syntax.open + key + syntax.key_close));
  const std::string close(trimmed(closing));
  const RuleId rule = g.declare(name + "-markup");
  const NodeId inner = g.reference(rule);
  g.define(rule,
           g.choice({g.token(g.text({open}, close)), g.sequence({g.token(g.text({close}, open)), inner, inner})}));
  return g.reference(rule);
}

// A string written without quotes.
NodeId CallBuilder::raw_form(SchemaCompiler& schema, const Parts& parts, const ValueForm& form,
                             const std::string& ending, const std::string& name) {
  Grammar& g = grammar_;
  if ((schema.types(parts) & kStringType) == 0) return g.never();
  Line line(g);
  const bool is_indented = !indentation_of(form.escapes).empty();
  if (is_indented || !is_blank(form.open)) line.space();
  mark(line, form.open);
  if (is_indented) line.literal(trailing_space(form.open));
  const auto values = schema.enumerated(parts, kStringType);
  const bool is_length_only = !values && !SchemaCompiler::has_shape(parts);
  const bool is_free = !values && (SchemaCompiler::is_free_text(parts) || trimmed(ending).empty());
  if (is_free || is_length_only) {
    if (!is_free)
      context_.warnings.add(name + ": `minLength` and `maxLength` are not expressed where text stands without quotes");
    line.add(raw_text(ending, form.escapes));
    return line.node();
  }
  Spelling spelling = Spelling::bare();
  if (values) spelling.escapes = form.escapes;
  if (!values) spelling.close = before_counter(trimmed(ending));  // text of a pattern may not begin the closing
  line.space().add(schema.value(parts, Speller(g, spelling), name, kStringType));
  close_value(line, g, ending);
  return line.node();
}

// Returns the spelling of values inside objects and arrays of the format's own syntax.
Spelling CallBuilder::nested_spelling() const {
  Spelling spelling = Spelling::json();
  for (const ValueForm& other : format_.calls.parameters.forms) {
    if (other.type == ValueType::kString && !trimmed(other.open).empty() && !trimmed(other.close).empty())
      spelling = Spelling::delimited(other.open, other.close);
  }
  for (const ValueForm& other : format_.calls.parameters.forms) {
    const std::string constant(trimmed(other.constant));
    const bool is_word = other.style == ValueStyle::kConstant && std::ranges::all_of(constant, format::is_word);
    const auto word = [&](const char* in_python) { return is_word ? constant : std::string(in_python); };
    if (!is_word && other.style != ValueStyle::kPython) continue;
    if (other.type == ValueType::kNull) spelling.null_word = word("None");
    if (other.type == ValueType::kTrue) spelling.true_word = word("True");
    if (other.type == ValueType::kFalse) spelling.false_word = word("False");
  }
  return spelling;
}

// The value in one form, then `closing`.  kNever if the form cannot write any value that the schema allows.
NodeId CallBuilder::form(SchemaCompiler& schema, const Parts& parts, const ValueForm& form, const std::string& closing,
                         const std::string& name) {
  Grammar& g = grammar_;
  const std::string ending = form.close + closing;
  if (form.style == ValueStyle::kRaw) return raw_form(schema, parts, form, ending, name);
  const TypeSet types = types_of(form.type);
  Line line(g);
  if (!is_blank(form.open)) line.space();
  mark(line, form.open);
  const bool has_marks =
      form.style == ValueStyle::kNested && (!is_blank(format_.calls.parameters.item_open) || !is_blank(form.open));
  if (has_marks || (!form.escapes.empty() && !may_escape(form))) {
    context_.warnings.add("values inside objects and arrays are not held to their schema in this format");
    if ((schema.types(parts) & types) == 0 || is_excluded(form.type, schema.enumerated(parts, types))) return g.never();
    line.add(has_marks ? markup_text(ending, form.escapes, name) : raw_text(ending, form.escapes));
    return line.node();
  }
  const auto compiled = [&](const Spelling& spelling) {
    const EscapedText as_written(g, escapes_of_signs(form));
    return schema.value(parts, Speller(g, spelling), name, types);
  };
  switch (form.style) {
    case ValueStyle::kRaw: break;
    case ValueStyle::kJson: line.space().add(compiled(Spelling::json())); break;
    case ValueStyle::kPython:
      line.space().add(g.choice({compiled(Spelling::python()), compiled(Spelling::json())}));
      break;
    case ValueStyle::kConstant:
      if ((schema.types(parts) & types) == 0) return g.never();
      if (is_excluded(form.type, schema.enumerated(parts, types))) return g.never();
      line.space().marker(trimmed(form.constant));
      break;
    case ValueStyle::kNested: line.space().add(compiled(nested_spelling())); break;
  }
  close_value(line, g, ending);
  return line.node();
}

// A value behind a key that `key_open` opened.
NodeId CallBuilder::value(SchemaCompiler& schema, const Parts& parts, const std::string& key_open,
                          const std::string& closing, const std::string& name) {
  Grammar& g = grammar_;
  const std::vector<ValueForm>& forms = format_.calls.parameters.forms;
  std::vector<NodeId> ways;
  for (const Parts& alternative : schema.alternatives(parts)) {
    const TypeSet allowed = schema.types(alternative);
    TypeSet formed = 0;
    for (const ValueForm& one : forms) {
      const TypeSet types = types_of(one.type);
      formed |= types;
      if ((types & allowed) != 0 && one.key_open == key_open)
        ways.push_back(form(schema, alternative, one, closing, name));
    }
    if (!key_open.empty()) continue;
    // A type whose form is unknown is written as JSON.
    ValueForm other;
    other.style = ValueStyle::kJson;
    for (const ValueType type : {ValueType::kString, ValueType::kInteger, ValueType::kFloat, ValueType::kTrue,
                                 ValueType::kNull, ValueType::kObject, ValueType::kArray}) {
      other.type = type;
      if ((types_of(type) & allowed & static_cast<TypeSet>(~formed)) != 0)
        ways.push_back(form(schema, alternative, other, closing, name));
    }
  }
  return g.choice(ways);
}

NodeId CallBuilder::parameter(SchemaCompiler& schema, const Property& property, const std::string& name) {
  const format::Parameters& syntax = format_.calls.parameters;
  const std::string repeated = syntax.key_in_close.empty() ? "" : syntax.key_in_close + property.name;
  const RuleId rule = grammar_.declare(name + "-" + property.name);
  std::vector<NodeId> ways;
  for (const std::string& own : key_openers(syntax)) {
    const NodeId body = value(schema, property.parts, own, repeated + syntax.close, name + "-" + property.name);
    if (body == grammar_.never()) continue;
    Line line(grammar_);
    open_parameter(line, own.empty() ? syntax.open : own);
    line.literal(property.name);
    close_key(line);
    ways.push_back(line.add(body).node());
  }
  if (syntax.repeats_items) ways.push_back(repeated_parameter(schema, property, repeated + syntax.close, name));
  grammar_.define(rule, grammar_.choice(ways));
  return grammar_.reference(rule);
}

// A list as its parameter once for each item.
NodeId CallBuilder::repeated_parameter(SchemaCompiler& schema, const Property& property, const std::string& closing,
                                       const std::string& name) {
  std::vector<NodeId> ways;
  for (const Parts& alternative : schema.alternatives(property.parts)) {
    if (schema.types(alternative) != kArrayType) continue;
    const Elements all = schema.elements(alternative);
    if (!all.firsts.empty() || all.most == 0) continue;
    const NodeId item = value(schema, all.rest, "", closing, name + "-" + property.name + "-item");
    Line line(grammar_);
    open_parameter(line, format_.calls.parameters.open);
    line.literal(property.name);
    close_key(line);
    ways.push_back(grammar_.repeat(line.add(item).node(), std::max<std::uint32_t>(all.least, 1), all.most));
  }
  return grammar_.choice(ways);
}

// A parameter that the schema does not name.  Its key is any word except the known names.
NodeId CallBuilder::extra_parameter(SchemaCompiler& schema, const Properties& all, const std::string& name) {
  std::vector<NodeId> ways;
  for (const std::string& own : key_openers(format_.calls.parameters))
    ways.push_back(extra_parameter_behind(own, schema, all, name));
  return grammar_.choice(ways);
}

// The name of a parameter that the schema does not name; `key` is one of its characters.  Where the schema lists the names
// that may be there, it is one of these.
NodeId CallBuilder::other_key(SchemaCompiler& schema, const Properties& all, NodeId key) const {
  std::vector<std::string> names{""};
  for (const Property& property : all.known) names.push_back(property.name);
  const auto listed = all.names.empty() ? std::nullopt : schema.enumerated(all.names, kStringType);
  if (!listed) return grammar_.except(key, names);
  std::vector<NodeId> ways;
  for (const json::Value& name : *listed) {
    if (std::ranges::find(names, name.as_string()) == names.end()) ways.push_back(grammar_.literal(name.as_string()));
  }
  return grammar_.choice(ways);
}

NodeId CallBuilder::extra_parameter_behind(const std::string& key_open, SchemaCompiler& schema, const Properties& all,
                                           const std::string& name) {
  Grammar& g = grammar_;
  const format::Parameters& syntax = format_.calls.parameters;
  const std::string& open = key_open.empty() ? syntax.open : key_open;
  const std::string& closing = syntax.key_in_close.empty() ? syntax.close : syntax.key_in_close;
  const NodeId body = value(schema, all.extra, key_open, closing, name + "-other");
  if (body == g.never()) return body;
  const NodeId key = g.chars(key_characters(syntax.key_close));
  const NodeId other = other_key(schema, all, key);
  if (other == g.never()) return other;
  Line line(g);
  if (is_blank(open)) {
    line.add(g.token(g.sequence({white_space(g, 0, kMostSpace), other})));
  } else {
    open_parameter(line, open);
    line.add(g.token(other));
  }
  close_key(line);
  line.add(body);
  // The key comes again in the closing.  A grammar does not remember it, so any key is accepted there.
  if (!syntax.key_in_close.empty()) line.add(g.token(g.repeat(key, 1, kUnbounded))).marker(trimmed(syntax.close));
  return line.node();
}

NodeId CallBuilder::parameters(const Tool& tool) {
  Grammar& g = grammar_;
  const format::Parameters& syntax = format_.calls.parameters;
  SchemaCompiler schema(g, tool.parameters, "tool `" + tool.name + "`", context_);
  const std::vector<Parts> alternatives =
      tool.parameters.is_null() ? std::vector<Parts>{{}} : schema.alternatives(schema.root());
  std::vector<Properties> properties;
  for (const Parts& alternative : alternatives) properties.push_back(schema.properties(alternative));
  loose_keys_ = loose_keys(properties);
  std::vector<NodeId> ways;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    const Parts& alternative = alternatives[i];
    const Properties& all = properties[i];
    Members members{{}, {}, all.least, all.most};
    for (const Property& property : all.known)
      (property.required ? members.required : members.others).push_back(parameter(schema, property, tool.name));
    if (!all.patterns.empty())
      context_.warnings.add("tool `" + tool.name +
                            "`: `patternProperties` are not expressed for the parameters of a call");
    if (all.has_extra) members.others.push_back(extra_parameter(schema, all, tool.name));
    std::erase(members.others, g.never());
    if (!counts_are_kept(members))
      context_.warnings.add("tool `" + tool.name + "`: `minProperties` and `maxProperties` are not expressed here");
    Line separator(g);
    if (runs_into(syntax.close, syntax.separator + syntax.open)) separator.space(1);
    if (!is_blank(syntax.separator)) behind_value(separator, syntax.separator);
    // The analysis reported that the template loses its separator between arguments, so output without one is accepted
    // too.
    const bool is_forgotten = std::any_of(format_.losses.begin(), format_.losses.end(),
                                          [](const format::Loss& loss) { return loss.what == "several arguments"; });
    const NodeId between = is_forgotten ? g.optional(separator.node()) : separator.node();
    if (schema.can_afford(members.required.size() * kWorkOfRequired, alternative))
      ways.push_back(in_any_order(g, members, between, tool.name));
  }
  is_exhausted_ = is_exhausted_ || schema.is_exhausted();
  return g.choice(ways);
}

}  // namespace rondo::grammar
