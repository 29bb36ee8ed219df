#include "tests/support/read_back.h"

#include <algorithm>
#include <map>

#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::test {
namespace {

bool is_same(const json::Value& a, const json::Value& b) {
  if (a.is_object() && b.is_object()) {
    if (a.as_object().size() != b.as_object().size()) return false;
    return std::all_of(a.as_object().begin(), a.as_object().end(), [&b](const json::Member& member) {
      const json::Value* other = b.find(member.key);
      return other != nullptr && is_same(member.value, *other);
    });
  }
  if (a.is_array() && b.is_array()) {
    return std::equal(a.as_array().begin(), a.as_array().end(), b.as_array().begin(), b.as_array().end(), is_same);
  }
  if (a.kind() == json::Kind::kInteger && b.kind() == json::Kind::kInteger) return a.number() == b.number();
  if (a.kind() != b.kind()) return false;
  if (a.is_number()) return a.to_double() == b.to_double();
  return a == b;
}

std::string cut(std::string text, bool begin, bool end) {
  const std::string_view inner = format::trimmed(text);
  if (inner.empty()) return "";
  const auto at = static_cast<std::size_t>(inner.data() - text.data());
  if (end) text.resize(at + inner.size());
  return begin ? text.substr(at) : text;
}

bool has_null(const json::Value& value) {
  if (value.is_null()) return true;
  if (value.is_array()) return std::any_of(value.as_array().begin(), value.as_array().end(), has_null);
  if (!value.is_object()) return false;
  const auto is_null = [](const json::Member& member) { return has_null(member.value); };
  return std::any_of(value.as_object().begin(), value.as_object().end(), is_null);
}

bool has_quotes(const json::Value& value) {
  if (value.is_string()) return value.as_string().find_first_of("\"'") != std::string::npos;
  if (value.is_array()) return std::any_of(value.as_array().begin(), value.as_array().end(), has_quotes);
  if (!value.is_object()) return false;
  const auto is_quoted = [](const json::Member& member) { return has_quotes(member.value); };
  return std::any_of(value.as_object().begin(), value.as_object().end(), is_quoted);
}

bool has_line_end(const json::Value& value) {
  return value.is_string() && value.as_string().find('\n') != std::string::npos;
}

bool has_syntax(const json::Value& value) {
  return has_quotes(value) || (value.is_string() && value.as_string().find_first_of(",)]}=") != std::string::npos);
}

}  // namespace

std::string difference(const MessageParts& wanted, const chat::AssistantMessage& got, const format::Trims& trims) {
  const std::string reasoning = got.reasoning.value_or("");
  if (cut(reasoning, trims.reasoning_begin, trims.reasoning_end) !=
      cut(wanted.reasoning, trims.reasoning_begin, trims.reasoning_end))
    return "reasoning " + json::to_compact(json::Value(reasoning));
  if (cut(got.content, trims.content_begin, trims.content_end) !=
      cut(wanted.content, trims.content_begin, trims.content_end))
    return "content " + json::to_compact(json::Value(got.content));
  if (got.tool_calls.size() != wanted.calls.size()) return std::to_string(got.tool_calls.size()) + " calls";
  for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
    const chat::ToolCall& call = got.tool_calls[i];
    if (call.name != wanted.names[i]) return "name " + call.name;
    if (call.status != chat::CallStatus::kOk) return "status of call " + std::to_string(i) + " " + call.arguments;
    const auto arguments = json::parse(call.arguments);
    if (!arguments.ok() || !is_same(arguments.value(), json::Value(wanted.calls[i])))
      return "arguments " + call.arguments;
  }
  return "";
}

bool may_stop_early(const format::Format& format, const MessageParts& wanted) {
  const auto says_so = [](const std::string& note) {
    return note.starts_with("only the next turn's header ends a turn") ||
           note.starts_with("only the calls' close ends a turn of calls");
  };
  const std::size_t blocks = wanted.calls.size() + (wanted.content.empty() ? 0 : 1);
  return blocks > 1 && std::ranges::any_of(format.notes, says_so);
}

bool is_told(const format::Format& format, const MessageParts& wanted) {
  const auto any_argument = [&wanted](bool (*test)(const json::Value&)) {
    for (const json::Object& call : wanted.calls) {
      for (const json::Member& member : call) {
        if (test(member.value)) return true;
      }
    }
    return false;
  };
  const bool content = !wanted.content.empty();
  const bool reasoning = !wanted.reasoning.empty();
  const bool calls = !wanted.calls.empty();
  const bool several =
      std::any_of(wanted.calls.begin(), wanted.calls.end(), [](const json::Object& call) { return call.size() > 1; });
  const std::map<std::string, bool> concerned = {
      {"content beside calls", content && calls},
      {"calls beside content", content && calls},
      {"calls behind content", content && calls},
      {"reasoning beside calls", reasoning && calls},
      {"reasoning beside content", reasoning && content},
      {"calls behind the first", wanted.calls.size() > 1},
      {"calls from the third on", wanted.calls.size() > 2},
      {"null arguments", any_argument(has_null)},
      {"several arguments", several},
      {"bare strings", any_argument(has_syntax)},
      {"lines in strings", any_argument(has_line_end)},
      {"answers without reasoning", !reasoning},
      {"reasoning in history", reasoning},
      {"white space before content", content && calls},
      {"quotes in strings", any_argument(has_quotes)},
  };
  return std::any_of(format.losses.begin(), format.losses.end(), [&concerned](const format::Loss& loss) {
    const auto found = concerned.find(loss.what);
    return found != concerned.end() && found->second;
  });
}

}  // namespace rondo::test
