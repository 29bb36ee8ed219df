#include "template/shape.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "chat/conversation.h"
#include "chat/reasoning_fields.h"
#include "json/parse.h"
#include "json/print.h"
#include "template/chat_template.h"

namespace rondo::tmpl {
namespace {

using Content = RoleRules::Content;
using Empty = RoleRules::Empty;
using Arguments = MessageRules::Arguments;
using Ids = MessageRules::Ids;

constexpr std::size_t kShortId = 9;

bool is_none(const json::Value* value) {
  return value == nullptr || value->is_null() || (value->is_string() && value->as_string().empty()) ||
         (value->is_array() && value->as_array().empty());
}

bool is_text_parts(const json::Value& content) {
  return content.is_array() && std::ranges::all_of(content.as_array(), [](const json::Value& part) {
           return part.find_string("type") == "text" && part.find_string("text").has_value();
         });
}

// Whether content that is neither a text nor a list of parts is passed as JSON text.
bool is_dumped(const json::Value& content, const RoleRules& rules) {
  const auto is_part = [](const json::Value& element) { return element.find_string("type").has_value(); };
  if (content.is_object()) return rules.dumps_values;
  if (content.is_array()) return rules.dumps_lists && std::ranges::none_of(content.as_array(), is_part);
  return rules.dumps_scalars && !content.is_string();
}

std::string joined_parts(const json::Array& parts, std::string_view separator) {
  std::string out;
  for (const json::Value& part : parts) {
    if (&part != &parts.front()) out += separator;
    out += *part.find_string("text");
  }
  return out;
}

bool is_nine_letters(std::string_view id) {
  return id.size() == kShortId && std::ranges::all_of(id, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
         });
}

// A call that may have results.
struct KnownCall {
  std::optional<std::string> sent_id;
  std::string id;  // as the template gets it; "" if it gets none
  std::string name;
};

class Shaper {
 public:
  Shaper(json::Array& messages, const MessageRules& rules, const ShapingContext& context)
      : messages_(messages), rules_(rules), sampled_(context.sampled), calls_before_(context.calls_before) {
    for (const chat::OpenCall& call : context.open_calls) open(call);
    are_sampled_ = !open_.empty();
  }

  [[nodiscard]] Shaping run() {
    take_older_forms();
    std::size_t first_result = 0;  // for the open calls
    for (at_ = 0; at_ < messages_.size(); ++at_) {
      const std::string_view role = messages_[at_].find_string("role").value_or("");
      if (role == "tool") continue;
      answer(first_result, at_);
      if (messages_[at_].is_object()) shape_message(role);
      first_result = at_ + 1;
    }
    answer(first_result, messages_.size());
    return std::move(out_);
  }

 private:
  [[nodiscard]] json::Object& message() { return messages_[at_].as_object(); }
  // Earlier moves are reported with the place at which each was sent.
  void note(std::string sent, std::string now, std::string what) {
    const std::size_t index = out_.order.empty() ? at_ : out_.order[at_];
    for (const MessageChange& change : out_.changes) {
      if (change.message == index && !sent.empty() && change.now == sent && !change.sent.empty()) sent = change.sent;
    }
    out_.changes.push_back({index, std::move(sent), std::move(now), std::move(what), {}});
  }

  void open(const chat::OpenCall& call) {
    std::optional<std::string> id;
    if (call.id) id = std::string(*call.id);
    open_.push_back({id, id.value_or(""), std::string(call.name)});
  }
  void close_calls() {
    calls_before_ += open_.size();
    open_.clear();
    are_sampled_ = false;
  }

  void take_older_forms();
  void shape_message(std::string_view role);
  void drop_nulls();
  void take_reasoning_parts();
  void shape_reasoning();
  void put_reasoning_into_content(std::string_view field, const std::string& reasoning);
  void shape_content(const RoleRules& rules);
  void put_empty(Empty wanted);
  void shape_no_content();
  void shape_calls(json::Array& calls);
  void wrap_call(json::Object& call, const std::string& place);
  void shape_arguments(json::Value& call, const std::string& place);
  std::string shape_id(json::Object& holder, std::string_view key, const std::string& place,
                       const std::string& otherwise);
  void answer(std::size_t begin, std::size_t end);
  void order_results(std::size_t begin, std::vector<std::pair<std::size_t, chat::ResultMatch>>& results);
  void shape_result(const chat::ResultMatch& match);

