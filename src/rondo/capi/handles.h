// The handles of a library of the C API: numbers that stand for objects.
//
//   Handles handles(tag);
//   const std::uint64_t handle = handles.add(std::make_shared<Model>(...), Kind::kModel);
//   handles.find(handle, Kind::kModel);    // the object
//   handles.remove(handle, Kind::kModel);  // the object, and the handle is closed
//   handles.find(handle, Kind::kModel);    // nullptr
//
// A handle contains its kind, a place in a table, and how often that place was used before.  So a closed handle is
// never taken for another one, however many follow: a place whose count is exhausted is not used again.  No memory that
// a caller names is ever read.  Thread-safe; an object lives while somebody holds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace rondo::capi {

enum class Kind : std::uint8_t { kModel = 1, kParser = 2, kRollout = 3, kResult = 4 };

class Handles {
 public:
  // `tag`, of which kTagBits are used, distinguishes the handles of different libraries.
  explicit Handles(std::uint32_t tag) : tag_(tag & ((std::uint32_t{1} << kTagBits) - 1)) {}

  // Returns a new handle; 0 if kMaxOpen handles are open.
  //
  // REQUIRES: object is not null.
  [[nodiscard]] std::uint64_t add(std::shared_ptr<void> object, Kind kind);
  // Returns nullptr if there is no such handle, or it is of another kind.
  [[nodiscard]] std::shared_ptr<void> find(std::uint64_t handle, Kind kind) const;
  // Does the same, and closes the handle.
  [[nodiscard]] std::shared_ptr<void> remove(std::uint64_t handle, Kind kind);
  [[nodiscard]] std::size_t size() const;

  static constexpr unsigned kPlaceBits = 20;
  static constexpr unsigned kUseBits = 20;
  static constexpr unsigned kTagBits = 20;
  static constexpr std::size_t kMaxOpen = std::size_t{1} << kPlaceBits;

 private:
  struct Place {
    std::shared_ptr<void> object;  // null: free
    std::uint32_t use = 0;         // how often it was free before
    Kind kind = Kind::kModel;
  };
  [[nodiscard]] std::uint64_t handle_of(std::size_t place) const;
  // Returns the place of an open handle; places_.size() if there is none.
  [[nodiscard]] std::size_t place_of(std::uint64_t handle, Kind kind) const;

  std::uint32_t tag_;
  mutable std::shared_mutex mutex_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace rondo::capi
