#include "spans/visible.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "chat/reasoning_fields.h"
#include "chat/results.h"
#include "json/parse.h"
#include "parse/partial_value.h"
#include "spans/bytes.h"
#include "unicode/classes.h"

namespace rondo::spans {
namespace {

constexpr std::string_view kAssistant = "assistant";
constexpr std::string_view kHiddenReasoning = "redacted_thinking";
constexpr std::string_view kCallsField = "tool_calls";
constexpr std::string_view kResultIdField = "tool_call_id";
constexpr std::array<std::string_view, 3> kKeyFields = {"id", "signature", "encrypted_content"};

// The white space that Python, JavaScript and shells trim.
bool is_space(char32_t c) { return unicode::is_white_space(c) || (c >= 0x1C && c <= 0x1F) || c == 0xFEFF; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty()) {
    const utf8::Decoded first = utf8::decode(text, 0);
    if (!first.valid || !is_space(first.code_point)) break;
    text.remove_prefix(first.size);
  }
  while (!text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
    const utf8::Decoded last = utf8::decode(text, at);
    if (!last.valid || !is_space(last.code_point)) break;
    text.remove_suffix(text.size() - at);
  }
  return text;
}

// Some clients write a float that is a whole number as an integer, others as a float.
std::string number_form(const json::Value& value) {
  const std::string& text = value.number();
  if (value.kind() == json::Kind::kInteger) return text == "-0" ? "0" : text;
  const std::optional<double> number = value.to_double();
  if (!number || !std::isfinite(*number)) return text;
  std::array<char, 400> out{};
  const bool is_whole = *number == std::floor(*number);
  const double zero_free = *number == 0 ? 0 : *number;
  std::snprintf(out.data(), out.size(), is_whole ? "%.0f" : "%.17g", zero_free);
  return out.data();
}

bool is_nothing(const json::Value& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         (value.is_array() && value.as_array().empty()) || (value.is_object() && value.as_object().empty());
}

void put_form(std::string& out, const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: out += 'z'; return;
    case json::Kind::kBool: out += value.as_bool() ? 't' : 'f'; return;
    case json::Kind::kInteger:
    case json::Kind::kFloat:
      out += 'n';
      put_text(out, number_form(value));
      return;
    case json::Kind::kString:
      out += 's';
      put_text(out, value.as_string());
      return;
    case json::Kind::kArray:
      out += 'a';
      put_number(out, value.as_array().size());
      for (const json::Value& item : value.as_array()) put_form(out, item);
      return;
    case json::Kind::kObject: break;
  }
  std::vector<const json::Member*> members;
  for (const json::Member& member : value.as_object()) members.push_back(&member);
  std::ranges::sort(members, {}, [](const json::Member* member) -> const std::string& { return member->key; });
  out += 'o';
  put_number(out, members.size());
  for (const json::Member* member : members) {
    put_text(out, member->key);
    put_form(out, member->value);
  }
}

// Adds the form of a content.  Joins adjacent texts.
class ContentForm {
 public:
  // `is_reply`: reasoning between tags at the beginning is no part of the form.
  ContentForm(std::string& out, bool is_reply) : out_(out), begin_(out.size()), is_reply_(is_reply) {}

  void put(const json::Value* content) {
    if (content == nullptr || content->is_null()) return;
    if (content->is_string()) return put_text_of(content->as_string());
    if (content->is_array()) {
      for (const json::Value& part : content->as_array()) take(part);
    } else {
      put_part(*content);
    }
    end_text();
  }

 private:
  void take(const json::Value& part) {
    const std::string_view type = part.find_string("type").value_or("");
    const auto text = part.find_string("text");
    if (chat::is_reasoning_field(type) || type == kHiddenReasoning) return;
    if (part.is_string()) {
      text_ += part.as_string();
    } else if (text && (type.empty() || type.ends_with("text"))) {
      text_ += *text;
    } else {
      put_part(part);
    }
  }
  void put_part(const json::Value& part) {
    end_text();
    out_ += 'p';
    put_form(out_, part);
  }
  void end_text() { put_text_of(std::exchange(text_, {})); }
  void put_text_of(std::string_view all) {
    const bool is_tagged = is_reply_ && out_.size() == begin_;
    const std::string_view text = trimmed(is_tagged ? chat::split_tagged(all).rest : all);
    if (text.empty()) return;
    out_ += 't';
    put_text(out_, text);
  }

  std::string& out_;
  std::size_t begin_;  // of the form in `out_`
  bool is_reply_;
  std::string text_;  // texts that are joined
};

const json::Array* calls_of(const json::Value& message) {
  const json::Value* calls = message.find(kCallsField);
  return calls != nullptr && calls->is_array() && !calls->as_array().empty() ? &calls->as_array() : nullptr;
}

const json::Value* arguments_of(const json::Value& call) {
  const json::Value& function = chat::function_of(call);
  if (!function.is_object()) return nullptr;
  for (const json::Member& member : function.as_object()) {
    if (chat::is_arguments_key(member.key)) return &member.value;
  }
  return nullptr;
}

