#include "model/gguf.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <type_traits>
#include <unordered_set>

namespace rondo::model {
namespace {

// The engine keeps tensor names in a fixed buffer and shapes in four integers.
constexpr std::size_t kTensorNameBytes = 63;
constexpr std::uint32_t kTensorDimensions = 4;
constexpr std::uint64_t kDefaultAlignment = 32;
constexpr std::uint64_t kKeyBytes = 65535;                         // by the format's specification
constexpr std::uint64_t kStringBytes = std::uint64_t{1} << 30U;    // the engine's own limit
constexpr std::uint64_t kArrayElements = std::uint64_t{1} << 30U;  // the engine's own limit
constexpr std::uint64_t kMetadataBytes = std::uint64_t{1} << 30U;  // real files have some 10 MB
constexpr std::size_t kReserve = std::size_t{1} << 16U;  // counts are trusted up to here before data confirms them

enum class Type : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
  kCount,
};

struct TensorType {
  std::uint32_t block_elements = 0;  // 0: no such type
  std::uint32_t block_bytes = 0;
};

// By ggml type number; the gaps are removed types.
constexpr std::array<TensorType, 43> kTensorTypes = {{
    {1, 4},    {1, 2},    {32, 18},   {32, 20},   {0, 0},     {0, 0},     {32, 22},   {32, 24},  {32, 34},
    {32, 36},  {256, 84}, {256, 110}, {256, 144}, {256, 176}, {256, 210}, {256, 292}, {256, 66}, {256, 74},
    {256, 98}, {256, 50}, {32, 18},   {256, 110}, {256, 82},  {256, 136}, {1, 1},     {1, 2},    {1, 4},
    {1, 8},    {1, 8},    {256, 56},  {1, 2},     {0, 0},     {0, 0},     {0, 0},     {256, 54}, {256, 66},
    {0, 0},    {0, 0},    {0, 0},     {32, 17},   {64, 36},   {128, 18},  {64, 18},
}};

class GgufReader {
 public:
  GgufReader(const std::string& path, std::uint64_t size) : path_(path), size_(size), in_(path, std::ios::binary) {}

  [[nodiscard]] bool is_open() const { return in_.is_open(); }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t remaining() const { return size_ - offset_; }

  [[nodiscard]] Error damaged(std::string message) const { return damaged_at(offset_, std::move(message)); }
  [[nodiscard]] Error damaged_at(std::uint64_t offset, std::string message) const {
    return Error(ErrorCode::kTokenizer, "damaged GGUF file: " + std::move(message), path_).at_offset(offset);
  }
  [[nodiscard]] Error truncated(const std::string& what, std::uint64_t needed) const {
    return damaged("the file ends inside " + what + ": " + std::to_string(needed) + " bytes needed, " +
                   std::to_string(remaining()) + " left");
  }

  [[nodiscard]] Status read(void* to, std::uint64_t size, const std::string& what) {
    if (size > remaining()) return truncated(what, size);
    if (!in_.read(static_cast<char*>(to), static_cast<std::streamsize>(size)))
      return Error(ErrorCode::kIo, "reading failed", path_).at_offset(offset_);
    offset_ += size;
    return Done{};
  }

  template <typename T>
  [[nodiscard]] Result<T> number(const std::string& what) {
    static_assert(std::endian::native == std::endian::little, "GGUF is little-endian");
    T value{};
    if (Status status = read(&value, sizeof value, what); !status.ok()) return status.error();
    return value;
  }

  [[nodiscard]] Result<std::string> string(const std::string& what, std::uint64_t limit) {
    Result<std::uint64_t> size = number<std::uint64_t>("the length of " + what);
    if (!size.ok()) return size.error();
    if (size.value() > remaining()) return truncated(what, size.value());
    if (size.value() > limit) return damaged(what + " has " + std::to_string(size.value()) + " bytes");
    if (Status status = spend(size.value()); !status.ok()) return status.error();
    std::string text(static_cast<std::size_t>(size.value()), '\0');
    if (Status status = read(text.data(), size.value(), what); !status.ok()) return status.error();
    return text;
  }

  // Counts `size` bytes of metadata against the limit on memory.
  [[nodiscard]] Status spend(std::uint64_t size) {
    spent_ += std::min(size, kMetadataBytes + 1);
    if (spent_ <= kMetadataBytes) return Done{};
    Error error = damaged("more metadata than the limit of " + std::to_string(kMetadataBytes) + " bytes");
    error.code = ErrorCode::kLimit;
    return error;
  }

