// How a TemplateShape is made simpler, and how it is shown.
#include <algorithm>

#include "format/units.h"
#include "json/print.h"
#include "tests/support/random_template.h"

namespace rondo::test {
namespace {

// A plain mark in place of the one of that number; nothing visible stays nothing.
std::string plain_mark(std::size_t number) { return "<m" + std::to_string(number) + ">"; }

template <typename Member>
Simplification reset(const char* name, Member TemplateShape::*member) {
  return {name, [member](TemplateShape& shape) { shape.*member = TemplateShape().*member; }};
}

void add_mark_steps(std::size_t count, std::vector<Simplification>& out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    out.push_back({"no mark " + number, [i](TemplateShape& shape) {
                     if (i > 3) marks_of(shape)[i]->clear();
                   }});
    out.push_back({"plain mark " + number, [i](TemplateShape& shape) {
                     std::string& mark = *marks_of(shape)[i];
                     if (!format::is_blank(mark)) mark = plain_mark(i);
                   }});
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
      {"JSON arguments", [](TemplateShape& s) { s.argument_form = ArgumentForm::kJson; }},
      {"reasoning where there is some",
       [](TemplateShape& s) {
         if (s.reasoning != ReasoningPlace::kNone) s.reasoning = ReasoningPlace::kWhereThere;
       }},
      {"reasoning always",
       [](TemplateShape& s) {
         if (s.reasoning == ReasoningPlace::kByPrompt) s.reasoning = ReasoningPlace::kAlways;
       }},
      {"quoted strings", [](TemplateShape& s) { s.parameter.raw_strings = false; }},
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
      reset("content", &TemplateShape::content),
      reset("trims content", &TemplateShape::trims_content),
      reset("section", &TemplateShape::section),
      reset("separator", &TemplateShape::separator),
      reset("arguments", &TemplateShape::arguments),
      reset("id", &TemplateShape::id),
      reset("keys", &TemplateShape::keys),
      reset("order", &TemplateShape::order),
      reset("wrapper", &TemplateShape::wrapper),
      reset("name as key", &TemplateShape::name_is_key),
      reset("dump", &TemplateShape::is_dumped),
      reset("argument marks", &TemplateShape::argument_marks),
      reset("result id", &TemplateShape::result_has_id),
  };
  TemplateShape copy = shape;
  add_mark_steps(marks_of(copy).size(), out);
  return out;
}

std::string to_string(const TemplateShape& shape) {
  static constexpr const char* kNames[] = {"header.open", "header.close", "stop", "call_stop", "thought.open", "thought.close",
                                           "content.open", "content.close", "section.open", "section.close", "call.open",
                                           "call.close", "separator", "id.open", "id.close", "name.open", "name.close",
                                           "arguments.open", "arguments.close", "parameter.open", "parameter.key_close",
                                           "parameter.close", "parameter.again", "parameter.separator", "result.open",
                                           "result.close"};
  TemplateShape copy = shape;
  TemplateShape plain;
  const auto marks = marks_of(copy);
  const auto others = marks_of(plain);
  std::string out;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (*marks[i] != *others[i])
      out += std::string(kNames[i]) + " " + json::to_compact(json::Value(*marks[i])) + "\n";
  }
  const auto number = [&out](const char* name, auto value, auto otherwise) {
    if (value != otherwise) out += std::string(name) + " " + std::to_string(static_cast<int>(value)) + "\n";
  };
  number("reasoning", shape.reasoning, plain.reasoning);
  number("form", shape.form, plain.form);
  number("arguments", shape.arguments, plain.arguments);
  number("argument_form", shape.argument_form, plain.argument_form);
  number("id", shape.id, plain.id);
  number("name_is_key", shape.name_is_key, plain.name_is_key);
  number("is_dumped", shape.is_dumped, plain.is_dumped);
  return out;
}

}  // namespace rondo::test
