// Reading a report back from its JSON.
#include <limits>
#include <utility>

#include "audit/report.h"

namespace rondo::audit {
namespace {

// The members of one object.  The first that does not fit is written to `wrong`; what cannot be read stays as it was.
class Members {
 public:
  // Both must outlive this.
  Members(const json::Value& object, std::string path, std::string& wrong)
      : object_(object), path_(std::move(path)), wrong_(wrong) {
    if (!object.is_object()) complain(path_, "an object", object);
  }

  void read(const char* key, std::string& out) {
    if (const json::Value* value = find(key, &json::Value::is_string, "a string")) out = value->as_string();
  }

  void read(const char* key, bool& out) {
    if (const json::Value* value = find(key, &json::Value::is_bool, "a boolean")) out = value->as_bool();
  }

  template <typename Number>
  void read_number(const char* key, Number& out) {
    const json::Value* value = find(key, &json::Value::is_number, "a number");
    if (value == nullptr) return;
    const auto number = value->to_int64();
    if (number && std::in_range<Number>(*number)) {
      out = static_cast<Number>(*number);
    } else if (wrong_.empty()) {
      wrong_ = place_of(key) + ": the number " + value->number() + " is out of range";
    }
  }

  void read(const char* key, json::Object& out) {
    if (const json::Value* value = find(key, &json::Value::is_object, "an object")) out = value->as_object();
  }

  // One of the names of an enumeration whose last value is `last`.
  template <typename E>
  void read_name(const char* key, E& out, E last) {
    const json::Value* value = find(key, &json::Value::is_string, "a string");
    if (value == nullptr) return;
    for (int at = 0; at <= static_cast<int>(last); ++at) {
      if (to_string(static_cast<E>(at)) == value->as_string()) {
        out = static_cast<E>(at);
        return;
      }
    }
    if (wrong_.empty()) wrong_ = place_of(key) + ": `" + value->as_string() + "` is not known here";
  }

  template <typename Read>
  void read_part(const char* key, const Read& read_it) {
    const json::Value* value = find(key, &json::Value::is_object, "an object");
    if (value == nullptr) return;
    Members part(*value, place_of(key), wrong_);
    read_it(part);
  }

  // `read_it` gets the members of an element and the new entry of `out`.
  template <typename T, typename Read>
  void read_list(const char* key, std::vector<T>& out, const Read& read_it) {
    const json::Value* value = find(key, &json::Value::is_array, "an array");
    if (value == nullptr) return;
    for (const json::Value& element : value->as_array()) {
      Members part(element, place_of(key) + "[" + std::to_string(out.size()) + "]", wrong_);
      read_it(part, out.emplace_back());
    }
  }

  void read(const char* key, std::vector<std::string>& out) {
    const json::Value* value = find(key, &json::Value::is_array, "an array");
    if (value == nullptr) return;
    for (const json::Value& element : value->as_array()) {
      if (!element.is_string()) return complain(place_of(key), "an array of strings", *value);
      out.push_back(element.as_string());
    }
  }

  void read(const char* key, std::vector<json::Value>& out) {
    if (const json::Value* value = find(key, &json::Value::is_array, "an array")) out = value->as_array();
  }

  [[nodiscard]] bool has(const char* key) const { return object_.find(key) != nullptr; }

 private:
  const json::Value* find(const char* key, bool (json::Value::*is_kind)() const, const char* expected) {
    const json::Value* value = object_.find(key);
    if (value == nullptr || (value->*is_kind)()) return value;
    complain(place_of(key), expected, *value);
    return nullptr;
  }

  void complain(const std::string& place, const char* expected, const json::Value& found) {
    if (!wrong_.empty()) return;
    wrong_ = place.empty() ? "a report" : place;
    wrong_ += std::string(": expected ") + expected + ", found " + std::string(json::describe(found.kind()));
  }