 private:
  std::string path_;
  std::uint64_t size_ = 0;
  std::ifstream in_;
  std::uint64_t offset_ = 0;
  std::uint64_t spent_ = 0;
};

template <typename To, typename From>
Result<std::vector<To>> read_numbers(GgufReader& reader, std::uint64_t count, const std::string& what) {
  if (count > reader.remaining() / sizeof(From)) return reader.truncated(what, count * sizeof(From));
  if (Status status = reader.spend(count * sizeof(To)); !status.ok()) return status.error();
  std::vector<To> values;
  values.reserve(std::min(static_cast<std::size_t>(count), kReserve));
  std::vector<unsigned char> chunk;
  for (std::uint64_t done = 0; done < count;) {
    const std::uint64_t take = std::min<std::uint64_t>(count - done, kReserve);
    chunk.resize(static_cast<std::size_t>(take * sizeof(From)));
    if (Status status = reader.read(chunk.data(), chunk.size(), what); !status.ok()) return status.error();
    for (std::uint64_t i = 0; i < take; ++i) {
      From value{};
      std::memcpy(&value, chunk.data() + i * sizeof(From), sizeof(From));
      values.push_back(static_cast<To>(value));
    }
    done += take;
  }
  return values;
}

Result<std::vector<std::string>> read_strings(GgufReader& reader, std::uint64_t count, const std::string& what) {
  if (count > reader.remaining() / sizeof(std::uint64_t)) return reader.truncated(what, count * sizeof(std::uint64_t));
  if (Status status = reader.spend(count * sizeof(std::string)); !status.ok()) return status.error();
  std::vector<std::string> values;
  values.reserve(std::min(static_cast<std::size_t>(count), kReserve));
  for (std::uint64_t i = 0; i < count; ++i) {
    Result<std::string> value = reader.string(what, kStringBytes);
    if (!value.ok()) return value.error();
    values.push_back(std::move(value).value());
  }
  return values;
}

template <typename T>
Result<GgufValue> as_value(Result<std::vector<T>> values) {
  if (!values.ok()) return values.error();
  return GgufValue(GgufArray(std::move(values).value()));
}

Result<GgufValue> read_array(GgufReader& reader, const std::string& what) {
  Result<std::uint32_t> type = reader.number<std::uint32_t>("the element type of " + what);
  if (!type.ok()) return type.error();
  Result<std::uint64_t> counted = reader.number<std::uint64_t>("the length of " + what);
  if (!counted.ok()) return counted.error();
  const std::uint64_t count = counted.value();
  if (count > kArrayElements) return reader.damaged(what + " claims " + std::to_string(count) + " elements");
  switch (static_cast<Type>(type.value())) {
    case Type::kUint8: return as_value(read_numbers<std::int64_t, std::uint8_t>(reader, count, what));
    case Type::kInt8: return as_value(read_numbers<std::int64_t, std::int8_t>(reader, count, what));
    case Type::kUint16: return as_value(read_numbers<std::int64_t, std::uint16_t>(reader, count, what));
    case Type::kInt16: return as_value(read_numbers<std::int64_t, std::int16_t>(reader, count, what));
    case Type::kUint32: return as_value(read_numbers<std::int64_t, std::uint32_t>(reader, count, what));
    case Type::kInt32: return as_value(read_numbers<std::int64_t, std::int32_t>(reader, count, what));
    case Type::kUint64: return as_value(read_numbers<std::int64_t, std::uint64_t>(reader, count, what));
    case Type::kInt64: return as_value(read_numbers<std::int64_t, std::int64_t>(reader, count, what));
    case Type::kFloat32: return as_value(read_numbers<double, float>(reader, count, what));
    case Type::kFloat64: return as_value(read_numbers<double, double>(reader, count, what));
    case Type::kBool: return as_value(read_numbers<bool, std::uint8_t>(reader, count, what));
    case Type::kString: return as_value(read_strings(reader, count, what));
    case Type::kArray: return reader.damaged(what + " is an array of arrays, which no engine reads");
    default: return reader.damaged(what + " has elements of the unknown type " + std::to_string(type.value()));
  }
}

template <typename To, typename From>
Result<GgufValue> read_scalar(GgufReader& reader, const std::string& what) {
  Result<From> value = reader.number<From>(what);
  if (!value.ok()) return value.error();
  return GgufValue(static_cast<To>(value.value()));
}

Result<GgufValue> read_value(GgufReader& reader, std::uint32_t type, const std::string& what) {
  switch (static_cast<Type>(type)) {
    case Type::kUint8: return read_scalar<std::int64_t, std::uint8_t>(reader, what);
    case Type::kInt8: return read_scalar<std::int64_t, std::int8_t>(reader, what);
    case Type::kUint16: return read_scalar<std::int64_t, std::uint16_t>(reader, what);
    case Type::kInt16: return read_scalar<std::int64_t, std::int16_t>(reader, what);
    case Type::kUint32: return read_scalar<std::int64_t, std::uint32_t>(reader, what);
    case Type::kInt32: return read_scalar<std::int64_t, std::int32_t>(reader, what);
    case Type::kInt64: return read_scalar<std::int64_t, std::int64_t>(reader, what);
    case Type::kUint64: return read_scalar<std::uint64_t, std::uint64_t>(reader, what);
    case Type::kFloat32: return read_scalar<double, float>(reader, what);
    case Type::kFloat64: return read_scalar<double, double>(reader, what);
    case Type::kBool: return read_scalar<bool, std::uint8_t>(reader, what);
    case Type::kString: {
      Result<std::string> text = reader.string(what, kStringBytes);
      if (!text.ok()) return text.error();
      return GgufValue(std::move(text).value());
    }
    case Type::kArray: return read_array(reader, what);
    default: return reader.damaged(what + " has the unknown type " + std::to_string(type));
  }
}

struct Header {
  std::uint32_t version = 0;
  std::uint64_t tensors = 0;
  std::uint64_t entries = 0;
};

Result<Header> read_header(GgufReader& reader) {
  char magic[4] = {};
  if (Status status = reader.read(magic, sizeof magic, "the magic number"); !status.ok()) return status.error();
  if (std::memcmp(magic, "GGUF", 4) != 0) return reader.damaged_at(0, "it does not start with `GGUF`");
  Result<std::uint32_t> version = reader.number<std::uint32_t>("the version");
  if (!version.ok()) return version.error();
  if (version.value() != 2 && version.value() != 3) {
    return reader.damaged_at(4, "version " + std::to_string(version.value()) + " is not supported, only 2 and 3 are");
  }
  Result<std::uint64_t> tensors = reader.number<std::uint64_t>("the number of tensors");
  if (!tensors.ok()) return tensors.error();
  Result<std::uint64_t> entries = reader.number<std::uint64_t>("the number of metadata entries");
  if (!entries.ok()) return entries.error();
  // The smallest entry and the smallest tensor description have these sizes.
  constexpr std::uint64_t kEntryBytes = 8 + 1 + 4 + 1;
  constexpr std::uint64_t kTensorBytes = 8 + 4 + 4 + 8;
  if (entries.value() > reader.remaining() / kEntryBytes) {
    return reader.damaged_at(16, std::to_string(entries.value()) + " metadata entries do not fit the file");
  }
  if (tensors.value() > reader.remaining() / kTensorBytes) {
    return reader.damaged_at(8, std::to_string(tensors.value()) + " tensors do not fit the file");
  }
  return Header{version.value(), tensors.value(), entries.value()};
}

Status read_entry(GgufReader& reader, Gguf& gguf, std::uint32_t& alignment_type) {
  const std::uint64_t start = reader.offset();
  Result<std::string> key = reader.string("a metadata key", kKeyBytes);
  if (!key.ok()) return key.error();
  if (key.value().empty()) return reader.damaged_at(start, "an empty metadata key");
  const std::string what = "`" + key.value() + "`";
  if (gguf.metadata.contains(key.value())) return reader.damaged_at(start, "the key " + what + " occurs twice");
  Result<std::uint32_t> type = reader.number<std::uint32_t>("the type of " + what);
  if (!type.ok()) return type.error();
  if (key.value() == "general.alignment") alignment_type = type.value();
  Result<GgufValue> value = read_value(reader, type.value(), what);
  if (!value.ok()) return value.error();
  gguf.metadata.emplace(std::move(key).value(), std::move(value).value());
  return Done{};
}

// The engine reads the alignment as an unsigned 32-bit number and nothing else.
Result<std::uint64_t> find_alignment(const GgufReader& reader, const Gguf& gguf, std::uint32_t type) {
  const auto found = gguf.metadata.find("general.alignment");
  if (found == gguf.metadata.end()) return kDefaultAlignment;
  const auto* value = std::get_if<std::int64_t>(&found->second);
  if (value == nullptr || static_cast<Type>(type) != Type::kUint32) {
    return reader.damaged("`general.alignment` is not an unsigned 32-bit number");
  }
  const auto alignment = static_cast<std::uint64_t>(*value);
  if (alignment == 0 || !std::has_single_bit(alignment)) {
    return reader.damaged("`general.alignment` is " + std::to_string(alignment) + ", which is not a power of two");
  }
  return alignment;
}

// Fills in size_bytes.
Status measure(const GgufReader& reader, GgufTensor& tensor) {
  const std::string what = "the tensor `" + tensor.name + "`";
  if (tensor.type >= kTensorTypes.size() || kTensorTypes[tensor.type].block_elements == 0) {
    return reader.damaged(what + " has the unknown type " + std::to_string(tensor.type));
  }
  const TensorType type = kTensorTypes[tensor.type];
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : tensor.shape) {
    if (extent == 0 || extent > kMax / elements) return reader.damaged(what + " has an impossible shape");
    elements *= extent;
  }
  const std::uint64_t row = tensor.shape.empty() ? 1 : tensor.shape[0];
  if (row % type.block_elements != 0) {
    return reader.damaged(what + " has rows of " + std::to_string(row) + " elements, its type needs a multiple of " +
                          std::to_string(type.block_elements));
  }
  const std::uint64_t blocks = elements / type.block_elements;
  if (blocks > kMax / type.block_bytes) return reader.damaged(what + " has an impossible size");
  tensor.size_bytes = blocks * type.block_bytes;
  return Done{};
}

