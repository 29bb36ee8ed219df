#include "engine/tiny_model.h"

#include <ggml-cpp.h>
#include <llama-cpp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <variant>

#include "engine/llama_log.h"
#include "engine/processor.h"

namespace rondo::engine {
namespace {

constexpr std::uint32_t kHeadSize = 32;

// A hyper-parameter: its key after "<architecture>." and its value; a list has one entry per layer.
using Value = std::variant<std::uint32_t, float, std::vector<std::uint32_t>>;
struct Parameter {
  std::string key;
  Value value;
};

// What each architecture reads besides the common keys.
std::vector<Parameter> parameters_of(const TinyModel& model, std::string_view name) {
  const std::uint32_t heads = model.width / kHeadSize;
  std::vector<std::uint32_t> attention_layers(model.layers, 0);  // every other one, beginning with the first
  for (std::size_t layer = 0; layer < attention_layers.size(); layer += 2) attention_layers[layer] = heads;
  std::vector<Parameter> mamba = {{"ssm.conv_kernel", 4U},
                                  {"ssm.inner_size", 2 * model.width},
                                  {"ssm.state_size", 16U},
                                  {"ssm.time_step_rank", 2 * heads},
                                  {"ssm.group_count", 1U}};
  if (name == "gemma3") {
    return {{"attention.head_count", heads},
            {"attention.head_count_kv", 1U},
            {"attention.key_length", kHeadSize},
            {"attention.value_length", kHeadSize},
            {"attention.sliding_window", model.window_tokens},
            {"attention.sliding_window_pattern", 2U}};
  }
  if (name == "mamba2") {
    mamba.push_back({"attention.head_count", 0U});
    return mamba;
  }
  if (name == "rwkv7") {
    return {{"attention.head_count", 0U},
            {"wkv.head_size", kHeadSize},
            {"attention.layer_norm_epsilon", 1e-5F},
            {"attention.decay_lora_rank", 16U},
            {"attention.iclr_lora_rank", 16U},
            {"attention.value_residual_mix_lora_rank", 16U},
            {"attention.gate_lora_rank", 16U},
            {"token_shift_count", 2U}};
  }
  if (name == "granitehybrid") {
    mamba.push_back({"attention.head_count", attention_layers});
    mamba.push_back({"attention.head_count_kv", attention_layers});
    return mamba;
  }
  if (name == "lfm2") {
    return {{"attention.head_count", heads}, {"attention.head_count_kv", attention_layers}, {"shortconv.l_cache", 3U}};
  }
  if (name == "qwen35") {
    return {{"attention.head_count", heads},
            {"attention.head_count_kv", 1U},
            {"attention.key_length", kHeadSize},
            {"attention.value_length", kHeadSize},
            {"rope.dimension_sections", std::vector<std::uint32_t>{4, 4, 4, 4}},
            {"full_attention_interval", 2U},
            {"ssm.conv_kernel", 4U},
            {"ssm.inner_size", model.width},
            {"ssm.state_size", 32U},
            {"ssm.time_step_rank", heads},
            {"ssm.group_count", heads}};
  }
  return {{"attention.head_count", heads},
          {"attention.head_count_kv", 1U},
          {"attention.key_length", kHeadSize},
          {"attention.value_length", kHeadSize}};
}

void set(gguf_context* gguf, const std::string& key, const Value& value) {
  if (const auto* number = std::get_if<std::uint32_t>(&value)) {
    gguf_set_val_u32(gguf, key.c_str(), *number);
  } else if (const auto* real = std::get_if<float>(&value)) {
    gguf_set_val_f32(gguf, key.c_str(), *real);
  } else {
    const auto& list = std::get<std::vector<std::uint32_t>>(value);
    gguf_set_arr_data(gguf, key.c_str(), GGUF_TYPE_UINT32, list.data(), list.size());
  }
}

// Writes the extra tokens over unused entries (user-defined ones in square brackets, with which converters fill gaps),
// or else at the end.
void add_tokens(gguf_context* gguf, const std::vector<ExtraToken>& extra) {
  const std::int64_t list = gguf_find_key(gguf, "tokenizer.ggml.tokens");
  const std::size_t size = gguf_get_arr_n(gguf, list);
  std::vector<std::string> tokens(size);
  for (std::size_t i = 0; i < size; ++i) tokens[i] = gguf_get_arr_str(gguf, list, i);
  std::vector<std::int32_t> types(size, LLAMA_TOKEN_TYPE_NORMAL);
  if (const std::int64_t key = gguf_find_key(gguf, "tokenizer.ggml.token_type");
      key >= 0 && gguf_get_arr_n(gguf, key) == size) {
    std::memcpy(types.data(), gguf_get_arr_data(gguf, key), size * sizeof(std::int32_t));
  }
  std::size_t free = 0;
  for (const ExtraToken& token : extra) {
    const std::int32_t type = token.special ? LLAMA_TOKEN_TYPE_CONTROL : LLAMA_TOKEN_TYPE_USER_DEFINED;
    if (const auto known = std::find(tokens.begin(), tokens.end(), token.content); known != tokens.end()) {
      types[static_cast<std::size_t>(known - tokens.begin())] = type;
      continue;
    }
    while (free < size && (types[free] != LLAMA_TOKEN_TYPE_USER_DEFINED || !tokens[free].starts_with("[PAD"))) ++free;
    if (free == size) {
      tokens.push_back(token.content);
      types.push_back(type);
      continue;
    }
    tokens[free] = token.content;
    types[free++] = type;
  }
  std::vector<const char*> pointers;
  for (const std::string& token : tokens) pointers.push_back(token.c_str());
  gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types.data(), types.size());
  if (const std::int64_t key = gguf_find_key(gguf, "tokenizer.ggml.scores"); key >= 0 && tokens.size() > size) {
    std::vector<float> scores(tokens.size(), 0.0F);
    std::memcpy(scores.data(), gguf_get_arr_data(gguf, key), gguf_get_arr_n(gguf, key) * sizeof(float));
    gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32, scores.data(), scores.size());
  }
}

