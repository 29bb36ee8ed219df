// What happens between a path and a running model.
#include "demo/embedded.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>

#include "base/files.h"
#include "json/parse.h"
#include "tests/support/small_model.h"

namespace rondo::demo {
namespace {

using testing::OwnFolder;

void ignore_notes(std::string_view) {}

// Why nothing was loaded.
Error refused(const EmbeddedOptions& options) {
  const auto loaded = load_embedded(options, ignore_notes);
  REQUIRE_FALSE(loaded.ok());
  return loaded.error();
}

EmbeddedModel loaded(const EmbeddedOptions& options) {
  auto model = load_embedded(options, ignore_notes);
  REQUIRE_MESSAGE(model.ok(), model.error().to_string());
  return std::move(model).value();
}

EmbeddedOptions options_for(const std::string& model) {
  EmbeddedOptions options;
  options.model = model;
  return options;
}

// A folder as the test data has it, with the small vocabulary and an invented template in place of real ones.
EmbeddedOptions small_fixtures(const OwnFolder& folder) {
  const DemoModel plan = demo_data().value().model;
  folder.file("fixtures/" + plan.chat_template, testing::small_template());
  folder.file("fixtures/" + plan.vocabulary, testing::small_vocabulary());
  EmbeddedOptions options;
  options.fixtures = folder.path("fixtures");
  options.cache_folder = folder.path("cache");
  return options;
}

model::TokenizerSource json_source(const std::string& text) {
  model::TokenizerSource source;
  source.tokenizer_json = std::make_shared<const std::string>(text);
  return source;
}

// The text of a tokenizer.json with further control tokens.
std::string with_tokens(const std::string& text, const std::vector<std::string>& tokens) {
  return *with_special_tokens(json_source(text), tokens).tokenizer_json;
}

// "id:content" of each added token.
std::string added_tokens(const std::string& tokenizer_json) {
  const json::Value document = json::parse(tokenizer_json).value();
  std::string out;
  for (const json::Value& token : document.find("added_tokens")->as_array())
    out += std::to_string(*token.find("id")->to_int64()) + ":" + std::string(*token.find_string("content")) + " ";
  return out;
}

}  // namespace

TEST_CASE("the test data: the folder that is named, else the newest one in the cache") {
  const OwnFolder cache("fixtures-test");
  CHECK(fixtures_folder("given", cache.path()) == "given");
  CHECK(fixtures_folder("", cache.path()) == "");
  CHECK(fixtures_folder("", cache.path("nowhere")) == "");
  cache.file("other-a/x", "");
  CHECK(fixtures_folder("", cache.path()) == "");
  const auto now = std::filesystem::file_time_type::clock::now();
  for (const auto& [name, hours] : {std::pair("b", 3), std::pair("a", 1), std::pair("c", 2)}) {
    cache.file(std::string("fixtures-") + name + "/x", "");
    std::filesystem::last_write_time(cache.path(std::string("fixtures-") + name), now - std::chrono::hours(hours));
  }
  CHECK(fixtures_folder("", cache.path()) == cache.path("fixtures-a"));
}

TEST_CASE("control tokens are added to a tokenizer.json behind all ids, those it has already stay") {
  const std::string small = R"({"model": {"vocab": {"a": 0, "b": 7}}, "added_tokens": [{"id": 3, "content": "<x>"}]})";
  CHECK(added_tokens(with_tokens(small, {"<x>", "<y>", "<z>", "<y>"})) == "3:<x> 8:<y> 9:<z> ");
  const json::Value document = json::parse(with_tokens(small, {"<y>"})).value();
  const json::Value& token = document.find("added_tokens")->as_array().back();
  CHECK(token.find("special")->as_bool());
  CHECK_FALSE(token.find("normalized")->as_bool());
  CHECK(added_tokens(with_tokens(R"({"added_tokens": [{"id": 11, "content": "<x>"}]})", {"<y>"})) == "11:<x> 12:<y> ");
  CHECK(added_tokens(with_tokens(R"({"model": {"vocab": {"a": 4}}})", {"<y>"})) == "5:<y> ");
  CHECK(added_tokens(with_tokens(R"({"added_tokens": null})", {"<y>"})) == "0:<y> ");
  // Whoever loads the file reports what is wrong with it.
  CHECK(with_tokens("{", {"<y>"}) == "{");
  CHECK(with_tokens("[1]", {"<y>"}) == "[1]");
}

TEST_CASE("control tokens are added to the vocabulary of a GGUF file, and known tokens become control tokens") {
  using Strings = std::vector<std::string>;
  using Kinds = std::vector<std::int64_t>;
  const auto with = [](const model::Gguf& gguf, const Strings& tokens) {
    model::TokenizerSource source;
    source.gguf = std::make_shared<const model::Gguf>(gguf);
    const model::TokenizerSource changed = with_special_tokens(source, tokens);
    CHECK(source.gguf->metadata == gguf.metadata);
    return std::pair(*changed.gguf->find_strings("tokenizer.ggml.tokens"),
                     *changed.gguf->find_ints("tokenizer.ggml.token_type"));
  };
  model::Gguf gguf;
  CHECK(with(gguf, {"<y>"}) == std::pair(Strings{"<y>"}, Kinds{3}));
  gguf.metadata.emplace("tokenizer.ggml.tokens", model::GgufArray(Strings{"a", "<x>"}));
  CHECK(with(gguf, {"<y>", "<x>"}) == std::pair(Strings{"a", "<x>", "<y>"}, Kinds{1, 3, 3}));
  gguf.metadata.emplace("tokenizer.ggml.token_type", model::GgufArray(Kinds{4}));  // shorter than the tokens
  CHECK(with(gguf, {"<y>"}) == std::pair(Strings{"a", "<x>", "<y>"}, Kinds{4, 1, 3}));
}

TEST_CASE("the small random model needs its template and its vocabulary") {
  const OwnFolder folder("tiny-test");
  EmbeddedOptions options;
  options.cache_folder = folder.path("cache");
  CHECK(refused(options).code == ErrorCode::kNotFound);
  CHECK(refused(options).message.starts_with(
      "the small random model needs the test data of a checkout: run ./dev setup there"));
  const DemoModel plan = demo_data().value().model;
  options.fixtures = folder.path("fixtures");
  CHECK(refused(options).source == folder.path("fixtures/" + plan.chat_template));
  folder.file("fixtures/" + plan.chat_template, "x");
  CHECK(refused(options).source == folder.path("fixtures/" + plan.vocabulary));
  folder.file("fixtures/" + plan.vocabulary, "no model");
  CHECK(refused(options).code == ErrorCode::kTokenizer);
}

TEST_CASE("the small random model is made once, and anew where what it is made from changes") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("tiny-test");
  const EmbeddedOptions options = small_fixtures(folder);
  std::string notes;
  const auto make = [&] {
    const auto path = tiny_model(options, [&](std::string_view note) { notes += note; });
    REQUIRE_MESSAGE(path.ok(), path.error().to_string());
    CHECK(std::filesystem::exists(path.value()));
    return path.value();
  };
  const std::string first = make();
  CHECK(first.starts_with(options.cache_folder + "/tiny-"));
  CHECK(first.ends_with(".gguf"));
  CHECK(notes == "making a small model with random weights: " + first + "\n");
  notes.clear();
  CHECK(make() == first);
  CHECK(notes == "");
  folder.file("fixtures/" + demo_data().value().model.chat_template, "other");
  CHECK(make() != first);

