// A program outside of rondo's tree: uses every public class through the installed headers and library.
//
// Usage: outside MODEL-FOLDER
#include <rondo/model.h>
#include <rondo/parser.h>
#include <rondo/rollout.h>
#include <rondo/session.h>
#include <rondo/testing.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr const char* kTurn = R"({!do add with {"a": 2} do!}~fin~)";

rondo::Chat question() {
  rondo::Chat chat;
  chat.messages = R"([{"role": "user", "content": "2 + 2?"}])";
  return chat;
}

rondo::Status use_parser(const rondo::Model& model) {
  auto parser = rondo::Parser::start(model, question());
  if (!parser.ok()) return parser.error();
  const auto events = parser.value().feed(kTurn);
  if (!events.ok()) return events.error();
  const rondo::Parsed said = parser.value().finish();
  for (const rondo::ParsedCall& call : said.tool_calls)
    std::printf("call: %s %s\n", call.name.c_str(), call.arguments.c_str());
  return rondo::Done{};
}

rondo::Status use_rollout(const rondo::Model& model) {
  auto rollout = rondo::Rollout::start(model, question());
  if (!rollout.ok()) return rollout.error();
  const auto sampled = model.tokenize(kTurn);
  if (!sampled.ok()) return sampled.error();
  const auto said = rollout.value().complete(sampled.value());
  if (!said.ok()) return said.error();
  const auto extended = rollout.value().extend(R"([{"role": "tool", "content": "4"}])");
  if (!extended.ok()) return extended.error();
  const auto text = model.detokenize(rollout.value().ids());
  if (!text.ok()) return text.error();
  std::printf("rollout: %s\n", text.value().c_str());
  return rondo::Done{};
}

void use_tests(const rondo::Model& model) {
  for (const std::string& failure : rondo::testing::check(model)
                                        .messages(question().messages)
                                        .parses(kTurn, R"({"tool_calls": [{"name": "add", "arguments": {"a": 3}}]})")
                                        .in_pieces()
                                        .failures())
    std::printf("test: %s", failure.c_str());
}

rondo::Status use(const char* folder) {
  const auto model = rondo::Model::load(folder);
  if (!model.ok()) return model.error();
  const auto prompt = model.value().render(question());
  if (!prompt.ok()) return prompt.error();
  std::printf("prompt: %s\n", prompt.value().c_str());
  rondo::Status done = use_parser(model.value());
  if (!done.ok()) return done;
  use_tests(model.value());
  done = use_rollout(model.value());
  // The engine is linked in, where there is one, although no weights are here.
  std::printf("session: %s\n",
              rondo::Session::start("missing.gguf", question(), {}).ok() ? "started" : "no such model");
  return done;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const rondo::Status done = use(arguments[1]);
  if (!done.ok()) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done.ok() ? 0 : 1;
}