  json::Array& messages_;
  const MessageRules& rules_;
  const std::vector<std::size_t>& sampled_;
  std::vector<KnownCall> open_;
  bool are_sampled_ = false;      // the open calls are not of `messages`: a bridge says which results fit them
  std::size_t calls_before_ = 0;  // those not counted
  std::size_t at_ = 0;
  Shaping out_;
};

void Shaper::shape_message(std::string_view role) {
  if (!rules_.takes_nulls) drop_nulls();
  if (role == "assistant") {
    const bool is_sampled = std::ranges::find(sampled_, at_) != sampled_.end();
    if (!is_sampled) {
      take_reasoning_parts();
      shape_reasoning();
    }
    json::Value* calls = message().find("tool_calls");
    const bool is_list = calls != nullptr && calls->is_array();
    if (is_list && calls->as_array().empty() && !rules_.takes_empty_calls) {
      message().erase("tool_calls");
      note("tool_calls", "", "left out, since it is empty");
    } else if (is_list && !calls->as_array().empty()) {
      close_calls();
      for (const chat::OpenCall& call : chat::open_calls(messages_[at_])) open(call);
      shape_calls(calls->as_array());
      if (!is_sampled) shape_no_content();
    }
    if (!is_sampled) shape_content(rules_.assistant);
    return;
  }
  close_calls();
  if (role == "developer" && !rules_.knows_developer) {
    message().set("role", "system");
    note("role", "role", "given as the role `system`");
  }
  shape_content(role == "user" ? rules_.user : rules_.system);
}

// Takes calls and results in the form that clients used before `tool_calls`, and an assistant's refusals.
void Shaper::take_older_forms() {
  for (at_ = 0; at_ < messages_.size(); ++at_) {
    if (!messages_[at_].is_object()) continue;
    const std::string_view role = messages_[at_].find_string("role").value_or("");
    if (role == "function" && !rules_.knows_function_role) {
      message().set("role", "tool");
      note("role", "role", "given as the role `tool`");
    }
    if (role != "assistant") continue;
    const json::Value* call = message().find("function_call");
    if (call != nullptr && call->is_object() && !rules_.takes_function_calls && is_none(message().find("tool_calls"))) {
      message().set("tool_calls", json::Array{json::Object{{"type", "function"}, {"function", *call}}});
      message().erase("function_call");
      note("function_call", "tool_calls[0].function", "given as a call in `tool_calls`");
    }
    const std::string refusal(messages_[at_].find_string("refusal").value_or(""));
    if (!refusal.empty() && !rules_.takes_refusals && is_none(message().find("content"))) {
      message().set("content", refusal);
      message().erase("refusal");
      note("refusal", "content", "given as the content");
    }
  }
}

void Shaper::drop_nulls() {
  std::vector<std::string> nulls;
  for (const json::Member& member : message()) {
    if (member.key != "content" && member.value.is_null()) nulls.push_back(member.key);
  }
  for (std::string& key : nulls) {
    message().erase(key);
    note(std::move(key), "", "left out, since it is null");
  }
}

// --- Reasoning and content -------------------------------------------------------------------------------------------

// Takes content parts that are reasoning, and of a type that the template does not know.
void Shaper::take_reasoning_parts() {
  json::Value* content = message().find("content");
  if (content == nullptr || !content->is_array()) return;
  const auto is_known = [&](const json::Value& part) { return part.find_string("type") == rules_.reasoning_part; };
  const auto is_filled = [&](std::string_view field) { return chat::is_filled(message().find(field)); };
  if (std::ranges::any_of(content->as_array(), is_known) || std::ranges::any_of(chat::kReasoningFields, is_filled))
    return;
  std::string reasoning = chat::take_reasoning_parts(content->as_array());
  if (reasoning.empty()) return;
  const std::string field(chat::kReasoningFields.front());
  message().set(field, std::move(reasoning));
  note("content", field, "the reasoning among its parts is given as `" + field + "`");
}

void Shaper::shape_reasoning() {
  const std::string_view field = reasoning_field(messages_[at_]);
  const json::Value* reasoning = field.empty() ? nullptr : message().find(field);
  if (reasoning == nullptr || !chat::is_filled(reasoning) || !reasoning->is_string()) return;
  const std::string text = reasoning->as_string();
  const std::string& own = rules_.reasoning_field;
  const std::string& part = rules_.reasoning_part;
  if (!own.empty() && own != field && is_none(message().find(own))) {
    message().set(own, text);
    note(std::string(field), own, "given as `" + own + "`");
  } else if (!part.empty()) {
    json::Array parts{json::Object{{"type", part}, {part, text}}};
    const json::Value* content = message().find("content");
    if (content != nullptr && content->is_array()) {
      const auto is_reasoning = [&](const json::Value& given) { return given.find_string("type") == part; };
      if (std::ranges::any_of(content->as_array(), is_reasoning)) return;
      parts.insert(parts.end(), content->as_array().begin(), content->as_array().end());
    } else if (content != nullptr && content->is_string() && !content->as_string().empty()) {
      parts.push_back(chat::text_part(content->as_string()));
    }
    message().set("content", std::move(parts));
    note(std::string(field), "content[0]." + part, "given as a part of the content");
  } else if (rules_.reasoning_in_content) {
    put_reasoning_into_content(field, text);
  }
}

void Shaper::put_reasoning_into_content(std::string_view field, const std::string& reasoning) {
  if (rules_.content_hides_calls && !chat::open_calls(message()).empty()) return;
  const json::Value* content = message().find("content");
  std::string text;
  if (content != nullptr && content->is_string()) text = content->as_string();
  if (content != nullptr && content->is_array()) {
    if (!is_text_parts(*content)) return;
    text = joined_parts(content->as_array(), rules_.part_separator);
  }
  const std::string block = rules_.reasoning_open + reasoning + rules_.reasoning_close;
  if (text.starts_with(block)) return;
  message().set("content", block + text);
  note(std::string(field), "", "given in front of the content");
  out_.changes.back().front = {rules_.reasoning_open.size(), reasoning.size(), rules_.reasoning_close.size()};
}

void Shaper::shape_content(const RoleRules& rules) {
  json::Value* content = message().find("content");
  if (is_none(content)) {
    if (chat::open_calls(messages_[at_]).empty() || !rules_.no_content) put_empty(rules.empty);
    return;
  }
  if (rules.content == Content::kText && is_text_parts(*content)) {
    *content = joined_parts(content->as_array(), rules_.part_separator);
    note("content", "content", "given as one text");
  } else if (is_dumped(*content, rules)) {
    *content = json::to_python(*content, {});
    note("content", "content", "given as JSON text");
  }
  if (rules.content == Content::kParts && content->is_string()) {
    *content = json::Array{chat::text_part(content->as_string())};
    note("content", "content[0].text", "given as a list with one part");
  }
}

void Shaper::put_empty(Empty wanted) {
  if (wanted == Empty::kAny) return;
  json::Value empty("");
  if (wanted == Empty::kList) empty = json::Array{};
  if (wanted == Empty::kPart) empty = json::Array{chat::text_part("")};
  const json::Value* content = message().find("content");
  if (content != nullptr && *content == empty) return;
  message().set("content", std::move(empty));
  note("content", "content", wanted == Empty::kText ? "given as an empty text" : "given as a list without text");
}

// Shapes absent content beside calls.
void Shaper::shape_no_content() {
  using enum format::NoContent;
  const json::Value* content = message().find("content");
  if (!rules_.no_content || !is_none(content)) return;
  if (*rules_.no_content == kAbsent && content != nullptr) {
    message().erase("content");
    note("content", "", "left out, since it says nothing");
  } else if (*rules_.no_content == kNull && (content == nullptr || !content->is_null())) {
    note(content == nullptr ? "" : "content", "content", "given as null");
    message().set("content", nullptr);
  } else if (*rules_.no_content == kEmpty) {
    put_empty(rules_.assistant.empty == Empty::kAny ? Empty::kText : rules_.assistant.empty);
  }
}

// --- Calls and results -----------------------------------------------------------------------------------------------

void Shaper::shape_calls(json::Array& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].is_object()) continue;
    const std::string place = "tool_calls[" + std::to_string(i) + "]";
    wrap_call(calls[i].as_object(), place);
    shape_arguments(calls[i], place);
    if (rules_.ids == Ids::kAny) continue;
    const std::string otherwise = std::string(chat::kHandedOutId) + std::to_string(calls_before_ + i);
    open_[i].id = shape_id(calls[i].as_object(), "id", place + ".id", otherwise);
  }
}