  const EmbeddedModel other = loaded(options);
  CHECK(other.path != first);
  CHECK(other.template_name == other.path);
  const EmbeddedModel model = loaded(options_for(first));
  CHECK(model.path == first);
  CHECK(model.bos_token == "<bos>");
  CHECK(model.eos_token == "~fin~");
  CHECK(model.tokenizer->encode_ids("hello world", {}) == std::vector<tokenizer::TokenId>{259, 264});
  CHECK(model.engine->describe().vocab_size == model.tokenizer->vocab_size());
  REQUIRE(model.chat_template != nullptr);
}

TEST_CASE("a model is a file, or a folder with one .gguf file") {
  const OwnFolder folder("weights-test");
  CHECK(refused(options_for(folder.path("nowhere.gguf"))).code == ErrorCode::kNotFound);
  CHECK(refused(options_for(folder.path())).message == "the folder has no .gguf file to run");
  CHECK(refused(options_for(folder.path())).source == folder.path());
  const std::string first = folder.file("a.gguf", "no model");
  CHECK(refused(options_for(folder.path())).code == ErrorCode::kTokenizer);
  CHECK(refused(options_for(folder.path())).source == first);
  folder.file("b.gguf", "no model");
  CHECK(refused(options_for(folder.path())).message == "the folder has several .gguf files: name one of them");
}

