#include "analysis/message_rules.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/evidence.h"
#include "analysis/tool_rules.h"
#include "chat/reasoning_fields.h"
#include "format/escapes.h"
#include "json/print.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::analysis {
namespace {

using tmpl::MessageRules;
using tmpl::RoleRules;

// An id as most servers make it, and one as a person writes it.
constexpr std::string_view kLongId = "call_zq7x0123456789abcdefghij";
constexpr std::string_view kShortId = "id_1";

// What the template writes for the same message as the last one and before others, without tools and with them;
// nullopt where it refuses.
struct Texts {
  std::vector<std::optional<std::string>> made = {};

  [[nodiscard]] bool operator==(const Texts&) const = default;
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::ranges::count_if(made, [](const auto& text) { return text.has_value(); });
  }
  [[nodiscard]] bool any() const { return count() > 0; }
  [[nodiscard]] bool holds(std::string_view part) const {
    return std::ranges::any_of(made, [&](const auto& text) { return holds(text, part); });
  }
  // Returns whether all texts hold `part` for which those of `other`, made in the same way, hold `other_part`.
  [[nodiscard]] bool holds_like(std::string_view part, const Texts& other, std::string_view other_part) const {
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (holds(other.made[i], other_part) && !holds(made[i], part)) return false;
    }
    return true;
  }
  void add(Texts more) {
    for (auto& text : more.made) made.push_back(std::move(text));
  }

 private:
  [[nodiscard]] static bool holds(const std::optional<std::string>& text, std::string_view part) {
    return text && text->find(part) != std::string::npos;
  }
};

// How a probe's call and its result differ from the form that every template takes.
struct CallForm {
  std::optional<json::Value> arguments = std::nullopt;
  std::optional<json::Value> content = std::nullopt;  // beside the call
  std::optional<format::NoContent> no_content = std::nullopt;
  std::optional<std::string_view> id = std::nullopt;         // of the call; "": none
  std::optional<std::string_view> result_id = std::nullopt;  // "": none
  std::optional<json::Value> result = std::nullopt;
  bool has_result_content = true;
  bool names_result = true;
  bool is_bare = false;  // nothing around name and arguments
  bool has_type = true;
};

class Finder {
 public:
  Finder(const jinja::Template& chat_template, const Options& options, const format::Format& format)
      : prober_(chat_template, options, false),
        format_(format),
        reads_tools_(probe::reads_variable(chat_template, "tools")) {}

  [[nodiscard]] MessageRules find() {
    rules_.user = role_rules("user");
    rules_.system = role_rules("system");
    rules_.assistant = role_rules("assistant");
    find_developer();
    find_nulls();
    find_refusals();
    find_reasoning();
    // Some templates write calls, and refuse tools.
    calls_have_tools_ = call_texts({}).any() || call_texts({.arguments = "{}"}).any();
    find_wrapping();
    find_arguments();
    find_no_content();
    rules_.tool = role_rules("tool");
    find_values();
    find_older_calls();
    find_results();
    find_order();
    rules_.needs_tool_list = prober_.needs_tool_list();
    rules_.tools = find_tool_rules(prober_, question());  // last, because a probe may exceed the limits
    return std::move(rules_);
  }

 private:
  [[nodiscard]] json::Value question(std::string_view text = probe::kQuestionText) const {
    if (rules_.user.content != RoleRules::Content::kParts) return probe::plain_message("user", text);
    return probe::plain_message("user", json::Array{chat::text_part(text)});
  }
  [[nodiscard]] Texts texts_of(json::Array messages, bool tools) {
    const ProbeSetting setting{.tools = tools};
    Texts out{{prober_.text_of(messages, setting)}};
    messages.push_back(question(probe::kSecondQuestionText));
    out.made.push_back(prober_.text_of(std::move(messages), setting));
    return out;
  }
  // The same without tools, and with them where that may make a difference.
  [[nodiscard]] Texts all_texts_of(const json::Array& messages) {
    Texts out = texts_of(messages, false);
    if (reads_tools_) out.add(texts_of(messages, true));
    return out;
  }
  [[nodiscard]] Texts with_content(std::string_view role, const std::optional<json::Value>& content);
  [[nodiscard]] json::Value call_message(const CallForm& form) const;
  [[nodiscard]] Texts call_texts(const CallForm& form);

  [[nodiscard]] RoleRules role_rules(std::string_view role);
  void find_developer();
  [[nodiscard]] json::Object answer() const;
  void find_nulls();
  void find_refusals();
  void find_reasoning();
  void find_wrapping();
  void find_arguments();
  void find_no_content();
  void find_values();
  void find_older_calls();
  void find_results();
  void find_order();

