#include "tests/support/random_message.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::test {
namespace {

constexpr const char* kToolNames[] = {"get_weather", "search", "add2", "LookUp", "get-time", "maps.find"};
// Where names are written in another way.
constexpr const char* kEscapedName = "R&D";
constexpr const char* kKeys[] = {"city", "days", "k", "a_b", "x1", "query", "is_hot", "Limit"};

constexpr const char* kTexts[] = {"Paris",
                                  "two words",
                                  "a",
                                  "Let me look.",
                                  "l1\nl2",
                                  "l1\n\n  l3\n",
                                  "tab\there",
                                  "é 日本 🙂",
                                  "a\u0301 \u200d x",
                                  "say \"hi\"",
                                  "it's",
                                  "'quoted'",
                                  "\"quoted\"",
                                  "a \"b\" 'c' `d`",
                                  "C:\\dir\\n",
                                  "\\",
                                  "\\\"",
                                  "a\\u0041b",
                                  "<b>x</b>",
                                  "a & b < c > d",
                                  "[[x]]",
                                  "{{ y }}",
                                  "</x>",
                                  "<tag attr=\"v\">",
                                  "&lt;p&gt;",
                                  "```json\n{\"a\": 1}\n```",
                                  "if (a < b && c > d) { e(); }",
                                  "a=1, b=2",
                                  "k: v",
                                  "f(x=1, y='2')",
                                  "- item\n- item",
                                  "# Title\n\ntext",
                                  "| a | b |",
                                  "1. one",
                                  "* *",
                                  "...",
                                  "%",
                                  "@x",
                                  "#1",
                                  "$5"};
// Those that read like something else; not for content, which is free to be a call's beginning there.
constexpr const char* kLookalikes[] = {"",       " lead", "trail ", "\nl\n",      " ",        "\n",
                                       "42",     "-7",    "1.5",    "1e5",        "007",      "12345678901234567890",
                                       "true",   "null",  "None",   "True",       "NaN",      "{\"a\": 1}",
                                       "[1, 2]", "{}",    "[]",     "['a']",      "{'a': 1}", "}",
                                       "]",      "\"",    ",",      "{\"a\": \"", "''"};
constexpr const char* kScalars[] = {"0",
                                    "7",
                                    "-7",
                                    "1000000",
                                    "12345678901234567890",
                                    "-9007199254740993",
                                    "1.5",
                                    "1.0",
                                    "0.1",
                                    "1e5",
                                    "1e21",
                                    "1e-7",
                                    "123456789.125",
                                    "true",
                                    "false",
                                    "null"};

class Writer {
 public:
  Writer(const TemplateShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  MessageParts message() {
    MessageParts out;
    out.names.clear();
    const bool calls = shape_.has_calls && !random_.one_in(4);
    if (shape_.reasoning != ReasoningPlace::kNone && random_.one_in(2)) out.reasoning = prose();
    if (!calls || random_.one_in(3)) out.content = prose();
    if (!calls) return out;
    const std::size_t count = random_.one_in(2) ? 1 : 1 + random_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
      // The last two are no names to Python.
      const bool is_python = shape_.argument_marks.open.starts_with("(");
      out.names.emplace_back(kToolNames[random_.below(std::size(kToolNames) - (is_python ? 2 : 0))]);
      out.calls.push_back(arguments());
    }
    if (!shape_.name_filter.empty()) out.names.front() = kEscapedName;
    return out;
  }

 private:
  std::string prose() {
    std::string out = random_.pick(kTexts);
    for (std::size_t i = random_.below(4); i > 0; --i) {
      static constexpr const char* kJoins[] = {" ", " ", "\n", "\n\n", ", "};
      out += random_.pick(kJoins);
      out += random_.pick(kTexts);
    }
    if (random_.one_in(10)) out = (random_.one_in(2) ? " " : "\n") + out;
    if (random_.one_in(10)) out += random_.one_in(2) ? " " : "\n\n";
    return out;
  }

  std::string string() {
    if (random_.one_in(3)) return random_.pick(kLookalikes);
    return random_.one_in(3) ? prose() : random_.pick(kTexts);
  }

  json::Value value(std::size_t depth) {
    const std::size_t kind = random_.below(depth < 3 ? 9 : 7);
    if (kind < 5) return string();
    if (kind < 7) return json::parse(random_.pick(kScalars)).value();
    if (kind == 7) {
      json::Array out;
      for (std::size_t i = random_.below(4); i > 0; --i) out.push_back(value(depth + 1));
      return out;
    }
    json::Object out;
    for (std::size_t i = random_.below(4); i > 0; --i) {
      const char* key = random_.one_in(6) ? "two words" : random_.pick(kKeys);
      out.set(key, value(depth + 1));
    }
    return out;
  }

