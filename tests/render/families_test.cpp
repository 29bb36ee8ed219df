// The templates of our own: what they write of one conversation, and which vocabulary gets which.
#include <doctest/doctest.h>

#include "core/families.h"
#include "core/model.h"
#include "json/parse.h"
#include "tests/support/corpus.h"
#include "tests/support/golden.h"

namespace rondo {
namespace {

constexpr const char* kMessages =
    R"([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Weather in Rome?"},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome"}}}]},
    {"role": "tool", "tool_call_id": "call00001", "name": "weather", "content": "sunny"},
    {"role": "assistant", "content": "Sunny."}, {"role": "user", "content": "Thanks."}])";
constexpr const char* kTools = R"([{"type": "function", "function": {"name": "weather", "description": "The weather.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "Where."}}}}}])";

}  // namespace

// One file for each family: adding a template is adding it and its file here.  RONDO_UPDATE=1 rewrites them.
TEST_CASE("004:5-11, 004:13, 004:318-319: what each family writes is what its golden says") {
  for (const std::string& name : core::family_names()) {
    CAPTURE(name);
    core::Source source;
    source.chat_template = name;
    const auto model = core::Model::load(source);
    REQUIRE(model.ok());
    core::Call call;
    call.conversation.messages = json::parse(kMessages).value().as_array();
    call.conversation.tools = json::parse(kTools).value();
    call.conversation.bos_token = "<s>";
    call.conversation.eos_token = "</s>";
    call.conversation.add_generation_prompt = true;
    call.has_messages = true;
    const auto text = model.value()->render(call);
    REQUIRE(text.ok());
    test::check_golden("families/" + name + ".txt", text.value());
  }
}

TEST_CASE("004:36-38, 004:94-96, 004:114-116: a vocabulary gets the family whose tokens it has") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  int compared = 0;
  for (const auto& [row_id, family] : {std::pair("llama3", "llama-3"), std::pair("qwen2.5", "chatml"),
                                       std::pair("qwen3", "chatml-thinking"), std::pair("glm-4.6", "glm-4")}) {
    const test::CorpusRow* row = corpus->find(row_id);
    if (row == nullptr || row->model_folder.empty()) continue;
    CAPTURE(row_id);
    core::Source source;
    source.path = row->model_folder;
    source.chat_template = "auto";
    const auto model = core::Model::load(source);
    REQUIRE(model.ok());
    CHECK(model.value()->template_reason().find("`" + std::string(family) + "`: its vocabulary has <|") !=
          std::string::npos);
    ++compared;
  }
  CHECK(compared >= 1);
}

}  // namespace rondo