  Prober prober_;
  const format::Format& format_;
  bool reads_tools_;
  bool calls_have_tools_ = true;  // in probes
  MessageRules rules_;
};

// Renders conversations whose message of that role has `content`.  With nullopt it has none.
Texts Finder::with_content(std::string_view role, const std::optional<json::Value>& content) {
  if (role == "tool") {
    CallForm form;
    form.result = content;
    form.has_result_content = content.has_value();
    return call_texts(form);
  }
  json::Object message{{"role", role}};
  if (content) message.set("content", *content);
  json::Array messages;
  if (role == "assistant") messages.push_back(question());
  messages.push_back(std::move(message));
  if (role == "system" || role == "developer") messages.push_back(question());
  return all_texts_of(messages);
}

// Returns the assistant message with one call in that form.
json::Value Finder::call_message(const CallForm& form) const {
  format::InputShape shape = format_.input;
  shape.no_content = form.no_content.value_or(shape.no_content);
  probe::Saying saying{"", "", message_of({.calls = 1}).calls};
  saying.calls[0].id = probe::call_id(0);
  json::Value message = probe::assistant_message(shape, saying);
  json::Value& call = message.as_object().find("tool_calls")->as_array()[0];
  if (form.arguments) chat::function_of(call).as_object().set("arguments", *form.arguments);
  if (form.is_bare) {
    json::Object bare = chat::function_of(call).as_object();
    bare.set("id", *call.find("id"));
    bare.set(chat::kCallTypeKey, *call.find(chat::kCallTypeKey));
    call = std::move(bare);
  }
  if (!form.has_type) call.as_object().erase(chat::kCallTypeKey);
  if (form.id && form.id->empty()) call.as_object().erase("id");
  if (form.id && !form.id->empty()) call.as_object().set("id", *form.id);
  if (form.content) message.as_object().set("content", *form.content);
  const bool may_be_text = rules_.assistant.content != RoleRules::Content::kParts;
  const bool may_be_empty = may_be_text && (format_.calls.present || rules_.assistant.empty == RoleRules::Empty::kAny);
  if (form.content || form.no_content || may_be_empty) return message;
  json::Array messages{std::move(message)};
  MessageRules known;
  known.assistant = rules_.assistant;
  tmpl::shape(messages, known);
  return std::move(messages[0]);
}

// Renders the call as the last message, then with its result, then with a question after both.
Texts Finder::call_texts(const CallForm& form) {
  const std::string own_id = probe::call_id(0);
  const std::string_view id =
      form.result_id.value_or(form.id && !form.id->empty() ? *form.id : std::string_view(own_id));
  json::Value result = probe::tool_message(id, probe::kFirstTool, form.result.value_or(probe::kResultText));
  if (id.empty()) result.as_object().erase("tool_call_id");
  if (!form.names_result) result.as_object().erase("name");
  if (!form.has_result_content) result.as_object().erase("content");
  const ProbeSetting setting{.tools = calls_have_tools_};
  json::Array messages{question(), call_message(form)};
  Texts out{{prober_.text_of(messages, setting)}};
  for (const json::Value& next : {std::move(result), question(probe::kSecondQuestionText)}) {
    messages.push_back(next);
    out.made.push_back(prober_.text_of(messages, setting));
  }
  return out;
}

// Compares what the template writes for a text, for a list of one part and for a list of two, and for every form of no
// content.
RoleRules Finder::role_rules(std::string_view role) {
  RoleRules rules;
  const auto shown_with = [&](const json::Value& content) {
    Texts out = with_content(role, content);
    if (role == "assistant" && format_.calls.present) out.add(call_texts({.content = content}));
    return out;
  };
  const Texts as_text = shown_with(json::Value(probe::kPartText));
  const Texts as_parts = shown_with(json::Array{chat::text_part(probe::kPartText)});
  const Texts as_two = shown_with(json::Array{chat::text_part(probe::kPartText), chat::text_part(probe::kContentText)});
  // Some templates read only lists of one part.
  const bool shows_parts = as_parts == as_text && as_two.holds_like(probe::kContentText, as_text, probe::kPartText);
  const bool text_suffices = as_text.holds_like(probe::kPartText, as_parts, probe::kPartText);
  const bool parts_suffice = as_parts.holds_like(probe::kPartText, as_text, probe::kPartText);
  if (!text_suffices && parts_suffice) {
    // A template that iterates over a text letter by letter shows neither form.
    rules.content = RoleRules::Content::kParts;
  } else if (as_text.holds(probe::kPartText) && !shows_parts) {
    rules.content = RoleRules::Content::kText;
  }

  using enum RoleRules::Empty;
  const std::array<std::pair<RoleRules::Empty, json::Value>, 3> forms{
      {{kText, json::Value("")}, {kList, json::Array()}, {kPart, json::Array{chat::text_part("")}}}};
  std::vector<Texts> made;
  Texts best;
  for (const auto& [form, content] : forms) {
    const Texts& texts = made.emplace_back(with_content(role, content));
    const bool may_be = form != kText || rules.content != RoleRules::Content::kParts;
    if (!may_be || texts.count() <= best.count()) continue;
    best = texts;
    rules.empty = form;
  }
  made.pop_back();  // an empty part may well write more than an empty list
  bool are_alike = with_content(role, json::Value()) == best && with_content(role, std::nullopt) == best;
  for (const Texts& texts : made) are_alike = are_alike && texts == best;
  if (are_alike) rules.empty = kAny;
  return rules;
}

