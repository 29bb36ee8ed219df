// How a TemplateShape is made simpler, and how it is shown.
#include <algorithm>

#include "format/units.h"
#include "json/print.h"
#include "tests/support/random_template.h"

namespace rondo::test {
namespace {

// Plain brackets in place of others; nothing visible stays nothing.
void make_plain(Brackets& brackets, const std::string& word) {
  if (!format::is_blank(brackets.open)) brackets.open = "<" + word + ">";
  if (!format::is_blank(brackets.close)) brackets.close = "</" + word + ">";
}

template <typename Member>
Simplification reset(const char* name, Member TemplateShape::* member) {
  return {name, [member](TemplateShape& shape) { shape.*member = TemplateShape().*member; }};
}

void add_bracket_steps(std::vector<Simplification>& out) {
  const std::pair<const char*, Brackets TemplateShape::*> kinds[] = {
      {"header", &TemplateShape::header},   {"thought", &TemplateShape::thought},
      {"content", &TemplateShape::content}, {"section", &TemplateShape::section},
      {"call", &TemplateShape::call},       {"ids", &TemplateShape::id_marks},
      {"name", &TemplateShape::name},       {"args", &TemplateShape::argument_marks}};
  for (const auto& [word, brackets] : kinds) {
    out.push_back({"plain", [name = std::string(word), member = brackets](TemplateShape& shape) {
                     const TemplateShape plain;
                     if (shape.*member != plain.*member) make_plain(shape.*member, name);
                   }});
  }
}

void add_mark_steps(std::size_t count, std::vector<Simplification>& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    out.push_back({"trimmed mark " + number, [i](TemplateShape& shape) {
                     std::string& mark = *marks_of(shape)[i];
                     if (!format::is_blank(mark)) mark = std::string(format::trimmed(mark));
                   }});
    for (const bool is_front : {true, false}) {
      out.push_back({"half trimmed mark " + number, [i, is_front](TemplateShape& shape) {
                       std::string& mark = *marks_of(shape)[i];
                       if (mark.empty() || !format::is_space(is_front ? mark.front() : mark.back())) return;
                       mark.erase(is_front ? 0 : mark.size() - 1, 1);
                     }});
    }
  }
}

}  // namespace

void tidy(TemplateShape& shape) {
  const TemplateShape plain;
  if (shape.reasoning == ReasoningPlace::kNone) {
    shape.thought = plain.thought;
    shape.has_switch = shape.forgets_thoughts = shape.trims_reasoning = shape.reasoning_behind = false;
    shape.reasoning_field = plain.reasoning_field;
    shape.reasoning_filter.clear();
  }
  if (!shape.has_calls) {
    shape.call = plain.call;
    shape.section = plain.section;
    shape.form = plain.form;
    shape.arguments = plain.arguments;
    shape.name_filter.clear();
    shape.argument_filter.clear();
    shape.content_behind = false;
  }
  const bool is_one_text =
      shape.form == CallForm::kTags ? shape.argument_form == ArgumentForm::kJson : !shape.is_dumped;
  if (!is_one_text || shape.arguments == ArgumentType::kEscaped) shape.argument_filter.clear();
  if (shape.id == IdPlace::kInName) shape.name_filter.clear();
  if (shape.form != CallForm::kTags) {
    shape.name = plain.name;
    shape.argument_marks = plain.argument_marks;
    shape.argument_form = plain.argument_form;
    shape.id_marks = plain.id_marks;
  } else {
    shape.keys = plain.keys;
    shape.order = plain.order;
    shape.wrapper.clear();
    shape.name_is_key = shape.is_dumped = false;
    shape.constant.clear();
  }
  if (shape.argument_form == ArgumentForm::kJson) shape.parameter = plain.parameter;
  if (!shape.result_has_id) shape.result_id = plain.result_id;
}

// Members that become what they are by default.
void add_resets(std::vector<Simplification>& out) {
  const std::vector<Simplification> resets = {
      reset("id marks", &TemplateShape::id_marks),
      reset("call brackets", &TemplateShape::call),
      reset("name", &TemplateShape::name),
      reset("result", &TemplateShape::result_id),
      reset("header", &TemplateShape::header),
      reset("assistant", &TemplateShape::assistant),
      reset("tool", &TemplateShape::tool),
      reset("stop", &TemplateShape::stop),
      reset("call stop", &TemplateShape::call_stop),
      reset("gap", &TemplateShape::gap),
      reset("field", &TemplateShape::reasoning_field),
      reset("switch", &TemplateShape::has_switch),
      reset("forgets", &TemplateShape::forgets_thoughts),
      reset("trims reasoning", &TemplateShape::trims_reasoning),
      reset("reasoning behind", &TemplateShape::reasoning_behind),
      reset("content", &TemplateShape::content),
      reset("trims content", &TemplateShape::trims_content),
      reset("content behind", &TemplateShape::content_behind),
      reset("JSON", &TemplateShape::json_style),
      reset("section", &TemplateShape::section),
      reset("separator", &TemplateShape::separator),
      reset("arguments", &TemplateShape::arguments),
      reset("id", &TemplateShape::id),
      reset("keys", &TemplateShape::keys),
      reset("order", &TemplateShape::order),
      reset("wrapper", &TemplateShape::wrapper),
      reset("name as key", &TemplateShape::name_is_key),
      reset("dump", &TemplateShape::is_dumped),
      reset("constant", &TemplateShape::constant),
      reset("argument marks", &TemplateShape::argument_marks),
      reset("result id", &TemplateShape::result_has_id),
  };
  out.insert(out.end(), resets.begin(), resets.end());
}

