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
#include "rondo/parser.h"
#include "rondo/rollout.h"

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

// What the model says, read while it is sampled.
rondo::Status listen(const rondo::Model& model, const rondo::Chat& chat, const Ids& sampled) {
  auto parser = rondo::Parser::start(model, chat);
  if (!parser.ok()) return parser.error();
  for (const std::int32_t id : sampled) {
    const auto events = parser.value().feed(Ids{id});
    if (!events.ok()) return events.error();
    for (const rondo::ParseEvent& event : events.value()) {
      if (event.kind != rondo::ParseEvent::Kind::kCallEnd) continue;
      const rondo::ParsedCall call = parser.value().message().tool_calls[event.call];
      std::printf("%s called with %s\n", call.name.c_str(), call.arguments.c_str());
    }
  }
  return rondo::Done{};
}

// The same prompt for a client that keeps messages: the turn carries what was sampled.
rondo::Status encode_again(const rondo::Model& model, rondo::Chat chat, const Ids& sampled, const Ids& prompt) {
  chat.messages =
      "[" + std::string(kQuestion) + ", " + kTurn + ", \"raw_ids\": " + list(sampled) + "}, " + kResult + "]";
  chat.raw_turns = true;
  const auto again = model.encode(chat);
  if (!again.ok()) return again.error();
  std::printf("from messages with raw turns: %s\n", again.value().ids == prompt ? "the same prompt" : "ANOTHER PROMPT");
  return rondo::Done{};
}

rondo::Status roll_out(const rondo::Model& model) {
  rondo::Chat chat;
  chat.tools = kTools;
  chat.messages = "[" + std::string(kQuestion) + "]";
  auto started = rondo::Rollout::start(model, chat);
  if (!started.ok()) return started.error();
  rondo::Rollout& rollout = started.value();
  const std::size_t prompt_size = rollout.ids().size();
  const auto sampled = sample(model, std::string(kTurn) + "}");
  if (!sampled.ok()) return sampled.error();
  if (const auto heard = listen(model, chat, sampled.value()); !heard.ok()) return heard.error();
  if (const auto said = rollout.complete(sampled.value()); !said.ok()) return said.error();

  // The next prompt.
  const Ids old_ids = rollout.ids();
  const auto next = rollout.extend("[" + std::string(kResult) + "]");
  if (!next.ok()) return next.error();
  const Ids ids = rollout.ids();
  const bool is_same = ids.size() > old_ids.size() && std::equal(old_ids.begin(), old_ids.end(), ids.begin());
  std::printf("%zu ids in the prompt, %zu sampled, %zu appended; the old ids %s\n", prompt_size, sampled.value().size(),
              ids.size() - next.value().begin, is_same ? "are unchanged" : "CHANGED");
  return encode_again(model, chat, sampled.value(), ids);
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
