// The embedded engine on tiny random models: loading, generating, refusing.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "base/files.h"
#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"
#include "model/gguf.h"
#include "tests/support/small_model.h"
#include "tests/support/tiny.h"

using namespace rondo;
using namespace rondo::engine;

TEST_CASE("every architecture can be made, loaded and run") {
  for (const TinyArchitecture& architecture : tiny_architectures()) {
    CAPTURE(architecture.name);
    auto engine = testing::tiny_engine(architecture);
    CHECK(engine->describe().memory == architecture.memory);
    CHECK(engine->describe().vocab_size == 512);
    const auto prompt = testing::random_ids(100, 512, 1);
    auto report = engine->prompt(prompt);
    REQUIRE_MESSAGE(report.ok(), report.error().to_string());
    CHECK(report.value().prefilled == 100);
    double squares = 0;
    for (const float logit : engine->logits()) squares += static_cast<double>(logit) * static_cast<double>(logit);
    CHECK(std::isfinite(squares));
    CHECK(squares > 1.0);
    auto turn = engine->generate({.max_tokens = 8});
    REQUIRE(turn.ok());
    CHECK(turn.value().ids.size() == 8);
    CHECK(turn.value().stop == StopReason::kLength);
    CHECK(engine->tokens().size() == 107);
  }
}

namespace {

const TinyArchitecture& plain() { return tiny_architectures().front(); }

}  // namespace

TEST_CASE("generation is reproducible, stops at stop ids, at its limit and at the context's end") {
  LlamaCppOptions options;
  options.context_tokens = 256;
  auto engine = testing::tiny_engine(plain(), options);
  CHECK(engine->generate({}).error().message == "nothing to continue: give a prompt first");
  const std::vector<TokenId> prompt = testing::random_ids(250, 512, 2);
  const GenerateOptions sampled{.max_tokens = 5, .sampling = {.temperature = 1.0F, .seed = 5}};
  REQUIRE(engine->prompt(prompt).ok());
  const auto first = engine->generate(sampled);
  REQUIRE(engine->prompt(prompt).ok());
  const auto second = engine->generate(sampled);
  REQUIRE((first.ok() && second.ok()));
  CHECK(first.value().ids == second.value().ids);

  REQUIRE(engine->prompt(prompt).ok());
  const std::vector<TokenId> stops = {first.value().ids[2]};
  const auto stopped = engine->generate({.max_tokens = 5, .stop_ids = stops, .sampling = sampled.sampling});
  CHECK(stopped.value().stop == StopReason::kStopToken);
  CHECK(stopped.value().ids.back() == stops[0]);

  REQUIRE(engine->prompt(prompt).ok());
  const auto full = engine->generate({.max_tokens = 100});
  REQUIRE(full.ok());
  CHECK(full.value().stop == StopReason::kContextFull);
  CHECK(engine->tokens().size() == engine->describe().context_tokens);
  CHECK(full.value().ids.size() == 7);  // six fit, the seventh was sampled behind them
  CHECK(engine->prompt(testing::random_ids(257, 512, 3)).error().code == ErrorCode::kLimit);
}

TEST_CASE("a cancel flag ends prefill and generation, and the engine goes on afterwards") {
  for (const TinyArchitecture& architecture : tiny_architectures()) {
    CAPTURE(architecture.name);
    auto engine = testing::tiny_engine(architecture);
    CancelFlag cancel{true};
    const std::vector<TokenId> prompt = testing::random_ids(700, 512, 4);
    CHECK(engine->prompt(prompt, &cancel).error().message == "cancelled");
    cancel = false;
    REQUIRE(engine->prompt(prompt, &cancel).ok());
    const auto stop_soon = [&, left = 3](TokenId) mutable { cancel = --left == 0; };
    const auto turn = engine->generate({.max_tokens = 50, .on_token = stop_soon, .cancel = &cancel});
    REQUIRE(turn.ok());
    CHECK(turn.value().stop == StopReason::kCancelled);
    CHECK(turn.value().ids.size() == 3);
    cancel = false;
    std::vector<TokenId> longer = prompt;
    longer.insert(longer.end(), turn.value().ids.begin(), turn.value().ids.end());
    longer.push_back(1);
    const auto report = engine->prompt(longer);
    REQUIRE(report.ok());
    CHECK(report.value().how == Reuse::kAppend);
  }
}

TEST_CASE("the same options make the same file") {
  const std::string path = testing::tiny_model_path(plain());
  TinyModel model;
  model.half = false;
  REQUIRE(write_tiny_model(model, path + ".again").ok());
  CHECK(files::read(path).value() == files::read(path + ".again").value());
  model.seed = 2;
  REQUIRE(write_tiny_model(model, path + ".again").ok());
  CHECK(files::read(path).value() != files::read(path + ".again").value());
}

