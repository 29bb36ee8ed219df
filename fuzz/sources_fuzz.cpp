// Vocabularies of other kinds than tokenizer.json: any bytes in the place of a rank file, a SentencePiece model, a tekken.json,
// a GGUF file, a vocabulary without rules or the Python code beside a rank file load or give an Error, as does the Python code of an
// encoder; what loads encodes any text, with offsets that
// follow each other, and decodes what it encoded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/scratch_file.h"
#include "json/parse.h"
#include "model/python_text.h"
#include "tokenizer/tokenizer.h"

namespace {

using rondo::model::TokenizerSource;

// Words, digits, white space, control tokens, marks, combining characters, ill-formed UTF-8.
constexpr std::string_view kText =
    "Hello world's 12345  \n\t<s> </s>[CLS]\xE2\x96\x81 \xC3\xA9\xCC\x81\xF0\x9F\x98\x80 \xE4\xBD\xA0\xFF\xFE\x80 "
    "a.b!? \r\n";

void check(const TokenizerSource& source) {
  const auto loaded = rondo::tokenizer::Tokenizer::load(source);
  if (!loaded.ok()) return;
  for (const bool specials : {true, false}) {
    rondo::tokenizer::EncodeOptions options;
    options.parse_special = specials;
    options.add_special = specials;
    std::vector<rondo::tokenizer::TokenId> ids;
    std::uint32_t last = 0;
    for (const auto& piece : loaded.value()->encode(kText, options)) {
      if (piece.begin > piece.end || piece.end > kText.size() || piece.begin < last) std::abort();
      last = piece.begin;
      ids.push_back(piece.id);
    }
    if (!loaded.value()->decode(ids, {}).ok()) std::abort();
  }
}

// What was read is bounded, and reading it again from a plain spelling of it gives the same.
void check_constants(std::string_view python) {
  const auto found = rondo::model::python_constants(python);
  if (!found.ok()) return;
  std::string again;
  for (const rondo::json::Member& member : found.value()) {
    if (!member.value.is_string()) continue;
    again += member.key + " = \"";
    for (const char c : member.value.as_string())
      again += c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    again += "\"\n";
  }
  const auto read = rondo::model::python_constants(again);
  if (!read.ok()) std::abort();
  for (const rondo::json::Member& member : read.value()) {
    const rondo::json::Value* before = found.value().find(member.key);
    if (before == nullptr || before->as_string() != member.value.as_string()) std::abort();
  }
}

template <typename T>
std::shared_ptr<const T> shared(T value) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace

// The first byte chooses the kind, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace model = rondo::model;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  TokenizerSource source;
  source.path = "fuzz";
  if (data[0] == 'r') {
    auto ranks = model::parse_rank_file(bytes);
    if (!ranks.ok()) return 0;
    source.ranks = shared(std::move(ranks).value());
  } else if (data[0] == 's') {
    auto pieces = model::parse_sentence_piece(bytes);
    if (!pieces.ok()) return 0;
    source.sentence_piece = shared(std::move(pieces).value());
  } else if (data[0] == 'g') {
    static rondo::fuzz::ScratchFile file;
    file.set(data + 1, size - 1);
    auto gguf = model::read_gguf(file.path());
    if (!gguf.ok()) return 0;
    source.gguf = shared(std::move(gguf).value());
  } else if (data[0] == 't') {
    auto value = rondo::json::parse(bytes);
    if (!value.ok()) return 0;
    source.tekken_json = shared(std::move(value).value());
  } else if (data[0] == 'j' || data[0] == 'w') {
    // A configuration, vocab.json or vocab.txt, merges.txt, lines of U+0001 between them.
    const std::string_view kGap = "\n\x01\n";
    const std::size_t vocabulary = bytes.find(kGap);
    if (vocabulary == std::string_view::npos) return 0;
    auto config = rondo::json::parse(bytes.substr(0, vocabulary));
    if (!config.ok()) return 0;
    source.tokenizer_config = shared(std::move(config).value());
    source.special_tokens = source.tokenizer_config;
    source.added_tokens = source.tokenizer_config;
    const std::string_view rest = bytes.substr(vocabulary + kGap.size());
    const std::size_t merges = rest.find(kGap);
    model::VocabularyFiles files;
    (data[0] == 'j' ? files.tokens : files.words) = std::string(rest.substr(0, merges));
    if (merges != std::string_view::npos) files.merges = rest.substr(merges + kGap.size());
    source.vocabulary = shared(std::move(files));
  } else if (data[0] == 'c') {
    // A pattern, from code or as it is, splits a vocabulary of all bytes.
    model::RankFile ranks;
    for (std::int32_t byte = 0; byte < 256; ++byte)
      ranks.tokens.push_back({std::string(1, static_cast<char>(byte)), byte});
    source.ranks = shared(std::move(ranks));
    source.code = model::read_tokenizer_code(bytes);
    if (!source.code.pattern) source.code.pattern = std::string(bytes.substr(0, 200));
  } else {
    if (data[0] == 'p') check_constants(bytes);
    return 0;
  }
  check(source);
  return 0;
}
