// The Jinja text of a TemplateShape.
#include <string>
#include <utility>

#include "format/units.h"
#include "tests/support/random_template.h"

namespace rondo::test {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "'";
}

// An expression that joins literals and other expressions.  A counter in a literal becomes `number`.
class Joined {
 public:
  explicit Joined(std::string number = "loop.index") : number_(std::move(number)) {}

  Joined& text(std::string_view text) {
    for (const char c : text) {
      if (c == format::kCounter) {
        expression(number_);
      } else {
        literal_ += c;
      }
    }
    return *this;
  }
  Joined& expression(std::string_view expression) {
    flush();
    add(expression);
    return *this;
  }
  // The whole as an output, or nothing if it is empty.
  [[nodiscard]] std::string output() {
    flush();
    return out_.empty() ? "" : "{{- " + out_ + " -}}\n";
  }
  [[nodiscard]] std::string value() {
    flush();
    return out_.empty() ? "''" : out_;
  }

 private:
  void flush() {
    if (!literal_.empty()) add(quoted(literal_));
    literal_.clear();
  }
  void add(std::string_view part) { out_ += (out_.empty() ? "" : " ~ ") + std::string(part); }
  std::string number_;
  std::string out_;
  std::string literal_;
};

std::string header(const TemplateShape& shape, std::string_view role) {
  return shape.header.open + std::string(role) + shape.header.close;
}

std::string to_json(const TemplateShape& shape, const std::string& expression) {
  static constexpr const char* kFilters[] = {"tojson", "tojson(separators=(',', ':'))", "tojson(indent=2)"};
  return "(" + expression + " | " + kFilters[static_cast<std::size_t>(shape.json_style)] + ")";
}

std::string name_expression(const TemplateShape& shape) {
  const std::string name = "c.function.name";
  return shape.name_filter.empty() ? name : "(" + name + shape.name_filter + ")";
}

std::string plain_arguments(const TemplateShape& shape) {
  std::string arguments = "c.function.arguments";
  switch (shape.arguments) {
    case ArgumentType::kObject: return shape.is_dumped ? arguments : to_json(shape, arguments);
    case ArgumentType::kText: return arguments;
    case ArgumentType::kEscaped: return shape.is_dumped ? arguments : to_json(shape, arguments);
    case ArgumentType::kEither:
      return "(" + arguments + " if " + arguments + " is string else " + to_json(shape, arguments) + ")";
  }
  return arguments;
}

std::string arguments_expression(const TemplateShape& shape) {
  const std::string arguments = plain_arguments(shape);
  return shape.argument_filter.empty() ? arguments : "(" + arguments + shape.argument_filter + ")";
}

std::string dumped_call(const TemplateShape& shape) {
  const std::string arguments = arguments_expression(shape);
  if (shape.name_is_key) return to_json(shape, "{" + name_expression(shape) + ": " + arguments + "}");
  std::string inner;
  std::string outer = shape.constant;
  for (const std::uint8_t role : shape.order) {
    if (role == 2 && !shape.writes_ids()) continue;
    const std::array<std::string, 3> values = {name_expression(shape), arguments, "c.id"};
    const bool is_inner = role != 2 && !shape.wrapper.empty();
    std::string& out = is_inner ? inner : outer;
    out += (out.empty() ? "" : ", ") + quoted(shape.keys[role]) + ": " + values[role];
  }
  if (!shape.wrapper.empty()) outer = quoted(shape.wrapper) + ": {" + inner + "}" + (outer.empty() ? "" : ", ") + outer;
  return to_json(shape, "{" + outer + "}");
}

void add_members(const TemplateShape& shape, const std::vector<std::uint8_t>& roles, Joined& out) {
  bool is_first = true;
  for (const std::uint8_t role : roles) {
    out.text(is_first ? "" : ", ").text("\"" + shape.keys[role] + "\": ");
    is_first = false;
    if (role == 1) {
      out.expression(arguments_expression(shape));
    } else {
      out.text("\"").expression(role == 0 ? name_expression(shape) : "c.id").text("\"");
    }
  }
}

