#include "core/continued_calls.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "chat/reasoning_fields.h"
#include "core/prompt.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/json_scan.h"
#include "parse/partial_value.h"

namespace rondo::core {
namespace {

using format::trimmed;

// Marks where the arguments continue.  No real parameter has this name.
constexpr std::string_view kMark = "rondo_goes_on_here";

// Arguments that may end anywhere.
struct PartialArguments {
  std::string text;      // as given
  json::Object members;  // those that are complete
  // What follows the complete members: the object's end, or a member that is cut off.
  bool is_closed = false;
  bool has_separator = false;  // a comma follows the last complete member
  std::optional<std::string> key;
  std::string value;  // as written, from its first byte on; "" if it has not begun
};

// The end of the last member of `text` that a comma follows; npos if there is none.
std::size_t last_comma(std::string_view text) {
  parse::JsonScanner scanner;
  std::size_t found = std::string_view::npos;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t depth = scanner.depth();
    if (text[i] == ',' && depth == 1 && !is_string) found = i;
    const parse::JsonScanner::Step step = scanner.step(text[i]);
    if (step.bad) break;
    if (text[i] == '"' && step.begins_value) is_string = true;
    if (step.ends_value) is_string = false;
  }
  return found;
}

// The member that `rest` begins: `"key": value`, cut off anywhere.
void read_cut_member(std::string_view rest, PartialArguments& out) {
  rest = rest.substr(std::min(rest.size(), rest.find_first_not_of(" \t\r\n")));
  if (rest.empty() || rest.front() != '"') return;
  std::size_t end = 1;
  while (end < rest.size() && rest[end] != '"') end += rest[end] == '\\' ? 2 : 1;
  out.key = std::string(rest.substr(1, std::min(end, rest.size()) - 1));
  if (end >= rest.size()) return;
  const std::size_t colon = rest.find_first_not_of(" \t\r\n", end + 1);
  if (colon == std::string_view::npos || rest[colon] != ':') return;
  const std::size_t value = rest.find_first_not_of(" \t\r\n", colon + 1);
  if (value != std::string_view::npos) out.value = rest.substr(value);
}

PartialArguments read_arguments(const json::Value& given) {
  PartialArguments out;
  out.text = given.is_string() ? given.as_string() : json::to_compact(given);
  if (auto whole = json::parse(out.text); whole.ok() && whole.value().is_object()) {
    out.members = std::move(whole.value().as_object());
    out.is_closed = true;
    return out;
  }
  const std::size_t comma = last_comma(out.text);
  const std::size_t open = out.text.find('{');
  if (open == std::string::npos) return out;
  out.has_separator = comma != std::string::npos;
  if (out.has_separator) {
    auto head = json::parse(out.text.substr(0, comma) + "}");
    if (head.ok() && head.value().is_object()) out.members = std::move(head.value().as_object());
  }
  read_cut_member(std::string_view(out.text).substr(out.has_separator ? comma + 1 : open + 1), out);
  return out;
}

json::Object* function_of(json::Value& call) {
  if (!call.is_object()) return nullptr;
  json::Value* nested = call.as_object().find(chat::kCallFunctionKey);
  if (nested == nullptr) return &call.as_object();
  return nested->is_object() ? &nested->as_object() : nullptr;
}

bool is_text(const format::Format& format) {
  return format.input.arguments_as_text || format.calls.arguments == format::ArgumentStyle::kJsonText;
}

// Arguments of a call that is complete, as the template wants them.
void shape(json::Object& function, const format::Format& format) {
  json::Value* arguments = function.find("arguments");
  if (arguments == nullptr) return;
  if (format.input.arguments_as_text && !arguments->is_string()) {
    *arguments = json::Value(json::to_compact(*arguments));
  } else if (!format.input.arguments_as_text && arguments->is_string()) {
    auto read = json::parse(arguments->as_string());
    if (read.ok() && read.value().is_object()) *arguments = std::move(read).value();
  }
}

// The message with only its calls.  The arguments of the last call have kMark where they go on.
Result<json::Value> marked_message(const json::Value& message, const format::Format& format, PartialArguments& given) {
  json::Object out = message.as_object();
  json::Value* calls = out.find("tool_calls");
  if (calls == nullptr || !calls->is_array() || calls->as_array().empty())
    return Error(ErrorCode::kTemplateError, "there are no tool_calls to continue");
  for (json::Value& call : calls->as_array()) {
    json::Object* function = function_of(call);
    if (function == nullptr) return Error(ErrorCode::kTemplateError, "a tool call that is no object");
    if (&call != &calls->as_array().back()) {
      shape(*function, format);
      continue;
    }
    const json::Value* arguments = function->find("arguments");
    given = read_arguments(arguments != nullptr ? *arguments : json::Value(""));
    json::Object marked;
    if (format.calls.arguments == format::ArgumentStyle::kParameters) marked = given.members;
    marked.set(kMark, kMark);
    function->set("arguments", is_text(format) ? json::Value(given.text + std::string(kMark)) : json::Value(marked));
  }
  out.erase("content");
  if (format.input.no_content == format::NoContent::kEmpty) out.set("content", "");
  if (format.input.no_content == format::NoContent::kNull) out.set("content", json::Value());
  for (const std::string_view field : chat::kReasoningFields) out.erase(field);
  return json::Value(std::move(out));
}

// Where the calls begin in `text`, whose turn begins at or after `from`.
std::size_t calls_begin(std::string_view text, std::size_t from, const format::Format& format) {
  if (!format.header.empty()) {
    const std::size_t header = text.find(format.header, from);
    if (header != std::string_view::npos) from = header + format.header.size();
  }
  for (const std::string& open : {format.calls.section_open, format.calls.call_open}) {
    const std::string_view core = format::before_counter(trimmed(open));
    if (core.empty()) continue;
    const std::size_t at = text.find(core, from);
    return at == std::string_view::npos ? from : at;
  }
  return from;
}

// Where `text` ends before the mark; npos if the mark is not at the expected place.
std::size_t cut_before_mark(std::string_view text, const format::Format& format, const PartialArguments& given) {
  const std::size_t mark = text.find(kMark);
  if (mark == std::string_view::npos || is_text(format)) return mark;
  if (format.calls.arguments != format::ArgumentStyle::kParameters) return text.rfind('{', mark);
  const format::Parameters& parameters = format.calls.parameters;
  std::size_t cut = mark;
  // A number in a marker of parameters is that of the parameter.
  const auto drop = [&](const std::string& marker) {
    const std::string before = format::numbered(marker, given.members.size() + 1);
    const bool stands = text.substr(0, cut).ends_with(before);
    if (stands) cut -= before.size();
    return stands;
  };
  if (!drop(parameters.open)) return std::string_view::npos;
  if (!given.has_separator && !given.members.empty()) (void)drop(parameters.separator);
  return cut;
}

const format::ValueForm* form_of(const format::Format& format, char first) {
  using format::ValueType;
  ValueType type = ValueType::kInteger;
  if (first == '"') type = ValueType::kString;
  if (first == '{') type = ValueType::kObject;
  if (first == '[') type = ValueType::kArray;
  const auto& forms = format.calls.parameters.forms;
  const auto found = std::ranges::find(forms, type, &format::ValueForm::type);
  return found == forms.end() ? nullptr : &*found;
}

// The parameter that is cut off.
Status add_cut_parameter(const format::Format& format, const PartialArguments& given, std::vector<CallPart>& out) {
  const format::Parameters& parameters = format.calls.parameters;
  if (!given.key) return Done{};
  const format::ValueForm* form = given.value.empty() ? nullptr : form_of(format, given.value.front());
  const bool has_opener = form != nullptr && !form->key_open.empty();
  const std::string& opener = has_opener ? form->key_open : parameters.open;
  out.push_back({false, format::numbered(opener, given.members.size() + 1)});
  out.push_back({true, *given.key});
  if (given.value.empty()) return Done{};
  const bool is_string = given.value.front() == '"';
  const bool is_raw = form != nullptr && (form->style == format::ValueStyle::kRaw ||
                                          (is_string && form->style == format::ValueStyle::kNested));
  if (form == nullptr || (!is_raw && form->style != format::ValueStyle::kJson))
    return Error(ErrorCode::kTemplateError,
                 "`" + *given.key + "` cannot be continued: the format has no way to write a part of its value");
  out.push_back({false, parameters.key_close + form->open});
  if (!is_raw || !is_string) {
    out.push_back({true, given.value});
    return Done{};
  }
  parse::PartialValue value;
  value.feed(given.value);
  out.push_back({true, value.value().is_string() ? value.value().as_string() : ""});
  return Done{};
}

}  // namespace