void Finder::find_developer() {
  json::Value text(probe::kPartText);
  if (rules_.system.content == RoleRules::Content::kParts) text = json::Array{chat::text_part(probe::kPartText)};
  const Texts as_system = with_content("system", text);
  rules_.knows_developer = with_content("developer", text).holds_like(probe::kPartText, as_system, probe::kPartText);
}

json::Object Finder::answer() const {
  if (rules_.assistant.content != RoleRules::Content::kParts)
    return json::Object{{"role", "assistant"}, {"content", probe::kContentText}};
  return json::Object{{"role", "assistant"}, {"content", json::Array{chat::text_part(probe::kContentText)}}};
}

// Tries members that clients send as null, or as an empty list, if they have nothing to say.
void Finder::find_nulls() {
  const Texts plain = all_texts_of({question(), answer()});
  if (!plain.any()) return;
  json::Value asked = question();
  asked.as_object().set("name", nullptr);
  json::Object with_nulls = answer();
  for (const char* field : {"reasoning_content", "tool_calls", "name", "refusal", "function_call", "audio"})
    with_nulls.set(field, nullptr);
  rules_.takes_nulls = all_texts_of({std::move(asked), std::move(with_nulls)}) == plain;
  json::Object without_calls = answer();
  without_calls.set("tool_calls", json::Array());
  rules_.takes_empty_calls = all_texts_of({question(), std::move(without_calls)}) == plain;
}

void Finder::find_refusals() {
  json::Object refuses = answer();
  refuses.set("refusal", probe::kPartText);
  const Texts made = all_texts_of({question(), std::move(refuses)});
  const Texts plain = all_texts_of({question(), answer()});
  rules_.takes_refusals = made.holds_like(probe::kPartText, plain, probe::kContentText);
}

void Finder::find_reasoning() {
  rules_.reasoning_part = format_.input.reasoning_part;
  // Every template gets reasoning under the two names of the APIs (tmpl::template_variables).
  const std::string& field = format_.input.reasoning_field;
  if (field != chat::kReasoningFields[0] && field != chat::kReasoningFields[1]) rules_.reasoning_field = field;
  const format::Reasoning& reasoning = format_.reasoning;
  if (!reasoning.present) return;
  rules_.reasoning_in_content = reasoning.in_content;
  rules_.reasoning_open = reasoning.open;
  rules_.reasoning_close = reasoning.close;
}

void Finder::find_wrapping() {
  const Texts wrapped = call_texts({});
  rules_.wraps_calls = wrapped.any() && call_texts({.is_bare = true}) != wrapped;
  rules_.types_calls = wrapped.any() && call_texts({.has_type = false}) != wrapped;
}

// A form counts if it shows the argument as JSON.  If both forms do, the one that the template refuses less often
// counts.
void Finder::find_arguments() {
  const json::Object given{{"k0", "v0"}};
  const std::string spelled = json::to_compact(json::Value(given));
  const Texts as_object = call_texts({.arguments = given});
  const Texts as_text = call_texts({.arguments = spelled});
  // The template may write the arguments as JSON in a string, and then a text as JSON in a string in a string.
  const std::string encoded = json::to_compact(json::Value(spelled));
  const bool is_encoded_twice = as_text.holds(format::escaped(encoded, format_.calls.argument_escapes)) ||
                                as_text.holds(json::to_compact(json::Value(encoded)));
  const bool takes_object = as_object.holds("v0") && !as_object.holds("'k0': 'v0'");
  // A template that writes parameters one by one writes a text in another syntax.
  const bool is_other_syntax = takes_object && format_.calls.arguments == format::ArgumentStyle::kParameters;
  const bool takes_text = as_text.holds("v0") && !is_encoded_twice && !is_other_syntax;
  if (takes_object && (!takes_text || as_text.count() < as_object.count())) {
    rules_.arguments = MessageRules::Arguments::kObject;
  } else if (takes_text && (!takes_object || as_object.count() < as_text.count())) {
    rules_.arguments = MessageRules::Arguments::kText;
  }
  const bool gives_text = rules_.arguments == MessageRules::Arguments::kText;
  const Texts as_empty = call_texts({.arguments = gives_text ? json::Value("{}") : json::Value(json::Object())});
  rules_.fills_arguments = as_empty.any() && call_texts({.arguments = json::Value("")}) != as_empty;
}

