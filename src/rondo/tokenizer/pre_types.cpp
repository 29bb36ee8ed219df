#include "tokenizer/pre_types.h"

#include <algorithm>

namespace rondo::tokenizer {
namespace {

using View = std::string_view;

constexpr View kPattern1 = R"re([\p{P}\$\+<=>\^~\|]+)re";
constexpr View kWords = R"re('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))re";
constexpr View kDigits = R"re(\p{N}+)re";
constexpr View kThreeAsciiDigits = R"re([0-9][0-9][0-9])re";
constexpr View kThreeDigits = R"re(\p{N}{1,3})re";
constexpr View kPattern2 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)re"
                           R"re(\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
                           R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern3 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)re"
                           R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
                           R"re(\s+(?!\S)|\s+)re";
constexpr View kLineEndPattern = R"re([\r\n])re";
constexpr View kPattern4 =
    R"re(\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ)re"
    R"re(-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-)re"
    R"re(ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+)re";
constexpr View kPattern5 = R"re(\s?[!-/:-~！-／：-～‘-‟　-。]+)re";
constexpr View kPattern6 = R"re(\s+$)re";
constexpr View kPattern7 = R"re([一-龥ࠀ-一가-퟿]+)re";
constexpr View kPattern8 = R"re(\s?\p{L}+)re";
constexpr View kPattern9 = R"re(\s?\p{P}+)re";
constexpr View kDigit = R"re(\p{N})re";
constexpr View kPattern10 = R"re([一-龥぀-ゟ゠-ヿ]+)re";
constexpr View kPattern11 = R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)re"
                            R"re([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)re"
                            R"re(\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr View kPattern12 = R"re([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)re"
                            R"re([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|)re"
                            R"re([\r\n]|\s+(?!\S)|\s+)re";
constexpr View kPattern13 =
    R"re([가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+)re";
constexpr View kPattern14 =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|)re"
    R"re('re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{)re"
    R"re(Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|)re"
    R"re(\s+)re";
constexpr View kPattern15 = R"re([\p{P}\$\+<=>\^~\|`]+)re";
constexpr View kPattern16 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)re"
                            R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
                            R"re(\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|)re"
                            R"re(\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|)re"
                            R"re(\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1})re";
constexpr View kLines = R"re([^\n]+|[\n]+)re";
constexpr View kVisible = R"re(\S+)re";
constexpr View kPattern17 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)re"
                            R"re(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern18 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|)re"
                            R"re(\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern19 = R"re( ?[^(\s|.,!?…。，、।۔،)]+)re";
constexpr View kPattern20 = R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)re"
                            R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)re"
                            R"re(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern21 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|)re"
                            R"re(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern22 = R"re(<sentinel:[0-9]+>)re";
constexpr View kPattern23 = R"re((IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z)re";
constexpr View kPattern24 = R"re(([\t\n]|    |  ))re";
constexpr View kPattern25 = R"re([\p{P}!-/:-@\[-`{-~])re";
constexpr View kPattern26 =
    R"re([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|)re"
    R"re('re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{)re"
    R"re(Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}|)re"
    R"re( ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|)re"
    R"re(\s+)re";