void Shaper::wrap_call(json::Object& call, const std::string& place) {
  if (rules_.types_calls && is_none(call.find(chat::kCallTypeKey))) {
    call.set(chat::kCallTypeKey, "function");
    note("", place + ".type", "given as `function`");
  }
  const json::Value* function = call.find(chat::kCallFunctionKey);
  if (!rules_.wraps_calls || (function != nullptr && function->is_object())) return;
  json::Object inner;
  for (const std::string_view key : {"name", "arguments", "parameters"}) {
    const json::Value* value = call.find(key);
    if (value == nullptr) continue;
    const std::string_view kept = chat::is_arguments_key(key) ? "arguments" : key;
    inner.set(kept, *value);
    note(place + "." + std::string(key), place + ".function." + std::string(kept), "given inside of `function`");
  }
  call.set(chat::kCallFunctionKey, std::move(inner));
}

void Shaper::shape_arguments(json::Value& call, const std::string& place) {
  json::Value& function = chat::function_of(call);
  json::Object& members = function.as_object();
  const std::string prefix = place + (&function == &call ? "." : ".function.");
  const std::string name = prefix + "arguments";
  const json::Value* parameters = members.find("parameters");
  if (parameters != nullptr && members.find("arguments") == nullptr) {
    members.set("arguments", *parameters);
    note(prefix + "parameters", name, "given as `arguments`");
  }
  json::Value* arguments = members.find("arguments");
  if (is_none(arguments)) {
    if (!rules_.fills_arguments) return;
    const bool as_text = rules_.arguments == Arguments::kText;
    note(arguments == nullptr ? "" : name, name, as_text ? "given as `{}`" : "given as an empty object");
    members.set("arguments", as_text ? json::Value("{}") : json::Value(json::Object()));
  } else if (rules_.arguments == Arguments::kText && !arguments->is_string()) {
    *arguments = json::to_python(*arguments, {});
    note(name, name, "given as JSON text");
  } else if (rules_.arguments == Arguments::kObject && arguments->is_string()) {
    auto parsed = json::parse(arguments->as_string());
    if (parsed.ok() && parsed.value().is_object()) {
      *arguments = std::move(parsed).value();
      note(name, name, "given as an object");
    } else {
      *arguments = json::Object{{"arguments", arguments->as_string()}};
      note(name, name, "given as the member `arguments` of an object, since the text is no JSON object");
    }
  }
}