void Finder::find_no_content() {
  using enum format::NoContent;
  const format::NoContent own = format_.calls.present ? format_.input.no_content : kEmpty;
  const Texts wanted = call_texts({.no_content = own});
  for (const format::NoContent other : {kEmpty, kNull, kAbsent}) {
    if (other != own && call_texts({.no_content = other}) != wanted) rules_.no_content = own;
  }
  if (call_texts({.content = json::Array()}) != wanted) rules_.no_content = own;
  rules_.content_hides_calls =
      std::ranges::find(format_.losses, "calls beside content", &format::Loss::what) != format_.losses.end();
}

// Tries content that is data, because some clients send results like that.
void Finder::find_values() {
  constexpr std::int64_t kNumber = 90417;
  const std::string text(probe::kPartText);
  const Texts object = with_content("tool", json::Object{{"k0", text}});
  rules_.tool.dumps_values = !object.holds(text) || object.holds("'k0': '" + text);
  const Texts list = with_content("tool", json::Array{text});
  rules_.tool.dumps_lists = !list.holds(text) || list.holds("['" + text);
  rules_.tool.dumps_scalars = !with_content("tool", json::Value(kNumber)).holds(std::to_string(kNumber));
}

// Tries calls and results in the older form, from before there were lists of calls.
void Finder::find_older_calls() {
  if (!format_.calls.present) return;
  json::Object older = answer();
  older.set("function_call", json::Object{{"name", probe::kToolName}, {"arguments", "{}"}});
  rules_.takes_function_calls = texts_of({question(), std::move(older)}, true).holds(probe::kToolName);
  if (!call_texts({}).holds(probe::kResultText)) return;
  const json::Object result{{"role", "function"}, {"name", probe::kFirstTool}, {"content", probe::kPartText}};
  rules_.knows_function_role = texts_of({question(), call_message({}), result}, true).holds(probe::kPartText);
}

// Finds what else a result and its call must contain.
void Finder::find_results() {
  const Texts whole = call_texts({});
  if (!whole.any()) return;
  rules_.names_results = call_texts({.names_result = false}) != whole;
  for (const std::string_view id : {kLongId, kShortId}) {
    if (call_texts({.id = id}).count() < whole.count()) rules_.ids = MessageRules::Ids::kNineLetters;
  }
  if (rules_.ids == MessageRules::Ids::kNineLetters) return;
  const std::string own_id = probe::call_id(0);
  const bool needs_ids = call_texts({.id = "", .result_id = own_id}) != whole || call_texts({.result_id = ""}) != whole;
  // If a result does not name its tool, the template may look the name up by the id.
  const bool needs_id_or_name = !rules_.names_results && call_texts({.result_id = "", .names_result = false}) != whole;
  if (needs_ids || needs_id_or_name) rules_.ids = MessageRules::Ids::kNeeded;
}

// Finds whether the template tells two results apart by their ids, or only by their order.
void Finder::find_order() {
  probe::Saying saying{"", "", message_of({.calls = 2}).calls};
  for (std::size_t i = 0; i < saying.calls.size(); ++i) saying.calls[i].id = probe::call_id(i);
  const json::Value calls = probe::assistant_message(format_.input, saying);
  const auto texts_with = [&](std::size_t first, std::size_t second) {
    json::Array messages{question(), calls};
    messages.push_back(probe::tool_message(probe::call_id(first), probe::kFirstTool, "Tprobe firstT"));
    messages.push_back(probe::tool_message(probe::call_id(second), probe::kFirstTool, "Tprobe secondT"));
    return texts_of(std::move(messages), true);
  };
  const Texts in_order = texts_with(0, 1);
  rules_.orders_results = in_order.any() && texts_with(1, 0) == in_order;
}

}  // namespace

MessageRules find_message_rules(const jinja::Template& chat_template, const Options& options,
                                const format::Format& format) {
  return Finder(chat_template, options, format).find();
}

}  // namespace rondo::analysis
