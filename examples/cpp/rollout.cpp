// A rollout with a tool: every next prompt begins with exactly the ids that were prompted and sampled.
//
// The model here is a stand-in that says something prepared; put your engine's sampling in its place.
//
// Usage: rollout TEMPLATE TOKENIZER      (files, or a model's folder twice)
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "rondo/model.h"

namespace {

using Ids = std::vector<std::int32_t>;

constexpr const char* kTools = R"([{"type": "function", "function": {"name": "add", "description": "Adds two numbers.",
  "parameters": {"type": "object", "required": ["a", "b"],
                 "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}}}])";

constexpr const char* kQuestion = R"({"role": "user", "content": "What is 2 + 2?"})";
constexpr const char* kTurn = R"({"role": "assistant", "content": "", "tool_calls": [{"id": "call_0",
  "type": "function", "function": {"name": "add", "arguments": {"a": 2, "b": 2}}}])";  // open: fields may follow
constexpr const char* kResult = R"({"role": "tool", "tool_call_id": "call_0", "name": "add", "content": "4"})";

std::string list(const Ids& ids) {
  std::string out;
  for (const std::int32_t id : ids) out += (out.empty() ? "[" : ", ") + std::to_string(id);
  return out + "]";
}

// What the template would have had a model write for this turn; a real one may write it in any other way.
rondo::Result<Ids> sample(const rondo::Model& model, const std::string& turn) {
  rondo::Chat chat;
  chat.tools = kTools;
  chat.messages = R"([{"role": "user", "content": "x"}])";
  const auto prompt = model.encode(chat);
  if (!prompt.ok()) return prompt.error();
  chat.messages = R"([{"role": "user", "content": "x"}, )" + turn + "]";
  chat.add_generation_prompt = false;
  const auto whole = model.encode(chat);
  if (!whole.ok()) return whole.error();
  const auto stops = model.stop_ids();
  if (!stops.ok()) return stops.error();
  const Ids& all = whole.value().ids;
  Ids completion;
  for (std::size_t i = prompt.value().ids.size(); i < all.size(); ++i) {
    completion.push_back(all[i]);
    if (std::ranges::binary_search(stops.value(), all[i])) break;
  }
  return completion;
}

rondo::Status roll_out(const rondo::Model& model) {
  rondo::Chat chat;
  chat.tools = kTools;
  chat.messages = "[" + std::string(kQuestion) + "]";
  const auto prompt = model.encode(chat);
  if (!prompt.ok()) return prompt.error();
  const auto sampled = sample(model, std::string(kTurn) + "}");
  if (!sampled.ok()) return sampled.error();

  // What it says.
  const auto text = model.detokenize(sampled.value());
  if (!text.ok()) return text.error();
  const auto said = model.parse(chat, text.value());
  if (!said.ok()) return said.error();
  for (const rondo::ParsedCall& call : said.value().tool_calls)
    std::printf("%s called with %s\n", call.name.c_str(), call.arguments.c_str());

  // The next prompt.
  rondo::Bridge bridge;
  bridge.prompt_ids = prompt.value().ids;
  bridge.completion_ids = sampled.value();
  bridge.new_messages = "[" + std::string(kResult) + "]";
  const auto next = model.bridge(chat, bridge);
  if (!next.ok()) return next.error();
  const Ids& ids = next.value().ids;
  const bool is_same = std::equal(bridge.prompt_ids.begin(), bridge.prompt_ids.end(), ids.begin());
  std::printf("%zu ids in the prompt, %zu sampled, %zu appended; the old ids %s\n", bridge.prompt_ids.size(),
              bridge.completion_ids.size(), next.value().appended, is_same ? "are unchanged" : "CHANGED");

  // The same prompt for a client that keeps messages: the turn carries what was sampled.
  chat.messages =
      "[" + std::string(kQuestion) + ", " + kTurn + ", \"raw_ids\": " + list(sampled.value()) + "}, " + kResult + "]";
  chat.raw_turns = true;
  const auto again = model.encode(chat);
  if (!again.ok()) return again.error();
  std::printf("from messages with raw turns: %s\n", again.value().ids == ids ? "the same prompt" : "ANOTHER PROMPT");
  return rondo::Done{};
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: rollout TEMPLATE TOKENIZER\n");
    return 2;
  }
  const auto model = rondo::Model::load(arguments[1], arguments[2]);
  const rondo::Status done = model.ok() ? roll_out(model.value()) : rondo::Status(model.error());
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done.ok() ? 0 : 1;
}