std::vector<Simplification> simplifications(const TemplateShape& shape) {
  std::vector<Simplification> out = {
      {"no reasoning", [](TemplateShape& s) { s.reasoning = ReasoningPlace::kNone; }},
      {"no calls", [](TemplateShape& s) { s.has_calls = false; }},
      {"calls as by default",
       [](TemplateShape& s) {
         const TemplateShape plain;
         s.form = plain.form;
         s.arguments = plain.arguments;
         s.call = plain.call;
         s.section = plain.section;
         s.separator.clear();
       }},
      {"plain tags",
       [](TemplateShape& s) {
         if (s.form != CallForm::kTags) return;
         s.name = {"<f=", ">"};
         s.call = {"", "</f>"};
         s.argument_marks = {};
         s.id = IdPlace::kNone;
       }},
      {"plain parameters", [](TemplateShape& s) { s.parameter = TemplateShape().parameter; }},
      {"plain thought", reset("", &TemplateShape::thought).apply},
      reset("JSON arguments", &TemplateShape::argument_form),
      {"reasoning where there is some",
       [](TemplateShape& s) {
         if (s.reasoning != ReasoningPlace::kNone) s.reasoning = ReasoningPlace::kWhereThere;
       }},
      {"reasoning always",
       [](TemplateShape& s) {
         if (s.reasoning == ReasoningPlace::kByPrompt) s.reasoning = ReasoningPlace::kAlways;
       }},
      {"as they are",
       [](TemplateShape& s) {
         s.parameter.filters = s.name_filter = s.argument_filter = s.content_filter = s.reasoning_filter =
             std::string();
       }},
      {"one opener of parameters", [](TemplateShape& s) { s.parameter.typed_open.clear(); }},
      {"quoted strings", [](TemplateShape& s) { s.parameter.raw_strings = false; }},
      {"no call brackets", [](TemplateShape& s) { s.call = {}; }},
      {"no numbers",
       [](TemplateShape& s) {
         for (std::string* mark : marks_of(s)) std::erase(*mark, format::kCounter);
       }},
  };
  add_resets(out);
  add_bracket_steps(out);
  TemplateShape copy = shape;
  add_mark_steps(marks_of(copy).size(), out);
  return out;
}

std::string to_string(const TemplateShape& shape) {
  static constexpr const char* kNames[] = {"header.open",     "header.close",    "stop",
                                           "call_stop",       "thought.open",    "thought.close",
                                           "content.open",    "content.close",   "section.open",
                                           "section.close",   "call.open",       "call.close",
                                           "separator",       "id.open",         "id.close",
                                           "name.open",       "name.close",      "arguments.open",
                                           "arguments.close", "parameter.open",  "parameter.key_close",
                                           "parameter.close", "parameter.again", "parameter.separator",
                                           "result.open",     "result.close"};
  TemplateShape copy = shape;
  TemplateShape plain;
  const auto marks = marks_of(copy);
  const auto others = marks_of(plain);
  std::string out;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (*marks[i] != *others[i]) out += std::string(kNames[i]) + " " + json::to_compact(json::Value(*marks[i])) + "\n";
  }
  const auto number = [&out](const char* name, auto value, auto otherwise) {
    if (value != otherwise) out += std::string(name) + " " + std::to_string(static_cast<int>(value)) + "\n";
  };
  number("reasoning", shape.reasoning, plain.reasoning);
  number("has_switch", shape.has_switch, plain.has_switch);
  number("forgets_thoughts", shape.forgets_thoughts, plain.forgets_thoughts);
  number("trims_reasoning", shape.trims_reasoning, plain.trims_reasoning);
  number("reasoning_behind", shape.reasoning_behind, plain.reasoning_behind);
  number("typed_open", !shape.parameter.typed_open.empty(), false);
  number("trims_content", shape.trims_content, plain.trims_content);
  number("filters", !shape.parameter.filters.empty(), false);
  number("name_filter", !shape.name_filter.empty(), false);
  number("argument_filter", !shape.argument_filter.empty(), false);
  number("content_filter", !shape.content_filter.empty(), false);
  number("reasoning_filter", !shape.reasoning_filter.empty(), false);
  number("raw_strings", shape.parameter.raw_strings, plain.parameter.raw_strings);
  number("wrapper", !shape.wrapper.empty(), false);
  number("keys", shape.keys != plain.keys, false);
  number("order", shape.order != plain.order, false);
  number("field", shape.reasoning_field != plain.reasoning_field, false);
  number("roles", shape.assistant != plain.assistant || shape.tool != plain.tool, false);
  number("content_behind", shape.content_behind, plain.content_behind);
  number("json_style", shape.json_style, plain.json_style);
  number("form", shape.form, plain.form);
  number("arguments", shape.arguments, plain.arguments);
  number("argument_form", shape.argument_form, plain.argument_form);
  number("id", shape.id, plain.id);
  number("name_is_key", shape.name_is_key, plain.name_is_key);
  number("is_dumped", shape.is_dumped, plain.is_dumped);
  number("constant", !shape.constant.empty(), false);
  return out;
}

}  // namespace rondo::test