constexpr View kPattern27 = R"re(\d{1,3}(?=(?:\d{3})*\b))re";
constexpr View kPattern28 = R"re((?=(\d{3})+(?!\d)))re";
constexpr View kPattern29 = R"re('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|)re"
                            R"re(\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern30 = R"re((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)re"
                            R"re(\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|)re"
                            R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern31 =
    R"re(\p{Han}+|[^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])*(?:(?!\p{Han)re"
    R"re(})[\p{Ll}\p{Lm}\p{Lo}\p{M}])+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re([^\r\n\p{L}\p{N}]?(?:(?!\p{Han})[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])+(?:(?!\p{Han})[\p{Ll})re"
    R"re(\p{Lm}\p{Lo}\p{M}])*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)re"
    R"re(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|)re"
    R"re(\s+(?!\S)|\s+)re";
constexpr View kPattern32 = R"re([^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)re";
constexpr View kPattern33 = R"re(\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N})))re";
constexpr View kPattern34 =
    R"re([一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-ᇿ]+)re";

struct Options {
  bool ignore_merges = false;
  bool add_bos = false;
  bool always_add_bos = false;
  bool byte_level = true;
};
constexpr Options kPlain{};
constexpr Options kWhole{.ignore_merges = true};
constexpr Options kWholeBos{.ignore_merges = true, .add_bos = true};
constexpr Options kBos{.add_bos = true};
constexpr Options kCharacters{.byte_level = false};
constexpr Options kCharactersBos{.always_add_bos = true, .byte_level = false};

constexpr PreType make(View name, std::array<View, 6> patterns, Options options = kPlain) {
  return {name, patterns, options.ignore_merges, options.add_bos, options.always_add_bos, options.byte_level};
}

constexpr PreType kTypes[] = {
    make("", {kPattern1, kWords, kDigits, kThreeAsciiDigits}),
    make("default", {kPattern1, kWords, kDigits, kThreeAsciiDigits}),
    make("minicpm5", {kThreeDigits, kPattern2}, kWhole),
    make("llama3", {kPattern3}, kWholeBos),
    make("llama-v3", {kPattern3}, kWholeBos),
    make("llama-bpe", {kPattern3}, kWholeBos),
    make("falcon3", {kPattern3}, kWholeBos),
    make("falcon-h1", {kPattern3}, kWholeBos),
    make("pixtral", {kPattern3}, kWholeBos),
    make("midm-2.0", {kPattern3}, kWholeBos),
    make("lfm2", {kPattern3}, kWholeBos),
    make("jina-v5-nano", {kPattern3}, kWholeBos),
    make("deepseek-llm", {kLineEndPattern, kPattern4, kPattern5, kPattern6, kPattern7, kDigits}),
    make("deepseek-coder", {kLineEndPattern, kPattern8, kPattern9, kPattern7, kDigit}),
    make("deepseek-v3", {kThreeDigits, kPattern10, kPattern11}),
    make("spark2_5", {kThreeDigits, kPattern10, kPattern12, kDigit}),
    make("youtu", {kPattern13, kPattern14}, kWhole),
    make("falcon", {kPattern15, kWords, kThreeAsciiDigits}),
    make("mpt", {kWords}),
    make("starcoder", {kDigit, kWords}),
    make("gpt-2", {kWords}),
    make("phi-2", {kWords}),
    make("jina-es", {kWords}),
    make("jina-de", {kWords}),
    make("gigachat", {kWords}),
    make("jina-v2-es", {kWords}),
    make("jina-v2-de", {kWords}),
    make("a.x-4.0", {kWords}),
    make("mellum", {kWords}),
    make("modern-bert", {kWords}),
    make("jais-2", {kPattern16}),
    make("gemma4", {kLines}, kCharactersBos),
    make("granite-embed-multi-311m", {kLines}, kCharactersBos),
    make("sarvam-moe", {kLines}, kCharacters),
    make("jina-v1-en", {kWords}),
    make("jina-v2-code", {kWords}),
    make("roberta-bpe", {kWords}),
    make("whitespace", {kVisible}, kCharacters),
    make("refact", {kDigit, kWords}),
    make("command-r", {kDigit, kWords}),
    make("qwen2", {kPattern17}),
    make("deepseek-r1-qwen", {kPattern17}),
    make("kormo", {kPattern17}),
    make("f2llmv2", {kPattern17}),
    make("qwen35", {kPattern18}),
    make("stablelm2", {kPattern17}),
    make("olmo", {kWords}),
    make("dbrx", {kPattern3}),
    make("smaug-bpe", {kPattern3}),
    make("poro-chat", {kPattern19}),
    make("chatglm-bpe", {kPattern3}),
    make("glm4", {kPattern3}, kWhole),
    make("glm5", {kPattern3}, kWhole),
    make("viking", {kPattern19, kDigit}),
    make("jais", {kWords}),
    make("tekken", {kPattern20}, kWholeBos),
    make("smollm", {kDigit, kWords}),
    make("codeshell", {kDigit, kWords}),
    make("bloom", {kPattern19}),
    make("gpt3-finnish", {kPattern19}),
    make("exaone", {kDigit, kWords}),
    make("exaone4", {kWords}),
    make("exaone-moe", {kPattern21}),
    make("chameleon", {kPattern22, kPattern23, kPattern24, kDigit, kPattern25, kWords}, kBos),
    make("minerva-7b", {kDigit, kWords}),
    make("megrez", {kPattern17}),
    make("gpt-4o", {kPattern26}),
    make("llama4", {kPattern26}),
    make("kanana2", {kPattern26}),
    make("talkie", {kPattern26}),
    make("granite-embed-multi-97m", {kPattern26}, kWhole),
    make("tiny_aya", {kPattern27, kPattern26}),
    make("cohere2moe", {kPattern27, kPattern26}),
    make("superbpe", {kDigits, kPattern28}),
    make("trillion", {kWords}),
    make("granite-docling", {kWords}),
    make("bailingmoe", {kPattern29}),
    make("bailingmoe2", {kPattern29}),
    make("llada-moe", {kPattern29}),
    make("seed-coder", {kPattern30}),
    make("hunyuan", {kPattern17}),
    make("hunyuan-dense", {kThreeDigits, kPattern10, kPattern11}),
    make("hy_v4", {kThreeDigits, kPattern10, kPattern11}),
    make("joyai-llm", {kThreeDigits, kPattern10, kPattern11}),
    make("kimi-k2", {kPattern31}),
    make("ufakzeka", {kPattern32}),
    make("grok-2", {kPattern17}),
    make("afmoe", {kPattern33, kPattern34, kPattern11}),
    make("laguna", {kLines, kPattern17}),
    make("minimax-m2", {kPattern26}),
    make("solar-open", {kPattern17}),
    make("mellum2", {kDigit, kWords}),
};

constexpr StripRule kStripRules[] = {
    {"general.name", {"phi-3", "phi3"}, "", {"<unk>", "<s>", "<|endoftext|>"}, false, true},
    {"general.name", {"modern-bert"}, "[MASK]", {}, true, false},
    {"general.architecture", {"nomic-bert-moe", "jina-bert-v3"}, "<mask>", {}, true, false},
    {"tokenizer.ggml.pre", {"jina-v2-de", "jina-v2-es", "jina-v2-code"}, "<mask>", {}, true, false},
};

}  // namespace

std::span<const StripRule> strip_rules() { return kStripRules; }

const PreType* find_pre_type(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [name](const PreType& type) { return type.name == name; });
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace rondo::tokenizer
