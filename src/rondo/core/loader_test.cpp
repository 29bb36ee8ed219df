#include "core/loader.h"

#include "tests/support/core_models.h"
#include "tests/support/own_folder.h"

namespace rondo::core {
namespace {

using rondo::testing::OwnFolder;

TEST_CASE("004:326-330: a template's text is compiled once for the same options") {
  Loader loader;
  const auto first = loader.template_from_text("{% if x %}\n{% endif %}", {}).value();
  CHECK(loader.template_from_text("{% if x %}\n{% endif %}", {}).value() == first);
  CHECK(loader.template_from_text("{% if x %}{% endif %}", {}).value() != first);
  for (const jinja::CompileOptions& options :
       {jinja::CompileOptions{.trim_blocks = false}, jinja::CompileOptions{.lstrip_blocks = false},
        jinja::CompileOptions{.keep_trailing_newline = true}})
    CHECK(loader.template_from_text("{% if x %}\n{% endif %}", options).value() != first);
  CHECK(first->plain->name() == "template");
  CHECK(first->tool_use == nullptr);
  CHECK(first->with_tools(true) == first->plain);
}

TEST_CASE("a template that does not parse is refused each time") {
  Loader loader;
  for (int i = 0; i < 2; ++i) {
    const auto refused = loader.template_from_text("a\n{% if %}", {});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kTemplateSyntax);
    CHECK(refused.error().line == 2);
  }
}

TEST_CASE("a template that is no UTF-8 is refused with the place") {
  const auto refused = Loader().template_from_text("good\nb\xC3(ad\nmore", {});
  REQUIRE_FALSE(refused.ok());
  const Error& error = refused.error();
  CHECK(error.code == ErrorCode::kTemplateSyntax);
  CHECK(error.message == "the template is not valid UTF-8");
  CHECK(error.line == 2);
  CHECK(error.column == 2);
  CHECK(error.line_text == "b\uFFFD(ad");
  CHECK(Loader().template_from_text("\xFF", {}).error().line == 1);
  CHECK(Loader().template_from_text("\xFF", {}).error().column == 1);
}

TEST_CASE("004:134-142: a folder's template brings its special tokens, and a second one for tools") {
  const OwnFolder folder;
  folder.file("tokenizer_config.json", R"({"bos_token": "<s>", "eos_token": {"content": "</s>"}, "chat_template": [
      {"name": "default", "template": "plain"}, {"name": "rag", "template": "{% broken"},
      {"name": "tool_use", "template": "tools"}]})");
  Loader loader;
  const auto loaded = loader.template_from_file(folder.path(), {});
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  CHECK(loaded.value()->tokens.bos == "<s>");
  CHECK(loaded.value()->tokens.eos == "</s>");
  CHECK(loaded.value()->with_tools(false)->source() == "plain");
  CHECK(loaded.value()->with_tools(true)->source() == "tools");
  CHECK(loader.template_from_file(folder.path(), {}).value() == loaded.value());
}

TEST_CASE("a name chooses among a model's templates, and then among rondo's own") {
  const OwnFolder folder;
  folder.file("tokenizer_config.json", R"({"bos_token": "<s>", "chat_template": [
      {"name": "tool_use", "template": "tools"}, {"name": "rag", "template": "with documents"},
      {"name": "broken", "template": "{% if"}, {"name": "default", "template": "plain"}]})");
  Loader loader;
  const auto rag = loader.template_named("rag", folder.path(), {}).value();
  CHECK(rag->with_tools(true)->source() == "with documents");
  CHECK(rag->tokens.bos == "<s>");
  CHECK(loader.template_named("rag", folder.path(), {}).value() == rag);
  CHECK(loader.template_named("default", folder.path(), {}).value()->with_tools(true)->source() == "plain");
  CHECK(loader.template_named("tool_use", folder.path(), {}).value()->with_tools(false)->source() == "tools");
  CHECK(loader.template_named("broken", folder.path(), {}).error().code == ErrorCode::kTemplateSyntax);
  CHECK(rag->reason == "");
  CHECK(loader.template_named("chatml", folder.path(), {}).value()->reason != "");
  const Error error = loader.template_named("rga", folder.path(), {}).error();
  CHECK(error.code == ErrorCode::kNotFound);
  CHECK(error.message.find("auto, default, tool_use, rag, broken, ") != std::string::npos);
  // A model that was loaded before, with the same name of a template, is not taken for another.
  folder.file("other/chat_template.jinja", "plain");
  folder.file("other/additional_chat_templates/rag.jinja", "other");
  CHECK(loader.template_named("rag", folder.path("other"), {}).value()->plain->source() == "other");
}