// Copies all keys of another file except those of its architecture.
Status copy_vocabulary(gguf_context* gguf, const std::string& path) {
  const gguf_context_ptr source(gguf_init_from_file(path.c_str(), {}));
  if (!source) return Error(ErrorCode::kTokenizer, "not a readable GGUF file", path);
  std::vector<std::string> others;
  for (std::int64_t i = 0; i < gguf_get_n_kv(source.get()); ++i) {
    const std::string key = gguf_get_key(source.get(), i);
    if (!key.starts_with("tokenizer.ggml.")) others.push_back(key);
  }
  for (const std::string& key : others) gguf_remove_key(source.get(), key.c_str());
  const std::int64_t list = gguf_find_key(source.get(), "tokenizer.ggml.tokens");
  if (list < 0 || gguf_get_kv_type(source.get(), list) != GGUF_TYPE_ARRAY ||
      gguf_get_arr_type(source.get(), list) != GGUF_TYPE_STRING) {
    return Error(ErrorCode::kTokenizer, "the file has no vocabulary", path);
  }
  gguf_set_kv(gguf, source.get());
  return Done{};
}

// The two tensors with a row per token make up nearly the whole file.
void halve_vocabulary_tensors(gguf_context* gguf) {
  for (const char* name : {"token_embd.weight", "output.weight"}) {
    ggml_tensor tensor{};
    tensor.type = GGML_TYPE_F16;
    for (std::int64_t& extent : tensor.ne) extent = 1;
    ggml_set_name(&tensor, name);
    gguf_add_tensor(gguf, &tensor);
  }
}

Result<gguf_context_ptr> describe_model(const TinyModel& model, std::string_view name) {
  gguf_context_ptr gguf(gguf_init_empty());
  const std::string prefix = std::string(name) + ".";
  gguf_set_val_str(gguf.get(), "general.architecture", std::string(name).c_str());
  gguf_set_val_str(gguf.get(), "general.name",
                   ("tiny random " + std::string(to_string(model.memory)) + " model").c_str());
  const std::vector<Parameter> common = {{"context_length", model.context_tokens},
                                         {"embedding_length", model.width},
                                         {"block_count", model.layers},
                                         {"feed_forward_length", 2 * model.width},
                                         {"attention.layer_norm_rms_epsilon", 1e-5F}};
  for (const Parameter& parameter : common) set(gguf.get(), prefix + parameter.key, parameter.value);
  for (const Parameter& parameter : parameters_of(model, name))
    set(gguf.get(), prefix + parameter.key, parameter.value);
  if (model.vocabulary.empty()) {
    gguf_set_val_str(gguf.get(), "tokenizer.ggml.model", "none");
    gguf_set_val_u32(gguf.get(), (prefix + "vocab_size").c_str(), model.vocab_size);
  } else {
    if (auto copied = copy_vocabulary(gguf.get(), model.vocabulary); !copied.ok()) return copied.error();
    if (!model.extra_tokens.empty()) add_tokens(gguf.get(), model.extra_tokens);
  }
  if (!model.chat_template.empty())
    gguf_set_val_str(gguf.get(), "tokenizer.chat_template", model.chat_template.c_str());
  return gguf;
}

// FNV-1a: the weights of a tensor depend on its name, not on the order of creation.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return value;
}

// What libllama returns while it builds the model.
struct Weights {
  std::uint64_t seed = 0;
  std::vector<const ggml_tensor*> tensors;

