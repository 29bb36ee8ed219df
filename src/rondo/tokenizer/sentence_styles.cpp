#include "tokenizer/sentence_styles.h"

namespace rondo::tokenizer {
namespace {

constexpr SentenceStyle kSentenceStyles[] = {
    {"LlamaTokenizer", true, false, true},
    {"GemmaTokenizer"},
    {"PreTrainedTokenizer"},
    {"TokenizersBackend"},
};

}  // namespace

const SentenceStyle* find_sentence_style(std::string_view tokenizer_class) {
  constexpr std::string_view kFast = "Fast";
  if (tokenizer_class.ends_with(kFast)) tokenizer_class.remove_suffix(kFast.size());
  for (const SentenceStyle& style : kSentenceStyles) {
    if (style.name == tokenizer_class) return &style;
  }
  return nullptr;
}

}  // namespace rondo::tokenizer