Result<GgufTensor> read_tensor(GgufReader& reader) {
  GgufTensor tensor;
  const std::uint64_t start = reader.offset();
  Result<std::string> name = reader.string("a tensor name", kStringBytes);
  if (!name.ok()) return name.error();
  tensor.name = std::move(name).value();
  if (tensor.name.size() > kTensorNameBytes) {
    return reader.damaged_at(start, "a tensor name has " + std::to_string(tensor.name.size()) + " bytes");
  }
  const std::string what = "the tensor `" + tensor.name + "`";
  Result<std::uint32_t> dimensions = reader.number<std::uint32_t>(what);
  if (!dimensions.ok()) return dimensions.error();
  if (dimensions.value() > kTensorDimensions) {
    return reader.damaged(what + " has " + std::to_string(dimensions.value()) + " dimensions");
  }
  for (std::uint32_t i = 0; i < dimensions.value(); ++i) {
    Result<std::uint64_t> extent = reader.number<std::uint64_t>(what);
    if (!extent.ok()) return extent.error();
    tensor.shape.push_back(extent.value());
  }
  Result<std::uint32_t> type = reader.number<std::uint32_t>(what);
  if (!type.ok()) return type.error();
  tensor.type = type.value();
  Result<std::uint64_t> offset = reader.number<std::uint64_t>(what);
  if (!offset.ok()) return offset.error();
  tensor.offset = offset.value();
  if (Status status = measure(reader, tensor); !status.ok()) return status.error();
  return tensor;
}

