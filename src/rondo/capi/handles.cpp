#include "capi/handles.h"

#include <cassert>
#include <mutex>
#include <utility>

namespace rondo::capi {
namespace {

// [kind: 4][tag: 20][use: 20][place: 20]
constexpr unsigned kTagShift = Handles::kPlaceBits + Handles::kUseBits;
constexpr unsigned kKindShift = kTagShift + Handles::kTagBits;

}  // namespace

std::uint64_t Handles::handle_of(std::size_t place) const {
  const Place& at = places_[place];
  return std::uint64_t{static_cast<std::uint8_t>(at.kind)} << kKindShift | std::uint64_t{tag_} << kTagShift |
         std::uint64_t{at.use} << kPlaceBits | place;
}

std::size_t Handles::place_of(std::uint64_t handle, Kind kind) const {
  const auto place = static_cast<std::size_t>(handle & (kMaxOpen - 1));
  if (place >= places_.size() || places_[place].object == nullptr) return places_.size();
  return places_[place].kind == kind && handle_of(place) == handle ? place : places_.size();
}

std::uint64_t Handles::add(std::shared_ptr<void> object, Kind kind) {
  assert(object != nullptr);
  const std::unique_lock lock(mutex_);
  if (free_.empty()) {
    if (places_.size() == kMaxOpen) return 0;
    // Reserves room for all, so that closing handles cannot fail.
    if (free_.capacity() <= places_.size()) free_.reserve(2 * places_.size() + 16);
    places_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(places_.size() - 1));
  }
  const std::size_t place = free_.back();
  free_.pop_back();
  places_[place].object = std::move(object);
  places_[place].kind = kind;
  return handle_of(place);
}

std::shared_ptr<void> Handles::find(std::uint64_t handle, Kind kind) const {
  const std::shared_lock lock(mutex_);
  const std::size_t place = place_of(handle, kind);
  return place < places_.size() ? places_[place].object : nullptr;
}

std::shared_ptr<void> Handles::remove(std::uint64_t handle, Kind kind) {
  const std::unique_lock lock(mutex_);
  const std::size_t place = place_of(handle, kind);
  if (place == places_.size()) return nullptr;
  Place& at = places_[place];
  std::shared_ptr<void> object = std::exchange(at.object, nullptr);
  if (++at.use < std::uint32_t{1} << kUseBits) free_.push_back(static_cast<std::uint32_t>(place));
  return object;
}

std::size_t Handles::size() const {
  const std::shared_lock lock(mutex_);
  std::size_t open = 0;
  for (const Place& place : places_) open += place.object != nullptr ? 1 : 0;
  return open;
}

}  // namespace rondo::capi
