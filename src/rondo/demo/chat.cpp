// `rondo chat`: a person and a model take turns.
#include <string>
#include <utility>

#include "base/files.h"
#include "demo/demo.h"
#include "demo/embedded.h"
#include "engine/llama_cpp.h"
#include "json/print.h"
#include "rondo/session.h"

namespace rondo::demo {
namespace {

json::Value message(const char* role, const std::string& content) {
  return json::Object{{"role", role}, {"content", content}};
}

std::string now_text(const std::tm& time) {
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &time));
  return text;
}

json::Value turn_to_json(const Turn& turn) {
  json::Array calls;
  for (const ParsedCall& call : turn.message.tool_calls) {
    calls.emplace_back(json::Object{{"name", call.name}, {"arguments", call.arguments}, {"status", call.status}});
  }
  json::Object out{{"content", turn.message.content}};
  out.set("reasoning_content", turn.message.reasoning ? json::Value(*turn.message.reasoning) : json::Value());
  out.set("tool_calls", std::move(calls));
  out.set("stop", turn.stop);
  out.set("prompt_tokens", turn.prompt_tokens);
  out.set("reused_tokens", turn.reused_tokens);
  out.set("prefilled_tokens", turn.prefilled_tokens);
  out.set("generated_tokens", turn.ids.size());
  return out;
}

void print_turn(const Turn& turn, bool as_json, const Print& print, const Print& progress) {
  if (as_json) return print(json::to_compact(turn_to_json(turn)) + "\n");
  std::string text;
  if (turn.message.reasoning) text += "(" + *turn.message.reasoning + ")\n";
  text += turn.message.content + "\n";
  for (const ParsedCall& call : turn.message.tool_calls) text += "[calls " + call.name + " " + call.arguments + "]\n";
  print(text);
  progress("  " + std::to_string(turn.prompt_tokens) + " prompt tokens: " + std::to_string(turn.reused_tokens) +
           " reused, " + std::to_string(turn.prefilled_tokens) + " prefilled; " + std::to_string(turn.ids.size()) +
           " generated, ended by " + turn.stop + "\n");
}

Error no_engine() {
  return {
      ErrorCode::kUnsupported,
      "this build has no embedded engine (RONDO_LLAMA=off): install rondo[engine] with pip, or build rondo with one; "
      "to talk to a model on another server, run `rondo serve MODEL --url ADDRESS` and open its page in a browser"};
}

Result<Session> start(const ChatOptions& options, const std::string& model, const std::string& first) {
  if (!engine::has_llama_cpp()) return no_engine();
  json::Array messages;
  if (!options.system.empty()) messages.push_back(message("system", options.system));
  messages.push_back(message("user", first));
  Chat chat;
  chat.messages = json::to_compact(messages);
  if (options.clock) chat.now = now_text(options.clock());
  SessionOptions session;
  session.template_path = options.chat_template;
  session.polyfill = options.polyfill;
  return Session::start(model, chat, session);
}

}  // namespace

Status run_chat(const ChatOptions& options, const std::function<std::optional<std::string>()>& read_line,
                const Print& print, const Print& progress) {
  std::string model = options.model;
  if (model.empty()) {
    EmbeddedOptions tiny;
    tiny.cache_folder = options.cache_folder;
    tiny.fixtures = options.fixtures;
    Result<std::string> made = tiny_model(tiny, progress);
    if (!made.ok()) return made.error().code == ErrorCode::kUnsupported ? no_engine() : made.error();
    model = std::move(made).value();
    if (!engine::has_llama_cpp()) return no_engine();
    progress("talking to a model with random weights: it writes nonsense (--model FILE.gguf names another)\n");
  }
  if (!files::exists(model)) return Error(ErrorCode::kNotFound, "no such file or folder", model);
  StepOptions step;
  step.max_tokens = static_cast<std::size_t>(options.max_tokens);
  step.temperature = static_cast<float>(options.temperature);
  step.seed = options.seed;
  std::optional<Session> session;
  while (const std::optional<std::string> line = read_line()) {
    if (line->empty()) continue;
    if (!session) {
      auto started = start(options, model, *line);
      if (!started.ok()) return started.error();
      session = std::move(started).value();
    } else if (Status status = session->add(json::to_compact(json::Array{message("user", *line)})); !status.ok()) {
      return status;
    }
    auto turn = session->step(step);
    if (!turn.ok()) return turn.error();
    print_turn(turn.value(), options.json, print, progress);
  }
  return Done{};
}

}  // namespace rondo::demo