  [[nodiscard]] std::string place_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  const json::Value& object_;
  std::string path_;
  std::string& wrong_;
};

void read_place(Members& members, TemplatePlace& place) {
  members.read_number("line", place.line);
  members.read_number("column", place.column);
  members.read("source", place.source);
}

void read_remedy(Members& members, Remedy& remedy) {
  members.read_name("kind", remedy.kind, Remedy::Kind::kBridge);
  members.read("sentence", remedy.sentence);
  members.read("kwargs", remedy.kwargs);
  members.read("verified", remedy.is_verified);
}

void read_cause(Members& members, Cause& cause) {
  members.read_name("kind", cause.kind, CauseKind::kCondition);
  members.read("sentence", cause.sentence);
  members.read_part("place", [&](Members& part) { read_place(part, cause.place); });
  members.read("path", cause.path);
  members.read_number("message", cause.message);
}

void read_token(Members& members, TokenView& token) {
  members.read_number("id", token.id);
  members.read("text", token.text);
}

void read_break(Members& members, Break& broken) {
  members.read_number("kept_tokens", broken.kept_tokens);
  members.read_number("lost_tokens", broken.lost_tokens);
  members.read("in_prompt", broken.in_prompt);
  members.read("before", broken.before);
  members.read("kept", broken.kept);
  members.read("rerendered", broken.rerendered);
  members.read_part("tokens", [&](Members& part) {
    part.read_list("before", broken.tokens.before, read_token);
    part.read_list("kept", broken.tokens.kept, read_token);
    part.read_list("rerendered", broken.tokens.rerendered, read_token);
  });
  members.read("field", broken.field);
  members.read_part("cause", [&](Members& part) { read_cause(part, broken.cause); });
  members.read_list("remedies", broken.remedies, read_remedy);
}

void read_case(Members& members, Case& played) {
  members.read("scenario", played.scenario);
  members.read("title", played.title);
  members.read("setting", played.setting);
  members.read("kwargs", played.kwargs);
  members.read("inherent", played.is_inherent);
  members.read_name("string_prefix", played.string_prefix, Verdict::kSkipped);
  members.read_name("token_prefix", played.token_prefix, Verdict::kSkipped);
  members.read_name("bridge", played.bridge, Verdict::kSkipped);
  members.read_name("parse_of_render", played.parse_of_render, Verdict::kSkipped);
  members.read_name("render_of_parse", played.render_of_parse, Verdict::kSkipped);
  members.read_number("prompt_tokens", played.prompt_tokens);
  members.read_number("completion_tokens", played.completion_tokens);
  if (members.has("break")) {
    Break& broken = played.broken.emplace();
    members.read_part("break", [&](Members& part) { read_break(part, broken); });
  }
  members.read("note", played.note);
}

void read_finding(Members& members, Finding& finding) {
  members.read("rule", finding.rule);
  members.read_name("level", finding.level, Level::kError);
  members.read("sentence", finding.sentence);
  members.read("proof", finding.proof);
  members.read_part("place", [&](Members& part) { read_place(part, finding.place); });
  members.read("path", finding.path);
  members.read("scenarios", finding.scenarios);
  members.read_number("lost_tokens", finding.lost_tokens);
  members.read_list("remedies", finding.remedies, read_remedy);
}

}  // namespace

Result<Report> report_from_json(const json::Value& value) {
  Report report;
  std::string wrong;
  Members members(value, "", wrong);
  members.read("model", report.model);
  members.read("template_file", report.template_file);
  members.read("is_own_file", report.is_own_file);
  members.read("has_tokenizer", report.has_tokenizer);
  members.read("template_lines", report.template_lines);
  members.read_list("knobs", report.knobs, [](Members& part, Knob& knob) {
    part.read("name", knob.name);
    part.read("values", knob.values);
  });
  members.read_list("cases", report.cases, read_case);
  members.read_list("findings", report.findings, read_finding);
  members.read_list("notes", report.notes, read_finding);
  if (wrong.empty()) return report;
  return Error(ErrorCode::kInvalidArgument, std::move(wrong));
}

}  // namespace rondo::audit