TEST_CASE("what is missing is looked for again") {
  const OwnFolder folder;
  Loader loader;
  const std::string path = folder.path("late.jinja");
  CHECK(loader.template_from_file(path, {}).error().code == ErrorCode::kNotFound);
  folder.file("late.jinja", "here");
  CHECK(loader.template_from_file(path, {}).value()->plain->source() == "here");
}

TEST_CASE("a damaged JSON file is told with its place") {
  const OwnFolder folder;
  folder.file("tokenizer.json", "{\n \"model\": }");
  Loader loader;
  const auto tokenizer = loader.tokenizer(folder.path());
  REQUIRE_FALSE(tokenizer.ok());
  CHECK(tokenizer.error().code == ErrorCode::kTokenizer);
  folder.file("tokenizer_config.json", "{\n]");
  const auto chat_template = loader.template_from_file(folder.path(), {});
  REQUIRE_FALSE(chat_template.ok());
  CHECK(chat_template.error().code == ErrorCode::kNotFound);
  CHECK(chat_template.error().to_string().starts_with(folder.path("tokenizer_config.json") + ":2:1: "));
}

TEST_CASE("a folder may lack a tokenizer; a file that is named as one must be one") {
  const OwnFolder folder;
  const std::string file = folder.file("chat_template.jinja", "x");
  Loader loader;
  const auto none = loader.tokenizer(folder.path());
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().code == ErrorCode::kNotFound);
  CHECK(none.error().message == "the folder has no tokenizer");
  const auto other = loader.tokenizer(file);
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == ErrorCode::kTokenizer);
  CHECK(other.error().message == "not a tokenizer of a supported kind");
  CHECK(other.error().source == file);
  CHECK(loader.tokenizer("/no/such").error().code == ErrorCode::kNotFound);
}

TEST_CASE("a tokenizer is loaded once") {
  Loader loader;
  const auto loaded = loader.tokenizer(testing::kFolder);
  REQUIRE(loaded.ok());
  CHECK(loaded.value()->tokens.bos == "<bos>");
  CHECK(loaded.value()->tokens.eos == "~fin~");
  CHECK(loader.tokenizer(testing::kFolder).value() == loaded.value());
}

TEST_CASE("004:465-473: from memory: templates and the special tokens of the configuration") {
  MemoryModel memory = testing::memory("plain");
  memory.tool_template = "tools";
  const auto templates = template_from_memory(memory);
  REQUIRE(templates.ok());
  CHECK(templates.value()->with_tools(false)->source() == "plain");
  CHECK(templates.value()->with_tools(true)->source() == "tools");
  const auto tokenizer = tokenizer_from_memory(memory, "");
  REQUIRE(tokenizer.ok());
  CHECK(tokenizer.value()->tokens.bos == "<bos>");
  CHECK(tokenizer.value()->tokens.eos == "~fin~");
  memory.config = testing::object(R"({"bos_token": null, "eos_token": 3})");
  const auto without = tokenizer_from_memory(memory, "");
  CHECK(without.value()->tokens.bos == std::nullopt);
  CHECK(without.value()->tokens.eos == std::nullopt);
}

TEST_CASE("from memory: what ends generation") {
  MemoryModel memory = testing::memory();
  memory.generation = testing::object(R"({"eos_token_id": [257, 258]})");
  const auto tokenizer = tokenizer_from_memory(memory, "");
  REQUIRE(tokenizer.ok());
  const auto ends = tokenizer.value()->tokenizer->end_ids();
  CHECK(std::vector<tokenizer::TokenId>(ends.begin(), ends.end()) == std::vector<tokenizer::TokenId>{257, 258});
}

TEST_CASE("from memory: what is damaged is told") {
  MemoryModel memory = testing::memory("{{ x");
  CHECK(template_from_memory(memory).error().code == ErrorCode::kTemplateSyntax);
  memory.chat_template = "fine";
  memory.tool_template = "{% if %}";
  CHECK(template_from_memory(memory).error().source == "chat_template (tool_use)");
  memory.tokenizer_json = "{";
  CHECK(tokenizer_from_memory(memory, "").error().code == ErrorCode::kTokenizer);
}

}  // namespace
}  // namespace rondo::core