// The id that the holder has now.
std::string Shaper::shape_id(json::Object& holder, std::string_view key, const std::string& place,
                             const std::string& otherwise) {
  const json::Value* given = holder.find(key);
  const bool is_given = given != nullptr && given->is_string() && !given->as_string().empty();
  std::string id = is_given ? given->as_string() : otherwise;
  if (rules_.ids == Ids::kNineLetters && !is_nine_letters(id)) id = hex_digest({id}).substr(0, kShortId);
  if (is_given && id == given->as_string()) return id;
  note(is_given ? place : "", place, "given as `" + id + "`");
  if (given == nullptr && key == chat::kCallIdKey) {
    // Where a template prints whole calls, it stands in front, as in those of the APIs.
    json::Object with_id{{std::string(key), id}};
    for (const json::Member& member : holder) with_id.set(member.key, member.value);
    holder = std::move(with_id);
  } else {
    holder.set(key, id);
  }
  return id;
}

// Takes the results among messages [begin, end), which follow the open calls.
void Shaper::answer(std::size_t begin, std::size_t end) {
  if (begin == end) return;
  std::vector<chat::OpenCall> calls;
  for (const KnownCall& call : open_) calls.push_back({call.sent_id, call.name});
  std::vector<const json::Value*> results;
  for (std::size_t i = begin; i < end; ++i) results.push_back(&messages_[i]);
  const std::vector<chat::ResultMatch> matches = chat::match_results(calls, results, calls_before_);
  std::vector<std::pair<std::size_t, chat::ResultMatch>> order;
  for (std::size_t i = begin; i < end; ++i) order.emplace_back(i, matches[i - begin]);
  if (rules_.orders_results) order_results(begin, order);
  const std::size_t here = at_;
  for (std::size_t i = begin; i < end; ++i) {
    at_ = i;
    if (messages_[i].is_object()) shape_result(order[i - begin].second);
  }
  at_ = here;
}