TEST_CASE("a model without a tokenizer is refused before the engine sees it") {
  const OwnFolder folder("weights-test");
  const std::string empty = std::string("GGUF\x03\0\0\0", 8) + std::string(16, '\0');
  folder.file("empty.gguf", empty);
  folder.file("chat_template.jinja", testing::small_template());
  CHECK(refused(options_for(folder.path())).message == "the model has no tokenizer");
  CHECK(refused(options_for(folder.path())).source == folder.path("empty.gguf"));
}

TEST_CASE("the template: the one that is named, else the model's own, else none where none is needed") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("template-test");
  EmbeddedOptions options = options_for(testing::small_model(folder, "bare.gguf", ""));
  CHECK(refused(options).message == "the model has no chat template: name one with --template");
  CHECK(refused(options).source == options.model);
  options.needs_template = false;
  const EmbeddedModel bare = loaded(options);
  CHECK(bare.chat_template == nullptr);
  CHECK(bare.template_name == "");
  options.chat_template = folder.path("nowhere.jinja");
  CHECK(refused(options).code == ErrorCode::kNotFound);
  options.chat_template = folder.file("broken.jinja", "{{ x");
  CHECK(refused(options).code == ErrorCode::kTemplateSyntax);
  CHECK(refused(options).source == options.chat_template);
  options.chat_template = folder.file("own.jinja", "x");
  CHECK(loaded(options).template_name == options.chat_template);
  CHECK(loaded(options).chat_template != nullptr);
  options.chat_template = folder.file("code.py", "a = 'no encoder'");
  CHECK(refused(options).message.starts_with("is no encoder that rondo knows"));
}

TEST_CASE("a folder's tokenizer counts, the one in the weights where it has none; it must fit the weights") {
  if (!testing::has_engine()) return;
  const OwnFolder folder("folder-test");
  testing::small_model(folder, "weights.gguf", "");
  folder.file("chat_template.jinja", testing::small_template());
  const EmbeddedModel own = loaded(options_for(folder.path()));
  CHECK(own.path == folder.path("weights.gguf"));
  CHECK(own.template_name == folder.path("chat_template.jinja"));
  CHECK(own.tokenizer->vocab_size() == 289);
  const std::string smaller = R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})";
  folder.file("tokenizer.json", smaller);
  CHECK(loaded(options_for(folder.path())).tokenizer->vocab_size() == 1);
  const std::string as_large = files::read(std::string(testing::kSmallFolder) + "/tokenizer.json").value();
  folder.file("tokenizer.json", as_large);
  CHECK(loaded(options_for(folder.path())).tokenizer->vocab_size() == 289);
  folder.file("tokenizer.json", with_tokens(as_large, {"<x>"}));
  CHECK(refused(options_for(folder.path())).message ==
        "the tokenizer has more ids than the model: they do not belong together");
  folder.file("tokenizer.json", "{");
  CHECK_FALSE(load_embedded(options_for(folder.path()), ignore_notes).ok());
}

}  // namespace rondo::demo