// Tensors must follow each other, padded to the alignment, and end inside the file, as the engine requires.
Status check_layout(const GgufReader& reader, const Gguf& gguf, std::uint64_t alignment) {
  if (gguf.tensors.empty()) return Done{};
  const auto padded = [alignment](std::uint64_t size) { return (size + alignment - 1) & ~(alignment - 1); };
  const std::uint64_t data = padded(reader.offset());
  const std::uint64_t file_size = reader.offset() + reader.remaining();
  std::uint64_t expected = 0;
  for (const GgufTensor& tensor : gguf.tensors) {
    const std::string what = "the tensor `" + tensor.name + "`";
    if (tensor.offset != expected) {
      return reader.damaged(what + " is said to start at byte " + std::to_string(tensor.offset) +
                            " of the data, expected " + std::to_string(expected));
    }
    if (data > file_size || expected > file_size - data || tensor.size_bytes > file_size - data - expected) {
      return reader.damaged_at(
          file_size, "the file ends inside " + what + ", which needs " + std::to_string(tensor.size_bytes) + " bytes");
    }
    expected += padded(tensor.size_bytes);
  }
  return Done{};
}

// The engine asserts that all tokens differ (an empty one counts as different).
Status check_vocabulary(const GgufReader& reader, const Gguf& gguf) {
  const std::vector<std::string>* tokens = gguf.find_strings("tokenizer.ggml.tokens");
  if (tokens == nullptr) return Done{};
  std::unordered_set<std::string_view> seen;
  seen.reserve(tokens->size());
  for (std::size_t i = 0; i < tokens->size(); ++i) {
    const std::string& token = (*tokens)[i];
    if (!token.empty() && !seen.insert(token).second) {
      return reader.damaged("the token `" + token + "` occurs twice, the second time with id " + std::to_string(i));
    }
  }
  return Done{};
}

