// Reads SentencePiece models (tokenizer.model, spiece.model, ...): the pieces, and the settings of the trainer and the
// normaliser that matter for encoding.  The format is a protocol buffer, parsed here by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::model {

struct SentencePieceFile {
  enum class Kind : std::uint8_t { kUnigram = 1, kBpe = 2, kWord = 3, kChar = 4 };
  enum class Type : std::uint8_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,      // never made from text
    kUserDefined = 4,  // always taken whole
    kUnused = 5,
    kByte = 6,  // <0xXX>
  };
  struct Piece {
    std::string text;
    float score = 0;
    Type type = Type::kNormal;
  };
  struct Normalizer {
    std::string charsmap;  // precompiled; may be empty
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;
    bool escape_whitespaces = true;
  };

  std::vector<Piece> pieces;  // by id; no text is empty, contains a NUL or occurs twice; exactly one is kUnknown
  Kind kind = Kind::kUnigram;
  bool byte_fallback = false;  // true: all 256 byte pieces exist; false: none does
  bool treat_whitespace_as_suffix = false;
  std::string unk_piece = "<unk>";
  std::string bos_piece = "<s>";
  std::string eos_piece = "</s>";
  std::string pad_piece = "<pad>";
  Normalizer normalizer;
  Normalizer denormalizer;
};

// Fails with kTokenizer and the byte offset of the first violation.
[[nodiscard]] Result<SentencePieceFile> parse_sentence_piece(std::string_view bytes);

// Returns whether `bytes` start like such a file.
[[nodiscard]] bool is_sentence_piece(std::string_view bytes);

}  // namespace rondo::model
