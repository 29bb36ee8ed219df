// A case without expectations: for each turn of the assistant, or for generated turns, checks what must hold for any
// turn.
#include <utility>

#include "audit/messages.h"
#include "probe/messages.h"
#include "tester/checks.h"

namespace rondo::tester {
namespace {

constexpr const char* kAnswer = "Certainly: 2 apples.";
constexpr const char* kThought = "Count them first.";
constexpr const char* kNextQuestion = "And now?";
constexpr const char* kResult = "18 degrees, sunny";

json::Value example_of(const json::Value& schema, int depth);

json::Value example_object(const json::Value& schema, int depth) {
  json::Object out;
  const json::Value* properties = schema.find("properties");
  if (properties == nullptr || !properties->is_object()) return json::Value(std::move(out));
  for (const json::Member& member : properties->as_object()) out.set(member.key, example_of(member.value, depth + 1));
  return json::Value(std::move(out));
}

// A value of the type that a schema names; finer constraints are ignored.
json::Value example_of(const json::Value& schema, int depth) {
  constexpr int kDeepest = 6;
  if (const json::Value* only = schema.find("const")) return *only;
  if (const json::Value* choices = schema.find("enum");
      choices != nullptr && choices->is_array() && !choices->as_array().empty())
    return choices->as_array().front();
  const std::string_view type = schema.find_string("type").value_or("string");
  if (type == "integer") return 3;
  if (type == "number") return 2.5;
  if (type == "boolean") return true;
  if (type == "null") return {};
  if (depth >= kDeepest) return type == "array" ? json::Value(json::Array()) : json::Value("x");
  if (type == "object") return example_object(schema, depth);
  if (type != "array") return "Oslo";
  const json::Value* items = schema.find("items");
  return items == nullptr ? json::Array() : json::Array{example_of(*items, depth + 1)};
}

// A message that a model may write, and what follows it.
struct Exchange {
  std::string name;
  json::Value message;
  json::Array following;
};

std::vector<Exchange> made_up(const format::Format& format, const std::optional<json::Value>& tools) {
  const auto answer = [&](const char* reasoning) {
    return audit::message_of(format, {.reasoning = reasoning, .content = kAnswer, .calls = {}});
  };
  const json::Array next = {probe::plain_message("user", kNextQuestion)};
  std::vector<Exchange> out = {{"a made-up answer", answer(""), next}};
  if (format.reasoning.present) out.push_back({"a made-up answer with reasoning", answer(kThought), next});
  if (!tools || !format.calls.present) return out;
  for (const chat::ToolDefinition& tool : chat::tool_definitions(*tools)) {
    const std::string id = audit::call_id(format, tool.name, 0);
    const json::Value arguments = example_object(tool.parameters, 0);
    out.push_back(
        {"a made-up call of " + tool.name,
         audit::message_of(format, {.reasoning = "", .content = "", .calls = {{tool.name, arguments.as_object(), id}}}),
         {probe::tool_message(id, tool.name, kResult)}});
  }
  return out;
}

class Laws {
 public:
  Laws(const Bench& bench, Findings& out) : bench_(bench), out_(out) {}

  // Checks the turn of `exchange` after the messages of `call`.
  void check(const core::Call& call, const Exchange& exchange, int line) {
    out_.set_subject(exchange.name);
    const auto turn = bench_.written(call, exchange.message);
    if (!turn.ok()) return out_.note("not checked: " + turn.error().message);
    out_.begin("roundtrip", line);
    check_roundtrip(bench_, turn.value(), exchange.message, out_);
    out_.begin("pieces", line);
    check_pieces(bench_, turn.value(), out_);
    out_.begin("grammar", line);
    check_accepts(bench_, turn.value(), turn.value().text, out_);
    if (!exchange.following.empty()) {
      out_.begin("bridge", line);
      check_crossing(turn.value(), exchange);
    }
    out_.set_subject("");
  }

 private:
  // A template may change earlier turns.  That is reported, not a failure.
  void check_crossing(const Turn& turn, const Exchange& exchange) {
    const auto crossed = bench_.cross(turn, exchange.following);
    if (!crossed.ok()) return out_.fail("there is no bridge", crossed.error());
    if (!crossed.value().agrees) return check_bridge(bench_, turn, {exchange.following, {}, false}, out_);
    for (const std::string& lossy : crossed.value().lossy)
      out_.note("the bridge keeps what a re-render changes: " + lossy);
  }

  const Bench& bench_;
  Findings& out_;
};

}  // namespace

void check_laws(const Bench& bench, const Case& test, Findings& out) {
  Laws laws(bench, out);
  const json::Array& messages = test.call.conversation.messages;
  const auto behind = [&](std::size_t count) {
    core::Call call = test.call;
    call.conversation.messages.resize(count);
    call.conversation.add_generation_prompt = true;
    call.conversation.continue_final_message.reset();
    return call;
  };
  bool has_turn = false;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!is_assistant(messages[i])) continue;
    has_turn = true;
    Exchange exchange{"messages[" + std::to_string(i) + "]", messages[i], {}};
    for (std::size_t k = i + 1; k < messages.size() && !is_assistant(messages[k]); ++k)
      exchange.following.push_back(messages[k]);
    laws.check(behind(i), exchange, test.line);
  }
  if (has_turn) return;
  const core::Call call = behind(messages.size());
  const auto format = bench.format(call);
  if (!format.ok()) return out.fail("the template's format cannot be told", format.error());
  for (const Exchange& exchange : made_up(*format.value(), call.conversation.tools))
    laws.check(call, exchange, test.line);
}

}  // namespace rondo::tester
