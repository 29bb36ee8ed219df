#include "engine/llama_cpp.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/llama_batch.h"
#include "engine/llama_load.h"
#include "engine/llama_sequence.h"

namespace rondo::engine {
namespace {

constexpr llama_seq_id kSequence = 0;

}  // namespace

// The context with its only sequence.
class LlamaCpp::Memory {
 public:
  Memory(LoadedLlama loaded, const LlamaCppOptions& options)
      : loaded_(std::move(loaded)),
        batch_(loaded_.context.get()),
        sequence(loaded_.context.get(), loaded_.description, kSequence, options.checkpoint_bytes) {
    llama_set_abort_callback(loaded_.context.get(), should_abort, this);
  }

  [[nodiscard]] const Description& description() const { return loaded_.description; }
  // Decodes `ids` after those of the sequence.  After a failure the memory is consistent, but it may be empty.
  [[nodiscard]] Status append(std::span<const TokenId> ids);
  [[nodiscard]] Status append_batch(std::span<const TokenId> ids);
  void watch(const CancelFlag* cancel) { cancel_ = cancel; }
  // Adds an id to `result`.  Returns false, with result.stop set, if there is none to add or it was the last one.
  [[nodiscard]] Result<bool> sample(const GenerateOptions& options, Sampler& sampler, Generation& result);

 private:
  static bool should_abort(void* self) {
    const CancelFlag* cancel = static_cast<Memory*>(self)->cancel_;
    return cancel != nullptr && cancel->load(std::memory_order_relaxed);
  }

  LoadedLlama loaded_;
  LlamaBatch batch_;
  const CancelFlag* cancel_ = nullptr;

 public:
  LlamaSequence sequence;
};

Status LlamaCpp::Memory::append_batch(std::span<const TokenId> ids) {
  if (should_abort(this)) return Error(ErrorCode::kEngine, "cancelled");
  const LlamaBatch::Piece piece{.sequence = &sequence, .ids = ids};
  return batch_.decode({&piece, 1});
}

Status LlamaCpp::Memory::append(std::span<const TokenId> ids) {
  while (!ids.empty()) {
    const std::size_t size = std::min(ids.size(), description().batch_tokens);
    if (auto done = append_batch(ids.first(size)); !done.ok()) return done;
    ids = ids.subspan(size);
  }
  return Done{};
}

bool has_llama_cpp() { return true; }

Result<std::unique_ptr<LlamaCpp>> LlamaCpp::load(const std::string& path, const LlamaCppOptions& options) {
  Result<LoadedLlama> loaded = load_llama(path, options, 1);
  if (!loaded.ok()) return loaded.error();
  auto memory = std::make_unique<Memory>(std::move(loaded).value(), options);
  return std::unique_ptr<LlamaCpp>(new LlamaCpp(std::move(memory)));
}

LlamaCpp::LlamaCpp(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
LlamaCpp::~LlamaCpp() = default;

const Description& LlamaCpp::describe() const { return memory_->description(); }
std::span<const float> LlamaCpp::logits() const { return memory_->sequence.logits(); }
std::span<const TokenId> LlamaCpp::tokens() const { return memory_->sequence.tokens(); }
std::span<const std::uint32_t> LlamaCpp::batches() const { return memory_->sequence.batches(); }
void LlamaCpp::clear() { memory_->sequence.clear(); }

Result<PromptReport> LlamaCpp::prompt(std::span<const TokenId> ids, const CancelFlag* cancel) {
  if (auto checked = check_prompt(describe(), ids); !checked.ok()) return checked.error();
  memory_->watch(cancel);
  PromptReport report = memory_->sequence.keep_prefix(ids);
  Status done = memory_->append(ids.subspan(report.reused));
  const bool cancelled = cancel != nullptr && cancel->load();
  if (!done.ok() && !cancelled && report.reused > 0) {  // the reused part may be at fault, so try once more without it
    memory_->sequence.clear();
    report = {.reused = 0, .prefilled = ids.size(), .how = Reuse::kFull, .reason = done.error().message};
    done = memory_->append(ids);
  }
  memory_->watch(nullptr);
  if (!done.ok()) return done.error();
  memory_->sequence.remember();
  return report;
}

Status LlamaCpp::replay(std::span<const TokenId> ids, std::span<const std::uint32_t> batches) {
  if (auto checked = check_prompt(describe(), ids); !checked.ok()) return checked.error();
  memory_->sequence.clear();
  std::size_t begin = 0;
  for (const std::uint32_t size : batches) {
    if (auto done = memory_->append_batch(ids.subspan(begin, size)); !done.ok()) return done;
    begin += size;
  }
  return Done{};
}

Result<bool> LlamaCpp::Memory::sample(const GenerateOptions& options, Sampler& sampler, Generation& result) {
  const auto cancelled = [&] { return options.cancel != nullptr && options.cancel->load(); };
  const auto stop = [&](StopReason reason) {
    result.stop = reason;
    return false;
  };
  if (result.ids.size() >= options.max_tokens) return stop(StopReason::kLength);
  const Allowed allowed = options.constraint != nullptr ? options.constraint->next(result.ids) : Allowed{};
  if (allowed.kind == Allowed::Kind::kDone) return stop(StopReason::kConstraint);
  if (!result.ids.empty()) {  // the previous id enters the memory only when another id is wanted
    if (sequence.tokens().size() >= description().context_tokens) return stop(StopReason::kContextFull);
    const Status done = append({&result.ids.back(), 1});
    if (!done.ok() && !cancelled()) return done.error();
  }
  if (cancelled()) return stop(StopReason::kCancelled);
  const std::optional<TokenId> id = sampler.pick(sequence.logits(), allowed);
  if (!id) return Error(ErrorCode::kInvalidArgument, "the constraint allows no token");
  result.ids.push_back(*id);
  if (options.on_token) options.on_token(*id);
  result.stop = StopReason::kStopToken;
  return std::find(options.stop_ids.begin(), options.stop_ids.end(), *id) == options.stop_ids.end();
}

Result<Generation> LlamaCpp::generate(const GenerateOptions& options) {
  if (memory_->sequence.logits().empty()) {
    return Error(ErrorCode::kInvalidArgument, "nothing to continue: give a prompt first");
  }
  Sampler sampler(options.sampling);
  Generation result;
  memory_->watch(options.cancel);
  Result<bool> more = true;
  while (more.ok() && more.value()) more = memory_->sample(options, sampler, result);
  memory_->watch(nullptr);
  if (!more.ok()) return more.error();
  memory_->sequence.remember();
  return result;
}

}  // namespace rondo::engine