void add_json_call(const TemplateShape& shape, Joined& out) {
  if (shape.is_dumped) {
    out.expression(dumped_call(shape));
    return;
  }
  if (shape.name_is_key) {
    out.text("{\"").expression(name_expression(shape)).text("\": ").expression(arguments_expression(shape)).text("}");
    return;
  }
  std::vector<std::uint8_t> inner;
  std::vector<std::uint8_t> outer;
  for (const std::uint8_t role : shape.order) {
    if (role == 2 && !shape.writes_ids()) continue;
    (role != 2 && !shape.wrapper.empty() ? inner : outer).push_back(role);
  }
  out.text(shape.constant.empty() ? "{" : "{" + shape.constant + ", ");
  if (!shape.wrapper.empty()) {
    out.text("\"" + shape.wrapper + "\": {");
    add_members(shape, inner, out);
    out.text(outer.empty() ? "}" : "}, ");
  }
  add_members(shape, outer, out);
  out.text("}");
}

// What stands before the arguments of a call in tags.
void add_name(const TemplateShape& shape, Joined& out) {
  const auto id = [&] { out.text(shape.id_marks.open).expression("c.id").text(shape.id_marks.close); };
  if (shape.id == IdPlace::kBefore) id();
  out.text(shape.name.open).expression(shape.id == IdPlace::kInName ? "c.id" : name_expression(shape));
  if (shape.id == IdPlace::kCount) out.text(shape.id_marks.open).expression("loop.index0").text(shape.id_marks.close);
  out.text(shape.name.close);
  if (shape.id == IdPlace::kShown) id();
}

// What stands behind them.
void add_end(const TemplateShape& shape, Joined& out) {
  out.text(shape.argument_marks.close);
  if (shape.id == IdPlace::kBehind) out.text(shape.id_marks.open).expression("c.id").text(shape.id_marks.close);
  out.text(shape.call.close);
}

std::string parameters_text(const TemplateShape& shape) {
  const ParameterShape& parameter = shape.parameter;
  std::string out = "{%- for k, v in c.function.arguments.items() -%}\n";
  if (!parameter.separator.empty())
    out += "{%- if not loop.first %}{{ " + quoted(parameter.separator) + " }}{% endif -%}\n";
  Joined joined;
  if (parameter.typed_open.empty()) {
    joined.text(parameter.open);
  } else {
    joined.expression("(" + quoted(parameter.open) + " if v is string else " + quoted(parameter.typed_open) + ")");
  }
  joined.expression("k").text(parameter.key_close);
  joined.expression(parameter.raw_strings ? "(v if v is string else " + to_json(shape, "v") + ")" + parameter.filters
                                          : to_json(shape, "v"));
  if (!parameter.again.empty()) joined.text(parameter.again).expression("k");
  joined.text(parameter.close);
  return out + joined.output() + "{%- endfor -%}\n";
}

std::string call_text(const TemplateShape& shape) {
  Joined before;
  before.text(shape.call.open);
  if (shape.form != CallForm::kTags) {
    add_json_call(shape, before);
    return before.text(shape.call.close).output();
  }
  add_name(shape, before);
  before.text(shape.argument_marks.open);
  if (shape.argument_form == ArgumentForm::kJson) {
    before.expression(arguments_expression(shape));
    add_end(shape, before);
    return before.output();
  }
  Joined behind;
  add_end(shape, behind);
  return before.output() + parameters_text(shape) + behind.output();
}

std::string calls_text(const TemplateShape& shape) {
  const bool is_array = shape.form == CallForm::kJsonArray;
  std::string out = "{%- if m.tool_calls -%}\n";
  Joined open("(m.tool_calls | length)");
  out += open.text(shape.section.open).text(is_array ? "[" : "").output();
  out += "{%- for c in m.tool_calls -%}\n";
  const std::string separator = is_array ? ", " : shape.separator;
  if (!separator.empty()) out += "{%- if not loop.first %}{{ " + quoted(separator) + " }}{% endif -%}\n";
  out += call_text(shape);
  out += "{%- endfor -%}\n";
  Joined close;
  out += close.text(is_array ? "]" : "").text(shape.section.close).output();
  return out + "{%- endif -%}\n";
}

