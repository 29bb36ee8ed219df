#include "python/calls.h"

#include <algorithm>
#include <ctime>

#include "core/fields.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;

namespace {

jinja::LocalTime clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return core::local_time(local);
}

std::optional<std::string> read_continuation(nb::handle value) {
  if (value.is_none() || value.ptr() == Py_False) return std::nullopt;
  if (value.ptr() == Py_True) return "content";
  return to_text(value, "continue_final_message");
}

std::size_t token_at(const std::vector<std::uint32_t>& ends, std::size_t byte) {
  return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), byte) - ends.begin());
}

}  // namespace

jinja::LocalTime read_time(nb::handle value) {
  if (value.is_none()) return clock_time();
  nb::object given = nb::borrow(value);
  if (!PyUnicode_Check(value.ptr()) && PyObject_HasAttrString(value.ptr(), "isoformat") != 0)
    // Microseconds and the zone are dropped, because templates get neither.
    given = value.attr("replace")(nb::arg("microsecond") = 0, nb::arg("tzinfo") = nb::none()).attr("isoformat")();
  const json::Object request{{"now", to_text(given, "now")}};
  core::Fields fields(request);
  const std::optional<jinja::LocalTime> time = fields.time("now");
  if (const Status status = fields.finish(); !status.ok()) raise(status.error());
  return *time;
}

render::Retention read_retention(const std::string& name) {
  const auto retention = render::retention_of(name);
  if (!retention) {
    raise_invalid(
        "must be \"all\", \"template\", \"tool_cycle\", \"preserve_thinking_between_tool_calls\" or "
        "\"preserve_all_thinking\", found \"" +
            name + "\"",
        "retention");
  }
  return *retention;
}

Call read_call(const CallArguments& arguments) {
  Call out;
  chat::Conversation& conversation = out.conversation;
  if (!arguments.messages.is_none()) {
    conversation.messages = to_objects(arguments.messages, "messages");
    out.has_messages = true;
  }
  if (!arguments.tools.is_none()) conversation.tools = json::Value(to_objects(arguments.tools, "tools"));
  if (!arguments.documents.is_none())
    conversation.documents = json::Value(to_objects(arguments.documents, "documents"));
  conversation.kwargs = to_object(arguments.kwargs, "kwargs");
  conversation.continue_final_message = read_continuation(arguments.continue_final_message);
  conversation.add_generation_prompt = arguments.add_generation_prompt;
  if (conversation.continue_final_message && conversation.add_generation_prompt)
    raise_invalid("must not be true with `continue_final_message`", "add_generation_prompt");
  out.now = read_time(arguments.now);
  if (arguments.content_specials != "text" && arguments.content_specials != "parse")
    raise_invalid("must be \"text\" or \"parse\"", "content_specials");
  if (arguments.content_specials == "parse") out.specials = render::ContentSpecials::kParse;
  out.inline_reasoning = arguments.inline_reasoning;
  if (arguments.retention) out.retention = read_retention(*arguments.retention);
  // The raw fields leave the messages before a template can see and print them.
  if (arguments.raw_turns) {
    auto turns = render::take_raw_turns(conversation.messages);
    if (!turns.ok()) raise(turns.error());
    out.raw_turns = std::move(turns).value();
  }
  return out;
}

Call read_answer_call(const CallArguments& arguments) {
  Call out = read_call(arguments);
  out.conversation.add_generation_prompt = !out.conversation.continue_final_message.has_value();
  return out;
}

parse::Options read_options(const ParseArguments& arguments) {
  if (arguments.tool_choice != "auto" && arguments.tool_choice != "none" && arguments.tool_choice != "required")
    raise_invalid("must be \"auto\", \"none\" or \"required\"", "tool_choice");
  if (arguments.reasoning != "split" && arguments.reasoning != "inline")
    raise_invalid("must be \"split\" or \"inline\"", "reasoning");
  parse::Options out;
  out.calls = arguments.tool_choice != "none";
  out.parallel_calls = arguments.parallel_tool_calls;
  out.inline_reasoning = arguments.reasoning == "inline";
  out.partial = arguments.partial;
  out.strict = arguments.strict;
  return out;
}

ParsedObject parsed_object(ParsedIds parsed) {
  ParsedObject out;
  for (const chat::ToolCall& call : parsed.message.tool_calls) {
    CallObject object{call, parsed.text.substr(call.raw_begin, call.raw_end - call.raw_begin), std::nullopt};
    // Only a completion that was given as ids has ends of tokens.
    if (!parsed.ends.empty()) {
      const std::size_t first = token_at(parsed.ends, call.raw_begin);
      const std::size_t last = call.raw_end > call.raw_begin ? token_at(parsed.ends, call.raw_end - 1) + 1 : first;
      object.token_span = {first, std::min(last, parsed.ends.size())};
    }
    out.calls.push_back(std::move(object));
  }
  out.message = std::move(parsed.message);
  out.text = std::move(parsed.text);
  out.ids = std::move(parsed.ids);
  out.stopped = parsed.stopped;
  out.reasoning_open = parsed.reasoning_open;
  return out;
}

namespace {

using NamedCalls = std::vector<std::pair<std::string_view, std::string_view>>;  // id, name

void add_calls(const json::Value& message, NamedCalls& out) {
  const json::Value* made = message.find("tool_calls");
  if (made == nullptr || !made->is_array()) return;
  for (const json::Value& call : made->as_array()) {
    const json::Value* function = call.find("function");
    const auto id = call.find_string("id");
    const auto called = function == nullptr ? std::nullopt : function->find_string("name");
    if (id && called) out.emplace_back(*id, *called);
  }
}

// The tool whose result the message is: by its own name, else by the last call with its id.
std::optional<std::string> tool_of(const json::Value& message, const NamedCalls& calls) {
  if (const auto own = message.find_string("name"); own && !own->empty()) return std::string(*own);
  const auto id = message.find_string("tool_call_id");
  if (!id) return std::nullopt;
  const auto found = std::find_if(calls.rbegin(), calls.rend(), [&](const auto& call) { return call.first == *id; });
  if (found == calls.rend() || found->second.empty()) return std::nullopt;
  return std::string(found->second);
}

}  // namespace

std::vector<std::optional<std::string>> tool_names(const json::Array& messages) {
  NamedCalls calls;
  std::vector<std::optional<std::string>> out;
  for (const json::Value& message : messages) {
    const auto role = message.find_string("role");
    if (role == "assistant") add_calls(message, calls);
    out.push_back(role == "tool" ? tool_of(message, calls) : std::nullopt);
  }
  return out;
}

std::vector<std::string> roles(const json::Array& messages) {
  std::vector<std::string> out;
  for (const json::Value& message : messages) out.emplace_back(message.find_string("role").value_or(""));
  return out;
}

}  // namespace rondo::python
