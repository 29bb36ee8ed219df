// The ids that libllama gives a text, for tools/oracles/tokenizer_fuzz/sources.py.
//
// Usage: llama_tokenize_peer VOCABULARY.gguf < TEXTS > IDS
//
// A text is four bytes of length and its bytes, an answer four bytes of count and four bytes for each id, all little-endian
// as the machine writes them; until the input ends.  Control tokens are not looked for in texts, and none are added.
#include <llama.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

bool read_exactly(void* data, std::size_t size) { return std::fread(data, 1, size, stdin) == size; }

std::vector<llama_token> tokenize(const llama_vocab* vocabulary, const std::string& text) {
  std::vector<llama_token> ids(text.size() + 16);
  const auto ask = [&] {
    return llama_tokenize(vocabulary, text.data(), static_cast<std::int32_t>(text.size()), ids.data(),
                          static_cast<std::int32_t>(ids.size()), false, false);
  };
  std::int32_t count = ask();
  if (count < 0) {
    ids.resize(static_cast<std::size_t>(-count));
    count = ask();
  }
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: llama_tokenize_peer VOCABULARY.gguf < TEXTS > IDS\n", stderr);
    return 2;
  }
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_backend_init();
  llama_model_params params = llama_model_default_params();
  params.vocab_only = true;
  const std::unique_ptr<llama_model, decltype(&llama_model_free)> model(llama_model_load_from_file(argv[1], params),
                                                                        &llama_model_free);
  if (!model) {
    std::fprintf(stderr, "llama_tokenize_peer: libllama does not load %s\n", argv[1]);
    return 1;
  }
  const llama_vocab* vocabulary = llama_model_get_vocab(model.get());
  std::uint32_t size = 0;
  std::string text;
  while (read_exactly(&size, sizeof size)) {
    text.resize(size);
    if (!read_exactly(text.data(), size)) return 1;
    const std::vector<llama_token> ids = tokenize(vocabulary, text);
    const auto count = static_cast<std::uint32_t>(ids.size());
    std::fwrite(&count, sizeof count, 1, stdout);
    std::fwrite(ids.data(), sizeof(llama_token), ids.size(), stdout);
    std::fflush(stdout);
  }
  return 0;
}
