#include "tests/support/tiny.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tests/support/own_folder.h"

namespace rondo::testing {

const engine::TinyArchitecture& first_with(engine::MemoryKind memory) {
  const auto known = engine::tiny_architectures();
  return *std::find_if(known.begin(), known.end(),
                       [&](const engine::TinyArchitecture& one) { return one.memory == memory; });
}

std::string tiny_model_path(const engine::TinyArchitecture& architecture) {
  static const OwnFolder folder("tiny");  // removed when the program ends
  std::string path = folder.path(std::string(architecture.name) + ".gguf");
  if (!std::filesystem::exists(path)) {
    engine::TinyModel model;
    model.architecture = architecture.name;
    model.memory = architecture.memory;
    model.half = false;
    const Status written = engine::write_tiny_model(model, path);
    REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().to_string()));
  }
  return path;
}

std::unique_ptr<engine::LlamaCpp> tiny_engine(const engine::TinyArchitecture& architecture,
                                              engine::LlamaCppOptions options) {
  if (options.context_tokens == 0) options.context_tokens = 2048;
  auto loaded = engine::LlamaCpp::load(tiny_model_path(architecture), options);
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().to_string()));
  return std::move(loaded).value();
}

engine::LlamaCppOptions small_batches() {
  engine::LlamaCppOptions options;
  options.context_tokens = 2048;
  options.batch_tokens = 32;
  return options;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

std::vector<engine::TokenId> random_ids(std::size_t size, engine::TokenId vocab_size, std::uint64_t seed) {
  engine::Random random(seed);
  std::vector<engine::TokenId> ids(size);
  for (engine::TokenId& id : ids)
    id = static_cast<engine::TokenId>(random.next() % static_cast<std::uint64_t>(vocab_size));
  return ids;
}

}  // namespace rondo::testing
