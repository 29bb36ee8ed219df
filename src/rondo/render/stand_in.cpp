#include "render/stand_in.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "format/units.h"
#include "json/parse.h"
#include "probe/messages.h"
#include "probe/words.h"
#include "render/bridge.h"

namespace rondo::render {
namespace {

// The answers to an assistant turn's calls among the new messages, each usable once.
class ToolResults {
 public:
  explicit ToolResults(std::span<const json::Value> messages) {
    for (const json::Value& message : messages) {
      if (message.find_string("role") == "tool") open_.push_back(&message);
    }
  }

  // The result that answers a call of `name`: the first one with that name, else the first one left; nullptr if none.
  const json::Value* take(std::string_view name) {
    auto found =
        std::find_if(open_.begin(), open_.end(), [&](const json::Value* m) { return m->find_string("name") == name; });
    if (found == open_.end()) found = open_.begin();
    if (found == open_.end()) return nullptr;
    const json::Value* result = *found;
    open_.erase(found);
    return result;
  }

 private:
  std::vector<const json::Value*> open_;
};

std::string_view reasoning_field(const ParsedCompletion& completion) {
  return completion.input.reasoning_field.empty() ? std::string_view("reasoning_content")
                                                  : completion.input.reasoning_field;
}

json::Value arguments_value(const std::string& arguments, bool as_text) {
  if (as_text) return arguments;
  const Result<json::Value> parsed = json::parse(arguments);
  return parsed.ok() && parsed.value().is_object() ? parsed.value() : json::Value(arguments);
}

std::optional<std::string> optional_string(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

json::Array history_calls(const ParsedCompletion& completion, std::span<const json::Value> new_messages,
                          bool make_up_ids) {
  ToolResults results(new_messages);
  json::Array calls;
  for (const chat::ToolCall& call : completion.message.tool_calls) {
    const json::Value* result = results.take(call.name);
    std::optional<std::string> id = call.id;
    if (!id && result != nullptr) id = optional_string(result->find_string("tool_call_id"));
    if (!id && make_up_ids) id = probe::made_up_id(calls.size());
    calls.push_back(
        probe::tool_call(id, call.name, arguments_value(call.arguments, completion.input.arguments_as_text)));
  }
  return calls;
}

// Which calls a stand-in has.
enum class Calls : std::uint8_t { kOwn, kOwnWithIds, kOfResults, kFirst, kNone };

// The turn's own text or none, as the format has it; the other of "" and null; a text, whatever the turn has.
enum class Content : std::uint8_t { kOwn, kShape, kOther, kText };

struct Rung {
  Calls calls = Calls::kOwn;
  Content content = Content::kOwn;
  bool other_arguments = false;  // text where the format says object, and the other way round
};

// The kind of call varies slowest: a stand-in with the completion's own calls is sought first.
Rung rung_of(std::size_t step) {
  constexpr std::array<Content, 4> kContents = {Content::kOwn, Content::kShape, Content::kOther, Content::kText};
  Rung rung;
  rung.other_arguments = step % 2 == 1;
  rung.content = kContents[step / 2 % kContents.size()];
  rung.calls = static_cast<Calls>(step / (2 * kContents.size()));
  return rung;
}

json::Array calls_of_results(std::span<const json::Value> new_messages) {
  json::Array calls;
  ToolResults results(new_messages);
  while (const json::Value* result = results.take("")) {
    const std::string id(result->find_string("tool_call_id").value_or(probe::made_up_id(calls.size())));
    calls.push_back(probe::tool_call(id, result->find_string("name").value_or("unknown"), nullptr));
  }
  return calls;
}

json::Array stand_in_calls(const ParsedCompletion& completion, std::span<const json::Value> new_messages,
                           const Rung& rung) {
  json::Array calls;
  if (rung.calls == Calls::kNone) return calls;
  if (rung.calls == Calls::kOfResults) {
    calls = calls_of_results(new_messages);
  } else {
    calls = history_calls(completion, new_messages, rung.calls != Calls::kOwn);
  }
  if (rung.calls == Calls::kFirst && calls.size() > 1) calls.resize(1);
  const json::Value arguments = probe::small_arguments(completion.input.arguments_as_text != rung.other_arguments);
  for (json::Value& call : calls) call.as_object().find("function")->as_object().set("arguments", arguments);
  return calls;
}

// What stands in the place of the text: a text, "" or null; white space stands for itself, as templates may show it or not.
json::Value stand_in_content(const ParsedCompletion& completion, Content wanted) {
  const std::string& own = completion.message.content;
  const bool has_own = !format::is_blank(own);
  if (wanted == Content::kOwn && !has_own && !own.empty()) return own;
  if (wanted == Content::kText || (wanted == Content::kOwn && has_own)) return json::Value(probe::kShortAnswer);
  const bool is_null = completion.input.no_content == format::NoContent::kNull;
  return is_null == (wanted != Content::kOther) ? json::Value() : json::Value("");
}

// Whether each call has an id of the model's or of a result, so that none need be made up.
bool all_have_ids(const chat::AssistantMessage& parsed, std::span<const json::Value> new_messages) {
  std::size_t ids = 0;
  for (const json::Value& message : new_messages) ids += message.find_string("tool_call_id").has_value() ? 1U : 0U;
  const bool are_own = std::ranges::all_of(parsed.tool_calls, [](const chat::ToolCall& call) { return !!call.id; });
  return are_own || ids >= parsed.tool_calls.size();
}

std::string note_of(const ParsedCompletion& completion, Calls calls, bool leaves_text_out) {
  const std::size_t count = completion.message.tool_calls.size();
  if (calls == Calls::kOfResults)
    return count > 0 ? "the template refuses the turn's calls; calls made from the tool results stand for them"
                     : "the turn has no calls; calls made from the tool results stand for it";
  if (calls == Calls::kFirst) return "the template refuses a turn with several calls; its first one stands for them";
  if (calls == Calls::kNone && count > 0)
    return "the template shows no calls; a turn of plain text stands for the completion";
  if (leaves_text_out) return "the template refuses, or writes apart, the turn's text; its calls alone stand for it";
  return "";
}

}  // namespace

std::optional<StandIn> make_stand_in(const ParsedCompletion& completion, std::span<const json::Value> new_messages,
                                     std::size_t step) {
  const Rung rung = rung_of(step);
  const chat::AssistantMessage& parsed = completion.message;
  const bool has_results =
      std::ranges::any_of(new_messages, [](const json::Value& m) { return m.find_string("role") == "tool"; });
  const std::size_t count = parsed.tool_calls.size();
  const bool has_calls = rung.calls == Calls::kOfResults ? has_results : count > 0 && rung.calls != Calls::kNone;
  // Each stand-in once: what a step asks for may be what an earlier one had.
  if (!has_calls && rung.other_arguments) return std::nullopt;
  if (!has_calls && rung.calls != Calls::kOwn && !(rung.calls == Calls::kNone && count > 0)) return std::nullopt;
  if (rung.calls == Calls::kOwnWithIds && all_have_ids(parsed, new_messages)) return std::nullopt;
  if (rung.calls == Calls::kFirst && count < 2) return std::nullopt;
  const bool has_content = !format::is_blank(parsed.content);
  const bool has_space = !has_content && !parsed.content.empty();
  if (has_content ? rung.content == Content::kText : !has_space && rung.content == Content::kShape) return std::nullopt;
  // A turn that says nothing is shown by few templates; a text shows where it would end.
  const bool has_reasoning = parsed.reasoning && !format::is_blank(*parsed.reasoning);
  if (!has_calls && !has_reasoning && !has_content && rung.content != Content::kText) return std::nullopt;
  if (!has_calls && has_content && rung.content != Content::kOwn) return std::nullopt;

  json::Object message{{"role", "assistant"}};
  message.set("content", stand_in_content(completion, rung.content));
  if (parsed.reasoning && !parsed.reasoning->empty()) message.set(reasoning_field(completion), probe::kShortThought);
  if (has_calls) message.set("tool_calls", stand_in_calls(completion, new_messages, rung));
  return StandIn{std::move(message), note_of(completion, rung.calls, has_content && rung.content != Content::kOwn),
                 rung.calls == Calls::kOfResults};
}

json::Array stand_in_history() { return {probe::plain_message("user", probe::kShortQuestion)}; }

std::span<const json::Value> answers(const json::Array& new_messages) {
  const auto next = std::ranges::find_if(
      new_messages, [](const json::Value& message) { return message.find_string("role") == "assistant"; });
  return {new_messages.begin(), next};
}

std::vector<std::string> result_notes(const ParsedCompletion& completion, std::span<const json::Value> new_messages) {
  std::vector<std::string> notes;
  std::vector<std::string_view> open;
  for (const chat::ToolCall& call : completion.message.tool_calls) {
    if (call.id) open.push_back(*call.id);
  }
  // Without ids of the model's own, results belong to the calls in their order, and cannot be wrong.
  const bool has_ids = !open.empty() && open.size() == completion.message.tool_calls.size();
  std::size_t results = 0;
  std::vector<std::string_view> answered;
  for (const json::Value& message : new_messages) {
    if (message.find_string("role") != "tool") continue;
    ++results;
    const auto id = message.find_string("tool_call_id");
    if (!has_ids || !id) continue;
    const auto found = std::ranges::find(open, *id);
    if (found != open.end()) {
      if (found != open.begin()) notes.push_back("the result of call " + text::quoted(*id) + " comes out of order");
      answered.push_back(*id);
      open.erase(found);
    } else if (std::ranges::find(answered, *id) != answered.end()) {
      notes.push_back("the call " + text::quoted(*id) + " has more than one result");
    } else {
      notes.push_back("no call of the turn has the id " + text::quoted(*id) + " of a tool result");
    }
  }
  const std::size_t calls = completion.message.tool_calls.size();
  if (results < calls) {
    notes.push_back(std::to_string(calls - results) + " of the turn's " + std::to_string(calls) +
                    " calls have no result");
  } else if (results > calls && calls > 0) {
    notes.push_back("there are " + std::to_string(results) + " tool results for " + std::to_string(calls) + " calls");
  }
  return notes;
}

json::Value history_message(const ParsedCompletion& completion, std::span<const json::Value> new_messages) {
  const chat::AssistantMessage& message = completion.message;
  json::Object out;
  out.set("role", "assistant");
  json::Array calls = history_calls(completion, new_messages, true);
  if (!message.content.empty() || calls.empty() || completion.input.no_content == format::NoContent::kEmpty) {
    out.set("content", message.content);
  } else if (completion.input.no_content == format::NoContent::kNull) {
    out.set("content", nullptr);
  }
  if (message.reasoning) out.set(reasoning_field(completion), *message.reasoning);
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return out;
}

}  // namespace rondo::render