Result<std::vector<CallPart>> continued_calls(const Prepared& prepared, const chat::Conversation& conversation,
                                              const format::Format& format) {
  if (!format.calls.present) return Error(ErrorCode::kTemplateError, "the template never writes tool_calls");
  PartialArguments given;
  auto message = marked_message(conversation.messages.back(), format, given);
  if (!message.ok()) return message.error();
  chat::Conversation marked = conversation;
  marked.continue_final_message.reset();
  marked.messages.back() = std::move(message).value();
  tmpl::ApplyOptions options = prepared.options;
  options.origins = true;
  const auto rendered = tmpl::apply(*prepared.chat_template, marked, options);
  if (!rendered.ok()) return rendered.error();

  const std::string_view text = rendered.value().text.bytes();
  const auto last = static_cast<std::int32_t>(conversation.messages.size()) - 1;
  const std::size_t begin = calls_begin(text, end_of_earlier_data(rendered.value(), last), format);
  const std::size_t cut = cut_before_mark(text, format, given);
  if (cut == std::string_view::npos || cut < begin)
    return Error(ErrorCode::kTemplateError, "the template does not write the arguments where the format has them");
  std::vector<CallPart> out;
  const text::Text calls = rendered.value().text.slice(begin, cut);
  std::size_t at = 0;
  for (const text::Run& run : calls.runs()) {
    const bool is_data = rendered.value().origins.paths.message(run.path()) != text::kNoMessage;
    if (out.empty() || out.back().is_data != is_data) out.push_back({is_data, ""});
    out.back().text += std::string_view(calls.bytes()).substr(at, run.size);
    at += run.size;
  }
  if (is_text(format)) return out;
  if (format.calls.arguments != format::ArgumentStyle::kParameters) {
    out.push_back({true, given.text});
  } else if (Status added = add_cut_parameter(format, given, out); !added.ok()) {
    return added.error();
  }
  return out;
}

}  // namespace rondo::core
