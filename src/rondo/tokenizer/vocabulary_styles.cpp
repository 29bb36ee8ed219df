#include "tokenizer/vocabulary_styles.h"

namespace rondo::tokenizer {
namespace {

constexpr std::string_view kEnd = "<|endoftext|>";
constexpr NamedDefault kPlainTokens[] = {{"bos_token", kEnd}, {"eos_token", kEnd}, {"unk_token", kEnd}};
constexpr NamedDefault kComposedTokens[] = {{"eos_token", kEnd}, {"unk_token", kEnd}, {"pad_token", kEnd}};
constexpr NamedDefault kFramedTokens[] = {{"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
                                          {"sep_token", "</s>"},   {"pad_token", "<pad>"}, {"cls_token", "<s>"},
                                          {"mask_token", "<mask>"}};
constexpr NamedDefault kWordTokens[] = {{"unk_token", "[UNK]"},
                                        {"sep_token", "[SEP]"},
                                        {"pad_token", "[PAD]"},
                                        {"cls_token", "[CLS]"},
                                        {"mask_token", "[MASK]"}};

constexpr std::string_view kComposedPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

constexpr VocabularyStyle kPlain{.defaults = kPlainTokens};
constexpr VocabularyStyle kComposed{
    .is_nfc = true, .forgets_flags = true, .pattern = kComposedPattern, .defaults = kComposedTokens};
constexpr VocabularyStyle kFramed{.is_framed = true, .defaults = kFramedTokens};
constexpr VocabularyStyle kWords{.is_words = true, .is_framed = true, .defaults = kWordTokens};

struct NamedVocabularyStyle {
  std::string_view name;  // without "Fast"
  const VocabularyStyle* style;
};

constexpr NamedVocabularyStyle kVocabularyStyles[] = {
    {"GPT2Tokenizer", &kPlain},        {"Qwen2Tokenizer", &kComposed}, {"RobertaTokenizer", &kFramed},
    {"BartTokenizer", &kFramed},       {"LEDTokenizer", &kFramed},     {"LongformerTokenizer", &kFramed},
    {"BertTokenizer", &kWords},        {"ConvBertTokenizer", &kWords}, {"DistilBertTokenizer", &kWords},
    {"ElectraTokenizer", &kWords},     {"LayoutLMTokenizer", &kWords}, {"MobileBertTokenizer", &kWords},
    {"SqueezeBertTokenizer", &kWords},
};

}  // namespace

const VocabularyStyle* find_vocabulary_style(std::string_view tokenizer_class) {
  constexpr std::string_view kFast = "Fast";
  if (tokenizer_class.ends_with(kFast)) tokenizer_class.remove_suffix(kFast.size());
  for (const NamedVocabularyStyle& named : kVocabularyStyles) {
    if (named.name == tokenizer_class) return named.style;
  }
  return nullptr;
}

const VocabularyStyle& default_vocabulary_style(bool is_words) { return is_words ? kWords : kPlain; }

}  // namespace rondo::tokenizer