void Shaper::order_results(std::size_t begin, std::vector<std::pair<std::size_t, chat::ResultMatch>>& results) {
  const auto before = [&](const auto& a, const auto& b) {
    const std::size_t none = open_.size();
    return a.second.call.value_or(none) < b.second.call.value_or(none);
  };
  if (std::ranges::is_sorted(results, before)) return;
  std::ranges::stable_sort(results, before);
  if (out_.order.empty()) {
    for (std::size_t i = 0; i < messages_.size(); ++i) out_.order.push_back(i);
  }
  json::Array moved;
  for (const auto& [index, match] : results) moved.push_back(std::move(messages_[index]));
  for (std::size_t i = 0; i < moved.size(); ++i) {
    messages_[begin + i] = std::move(moved[i]);
    out_.order[begin + i] = results[i].first;
    if (results[i].first == begin + i) continue;
    out_.changes.push_back({results[i].first, "role", "role", "put where its call stands among the calls"});
  }
}

void Shaper::shape_result(const chat::ResultMatch& match) {
  if (!rules_.takes_nulls) drop_nulls();
  // A template that writes ids shows them to the model.
  const bool is_unknown = match.by == chat::ResultMatch::By::kOrder || match.by == chat::ResultMatch::By::kNothing;
  if (rules_.ids == Ids::kAny && !are_sampled_ && is_unknown && !is_none(message().find("tool_call_id"))) {
    out_.doubts.push_back({sent_index(out_, at_), "tool_call_id",
                           "no call has this id; the template writes no ids, so the result answers by its place"});
  }
  const bool is_known = match.call && *match.call < open_.size();
  if (rules_.names_results && is_known && is_none(message().find("name"))) {
    message().set("name", open_[*match.call].name);
    note("", "name", "given as `" + open_[*match.call].name + "`, the tool that was called");
  }
  if (rules_.ids != Ids::kAny) {
    const std::string id = is_known ? open_[*match.call].id : "";
    const bool has_own = !is_none(message().find("tool_call_id"));
    if (id.empty()) {
      shape_id(message(), "tool_call_id", "tool_call_id", std::string(chat::kHandedOutId) + "0");
    } else if (messages_[at_].find_string("tool_call_id") != id) {
      note(has_own ? "tool_call_id" : "", "tool_call_id", "given as `" + id + "`, the id of its call");
      message().set("tool_call_id", id);
    }
  }
  shape_content(rules_.tool);
}

}  // namespace

Shaping shape(json::Array& messages, const MessageRules& rules, const ShapingContext& context) {
  return Shaper(messages, rules, context).run();
}

std::vector<std::string> sentences(const Shaping& shaping, std::string_view array) {
  std::vector<std::string> out;
  for (const MessageChange& change : shaping.changes) {
    const std::string& field = change.sent.empty() ? change.now : change.sent;
    out.push_back(std::string(array) + "[" + std::to_string(change.message) + "]." + field + ": " + change.what);
  }
  for (const MessageDoubt& doubt : shaping.doubts)
    out.push_back(std::string(array) + "[" + std::to_string(doubt.message) + "]." + doubt.field + ": " + doubt.what);
  if (shaping.adds_tool_list) out.emplace_back("tools: given as an empty list");
  out.insert(out.end(), shaping.tools.begin(), shaping.tools.end());
  out.insert(out.end(), shaping.polyfills.begin(), shaping.polyfills.end());
  return out;
}

const MessageChange* change_at(const Shaping& shaping, std::size_t index, std::string_view path) {
  for (const MessageChange& change : shaping.changes) {
    if (change.message != index || change.now.empty() || !path.starts_with(change.now)) continue;
    const std::string_view rest = path.substr(change.now.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '[') return &change;
  }
  return nullptr;
}

std::string sent_path(const Shaping& shaping, std::size_t index, std::string_view path) {
  const MessageChange* change = change_at(shaping, index, path);
  return change == nullptr || change->sent.empty() ? std::string(path) : change->sent;
}

const MessageChange* front_of_content(const Shaping& shaping, std::size_t index) {
  const auto found = std::ranges::find_if(
      shaping.changes, [&](const MessageChange& change) { return change.message == index && change.front; });
  return found == shaping.changes.end() ? nullptr : &*found;
}

std::size_t sent_index(const Shaping& shaping, std::size_t index) {
  return index < shaping.order.size() ? shaping.order[index] : index;
}

}  // namespace rondo::tmpl
