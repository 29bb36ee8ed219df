// Reads GGUF metadata, and checks the whole file strictly enough to hand it to an engine that asserts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rondo/result.h"

namespace rondo::model {

using GgufArray =
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>>;
using GgufValue = std::variant<std::int64_t, std::uint64_t, double, bool, std::string, GgufArray>;

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  // elements per dimension, fastest first
  std::uint32_t type = 0;            // ggml type number
  std::uint64_t offset = 0;          // bytes from the start of the data section
  std::uint64_t size_bytes = 0;
};

// The metadata of a GGUF file.  Tensor data is not read.
struct Gguf {
  std::string path;
  std::uint32_t version = 0;
  std::map<std::string, GgufValue, std::less<>> metadata;
  std::vector<GgufTensor> tensors;

  // Returns the value of `key` if it exists and has that type.
  [[nodiscard]] const std::string* find_string(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> find_int(std::string_view key) const;
  [[nodiscard]] std::optional<bool> find_bool(std::string_view key) const;
  [[nodiscard]] const std::vector<std::string>* find_strings(std::string_view key) const;
  [[nodiscard]] const std::vector<std::int64_t>* find_ints(std::string_view key) const;
  [[nodiscard]] const std::vector<double>* find_floats(std::string_view key) const;
};

// Reads a file and checks header, counts, keys, types, tensor shapes, offsets and sizes against the size of the file.
// Fails with kNotFound, kIo, or kTokenizer and the byte offset of the first violation.
[[nodiscard]] Result<Gguf> read_gguf(const std::string& path);

}  // namespace rondo::model