TEST_CASE("what can't be loaded or made is an error") {
  CHECK(LlamaCpp::load("/nowhere/model.gguf", {}).error().code == ErrorCode::kEngine);
  LlamaCppOptions options;
  options.threads = 0;
  const auto refused = [&] {
    const auto loaded = LlamaCpp::load(testing::tiny_model_path(plain()), options);
    return !loaded.ok() && loaded.error().code == ErrorCode::kInvalidArgument;
  };
  CHECK(refused());
  options.threads = 513;
  CHECK(refused());
  options = {};
  options.batch_tokens = 0;
  CHECK(refused());
  options.batch_tokens = 65537;
  CHECK(refused());
  options = {};
  options.context_tokens = (std::size_t{1} << 24U) + 1;
  CHECK(refused());
  TinyModel model;
  model.architecture = "unheard-of";
  CHECK(write_tiny_model(model, "/tmp/never-written.gguf").error().code == ErrorCode::kInvalidArgument);
  model.architecture = "";
  CHECK(write_tiny_model(model, "/nowhere/model.gguf").error().code == ErrorCode::kIo);
  model.vocabulary = "/nowhere/vocabulary.gguf";
  CHECK(write_tiny_model(model, "/tmp/never-written.gguf").error().code == ErrorCode::kTokenizer);
}

TEST_CASE("a model has the vocabulary it is given, further tokens in its gaps, else behind it, and the template") {
  using Strings = std::vector<std::string>;
  using Kinds = std::vector<std::int64_t>;
  const testing::OwnFolder folder("vocabulary-test");
  // A gap is how converters fill a hole in the ids.
  const std::string gaps =
      testing::small_model(folder, "gaps.gguf", "", {{"[PAD1]", false}, {"x", false}, {"[PAD3]", false}});
  TinyModel model;
  model.vocabulary = gaps;
  model.extra_tokens = {{"<y>", true}, {"x", true}, {"<z>", false}, {"<more>", true}, {"<last>", false}};
  model.chat_template = "{{ messages }}";
  const std::string path = folder.path("full.gguf");
  REQUIRE(write_tiny_model(model, path).ok());
  const auto read = [](const std::string& file) {
    auto gguf = model::read_gguf(file);
    REQUIRE_MESSAGE(gguf.ok(), gguf.error().to_string());
    return std::move(gguf).value();
  };
  const model::Gguf before = read(gaps);
  const model::Gguf after = read(path);
  CHECK(before.find_string("tokenizer.chat_template") == nullptr);
  CHECK(*after.find_string("tokenizer.chat_template") == "{{ messages }}");
  const auto& given = *before.find_strings("tokenizer.ggml.tokens");
  const auto& tokens = *after.find_strings("tokenizer.ggml.tokens");
  const auto& kinds = *after.find_ints("tokenizer.ggml.token_type");
  const auto size = static_cast<std::ptrdiff_t>(given.size());
  REQUIRE(tokens.size() == given.size() + 2);
  CHECK(std::equal(given.begin(), given.end() - 3, tokens.begin()));
  CHECK(Strings(tokens.begin() + size - 2, tokens.end()) == Strings{"<y>", "<z>", "<more>", "<last>"});
  CHECK(Kinds(kinds.begin() + size - 2, kinds.end()) == Kinds{3, 4, 3, 4});
  CHECK(after.find_strings("tokenizer.ggml.merges") != nullptr);
  auto engine = LlamaCpp::load(path, {});
  REQUIRE(engine.ok());
  CHECK(engine.value()->describe().vocab_size == static_cast<TokenId>(tokens.size()));
}

TEST_CASE("a real vocabulary with extra tokens and a template") {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  const std::string vocabulary = std::string(fixtures != nullptr ? fixtures : "") + "/vocab/ggml-vocab-llama-spm.gguf";
  if (fixtures == nullptr || !files::exists(vocabulary)) {
    MESSAGE("skipped: RONDO_FIXTURES is not set");
    return;
  }
  TinyModel model;
  model.vocabulary = vocabulary;
  model.extra_tokens = {{"<brand-new>", true}, {"<s>", true}};
  model.chat_template = "{{ messages }}";
  const std::string path = testing::tiny_model_path(plain()) + ".real";
  const Status written = write_tiny_model(model, path);
  REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().to_string()));
  auto engine = LlamaCpp::load(path, {});
  REQUIRE_MESSAGE(engine.ok(), (engine.ok() ? "" : engine.error().to_string()));
  CHECK(engine.value()->describe().vocab_size == 32001);
  REQUIRE(engine.value()->prompt(testing::random_ids(20, 32001, 1)).ok());
  CHECK(engine.value()->generate({.max_tokens = 4}).value().ids.size() == 4);
}