  json::Object arguments() {
    json::Object out;
    for (std::size_t i = random_.below(4); i > 0; --i) {
      const char* key = random_.pick(kKeys);
      out.set(key, value(0));
    }
    return out;
  }

  const TemplateShape& shape_;
  Random random_;
};

// Texts that nothing of a message may hold: what begins or ends a block.
std::vector<std::string> borders(const TemplateShape& shape) {
  TemplateShape copy = shape;
  std::vector<std::string> out;
  for (const std::string* mark : marks_of(copy)) {
    const std::string_view text = format::before_counter(format::trimmed(*mark));
    // Shorter ones are punctuation, which is no border by itself.
    if (text.size() > 2) out.emplace_back(text);
  }
  return out;
}

bool holds(const json::Value& value, const std::function<bool(const std::string&)>& test) {
  if (value.is_string()) return test(value.as_string());
  if (value.is_array())
    return std::ranges::any_of(value.as_array(), [&](const json::Value& item) { return holds(item, test); });
  if (!value.is_object()) return false;
  return std::any_of(value.as_object().begin(), value.as_object().end(),
                     [&](const json::Member& member) { return holds(member.value, test); });
}

// Whether a string that stands as it is would end early.
bool ends_early(const TemplateShape& shape, const std::string& text) {
  const ParameterShape& parameter = shape.parameter;
  if (!parameter.again.empty()) return text.find(format::trimmed(parameter.again)) != std::string::npos;
  const std::string_view close = format::trimmed(parameter.close);
  if (!close.empty()) return text.find(close) != std::string::npos;
  // Lines hold no line end.
  return text.find('\n') != std::string::npos;
}

// A key has one type in each tool: raw text would not say which of several is meant.
bool has_one_type_each(const MessageParts& message) {
  std::map<std::string, std::string> types;
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    for (const json::Member& member : message.calls[i]) {
      const std::string schema = json::to_compact(schema_of(member.value, true));
      if (types.emplace(message.names[i] + "." + member.key, schema).first->second != schema) return false;
    }
  }
  return true;
}

bool is_object_text(const std::string& text) {
  const std::string_view inner = format::trimmed(text);
  return inner.find_first_of("{[(") != std::string_view::npos;
}

}  // namespace

MessageParts random_message(const TemplateShape& shape, std::uint64_t seed) {
  for (;; seed += 0x9E3779B97F4A7C15) {
    MessageParts out = Writer(shape, seed).message();
    if (is_expressible(shape, out)) return out;
  }
}

bool is_expressible(const TemplateShape& shape, const MessageParts& message) {
  if (message.content.empty() && message.calls.empty()) return false;
  if (!message.calls.empty() && !shape.has_calls) return false;
  if (!message.reasoning.empty() && shape.reasoning == ReasoningPlace::kNone) return false;
  if (message.reasoning.empty() && shape.reasoning == ReasoningPlace::kOpened) return false;
  // White space alone reads like none.
  if (!message.content.empty() && format::is_blank(message.content)) return false;
  if (!message.reasoning.empty() && format::is_blank(message.reasoning)) return false;
  // Where nothing announces a call, content beside it, and content with brackets, could be one as well.
  if (shape.has_bare_calls() && !message.content.empty() &&
      (!message.calls.empty() || is_object_text(message.content) || is_object_text(message.reasoning)))
    return false;
  if (!has_one_type_each(message)) return false;
  const std::vector<std::string> marks = borders(shape);
  const auto is_bad = [&marks](const std::string& text) {
    return std::ranges::any_of(marks,
                               [&text](const std::string& mark) { return text.find(mark) != std::string::npos; });
  };
  const auto is_bad_value = [&](const std::string& text) {
    return is_bad(text) || (shape.has_raw_values() && ends_early(shape, text));
  };
  if (is_bad(message.content) || is_bad(message.reasoning)) return false;
  return std::ranges::none_of(message.calls,
                              [&](const json::Object& call) { return holds(json::Value(call), is_bad_value); });
}

