#include "render/stand_in.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/results.h"
#include "format/units.h"
#include "json/parse.h"
#include "probe/messages.h"
#include "probe/words.h"
#include "render/bridge.h"

namespace rondo::render {
namespace {

std::vector<const json::Value*> tool_results(std::span<const json::Value> messages) {
  std::vector<const json::Value*> out;
  for (const json::Value& message : messages) {
    if (message.find_string("role") == "tool") out.push_back(&message);
  }
  return out;
}

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
  const std::vector<const json::Value*> results = tool_results(new_messages);
  const auto matches = chat::match_results(open_calls(completion), results);
  json::Array calls;
  for (const chat::ToolCall& call : completion.message.tool_calls) {
    std::optional<std::string> id = call.id;
    const auto match = std::ranges::find(matches, calls.size(), &chat::ResultMatch::call);
    if (!id && match != matches.end())
      id = optional_string(results[static_cast<std::size_t>(match - matches.begin())]->find_string("tool_call_id"));
    if (!id && make_up_ids) id = probe::made_up_id(calls.size());
    calls.push_back(
        probe::tool_call(id, call.name, arguments_value(call.arguments, completion.input.arguments_as_text)));
  }
  return calls;
}

json::Array calls_of_results(std::span<const json::Value> new_messages) {
  json::Array calls;
  for (const json::Value* result : tool_results(new_messages)) {
    const std::string id(result->find_string("tool_call_id").value_or(probe::made_up_id(calls.size())));
    calls.push_back(probe::tool_call(id, result->find_string("name").value_or("unknown"), nullptr));
  }
  return calls;
}

json::Array stand_in_calls(const ParsedCompletion& completion, std::span<const json::Value> answers, const Rung& rung) {
  if (rung.calls == Rung::Calls::kNone) return {};
  json::Array calls = rung.calls == Rung::Calls::kOfResults
                          ? calls_of_results(answers)
                          : history_calls(completion, answers, rung.calls != Rung::Calls::kOwn);
  if (rung.calls == Rung::Calls::kFirst) calls.resize(1);
  const json::Value arguments = probe::small_arguments(completion.input.arguments_as_text != rung.other_arguments);
  for (json::Value& call : calls) call.as_object().find("function")->as_object().set("arguments", arguments);
  const bool ends_bare =
      completion.is_bare && (rung.calls == Rung::Calls::kOwn || rung.calls == Rung::Calls::kOwnWithIds);
  if (ends_bare) {
    const json::Value none = arguments.is_string() ? json::Value("{}") : json::Value(json::Object{});
    calls.back().as_object().find("function")->as_object().set("arguments", none);
  }
  return calls;
}

// The content that replaces the text: a text, "" or null.  White space is kept, because templates may show or drop it.
json::Value stand_in_content(const ParsedCompletion& completion, Rung::Content wanted) {
  using enum Rung::Content;
  const std::string& own = completion.message.content;
  const bool has_own = !format::is_blank(own);
  if (wanted == kOwn && !has_own && !own.empty()) return own;
  if (wanted == kText || (wanted == kOwn && has_own)) return json::Value(probe::kShortAnswer);
  const bool is_null = completion.input.no_content == format::NoContent::kNull;
  return is_null == (wanted != kOther) ? json::Value() : json::Value("");
}

// The kinds of calls that differ for this completion, its own first.
std::vector<Rung::Calls> kinds_of_calls(const chat::AssistantMessage& said, std::span<const json::Value> answers) {
  using enum Rung::Calls;
  const std::size_t count = said.tool_calls.size();
  const bool has_results =
      std::ranges::any_of(answers, [](const json::Value& m) { return m.find_string("role") == "tool"; });
  const auto with_id = std::ranges::count_if(
      answers, [](const json::Value& message) { return message.find_string("tool_call_id").has_value(); });
  const bool need_ids = static_cast<std::size_t>(with_id) < count &&
                        !std::ranges::all_of(said.tool_calls, [](const chat::ToolCall& call) { return !!call.id; });
  std::vector<Rung::Calls> kinds = {kOwn};
  if (need_ids) kinds.push_back(kOwnWithIds);
  if (has_results) kinds.push_back(kOfResults);
  if (count > 1) kinds.push_back(kFirst);
  if (count > 0) kinds.push_back(kNone);
  return kinds;
}

// The kinds of content that differ for this completion, in a turn with calls or without.
std::vector<Rung::Content> kinds_of_content(const chat::AssistantMessage& said, bool has_calls) {
  using enum Rung::Content;
  // Text without calls is the whole turn.  Beside calls, some templates refuse it or write it apart.
  if (!format::is_blank(said.content)) return has_calls ? std::vector{kOwn, kShape, kOther} : std::vector{kOwn};
  // Few templates show a turn without text.  A stand-in text shows where the turn would end.
  const bool has_reasoning = said.reasoning && !format::is_blank(*said.reasoning);
  if (!has_calls && !has_reasoning) return {kText};
  // White space counts as content of its own kind.  Missing content takes the shape that the format has for it.
  return said.content.empty() ? std::vector{kOwn, kOther, kText} : std::vector{kOwn, kShape, kOther, kText};
}

std::string note_of(const ParsedCompletion& completion, Rung::Calls calls, bool leaves_text_out) {
  using enum Rung::Calls;
  const std::size_t count = completion.message.tool_calls.size();
  if (calls == kOfResults)
    return count > 0 ? "the template refuses the turn's calls; calls made from the tool results stand for them"
                     : "the turn has no calls; calls made from the tool results stand for it";
  if (calls == kFirst) return "the template refuses a turn with several calls; its first one stands for them";
  if (calls == kNone) return "the template shows no calls; a turn of plain text stands for the completion";
  if (leaves_text_out) return "the template refuses, or writes apart, the turn's text; its calls alone stand for it";
  return "";
}

}  // namespace

