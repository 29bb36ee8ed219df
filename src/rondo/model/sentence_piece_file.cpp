#include "model/sentence_piece_file.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "base/utf8.h"

namespace rondo::model {
namespace {

using Piece = SentencePieceFile::Piece;
using PieceType = SentencePieceFile::Type;

constexpr std::size_t kPieceBytes = 8000;                       // the reference's own limit
constexpr std::size_t kPieces = (std::size_t{1} << 22U);        // far above any vocabulary
constexpr std::size_t kCharsmapBytes = std::size_t{64} << 20U;  // real ones have 240 KB

Error damaged(std::size_t offset, std::string message) {
  return Error(ErrorCode::kTokenizer, "damaged SentencePiece model: " + std::move(message)).at_offset(offset);
}

// One field of a message: a number, four bytes, or bytes with a length.
struct Field {
  std::uint32_t number = 0;
  enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 } wire = Wire::kVarint;
  std::uint64_t value = 0;  // of kVarint, kFixed32
  std::string_view bytes;   // of kBytes
  std::size_t offset = 0;   // of the field in the file
};

// Walks through the fields of a message that begins at `base` of the file.
class FieldReader {
 public:
  FieldReader(std::string_view message, std::size_t base) : message_(message), base_(base) {}

  [[nodiscard]] bool at_end() const { return at_ == message_.size(); }
  [[nodiscard]] std::size_t offset() const { return base_ + at_; }