std::string reasoning_text(const TemplateShape& shape) {
  if (shape.reasoning == ReasoningPlace::kNone) return "";
  const std::string field = "m." + shape.reasoning_field;
  const bool is_always = shape.reasoning == ReasoningPlace::kAlways || shape.reasoning == ReasoningPlace::kByPrompt;
  std::string value = is_always ? "(" + field + " or '')" : field;
  if (shape.trims_reasoning) value = "(" + value + " | trim)";
  if (!shape.reasoning_filter.empty()) value = "(" + value + shape.reasoning_filter + ")";
  std::string condition = is_always ? "true" : field;
  if (shape.forgets_thoughts) condition += " and loop.index0 > ns.last";
  Joined block;
  block.text(shape.thought.open).expression(value).text(shape.thought.close);
  if (condition == "true") return block.output();
  return "{%- if " + condition + " -%}\n" + block.output() + "{%- endif -%}\n";
}

std::string content_text(const TemplateShape& shape) {
  Joined block;
  std::string value = shape.trims_content ? "(m.content | trim)" : "m.content";
  if (!shape.content_filter.empty()) value = "(" + value + shape.content_filter + ")";
  block.text(shape.content.open).expression(value);
  return "{%- if m.content -%}\n" + block.text(shape.content.close).output() + "{%- endif -%}\n";
}

std::string prompt_text(const TemplateShape& shape) {
  Joined start;
  start.text(header(shape, shape.assistant));
  std::string out = "{%- if add_generation_prompt -%}\n" + start.output();
  const bool is_opened = shape.reasoning == ReasoningPlace::kByPrompt || shape.reasoning == ReasoningPlace::kOpened;
  Joined open;
  Joined empty;
  open.text(shape.thought.open);
  empty.text(shape.thought.open + shape.thought.close);
  if (shape.reasoning != ReasoningPlace::kNone && shape.has_switch) {
    out += "{%- if enable_thinking is defined and not enable_thinking -%}\n" + empty.output();
    if (is_opened) out += "{%- else -%}\n" + open.output();
    out += "{%- endif -%}\n";
  } else if (is_opened) {
    out += open.output();
  }
  return out + "{%- endif -%}\n";
}

std::string line(Joined joined) { return joined.output(); }

}  // namespace

std::string template_text(const TemplateShape& shape) {
  const std::string end = shape.stop + shape.gap;
  std::string out = "{%- if tools -%}\n";
  out += line(Joined().text(header(shape, "system") + "Tools: ").expression("(tools | tojson)").text(end));
  out += "{%- endif -%}\n";
  if (shape.forgets_thoughts) {
    out += "{%- set ns = namespace(last=-1) -%}\n{%- for m in messages -%}{%- if m.role == 'user' -%}";
    out += "{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}\n";
  }
  out += "{%- for m in messages -%}\n{%- if m.role == 'assistant' -%}\n";
  out += line(Joined().text(header(shape, shape.assistant)));
  if (!shape.reasoning_behind) out += reasoning_text(shape);
  if (!shape.content_behind) out += content_text(shape);
  if (shape.reasoning_behind) out += reasoning_text(shape);
  if (shape.has_calls) out += calls_text(shape);
  if (shape.content_behind) out += content_text(shape);
  if (!shape.call_stop.empty()) {
    out += "{%- if m.tool_calls -%}\n" + line(Joined().text(shape.call_stop + shape.gap)) + "{%- else -%}\n";
    out += line(Joined().text(end)) + "{%- endif -%}\n";
  } else {
    out += line(Joined().text(end));
  }
  out += "{%- elif m.role == 'tool' -%}\n";
  Joined result;
  result.text(header(shape, shape.tool));
  if (shape.result_has_id) result.text(shape.result_id.open).expression("m.tool_call_id").text(shape.result_id.close);
  out += result.expression("m.content").text(end).output();
  out += "{%- else -%}\n";
  out += line(
      Joined().text(shape.header.open).expression("m.role").text(shape.header.close).expression("m.content").text(end));
  return out + "{%- endif -%}\n{%- endfor -%}\n" + prompt_text(shape);
}

}  // namespace rondo::test