std::vector<Rung> ladder_of(const ParsedCompletion& completion, std::span<const json::Value> answers) {
  const chat::AssistantMessage& said = completion.message;
  std::vector<Rung> rungs;
  for (const Rung::Calls calls : kinds_of_calls(said, answers)) {
    const bool has_calls = calls == Rung::Calls::kOwn ? !said.tool_calls.empty() : calls != Rung::Calls::kNone;
    for (const Rung::Content content : kinds_of_content(said, has_calls)) {
      rungs.push_back({calls, content, false});
      if (has_calls) rungs.push_back({calls, content, true});
    }
  }
  return rungs;
}

StandIn make_stand_in(const ParsedCompletion& completion, std::span<const json::Value> answers, const Rung& rung) {
  const chat::AssistantMessage& said = completion.message;
  json::Object message{{"role", "assistant"}};
  message.set("content", stand_in_content(completion, rung.content));
  if (said.reasoning && !said.reasoning->empty()) message.set(reasoning_field(completion), probe::kShortThought);
  json::Array calls = stand_in_calls(completion, answers, rung);
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  const bool leaves_text_out = !format::is_blank(said.content) && rung.content != Rung::Content::kOwn;
  return {std::move(message), note_of(completion, rung.calls, leaves_text_out), rung.calls == Rung::Calls::kOfResults};
}

json::Array stand_in_history() { return {probe::plain_message("user", probe::kShortQuestion)}; }

std::vector<std::string> result_notes(const ParsedCompletion& completion, std::span<const json::Value> answers) {
  using By = chat::ResultMatch::By;
  std::vector<std::string> notes;
  const std::vector<chat::OpenCall> calls = open_calls(completion);
  if (calls.empty()) return notes;
  const std::vector<const json::Value*> results = tool_results(answers);
  const auto matches = chat::match_results(calls, results);
  std::size_t unanswered = calls.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [by, call] = matches[i];
    const auto id = results[i]->find_string("tool_call_id");
    if (by == By::kId || by == By::kOrder) --unanswered;
    const auto is_earlier = [&](const chat::ResultMatch& later) { return later.call && *later.call < *call; };
    if (by == By::kId && std::ranges::any_of(std::span(matches).subspan(i), is_earlier))
      notes.push_back("the result of call " + text::quoted(*id) + " comes out of order");
    if (by == By::kAnswered) notes.push_back("the call " + text::quoted(*id) + " has more than one result");
    if (by == By::kNothing && id && chat::have_ids(calls))
      notes.push_back("no call of the turn has the id " + text::quoted(*id) + " of a tool result");
    // The one result of one call has no other place.
    if (by == By::kOrder && std::max(calls.size(), results.size()) > 1) {
      const std::string which = id ? "with the id " + text::quoted(*id) + ", which no call has," : "without an id";
      notes.push_back("a tool result " + which + " answers call " + std::to_string(*call + 1) + " of " +
                      std::to_string(calls.size()) + ", " + text::quoted(calls[*call].name) + ", by its place");
    }
  }
  if (unanswered > 0) {
    notes.push_back(std::to_string(unanswered) + " of the turn's " + std::to_string(calls.size()) +
                    " calls have no result");
  }
  if (results.size() > calls.size()) {
    notes.push_back("there are " + std::to_string(results.size()) + " tool results for " +
                    std::to_string(calls.size()) + " calls");
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
  const std::string& part = completion.input.reasoning_part;
  if (message.reasoning && !part.empty() && !message.reasoning->empty()) {
    json::Array parts{json::Object{{"type", part}, {part, *message.reasoning}}};
    if (!message.content.empty()) parts.push_back(chat::text_part(message.content));
    out.set("content", std::move(parts));
  } else if (message.reasoning) {
    out.set(reasoning_field(completion), *message.reasoning);
  }
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return out;
}

}  // namespace rondo::render
