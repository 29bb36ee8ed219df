// Runs GBNF in libllama's own grammar sampler, for tools/oracles/grammar_engines.py.
//
// Usage: llama_grammar VOCABULARY.gguf < requests
// A request is a line `grammar SIZE` and so many bytes of GBNF, then any number of lines `text SIZE` with a text each.
// Answers, a line each: `ok` or `bad` for a grammar; for a text `fits`, or `refused` and the offset in bytes.
#include <llama.h>

#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace {

using Sampler = std::unique_ptr<llama_sampler, void (*)(llama_sampler*)>;

Sampler none() { return {nullptr, llama_sampler_free}; }

bool allows(llama_sampler* sampler, llama_token token) {
  llama_token_data one{token, 0.0F, 0.0F};
  llama_token_data_array candidates{&one, 1, -1, false};
  llama_sampler_apply(sampler, &candidates);
  return !std::isinf(one.logit);
}

std::vector<llama_token> tokens_of(const llama_vocab* vocab, const std::string& text) {
  std::vector<llama_token> out(text.size() + 8);
  const int count = llama_tokenize(vocab, text.data(), static_cast<int>(text.size()), out.data(),
                                   static_cast<int>(out.size()), false, false);
  out.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return out;
}

std::string answer(const llama_vocab* vocab, llama_sampler* grammar, const std::string& text) {
  const Sampler sampler(llama_sampler_clone(grammar), llama_sampler_free);
  std::size_t at = 0;
  for (const llama_token token : tokens_of(vocab, text)) {
    if (!allows(sampler.get(), token)) return "refused " + std::to_string(at);
    llama_sampler_accept(sampler.get(), token);
    char piece[512];
    const int size = llama_token_to_piece(vocab, token, piece, sizeof piece, 0, true);
    at += size > 0 ? static_cast<std::size_t>(size) : 0;
  }
  return allows(sampler.get(), llama_vocab_eos(vocab)) ? "fits" : "refused " + std::to_string(at);
}

void quiet(ggml_log_level, const char*, void*) {}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  llama_log_set(quiet, nullptr);
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  llama_model* model = llama_model_load_from_file(argv[1], params);
  if (model == nullptr) return 1;
  const llama_vocab* vocab = llama_model_get_vocab(model);
  Sampler grammar = none();
  std::string kind;
  std::size_t size = 0;
  while (std::cin >> kind >> size) {
    std::cin.get();  // the end of the line
    std::string text(size, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(size));
    if (kind == "grammar") {
      grammar = Sampler(llama_sampler_init_grammar(vocab, text.c_str(), "root"), llama_sampler_free);
      std::cout << (grammar ? "ok" : "bad") << std::endl;
    } else {
      std::cout << (grammar ? answer(vocab, grammar.get(), text) : "refused 0") << std::endl;
    }
  }
  llama_model_free(model);
  return 0;
}