json::Value tools_for(const MessageParts& message) {
  json::Array tools;
  std::vector<std::string> names(std::begin(kToolNames), std::end(kToolNames));
  if (std::ranges::find(message.names, kEscapedName) != message.names.end()) names.emplace_back(kEscapedName);
  for (const std::string& name : names) {
    json::Object properties;
    for (std::size_t i = 0; i < message.calls.size(); ++i) {
      if (name != message.names[i]) continue;
      for (const json::Member& member : message.calls[i]) properties.set(member.key, schema_of(member.value, true));
    }
    tools.push_back(tool_of(name, std::move(properties), true));
  }
  return json::Value(std::move(tools));
}

std::string to_string(const MessageParts& message) {
  json::Object out;
  if (!message.reasoning.empty()) out.set("reasoning", message.reasoning);
  if (!message.content.empty()) out.set("content", message.content);
  json::Array calls;
  for (std::size_t i = 0; i < message.calls.size(); ++i)
    calls.push_back(json::Object{{message.names[i], message.calls[i]}});
  if (!calls.empty()) out.set("calls", std::move(calls));
  return json::to_compact(json::Value(std::move(out)));
}

namespace {

// Simpler texts, values and members; none if it can't be simpler.
std::vector<std::string> simpler_texts(const std::string& text) {
  if (text == "x" || text.empty()) return {};
  std::vector<std::string> out = {"x"};
  std::size_t middle = text.size() / 2;
  while (middle < text.size() && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) ++middle;
  if (middle > 0 && middle < text.size()) {
    out.push_back(text.substr(middle));
    out.push_back(text.substr(0, middle));
  }
  for (std::size_t at = 0; at < text.size() && text.size() <= 12;) {
    const std::size_t size = utf8::decode(text, at).size;
    out.push_back(text.substr(0, at) + text.substr(at + size));
    at += size;
  }
  std::erase(out, text);
  return out;
}

std::vector<json::Value> simpler_values(const json::Value& value) {
  std::vector<json::Value> out;
  if (value.is_string()) {
    for (const std::string& text : simpler_texts(value.as_string())) out.emplace_back(text);
    return out;
  }
  out.emplace_back("x");
  if (value.is_number() && value.number() != "1") out.emplace_back(1);
  if (value.is_array()) {
    const json::Array& items = value.as_array();
    for (std::size_t i = 0; i < items.size(); ++i) {
      out.push_back(items[i]);
      json::Array fewer = items;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      out.emplace_back(std::move(fewer));
      for (json::Value& inner : simpler_values(items[i])) {
        json::Array changed = items;
        changed[i] = std::move(inner);
        out.emplace_back(std::move(changed));
      }
    }
  }
  if (value.is_object()) {
    for (const json::Member& member : value.as_object()) {
      out.push_back(member.value);
      json::Object fewer = value.as_object();
      fewer.erase(member.key);
      out.emplace_back(std::move(fewer));
      for (json::Value& inner : simpler_values(member.value)) {
        json::Object changed = value.as_object();
        changed.set(member.key, std::move(inner));
        out.emplace_back(std::move(changed));
      }
    }
  }
  return out;
}

}  // namespace

std::vector<MessageParts> simpler_messages(const MessageParts& message) {
  std::vector<MessageParts> out;
  const auto add = [&](const std::function<void(MessageParts&)>& change) {
    MessageParts copy = message;
    change(copy);
    out.push_back(std::move(copy));
  };
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    add([i](MessageParts& m) {
      m.calls.erase(m.calls.begin() + static_cast<std::ptrdiff_t>(i));
      m.names.erase(m.names.begin() + static_cast<std::ptrdiff_t>(i));
    });
    if (message.names[i] != "search") add([i](MessageParts& m) { m.names[i] = "search"; });
  }
  for (std::string MessageParts::* field : {&MessageParts::reasoning, &MessageParts::content}) {
    if ((message.*field).empty()) continue;
    add([field](MessageParts& m) { (m.*field).clear(); });
    for (const std::string& text : simpler_texts(message.*field))
      add([field, &text](MessageParts& m) { m.*field = text; });
  }
  for (std::size_t i = 0; i < message.calls.size(); ++i) {
    for (const json::Member& member : message.calls[i]) {
      add([i, &member](MessageParts& m) { m.calls[i].erase(member.key); });
      for (json::Value& simpler : simpler_values(member.value)) {
        if (!(simpler == member.value))
          add([i, &member, &simpler](MessageParts& m) { m.calls[i].set(member.key, simpler); });
      }
    }
  }
  return out;
}

}  // namespace rondo::test