Status read_body(GgufReader& reader, Gguf& gguf) {
  Result<Header> header = read_header(reader);
  if (!header.ok()) return header.error();
  gguf.version = header.value().version;
  std::uint32_t alignment_type = static_cast<std::uint32_t>(Type::kCount);
  for (std::uint64_t i = 0; i < header.value().entries; ++i) {
    if (Status status = read_entry(reader, gguf, alignment_type); !status.ok()) return status;
  }
  Result<std::uint64_t> alignment = find_alignment(reader, gguf, alignment_type);
  if (!alignment.ok()) return alignment.error();
  std::set<std::string, std::less<>> names;
  for (std::uint64_t i = 0; i < header.value().tensors; ++i) {
    const std::uint64_t start = reader.offset();
    Result<GgufTensor> tensor = read_tensor(reader);
    if (!tensor.ok()) return tensor.error();
    if (!names.insert(tensor.value().name).second) {
      return reader.damaged_at(start, "the tensor `" + tensor.value().name + "` occurs twice");
    }
    gguf.tensors.push_back(std::move(tensor).value());
  }
  if (Status status = check_layout(reader, gguf, alignment.value()); !status.ok()) return status;
  return check_vocabulary(reader, gguf);
}

template <typename T>
const T* find_as(const Gguf& gguf, std::string_view key) {
  const auto found = gguf.metadata.find(key);
  return found == gguf.metadata.end() ? nullptr : std::get_if<T>(&found->second);
}

template <typename T>
const std::vector<T>* find_array(const Gguf& gguf, std::string_view key) {
  const auto* array = find_as<GgufArray>(gguf, key);
  return array == nullptr ? nullptr : std::get_if<std::vector<T>>(array);
}

}  // namespace

const std::string* Gguf::find_string(std::string_view key) const { return find_as<std::string>(*this, key); }

std::optional<std::int64_t> Gguf::find_int(std::string_view key) const {
  if (const auto* value = find_as<std::int64_t>(*this, key)) return *value;
  if (const auto* value = find_as<std::uint64_t>(*this, key)) {
    if (*value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*value);
    }
  }
  return std::nullopt;
}

std::optional<bool> Gguf::find_bool(std::string_view key) const {
  const auto* value = find_as<bool>(*this, key);
  return value == nullptr ? std::nullopt : std::optional<bool>(*value);
}

const std::vector<std::string>* Gguf::find_strings(std::string_view key) const {
  return find_array<std::string>(*this, key);
}
const std::vector<std::int64_t>* Gguf::find_ints(std::string_view key) const {
  return find_array<std::int64_t>(*this, key);
}
const std::vector<double>* Gguf::find_floats(std::string_view key) const { return find_array<double>(*this, key); }

Result<Gguf> read_gguf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) return Error(ErrorCode::kNotFound, "no such file", path);
  if (!fs::is_regular_file(status)) return Error(ErrorCode::kNotFound, "is not a regular file", path);
  const std::uintmax_t size = fs::file_size(path, ec);
  GgufReader reader(path, ec ? 0 : size);
  if (ec || !reader.is_open()) return Error(ErrorCode::kNotFound, "cannot be opened for reading", path);
  Gguf gguf;
  gguf.path = path;
  if (Status done = read_body(reader, gguf); !done.ok()) return done.error();
  return gguf;
}

}  // namespace rondo::model