void put_call(std::string& out, const json::Value& call) {
  out += 'c';
  const auto name = chat::function_of(call).find_string("name");
  put_text(out, name.value_or(""));
  put_text(out, arguments_form(arguments_of(call)));
}

bool is_result(const json::Value& message) {
  const auto role = message.find_string("role");
  return role == "tool" || role == "function";
}

// The call that a result answers, and the name of the called tool.
struct Answered {
  std::optional<std::size_t> call;
  std::string name;
};

Answered answered_by(const json::Array& messages, std::size_t index) {
  std::size_t first = index;
  while (first > 0 && is_result(messages[first - 1])) --first;
  if (first == 0) return {};
  const std::vector<chat::OpenCall> calls = chat::open_calls(messages[first - 1]);
  std::vector<const json::Value*> results;
  for (std::size_t i = first; i <= index; ++i) results.push_back(&messages[i]);
  const std::optional<std::size_t> call = chat::match_results(calls, results).back().call;
  if (!call) return {};
  return {call, std::string(calls[*call].name)};
}

// The reasoning that a message shows outside its text.
std::string open_reasoning(const json::Value& message) {
  for (const std::string_view field : chat::kReasoningFields) {
    if (const auto text = message.find_string(field); text && !text->empty()) return std::string(*text);
  }
  const json::Value* content = message.find("content");
  if (content == nullptr || !content->is_array()) return "";
  json::Array parts = content->as_array();
  return chat::take_reasoning_parts(parts);
}

std::string tagged_reasoning(const json::Value& message) {
  return chat::split_tagged(chat::content_text(message)).reasoning;
}

// Other fields that a template may read in a message that nobody sampled.
void put_other_fields(std::string& out, const json::Value& message, const std::string& answered_name) {
  json::Object others;
  for (const json::Member& member : message.as_object()) {
    const bool is_known = member.key == "role" || member.key == "content" || member.key == kResultIdField ||
                          chat::is_reasoning_field(member.key) || std::ranges::count(kKeyFields, member.key) > 0;
    if (is_known || is_nothing(member.value)) continue;
    if (member.key == "name" && member.value.is_string() && member.value.as_string() == answered_name) continue;
    others.set(member.key, member.value);
  }
  if (others.empty()) return;
  out += 'x';
  put_form(out, json::Value(std::move(others)));
}

// The form with the calls of `calls`.
std::string assistant_form(const json::Value& message, const json::Array& calls) {
  std::string out;
  put_text(out, kAssistant);
  const json::Value* content = message.find("content");
  ContentForm(out, true).put(content == nullptr || content->is_null() ? message.find("refusal") : content);
  for (const json::Value& call : calls) put_call(out, call);
  if (const json::Value* call = message.find("function_call"); call != nullptr && !is_nothing(*call))
    put_call(out, *call);
  return out;
}

// Whether the arguments are a text that is not JSON: the call was cut off or badly written.
bool has_broken_arguments(const json::Value& call) {
  const json::Value* arguments = arguments_of(call);
  return arguments != nullptr && arguments->is_string() && !trimmed(arguments->as_string()).empty() &&
         !json::parse(arguments->as_string()).ok();
}

// Whether `given` may be what a client made of the call.  It may differ only if the arguments are broken; then it has
// the complete part of them.
bool shows_call(const json::Value& said, const json::Value& given) {
  if (chat::function_of(said).find_string("name") != chat::function_of(given).find_string("name")) return false;
  const json::Value* arguments = arguments_of(said);
  const std::string shown = arguments_form(arguments_of(given));
  if (shown == arguments_form(arguments)) return true;
  if (!has_broken_arguments(said)) return false;
  parse::PartialValue partial;
  partial.feed(arguments->as_string());
  const json::Value complete = partial.without_open_text();
  // Some readers treat a member as complete only if another one follows.
  json::Value fewer = complete;
  if (fewer.is_object() && !fewer.as_object().empty()) {
    const std::string last = (fewer.as_object().end() - 1)->key;
    fewer.as_object().erase(last);
  }
  return shown == arguments_form(&partial.value()) || shown == arguments_form(&complete) ||
         shown == arguments_form(&fewer) || shown == arguments_form(nullptr);
}

}  // namespace

std::string value_form(const json::Value& value) {
  std::string out;
  put_form(out, value);
  return out;
}

std::string arguments_form(const json::Value* arguments) {
  const json::Value none{json::Object()};
  if (arguments == nullptr || is_nothing(*arguments)) return value_form(none);
  if (!arguments->is_string()) return value_form(*arguments);
  if (trimmed(arguments->as_string()).empty()) return value_form(none);
  const Result<json::Value> parsed = json::parse(arguments->as_string());
  if (!parsed.ok()) return value_form(json::Value(trimmed(arguments->as_string())));
  return value_form(is_nothing(parsed.value()) ? none : parsed.value());
}

