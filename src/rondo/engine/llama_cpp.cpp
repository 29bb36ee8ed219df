#include "engine/llama_cpp.h"

#include <llama-cpp.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/llama_log.h"

namespace rondo::engine {
namespace {

constexpr llama_seq_id kSequence = 0;
constexpr int kDecodeAborted = 2;

// A batch of token ids for one sequence; logits only for its last entry.
class Batch {
 public:
  explicit Batch(std::size_t capacity) : batch_(llama_batch_init(static_cast<std::int32_t>(capacity), 0, 1)) {}
  ~Batch() { llama_batch_free(batch_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void fill(std::span<const TokenId> ids, std::size_t first_position) {
    batch_.n_tokens = static_cast<std::int32_t>(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      batch_.token[i] = ids[i];
      batch_.pos[i] = static_cast<llama_pos>(first_position + i);
      batch_.n_seq_id[i] = 1;
      batch_.seq_id[i][0] = kSequence;
      batch_.logits[i] = i + 1 == ids.size() ? 1 : 0;
    }
  }
  [[nodiscard]] const llama_batch& get() const { return batch_; }

 private:
  llama_batch batch_;
};

MemoryKind memory_kind(const llama_model* model) {
  if (llama_model_is_recurrent(model)) return MemoryKind::kRecurrent;
  if (llama_model_is_hybrid(model)) return MemoryKind::kHybrid;
  return llama_model_n_swa(model) > 0 ? MemoryKind::kSlidingWindow : MemoryKind::kAttention;
}

std::string count(std::size_t tokens) { return std::to_string(tokens) + (tokens == 1 ? " token" : " tokens"); }

// The state behind the first `tokens` ids: what attention layers do not keep anyway, and the logits that follow.
struct Checkpoint {
  std::size_t tokens = 0;
  std::vector<std::uint8_t> state;
  std::vector<float> logits;
  std::vector<std::uint32_t> batches;

  [[nodiscard]] std::size_t size_bytes() const { return state.size() + logits.size() * sizeof(float); }
};

}  // namespace

// The memory of one sequence and the list of ids it holds.
// Invariant between calls: positions 0 .. tokens_.size()-1 are decoded and nothing else is.
class LlamaCpp::Memory {
 public:
  Memory(llama_model_ptr model, llama_context_ptr context, const LlamaCppOptions& options);

  [[nodiscard]] const Description& description() const { return description_; }
  [[nodiscard]] std::span<const TokenId> tokens() const { return tokens_; }
  [[nodiscard]] std::span<const float> logits() const { return logits_; }
  [[nodiscard]] std::span<const std::uint32_t> batches() const { return batches_; }

  // Keeps as much of the memory as serves `ids`; tokens() is a prefix of `ids` afterwards.
  [[nodiscard]] PromptReport keep_prefix(std::span<const TokenId> ids);
  // Decodes `ids` behind tokens().  After a failure the memory is consistent, maybe empty.
  [[nodiscard]] Status append(std::span<const TokenId> ids);
  [[nodiscard]] Status append_batch(std::span<const TokenId> ids);
  void clear();
  // Keeps the present state for later, where the memory can't be rolled back to it.
  void remember();
  void watch(const CancelFlag* cancel) { cancel_ = cancel; }

 private:
  static bool should_abort(void* self);
  [[nodiscard]] llama_memory_t memory() const { return llama_get_memory(context_.get()); }
  [[nodiscard]] bool positions_agree() const;
  [[nodiscard]] bool window_covers(std::size_t cut) const;
  [[nodiscard]] bool remove_from(std::size_t cut);
  [[nodiscard]] std::string cannot_roll_back(std::size_t cut) const;
  [[nodiscard]] bool restore(const Checkpoint& checkpoint);
  [[nodiscard]] bool restore_best(std::size_t common);
  void truncate_lists(std::size_t cut);
  void resync();

