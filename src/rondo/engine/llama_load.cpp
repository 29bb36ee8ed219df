#include "engine/llama_load.h"

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <utility>

#include "engine/llama_log.h"
#include "engine/processor.h"

namespace rondo::engine {
namespace {

MemoryKind memory_kind(const llama_model* model) {
  if (llama_model_is_recurrent(model)) return MemoryKind::kRecurrent;
  if (llama_model_is_hybrid(model)) return MemoryKind::kHybrid;
  return llama_model_n_swa(model) > 0 ? MemoryKind::kSlidingWindow : MemoryKind::kAttention;
}

struct CacheType {
  std::string_view name;
  ggml_type type;
};
constexpr std::array<CacheType, 5> kCacheTypes = {{{"f32", GGML_TYPE_F32},
                                                   {"f16", GGML_TYPE_F16},
                                                   {"bf16", GGML_TYPE_BF16},
                                                   {"q8_0", GGML_TYPE_Q8_0},
                                                   {"q4_0", GGML_TYPE_Q4_0}}};

std::optional<ggml_type> cache_type(std::string_view name) {
  const auto found =
      std::find_if(kCacheTypes.begin(), kCacheTypes.end(), [&](const CacheType& known) { return known.name == name; });
  return found == kCacheTypes.end() ? std::nullopt : std::optional(found->type);
}

Status check_options(const LlamaCppOptions& options, std::size_t sequences) {
  constexpr std::size_t kMaxContext = std::size_t{1} << 24U;
  if (options.threads < 1 || options.threads > 512 || options.batch_tokens < 1 || options.batch_tokens > 65536 ||
      options.context_tokens > kMaxContext || sequences < 1 || sequences > kMaxSequences) {
    return Error(
        ErrorCode::kInvalidArgument,
        "engine options out of range: 1 to 512 threads, batches of 1 to 65536, contexts up to 16777216 tokens, 1 "
        "to " +
            std::to_string(kMaxSequences) + " sequences");
  }
  if (!cache_type(options.cache_type)) {
    std::string names;
    for (const CacheType& known : kCacheTypes) names += (names.empty() ? "" : ", ") + std::string(known.name);
    return Error(ErrorCode::kInvalidArgument,
                 "the cache can't hold `" + options.cache_type + "`; it can hold " + names);
  }
  if (options.cache_type.starts_with('q') && !options.flash_attention) {
    return Error(ErrorCode::kInvalidArgument, "a cache of `" + options.cache_type + "` needs flash attention");
  }
  return Done{};
}

Result<llama_model_ptr> load_model(const std::string& path, const LlamaCppOptions& options) {
  if (Status able = check_processor(); !able.ok()) return able.error();
  const LlamaLog log;
  llama_backend_init();
  // A library with loadable backends starts without any; a static one has them already.
  if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  params.progress_callback = [](float, void*) { return true; };  // the default callback logs dots
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

Result<llama_context_ptr> make_context(llama_model* model, const LlamaCppOptions& options, std::size_t sequences,
                                       const std::string& path) {
  const LlamaLog log;
  const auto trained = static_cast<std::size_t>(std::max(1, llama_model_n_ctx_train(model)));
  const std::size_t each = options.context_tokens > 0 ? options.context_tokens : std::min(trained, kLlamaCppContext);
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(each * sequences);
  // One micro-batch per batch, so that ids handed over together are computed together.
  params.n_batch = static_cast<std::uint32_t>(std::max(options.batch_tokens, sequences));
  params.n_ubatch = params.n_batch;
  params.n_seq_max = static_cast<std::uint32_t>(sequences);
  params.n_threads = options.threads;
  params.n_threads_batch = options.threads;
  params.flash_attn_type = options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.type_k = *cache_type(options.cache_type);
  params.type_v = params.type_k;
  params.swa_full = options.full_window;
  // Each sequence has its own cells, so its results do not depend on where another's cells are.
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

Description describe(const llama_model* model, const llama_context* context, const LlamaCppOptions& options) {
  Description description;
  char name[128] = {};
  llama_model_desc(model, name, sizeof name);
  description.name = name;
  description.memory = memory_kind(model);
  description.context_tokens = llama_n_ctx_seq(context);
  description.batch_tokens = std::min<std::size_t>(options.batch_tokens, llama_n_batch(context));
  description.window_tokens = static_cast<std::size_t>(std::max(0, llama_model_n_swa(model)));
  const llama_vocab* vocab = llama_model_get_vocab(model);
  description.vocab_size = llama_vocab_n_tokens(vocab);
  description.has_end_token = end_token(vocab) >= 0;
  description.threads = options.threads;
  return description;
}

}  // namespace

TokenId end_token(const llama_vocab* vocab) {
  const TokenId eos = llama_vocab_eos(vocab);
  return eos >= 0 ? eos : llama_vocab_eot(vocab);
}

Result<LoadedLlama> load_llama(const std::string& path, const LlamaCppOptions& options, std::size_t sequences) {
  if (auto checked = check_options(options, sequences); !checked.ok()) return checked.error();
  Result<llama_model_ptr> model = load_model(path, options);
  if (!model.ok()) return model.error();
  Result<llama_context_ptr> context = make_context(model.value().get(), options, sequences, path);
  if (!context.ok()) return context.error();
  Description description = describe(model.value().get(), context.value().get(), options);
  return LoadedLlama{
      .model = std::move(model).value(), .context = std::move(context).value(), .description = std::move(description)};
}

}  // namespace rondo::engine