std::string visible_form(const json::Array& messages, std::size_t index) {
  const json::Value& message = messages[index];
  const std::string_view role = message.find_string("role").value_or("");
  const json::Array none;
  const json::Array* calls = calls_of(message);
  if (role == kAssistant) return assistant_form(message, calls == nullptr ? none : *calls);
  std::string out;
  put_text(out, role);
  ContentForm(out, false).put(message.find("content"));
  Answered answered;
  if (is_result(message)) {
    answered = answered_by(messages, index);
    out += 'r';
    put_number(out, answered.call ? *answered.call + 1 : 0);
  }
  put_other_fields(out, message, answered.name);
  return out;
}

Digest message_digest(const Scope& scope, const json::Array& messages, std::size_t index) {
  return scope.hash('m', visible_form(messages, index));
}

Digest pair_digest(const Scope& scope, const Digest& before, const Digest& reply) {
  return scope.hash('p', std::string(before.view()) + std::string(reply.view()));
}

void see_next(const Scope& scope, const Digest& message, Visible& seen) {
  seen.messages.push_back(message);
  seen.chain.push_back(scope.hash('c', std::string(seen.chain.back().view()) + std::string(message.view())));
}

Visible see(const Scope& scope, const chat::Conversation& conversation) {
  Visible out;
  std::string context;
  for (const std::optional<json::Value>* list : {&conversation.tools, &conversation.documents})
    put_text(context, *list && !is_nothing(**list) ? value_form(**list) : "");
  out.context = scope.hash('d', context);
  out.chain.push_back(out.context);
  for (std::size_t i = 0; i < conversation.messages.size(); ++i)
    see_next(scope, message_digest(scope, conversation.messages, i), out);
  return out;
}

bool shows_cut_reply(const json::Value& reply, const json::Value& shown, bool is_cut) {
  const json::Array none;
  const json::Array* said = calls_of(reply);
  const json::Array& given = calls_of(shown) == nullptr ? none : *calls_of(shown);
  if (said == nullptr || said->empty() || (!is_cut && std::ranges::none_of(*said, has_broken_arguments))) return false;
  // A client that cannot read the last call, or did not get its end, may leave it out.
  const bool is_short = given.size() + 1 == said->size() && (is_cut || has_broken_arguments(said->back()));
  if (given.size() != said->size() && !is_short) return false;
  if (assistant_form(reply, none) != assistant_form(shown, none)) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!shows_call((*said)[i], given[i])) return false;
  }
  return true;
}

bool shows_calls_alone(const json::Value& reply, const json::Value& shown) {
  const json::Array* said = calls_of(reply);
  const json::Array* given = calls_of(shown);
  if (said == nullptr || given == nullptr) return false;
  return assistant_form(json::Object(), *said) == assistant_form(shown, *given);
}

std::string shown_text(const json::Value& message) {
  return std::string(trimmed(chat::split_tagged(chat::content_text(message)).rest));
}

bool shows_beginning(const json::Value& reply, const json::Value& shown) {
  if (calls_of(shown) != nullptr || shown.find("function_call") != nullptr) return false;
  const std::string said = shown_text(reply);
  const std::string given = shown_text(shown);
  return given.size() < said.size() && said.starts_with(given);
}

bool shows_reasoning(const json::Value& message) {
  const auto is_filled = [&](std::string_view field) { return chat::is_filled(message.find(field)); };
  if (std::ranges::any_of(chat::kReasoningFields, is_filled)) return true;
  const json::Value* content = message.find("content");
  if (content != nullptr && content->is_string()) return !chat::split_tagged(content->as_string()).reasoning.empty();
  return !open_reasoning(message).empty() || !tagged_reasoning(message).empty();
}

bool has_other_reasoning(const json::Value& reply, const json::Value& shown, bool is_continued) {
  std::string open = open_reasoning(shown);
  std::string tagged = tagged_reasoning(shown);
  std::string said = open_reasoning(reply) + tagged_reasoning(reply);
  if (is_continued) {
    const std::string given = open + tagged;
    return !trimmed(given).empty() && trimmed(given) != trimmed(said);
  }
  // Clients join the parts of reasoning with white space of their own.
  for (std::string* text : {&open, &tagged, &said})
    std::erase_if(*text, [](char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); });
  // They may send one of the parts alone, and one in both places.
  return said.find(open) == std::string::npos || said.find(tagged) == std::string::npos;
}

std::vector<std::string_view> echoed_ids(const json::Value& message) {
  std::vector<std::string_view> out;
  const auto take = [&out](const json::Value& from) {
    for (const std::string_view field : kKeyFields) {
      if (const auto id = from.find_string(field); id && !id->empty()) out.push_back(*id);
    }
  };
  if (!message.is_object()) return out;
  take(message);
  for (const std::string_view field :
       {kCallsField, std::string_view("content"), std::string_view("reasoning_details")}) {
    const json::Value* list = message.find(field);
    if (list == nullptr || !list->is_array()) continue;
    for (const json::Value& item : list->as_array()) take(item);
  }
  return out;
}

}  // namespace rondo::spans
