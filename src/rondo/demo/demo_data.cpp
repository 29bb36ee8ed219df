#include "demo/demo_data.h"

#include "json/parse.h"

namespace rondo::demo {
namespace {

std::string text_of(const json::Value& value, std::string_view key) {
  return std::string(value.find_string(key).value_or(""));
}

json::Array array_of(const json::Value& value, std::string_view key) {
  const json::Value* found = value.find(key);
  return found != nullptr && found->is_array() ? found->as_array() : json::Array{};
}

std::vector<std::string> strings_of(const json::Value& value, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& item : array_of(value, key)) {
    if (item.is_string()) out.push_back(item.as_string());
  }
  return out;
}

DemoStep step_of(const json::Value& value, std::size_t index) {
  DemoStep step;
  step.results = array_of(value, "results");
  step.user = text_of(value, "user");
  step.style = text_of(value, "style");
  json::Object message;
  message.set("role", "assistant");
  message.set("content", text_of(value, "content"));
  message.set("reasoning_content", text_of(value, "reasoning"));
  json::Array calls;
  for (const json::Value& function : array_of(value, "calls")) {
    json::Object call;
    call.set("id", "call" + std::to_string(10000 + 10 * index + calls.size()));
    call.set("type", "function");
    call.set("function", function);
    calls.emplace_back(std::move(call));
  }
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  step.message = std::move(message);
  return step;
}

std::vector<DemoStep> steps_of(const json::Value& data, std::string_view key) {
  std::vector<DemoStep> steps;
  for (const json::Value& value : array_of(data, key)) steps.push_back(step_of(value, steps.size()));
  return steps;
}

}  // namespace

Result<DemoData> demo_data() {
  const Result<json::Value> parsed = json::parse(demo_data_json());
  if (!parsed.ok()) return parsed.error();
  const json::Value& value = parsed.value();
  DemoData data;
  if (const json::Value* model = value.find("model")) {
    data.model = {text_of(*model, "template"), text_of(*model, "vocabulary"), strings_of(*model, "special_tokens"),
                  strings_of(*model, "added_tokens")};
  }
  for (const json::Value& family : array_of(value, "families")) {
    const json::Value* kwargs = family.find("kwargs");
    data.families.push_back({text_of(family, "name"), strings_of(family, "templates"), text_of(family, "tokenizer"),
                             strings_of(family, "special_tokens"),
                             kwargs != nullptr ? kwargs->as_object() : json::Object{}});
  }
  if (const json::Value* bare = value.find("bare")) {
    const json::Value* answer = bare->find("answer");
    data.bare = {text_of(*bare, "template"), text_of(*bare, "system"),  text_of(*bare, "user"),
                 array_of(*bare, "tools"),   text_of(*bare, "result"),  answer != nullptr ? *answer : json::Value(),
                 steps_of(*bare, "called"),  steps_of(*bare, "answers")};
  }
  data.system = text_of(value, "system");
  data.tools = array_of(value, "tools");
  data.agent = steps_of(value, "agent");
  data.rollout = steps_of(value, "rollout");
  return data;
}

}  // namespace rondo::demo
