// Tests what the bridge appends to a turn whose stop the engine has taken away, for templates that end turns in a rare
// way.
#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

using testing::call_of;
using testing::memory;
using Ids = std::vector<tokenizer::TokenId>;

// Returns a template in which `assistant` writes what stands in an assistant message, and ~fin~ ends each.
std::string with_turns(const std::string& assistant) {
  return "{%- for m in messages %}{{- '[[' + m.role + '>>' }}{%- if m.role == 'assistant' %}" + assistant +
         "{%- else %}{{- m.content }}{%- endif %}{{- '~fin~' }}{%- endfor %}"
         "{%- if add_generation_prompt %}{{- '[[assistant>>' }}{%- endif %}";
}

// Returns the text that the bridge appends to `said`, which has no stop, before a question.
std::string appended(const std::string& chat_template, const std::string& said, bool allow_lossy = true,
                     render::Retention retention = render::Retention::kAll) {
  const auto model = testing::made(Model::from_memory(memory(chat_template.c_str()), {}));
  Call call = call_of(R"([{"role": "user", "content": "Hi"}])");
  call.conversation.tools = testing::tools();
  const Ids prompt = model->encode(call).value().ids;
  const Ids completion = model->tokenize(said, true).value();
  BridgeCall bridge;
  bridge.prompt = prompt;
  bridge.completion = completion;
  bridge.new_messages = json::parse(R"([{"role": "user", "content": "On"}])").value().as_array();
  bridge.allow_lossy = allow_lossy;
  bridge.retention = retention;
  const auto bridged = model->bridge(call, bridge);
  if (!bridged.ok()) return bridged.error().message;
  const std::size_t old_size = prompt.size() + completion.size();
  const Ids& ids = bridged.value().ids;
  return model->detokenize(Ids(ids.begin() + static_cast<std::ptrdiff_t>(old_size), ids.end()), false).value();
}

constexpr const char* kNext = "~fin~[[user>>On~fin~[[assistant>>";

TEST_CASE("an answer that looks like a call is ended by the stop alone") {
  const std::string chat_template = with_turns(
      "{{- m.content or '' }}{%- for c in m.tool_calls or [] %}{{- '{!do' + (c.function | tojson) + 'do!}' }}{%- "
      "endfor %}");
  for (const char* said : {"{\"name\": \"Ann\",", "[\"red\", \"bl", "- [ ] to"})
    CHECK(appended(chat_template, said) == kNext);
  CHECK(appended(chat_template, "{!do{\"name\": \"add\", \"arguments\": {\"a\": 1") == std::string("}}do!}") + kNext);
}

TEST_CASE("a call whose close ends in a bracket is followed by the stop") {
  const std::string chat_template = with_turns(
      "{{- m.content or '' }}{%- for c in m.tool_calls or [] %}{{- '<call:' + c.id + '>' + c.function.name + ' ' + "
      "(c.function.arguments | tojson) + '</call:' + c.id + '>' }}{%- endfor %}");
  CHECK(appended(chat_template, "<call:a1>add {\"a\": 1}</call:a1>") == kNext);
}

TEST_CASE("a fence around calls that has closed is not closed again") {
  const std::string chat_template = with_turns(
      "{{- m.content or '' }}{%- if m.tool_calls %}{{- '\\n```sh' }}{%- for c in m.tool_calls %}{{- '\\n@' + "
      "c.function.name }}{%- for k, v in c.function.arguments.items() %}{{- ' --' + k + '=' + (v | tojson) }}{%- "
      "endfor %}"
      "{%- endfor %}{{- '\\n```' }}{%- endif %}");
  CHECK(appended(chat_template, "\n```sh\n@add --a=1\n```") == kNext);
}

TEST_CASE("reasoning that is a part of the content is not lost") {
  const std::string chat_template = with_turns(
      "{%- if m.content is string %}{{- m.content }}{%- else %}{%- for p in m.content or [] %}{%- if p.type == "
      "'thinking' %}"
      "{{- '(*mull' + p.thinking + 'mull*)' }}{%- else %}{{- p.text }}{%- endif %}{%- endfor %}{%- endif %}");
  CHECK(appended(chat_template, "(*mullHm.mull*)Hello.", false) == kNext);
}

TEST_CASE("bug: a bridge that may cut reasoning did not refuse a lossy end") {
  const std::string chat_template = with_turns("{{- m.content }}");
  CHECK(appended(chat_template, "Hello.~fin~More", true, render::Retention::kTemplate) == std::string(kNext).substr(5));
  for (const auto retention : {render::Retention::kAll, render::Retention::kTemplate, render::Retention::kToolCycle})
    CHECK(appended(chat_template, "Hello.~fin~More", false, retention) ==
          "what was sampled behind the first stop token is no part of the turn");
}

}  // namespace
}  // namespace rondo::core
