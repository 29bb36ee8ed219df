#include "tokenizer/known_ranks.h"

namespace rondo::tokenizer {
namespace {

using View = std::string_view;

// The patterns are quoted as their publishers write them.
constexpr View kWordsPattern = R"re('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)re";
constexpr View kPattern100k =
    R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|)re"
    R"re(\s++$|\s*[\r\n]|\s+(?!\S)|\s)re";
constexpr View kCased =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr View kOneDigit =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr View kDefault =
    R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)re"
    R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";

constexpr KnownToken kEnd50k[] = {{"<|endoftext|>", 50256}};
constexpr KnownToken kEnd100k[] = {{"<|endoftext|>", 100257},
                                   {"<|fim_prefix|>", 100258},
                                   {"<|fim_middle|>", 100259},
                                   {"<|fim_suffix|>", 100260},
                                   {"<|endofprompt|>", 100276}};
constexpr KnownToken kEnd200k[] = {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}};
constexpr KnownToken kTurns[] = {
    {"<|endoftext|>", 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}, {"<|extra_", 151646, 205, 0, "|>"}};
constexpr KnownToken kHeaders[] = {{"<|begin_of_text|>", 128000},
                                   {"<|end_of_text|>", 128001},
                                   {"<|reserved_special_token_", 128002, 2, 0, "|>"},
                                   {"<|finetune_right_pad_id|>", 128004},
                                   {"<|reserved_special_token_2|>", 128005},
                                   {"<|start_header_id|>", 128006},
                                   {"<|end_header_id|>", 128007},
                                   {"<|eom_id|>", 128008},
                                   {"<|eot_id|>", 128009},
                                   {"<|python_tag|>", 128010},
                                   {"<|reserved_special_token_", 128011, 245, 3, "|>"}};

constexpr KnownRanks kKnown[] = {
    // The encodings that the package tiktoken offers.
    {"r50k_base", 50256, kWordsPattern, false, kEnd50k, {}, "<|endoftext|>"},
    {"p50k_base", 50280, kWordsPattern, false, kEnd50k, {}, "<|endoftext|>"},
    {"cl100k_base", 100256, kPattern100k, false, kEnd100k, {}, "<|endoftext|>"},
    {"o200k_base", 199998, kCased, false, kEnd200k, {}, "<|endoftext|>"},
    // Speech models: the vocabulary of r50k_base, and the same with one more token.  Their special tokens differ by
    // language.
    {"gpt2", 50256, kWordsPattern, false, kEnd50k, {}, "<|endoftext|>"},
    {"multilingual", 50257, kWordsPattern, false, {}, {}, {}},
    // A chat model whose special tokens are named only in its code.
    {"qwen", 151643, kOneDigit, true, kTurns, {}, "<|endoftext|>"},
    // A chat model whose maker publishes `tokenizer.model` without a configuration.
    {"", 128000, kDefault, false, kHeaders, "<|begin_of_text|>", "<|end_of_text|>"},
};

}  // namespace

const KnownRanks* find_known_ranks(std::string_view file_name, std::size_t count) {
  const std::string_view stem = file_name.substr(0, file_name.find('.'));
  for (const KnownRanks& known : kKnown) {
    if (!known.name.empty() && known.name == stem && known.count == count) return &known;
  }
  for (const KnownRanks& known : kKnown) {
    if (known.count == count) return &known;
  }
  return nullptr;
}

std::string_view default_rank_pattern() { return kDefault; }

std::string reserved_token(std::int32_t id) { return "<|reserved_token_" + std::to_string(id) + "|>"; }

}  // namespace rondo::tokenizer