  [[nodiscard]] Result<Field> next() {
    Field field;
    field.offset = offset();
    const auto tag = varint();
    if (!tag || *tag > 0xFFFFFFFFU || (*tag >> 3U) == 0) return damaged(field.offset, "no field starts here");
    field.number = static_cast<std::uint32_t>(*tag >> 3U);
    switch (*tag & 7U) {
      case 0: {
        const auto value = varint();
        if (!value) return damaged(field.offset, "the file ends inside a number");
        field.value = *value;
        return field;
      }
      case 1: return fixed(field, Field::Wire::kFixed64, 8);
      case 2: return with_length(field);
      case 5: return fixed(field, Field::Wire::kFixed32, 4);
      default: return damaged(field.offset, "a field of the unknown kind " + std::to_string(*tag & 7U));
    }
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == message_.size()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(message_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  Result<Field> fixed(Field field, Field::Wire wire, std::size_t size) {
    if (message_.size() - at_ < size) return damaged(field.offset, "the file ends inside a number");
    static_assert(std::endian::native == std::endian::little, "protocol buffers are little-endian");
    field.wire = wire;
    std::memcpy(&field.value, message_.data() + at_, size);
    at_ += size;
    return field;
  }

  Result<Field> with_length(Field field) {
    const auto size = varint();
    if (!size || *size > message_.size() - at_) {
      return damaged(field.offset, "field " + std::to_string(field.number) + " claims " +
                                       (size ? std::to_string(*size) : std::string("too many")) + " bytes, " +
                                       std::to_string(message_.size() - at_) + " are left");
    }
    field.wire = Field::Wire::kBytes;
    field.bytes = message_.substr(at_, static_cast<std::size_t>(*size));
    at_ += field.bytes.size();
    return field;
  }

  std::string_view message_;
  std::size_t base_;
  std::size_t at_ = 0;
};

// Passes each field of `message` to `take`, which may fail.
template <typename Take>
Status each_field(const Field& message, std::string_view file, Take take) {
  const auto base = static_cast<std::size_t>(message.bytes.data() - file.data());
  FieldReader reader(message.bytes, base);
  while (!reader.at_end()) {
    const Result<Field> field = reader.next();
    if (!field.ok()) return field.error();
    if (Status status = take(field.value()); !status.ok()) return status;
  }
  return Done{};
}

Error wrong_kind(const Field& field, const char* what) {
  return damaged(field.offset, std::string("the field ") + what + " is of another kind");
}

Status take_text(const Field& field, const char* what, std::string& to) {
  if (field.wire != Field::Wire::kBytes) return wrong_kind(field, what);
  to = field.bytes;
  return Done{};
}

Status take_flag(const Field& field, const char* what, bool& to) {
  if (field.wire != Field::Wire::kVarint) return wrong_kind(field, what);
  to = field.value != 0;
  return Done{};
}

Status take_piece(const Field& message, std::string_view file, SentencePieceFile& to) {
  if (message.wire != Field::Wire::kBytes) return wrong_kind(message, "`pieces`");
  Piece piece;
  Status status = each_field(message, file, [&](const Field& field) -> Status {
    if (field.number == 1) return take_text(field, "`piece`", piece.text);
    if (field.number == 2) {
      if (field.wire != Field::Wire::kFixed32) return wrong_kind(field, "`score`");
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    } else if (field.number == 3) {
      if (field.wire != Field::Wire::kVarint) return wrong_kind(field, "`type`");
      if (field.value < 1 || field.value > 6) {
        return damaged(field.offset, "a piece is of the unknown type " + std::to_string(field.value));
      }
      piece.type = static_cast<PieceType>(field.value);
    }
    return Done{};
  });
  if (!status.ok()) return status;
  const std::string what = "the piece with id " + std::to_string(to.pieces.size());
  if (piece.text.empty()) return damaged(message.offset, what + " is empty");
  if (piece.text.size() >= kPieceBytes) return damaged(message.offset, what + " is too long");
  if (piece.text.find('\0') != std::string::npos) return damaged(message.offset, what + " holds a NUL");
  if (!utf8::is_valid(piece.text)) return damaged(message.offset, what + " is no UTF-8");
  if (std::isnan(piece.score)) return damaged(message.offset, what + " has a score that is not a number");
  if (to.pieces.size() == kPieces) return damaged(message.offset, "there are too many pieces");
  to.pieces.push_back(std::move(piece));
  return Done{};
}

Status take_trainer(const Field& message, std::string_view file, SentencePieceFile& to) {
  if (message.wire != Field::Wire::kBytes) return wrong_kind(message, "`trainer_spec`");
  return each_field(message, file, [&](const Field& field) -> Status {
    switch (field.number) {
      case 3:
        if (field.wire != Field::Wire::kVarint) return wrong_kind(field, "`model_type`");
        if (field.value < 1 || field.value > 4) {
          return damaged(field.offset, "the model is of the unknown type " + std::to_string(field.value));
        }
        to.kind = static_cast<SentencePieceFile::Kind>(field.value);
        return Done{};
      case 24: return take_flag(field, "`treat_whitespace_as_suffix`", to.treat_whitespace_as_suffix);
      case 35: return take_flag(field, "`byte_fallback`", to.byte_fallback);
      case 45: return take_text(field, "`unk_piece`", to.unk_piece);
      case 46: return take_text(field, "`bos_piece`", to.bos_piece);
      case 47: return take_text(field, "`eos_piece`", to.eos_piece);
      case 48: return take_text(field, "`pad_piece`", to.pad_piece);
      default: return Done{};
    }
  });
}

Status take_normalizer(const Field& message, std::string_view file, SentencePieceFile::Normalizer& to) {
  if (message.wire != Field::Wire::kBytes) return wrong_kind(message, "`normalizer_spec`");
  return each_field(message, file, [&](const Field& field) -> Status {
    switch (field.number) {
      case 2:
        if (field.bytes.size() > kCharsmapBytes) return damaged(field.offset, "the charsmap is too large");
        return take_text(field, "`precompiled_charsmap`", to.charsmap);
      case 3: return take_flag(field, "`add_dummy_prefix`", to.add_dummy_prefix);
      case 4: return take_flag(field, "`remove_extra_whitespaces`", to.remove_extra_whitespaces);
      case 5: return take_flag(field, "`escape_whitespaces`", to.escape_whitespaces);
      default: return Done{};
    }
  });
}

// The byte of a piece "<0xXX>".
std::optional<unsigned> byte_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  const std::size_t high = kDigits.find(text[3]);
  const std::size_t low = kDigits.find(text[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(high * 16 + low);
}

// The checks that the reference makes before it serves a model.
Status check(const SentencePieceFile& file) {
  std::unordered_set<std::string_view> seen;
  seen.reserve(file.pieces.size());
  std::array<bool, 256> bytes{};
  int unknowns = 0;
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const Piece& piece = file.pieces[id];
    if (!seen.insert(piece.text).second) {
      return damaged(0, "the piece `" + piece.text + "` occurs twice, the second time with id " + std::to_string(id));
    }
    if (piece.type == PieceType::kUnknown) ++unknowns;
    if (piece.type != PieceType::kByte) continue;
    const auto byte = byte_of(piece.text);
    if (!byte || !file.byte_fallback) {
      return damaged(0, "the piece `" + piece.text + "` is said to stand for a byte" +
                            (byte ? ", but `byte_fallback` is off" : ""));
    }
    bytes[*byte] = true;
  }
  if (unknowns != 1) return damaged(0, "there are " + std::to_string(unknowns) + " unknown pieces instead of one");
  for (const bool found : bytes) {
    if (file.byte_fallback && !found) return damaged(0, "`byte_fallback` is on, but not every byte has a piece");
  }
  return Done{};
}

}  // namespace

Result<SentencePieceFile> parse_sentence_piece(std::string_view bytes) {
  SentencePieceFile file;
  FieldReader reader(bytes, 0);
  while (!reader.at_end()) {
    Result<Field> field = reader.next();
    if (!field.ok()) return field.error();
    const Field& message = field.value();
    Status status = Done{};
    switch (message.number) {
      case 1: status = take_piece(message, bytes, file); break;
      case 2: status = take_trainer(message, bytes, file); break;
      case 3: status = take_normalizer(message, bytes, file.normalizer); break;
      case 5: status = take_normalizer(message, bytes, file.denormalizer); break;
      default: break;
    }
    if (!status.ok()) return status.error();
  }
  if (file.pieces.empty()) return damaged(0, "there are no pieces");
  if (Status status = check(file); !status.ok()) return status.error();
  return file;
}

bool is_sentence_piece(std::string_view bytes) {
  // Field 1, a message, whose first field is the text of a piece.
  FieldReader reader(bytes, 0);
  if (bytes.empty()) return false;
  const Result<Field> first = reader.next();
  if (!first.ok() || first.value().number != 1 || first.value().wire != Field::Wire::kBytes) return false;
  return first.value().bytes.starts_with('\x0A');
}

}  // namespace rondo::model
