// Replaces llama_cpp.cpp, embedded.cpp and tiny_model.cpp in a build without the embedded engine.
#include "engine/embedded.h"
#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"

namespace rondo::engine {
namespace {

Error off() { return {ErrorCode::kUnsupported, "this build has no embedded engine (RONDO_LLAMA=off)"}; }

}  // namespace

class LlamaCpp::Memory {};

bool has_llama_cpp() { return false; }
Result<std::unique_ptr<LlamaCpp>> LlamaCpp::load(const std::string&, const LlamaCppOptions&) { return off(); }
LlamaCpp::LlamaCpp(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
LlamaCpp::~LlamaCpp() = default;
const Description& LlamaCpp::describe() const {
  static const Description none;
  return none;
}
Result<PromptReport> LlamaCpp::prompt(std::span<const TokenId>, const CancelFlag*) { return off(); }
Result<Generation> LlamaCpp::generate(const GenerateOptions&) { return off(); }
std::span<const float> LlamaCpp::logits() const { return {}; }
std::span<const TokenId> LlamaCpp::tokens() const { return {}; }
std::span<const std::uint32_t> LlamaCpp::batches() const { return {}; }
void LlamaCpp::clear() {}
Status LlamaCpp::replay(std::span<const TokenId>, std::span<const std::uint32_t>) { return off(); }

class Embedded::Worker {};
Result<std::unique_ptr<Embedded>> Embedded::load(const std::string&, const EmbeddedOptions&) { return off(); }
Embedded::Embedded(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
Embedded::~Embedded() = default;
const Description& Embedded::describe() const {
  static const Description none;
  return none;
}
std::unique_ptr<Serving> Embedded::serve(Executor&) { return nullptr; }
EmbeddedStatus Embedded::status() const { return {}; }

Status write_tiny_model(const TinyModel&, const std::string&) { return off(); }

}  // namespace rondo::engine