  void fill(ggml_tensor* tensor);
};

// Norms are near one, state decays are negative, and matrices preserve the scale of their input.
void Weights::fill(ggml_tensor* tensor) {
  const std::string_view name = ggml_get_name(tensor);
  const bool is_norm = name.find("norm") != std::string_view::npos && name.ends_with("weight");
  const bool is_decay = name.find("ssm_a") != std::string_view::npos && name.find("alpha") == std::string_view::npos;
  const bool is_matrix = ggml_n_dims(tensor) > 1;
  const double scale = is_matrix ? 1.0 / std::sqrt(static_cast<double>(tensor->ne[0])) : 0.1;
  Random random(seed ^ hash(name));
  const auto next = [&]() -> float {
    const double value = scale * random.normal();
    if (is_norm) return static_cast<float>(1.0 + value);
    return static_cast<float>(is_decay ? -std::abs(value) - 0.1 : value);
  };
  const auto elements = static_cast<std::size_t>(ggml_nelements(tensor));
  std::vector<float> values(elements);
  for (float& value : values) value = next();
  if (tensor->type == GGML_TYPE_F16) {
    std::vector<ggml_fp16_t> half(elements);
    ggml_fp32_to_fp16_row(values.data(), half.data(), static_cast<std::int64_t>(elements));
    ggml_backend_tensor_set(tensor, half.data(), 0, ggml_nbytes(tensor));
  } else {
    ggml_backend_tensor_set(tensor, values.data(), 0, ggml_nbytes(tensor));
  }
  tensors.push_back(tensor);
}

// Writes the finished file: the metadata as given (the library's own writer drops the template and adds its defaults),
// and the tensors as the library created them.
Status write_file(const gguf_context* metadata, const Weights& weights, const std::string& path) {
  const gguf_context_ptr out(gguf_init_empty());
  gguf_set_kv(out.get(), metadata);
  for (const ggml_tensor* tensor : weights.tensors) {
    // Tensors that layers share are created once per layer under one name.
    if (gguf_find_tensor(out.get(), ggml_get_name(tensor)) < 0) gguf_add_tensor(out.get(), tensor);
  }
  const std::string temporary = path + ".part";
  std::error_code failed;
  if (gguf_write_to_file(out.get(), temporary.c_str(), false)) {
    std::filesystem::rename(temporary, path, failed);
    if (!failed) return Done{};
  }
  std::filesystem::remove(temporary, failed);
  return Error(ErrorCode::kIo, "the model can't be written", path);
}

}  // namespace

Status write_tiny_model(const TinyModel& model, const std::string& path) {
  const auto fits = [&](const TinyArchitecture& one) {
    return model.architecture.empty() ? one.memory == model.memory : one.name == model.architecture;
  };
  const auto known = tiny_architectures();
  const auto architecture = std::find_if(known.begin(), known.end(), fits);
  if (architecture == known.end()) {
    return Error(ErrorCode::kInvalidArgument, "no tiny model of architecture `" + model.architecture + "`");
  }
  constexpr std::uint32_t kMaxWidth = 4096;
  constexpr std::uint32_t kMaxLayers = 64;
  if (model.width == 0 || model.width % kHeadSize != 0 || model.width > kMaxWidth || model.layers < 1 ||
      model.layers > kMaxLayers) {
    return Error(ErrorCode::kInvalidArgument,
                 "a tiny model is a multiple of 32 wide, at most 4096, and has 1 to 64 layers");
  }
  if (Status able = check_processor(); !able.ok()) return able;
  const LlamaLog log;
  Result<gguf_context_ptr> metadata = describe_model(model, architecture->name);
  if (!metadata.ok()) return metadata.error();
  const gguf_context_ptr plan(gguf_init_empty());
  gguf_set_kv(plan.get(), metadata.value().get());
  if (model.half) halve_vocabulary_tensors(plan.get());

  llama_backend_init();
  if (ggml_backend_reg_count() == 0) ggml_backend_load_all();
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.progress_callback = [](float, void*) { return true; };
  Weights weights{.seed = model.seed, .tensors = {}};
  llama_model_ptr made;
  try {
    made.reset(llama_model_init_from_user(
        plan.get(), [](ggml_tensor* tensor, void* self) { static_cast<Weights*>(self)->fill(tensor); }, &weights,
        params));
    if (!made) return Error(ErrorCode::kEngine, "the tiny model can't be made: " + log.last_error("no reason given"));
    return write_file(metadata.value().get(), weights, path);
  } catch (const std::exception& failure) {
    return Error(ErrorCode::kEngine, std::string("the tiny model can't be made: ") + failure.what());
  }
}

}  // namespace rondo::engine