  llama_model_ptr model_;
  llama_context_ptr context_;
  Description description_;
  std::size_t checkpoint_bytes_;
  Batch batch_;
  std::vector<TokenId> tokens_;
  std::vector<std::uint32_t> batches_;
  std::vector<float> logits_;
  std::vector<Checkpoint> checkpoints_;  // ascending by tokens; each is a prefix of tokens_
  const CancelFlag* cancel_ = nullptr;
};

LlamaCpp::Memory::Memory(llama_model_ptr model, llama_context_ptr context, const LlamaCppOptions& options)
    : model_(std::move(model)),
      context_(std::move(context)),
      checkpoint_bytes_(options.checkpoint_bytes),
      batch_(llama_n_batch(context_.get())) {
  char name[128] = {};
  llama_model_desc(model_.get(), name, sizeof name);
  description_.name = name;
  description_.memory = memory_kind(model_.get());
  description_.context_tokens = llama_n_ctx_seq(context_.get());
  description_.batch_tokens = llama_n_batch(context_.get());
  description_.window_tokens = static_cast<std::size_t>(std::max(0, llama_model_n_swa(model_.get())));
  description_.vocab_size = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
  description_.threads = llama_n_threads(context_.get());
  llama_set_abort_callback(context_.get(), should_abort, this);
}

bool LlamaCpp::Memory::should_abort(void* self) {
  const CancelFlag* cancel = static_cast<Memory*>(self)->cancel_;
  return cancel != nullptr && cancel->load(std::memory_order_relaxed);
}

// What the engine says it holds is what our list says, and there is something.
bool LlamaCpp::Memory::positions_agree() const {
  const auto last = static_cast<llama_pos>(tokens_.size()) - 1;
  if (llama_memory_seq_pos_max(memory(), kSequence) != last) return false;
  const llama_pos first = llama_memory_seq_pos_min(memory(), kSequence);
  return description_.memory == MemoryKind::kAttention ? first == 0 : first >= 0;
}

// True if the positions that position `cut` looks back at are all there.  A window of n means that a position sees
// itself and n-1 before it; one more is demanded, to be on the safe side of the library's own rounding.
bool LlamaCpp::Memory::window_covers(std::size_t cut) const {
  const llama_pos first = llama_memory_seq_pos_min(memory(), kSequence);
  const std::size_t window = description_.window_tokens;
  const std::size_t needed = window == 0 ? 0 : cut - std::min(cut, window);
  return first >= 0 && static_cast<std::size_t>(first) <= needed;
}

// Why positions behind `cut` can't be removed, or "".
std::string LlamaCpp::Memory::cannot_roll_back(std::size_t cut) const {
  switch (description_.memory) {
    case MemoryKind::kRecurrent:
    case MemoryKind::kHybrid:
      return "a " + std::string(to_string(description_.memory)) + " memory can't go back from " +
             count(tokens_.size()) + " to " + std::to_string(cut);
    case MemoryKind::kSlidingWindow:
      if (window_covers(cut)) return "";
      return "the window of " + count(description_.window_tokens) + " has dropped positions that position " +
             std::to_string(cut) + " looks back at";
    case MemoryKind::kAttention: return window_covers(cut) ? "" : "the memory does not begin at position 0";
  }
  return "unknown kind of memory";
}

void LlamaCpp::Memory::truncate_lists(std::size_t cut) {
  tokens_.resize(cut);
  std::size_t begin = 0;
  std::size_t kept = 0;
  while (kept < batches_.size() && begin < cut) {
    batches_[kept] = static_cast<std::uint32_t>(std::min<std::size_t>(batches_[kept], cut - begin));
    begin += batches_[kept++];
  }
  batches_.resize(kept);
  logits_.clear();
  std::erase_if(checkpoints_, [&](const Checkpoint& checkpoint) { return checkpoint.tokens > cut; });
}

// Removes positions from `cut` on.  The library's answer alone proves nothing; the positions must fit afterwards.
bool LlamaCpp::Memory::remove_from(std::size_t cut) {
  if (!llama_memory_seq_rm(memory(), kSequence, static_cast<llama_pos>(cut), -1)) return false;
  truncate_lists(cut);
  return positions_agree() && window_covers(cut);
}

void LlamaCpp::Memory::clear() {
  llama_memory_clear(memory(), false);
  tokens_.clear();
  batches_.clear();
  logits_.clear();
  checkpoints_.clear();
}

bool LlamaCpp::Memory::restore(const Checkpoint& checkpoint) {
  const auto cut = static_cast<llama_pos>(checkpoint.tokens);
  // The first removal frees what attention layers hold behind the cut; a recurrent memory refuses it, which is fine.
  (void)llama_memory_seq_rm(memory(), kSequence, cut, -1);
  const std::size_t read = llama_state_seq_set_data_ext(
      context_.get(), checkpoint.state.data(), checkpoint.state.size(), kSequence, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  const bool is_read = read == checkpoint.state.size() && llama_memory_seq_rm(memory(), kSequence, cut, -1);
  const std::vector<float> logits = checkpoint.logits;
  const std::vector<std::uint32_t> batches = checkpoint.batches;
  truncate_lists(checkpoint.tokens);
  batches_ = batches;
  logits_ = logits;
  return is_read && positions_agree() &&
         (description_.memory != MemoryKind::kSlidingWindow || window_covers(checkpoint.tokens));
}

bool LlamaCpp::Memory::restore_best(std::size_t common) {
  const auto usable = [&](const Checkpoint& checkpoint) { return checkpoint.tokens <= common; };
  const auto best = std::find_if(checkpoints_.rbegin(), checkpoints_.rend(), usable);
  return best != checkpoints_.rend() && restore(Checkpoint(*best));
}

void LlamaCpp::Memory::remember() {
  if (description_.memory == MemoryKind::kAttention || checkpoint_bytes_ == 0 || tokens_.empty()) return;
  if (!checkpoints_.empty() && checkpoints_.back().tokens == tokens_.size()) return;
  Checkpoint checkpoint{.tokens = tokens_.size(), .state = {}, .logits = logits_, .batches = batches_};
  const std::size_t size = llama_state_seq_get_size_ext(context_.get(), kSequence, LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  if (size == 0 || size > checkpoint_bytes_) return;
  checkpoint.state.resize(size);
  const std::size_t written = llama_state_seq_get_data_ext(context_.get(), checkpoint.state.data(), size, kSequence,
                                                           LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY);
  if (written != size) return;
  checkpoints_.push_back(std::move(checkpoint));
  std::size_t total = 0;
  for (const Checkpoint& kept : checkpoints_) total += kept.size_bytes();
  while (total > checkpoint_bytes_) {  // the oldest go first: a rollout grows, and branches are mostly late
    total -= checkpoints_.front().size_bytes();
    checkpoints_.erase(checkpoints_.begin());
  }
}

PromptReport LlamaCpp::Memory::keep_prefix(std::span<const TokenId> ids) {
  PromptReport report;
  const auto start_over = [&](std::string reason) {
    clear();
    report.how = Reuse::kFull;
    report.reason = std::move(reason);
  };
  const std::size_t common = common_prefix(tokens_, ids);
  if (tokens_.empty()) {
    start_over("the memory was empty");
  } else if (!positions_agree()) {
    start_over("the engine's positions do not agree with the list of decoded tokens");
  } else if (common == tokens_.size() && (common < ids.size() || !logits_.empty())) {
    report.how = Reuse::kAppend;
  } else if (common == 0) {
    start_over("the prompt begins with another token");
  } else {
    const std::size_t cut = std::min(common, ids.size() - 1);  // one token must be decoded, for its logits
    std::string reason = cannot_roll_back(cut);
    report.how = Reuse::kRollback;
    if (cut == 0) {
      start_over("only the first token could be kept");
    } else if (!reason.empty() || !remove_from(cut)) {
      report.how = Reuse::kCheckpoint;
      if (reason.empty()) reason = "the engine could not remove the positions from " + std::to_string(cut) + " on";
      if (!restore_best(common)) start_over(reason + ", and no checkpoint is old enough");
    }
  }
  report.reused = tokens_.size();
  report.prefilled = ids.size() - report.reused;
  return report;
}

// Brings the memory back to tokens_ after a decode that ended midway.
void LlamaCpp::Memory::resync() {
  if (positions_agree()) return;
  const std::size_t cut = tokens_.size();
  if (cut > 0 && cannot_roll_back(cut).empty() && remove_from(cut)) return;
  if (cut > 0 && restore_best(cut) && tokens_.size() == cut) return;
  clear();
}

Status LlamaCpp::Memory::append_batch(std::span<const TokenId> ids) {
  if (should_abort(this)) return Error(ErrorCode::kEngine, "cancelled");
  const LlamaLog log;
  batch_.fill(ids, tokens_.size());
  int code = 0;
  try {
    code = llama_decode(context_.get(), batch_.get());
  } catch (const std::exception& failure) {
    resync();
    return Error(ErrorCode::kEngine, std::string("the engine failed: ") + failure.what());
  }
  if (code != 0) {
    resync();
    if (code == kDecodeAborted) return Error(ErrorCode::kEngine, "cancelled");
    return Error(ErrorCode::kEngine,
                 log.last_error("the engine refused a batch") + " (code " + std::to_string(code) + ")");
  }
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  batches_.push_back(static_cast<std::uint32_t>(ids.size()));
  const float* row = llama_get_logits_ith(context_.get(), -1);
  if (row == nullptr) return Error(ErrorCode::kEngine, "the engine gave no logits");
  logits_.assign(row, row + description_.vocab_size);
  return Done{};
}

Status LlamaCpp::Memory::append(std::span<const TokenId> ids) {
  while (!ids.empty()) {
    const std::size_t size = std::min(ids.size(), description_.batch_tokens);
    if (auto done = append_batch(ids.first(size)); !done.ok()) return done;
    ids = ids.subspan(size);
  }
  return Done{};
}

bool has_llama_cpp() { return true; }

namespace {

Result<llama_model_ptr> load_model(const std::string& path) {
  const LlamaLog log;
  llama_backend_init();
  // Libraries built with loadable backends bring none along; a static one has them already.
  if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.progress_callback = [](float, void*) { return true; };  // the default one logs dots
  llama_model_ptr model;
  try {
    model.reset(llama_model_load_from_file(path.c_str(), params));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kEngine, std::string("the engine refuses the model: ") + failure.what(), path);
  }
  if (!model) {
    return Error(ErrorCode::kEngine, "the engine refuses the model: " + log.last_error("no reason given"), path);
  }
  for (const bool is_other : {llama_model_has_encoder(model.get()), !llama_model_has_decoder(model.get()),
                              llama_model_is_diffusion(model.get())}) {
    if (is_other) return Error(ErrorCode::kUnsupported, "only models that generate token by token can be run", path);
  }
  return model;
}

Result<llama_context_ptr> make_context(llama_model* model, const LlamaCppOptions& options, const std::string& path) {
  const LlamaLog log;
  const auto trained = static_cast<std::size_t>(std::max(1, llama_model_n_ctx_train(model)));
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(options.context_tokens > 0 ? options.context_tokens
                                                                       : std::min(trained, kLlamaCppContext));
  // One micro-batch per batch: what is computed together is then what append() hands over.
  params.n_batch = static_cast<std::uint32_t>(options.batch_tokens);
  params.n_ubatch = params.n_batch;
  params.n_seq_max = 1;
  params.n_threads = options.threads;
  params.n_threads_batch = options.threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.swa_full = options.full_window;
  params.kv_unified = false;
  params.no_perf = true;
  llama_context_ptr context;
  try {
    context.reset(llama_init_from_model(model, params));
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kEngine, std::string("the engine can't run the model: ") + failure.what(), path);
  }
  if (!context) {
    return Error(ErrorCode::kEngine, "the engine can't run the model: " + log.last_error("no reason given"), path);
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<LlamaCpp>> LlamaCpp::load(const std::string& path, const LlamaCppOptions& options) {
  constexpr std::size_t kMaxContext = std::size_t{1} << 24U;
  if (options.threads < 1 || options.threads > 512 || options.batch_tokens < 1 || options.batch_tokens > 65536 ||
      options.context_tokens > kMaxContext) {
    return Error(
        ErrorCode::kInvalidArgument,
        "engine options out of range: 1 to 512 threads, batches of 1 to 65536, contexts up to 16777216 tokens");
  }
  Result<llama_model_ptr> model = load_model(path);
  if (!model.ok()) return model.error();
  Result<llama_context_ptr> context = make_context(model.value().get(), options, path);
  if (!context.ok()) return context.error();
  auto memory = std::make_unique<Memory>(std::move(model).value(), std::move(context).value(), options);
  return std::unique_ptr<LlamaCpp>(new LlamaCpp(std::move(memory)));
}

LlamaCpp::LlamaCpp(std::unique_ptr<Memory> memory) : memory_(std::move(memory)) {}
LlamaCpp::~LlamaCpp() = default;

const Description& LlamaCpp::describe() const { return memory_->description(); }
std::span<const float> LlamaCpp::logits() const { return memory_->logits(); }
std::span<const TokenId> LlamaCpp::tokens() const { return memory_->tokens(); }
std::span<const std::uint32_t> LlamaCpp::batches() const { return memory_->batches(); }
void LlamaCpp::clear() { memory_->clear(); }

Result<PromptReport> LlamaCpp::prompt(std::span<const TokenId> ids, const CancelFlag* cancel) {
  if (auto checked = check_prompt(describe(), ids); !checked.ok()) return checked.error();
  memory_->watch(cancel);
  PromptReport report = memory_->keep_prefix(ids);
  Status done = memory_->append(ids.subspan(report.reused));
  const bool cancelled = cancel != nullptr && cancel->load();
  if (!done.ok() && !cancelled && report.reused > 0) {  // the reused part may be at fault: once more without it
    memory_->clear();
    report = {.reused = 0, .prefilled = ids.size(), .how = Reuse::kFull, .reason = done.error().message};
    done = memory_->append(ids);
  }
  memory_->watch(nullptr);
  if (!done.ok()) return done.error();
  memory_->remember();
  return report;
}

Status LlamaCpp::replay(std::span<const TokenId> ids, std::span<const std::uint32_t> batches) {
  if (auto checked = check_prompt(describe(), ids); !checked.ok()) return checked.error();
  memory_->clear();
  std::size_t begin = 0;
  for (const std::uint32_t size : batches) {
    if (auto done = memory_->append_batch(ids.subspan(begin, size)); !done.ok()) return done;
    begin += size;
  }
  return Done{};
}

Result<Generation> LlamaCpp::generate(const GenerateOptions& options) {
  if (memory_->logits().empty()) {
    return Error(ErrorCode::kInvalidArgument, "nothing to continue: give a prompt first");
  }
  const auto cancelled = [&] { return options.cancel != nullptr && options.cancel->load(); };
  Sampler sampler(options.sampling);
  Generation result;
  const auto next_allowed = [&] {
    return options.constraint != nullptr ? options.constraint->next(result.ids) : Allowed{};
  };
  memory_->watch(options.cancel);
  while (true) {
    result.stop = StopReason::kLength;
    if (result.ids.size() >= options.max_tokens) break;
    const Allowed allowed = next_allowed();
    result.stop = StopReason::kConstraint;
    if (allowed.kind == Allowed::Kind::kDone) break;
    if (!result.ids.empty()) {  // the previous id goes into the memory only now that another is wanted
      result.stop = StopReason::kContextFull;
      if (memory_->tokens().size() >= describe().context_tokens) break;
      if (auto done = memory_->append({&result.ids.back(), 1}); !done.ok()) {
        result.stop = StopReason::kCancelled;
        if (cancelled()) break;
        memory_->watch(nullptr);
        return done.error();
      }
    }
    result.stop = StopReason::kCancelled;
    if (cancelled()) break;
    const std::optional<TokenId> id = sampler.pick(memory_->logits(), allowed);
    if (!id) {
      memory_->watch(nullptr);
      return Error(ErrorCode::kInvalidArgument, "the constraint allows no token");
    }
    result.ids.push_back(*id);
    if (options.on_token) options.on_token(*id);
    result.stop = StopReason::kStopToken;
    if (std::find(options.stop_ids.begin(), options.stop_ids.end(), *id) != options.stop_ids.end()) break;
  }
  memory_->watch(nullptr);
  memory_->remember();
  return result;
}

}  // namespace rondo::engine
