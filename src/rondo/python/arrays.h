// Token ids from and to Python: NumPy arrays without copies.  Internal to python/.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace rondo::python {

// The ids that a caller gives.  A contiguous array of int32 is borrowed, and anything else is copied.  This object
// keeps the array alive; nobody may change it meanwhile.
class Ids {
 public:
  // Reads a one-dimensional array of integers (NumPy, or anything with the buffer protocol or DLPack), or a sequence of
  // ints.  Raises InvalidArgumentError (`name` is the place), or TokenizerError for ids below 0 or beyond 31 bits.  The
  // caller holds the GIL.
  Ids(nanobind::handle value, std::string_view name);

  [[nodiscard]] std::span<const tokenizer::TokenId> span() const { return view_; }

 private:
  bool read_array(nanobind::handle value, std::string_view name);
  void read_sequence(nanobind::handle value, std::string_view name);

  nanobind::object kept_;
  std::vector<tokenizer::TokenId> own_;
  std::span<const tokenizer::TokenId> view_;
};

using Int32Array = nanobind::ndarray<nanobind::numpy, std::int32_t, nanobind::ndim<1>>;
using Uint32Array = nanobind::ndarray<nanobind::numpy, std::uint32_t, nanobind::ndim<1>>;
using Uint8Array = nanobind::ndarray<nanobind::numpy, std::uint8_t, nanobind::ndim<1>>;

// Returns the vector's memory as an array that keeps `owner` alive.
template <typename Array, typename T>
[[nodiscard]] Array view(std::vector<T>& values, nanobind::handle owner) {
  return Array(values.data(), {values.size()}, owner);
}

// Returns an array that owns its memory.
[[nodiscard]] nanobind::object owned(std::vector<std::int32_t> values);
[[nodiscard]] nanobind::object owned(std::vector<std::uint8_t> values);

}  // namespace rondo::python
