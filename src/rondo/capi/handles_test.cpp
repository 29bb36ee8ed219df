#include "capi/handles.h"

#include <doctest/doctest.h>

#include <set>
#include <thread>

namespace rondo::capi {
namespace {

TEST_CASE("a handle finds its object until it is closed") {
  Handles handles(7);
  const auto object = std::make_shared<int>(5);
  const std::uint64_t handle = handles.add(object, Kind::kModel);
  CHECK(handle != 0);
  CHECK(handles.size() == 1);
  CHECK(handles.find(handle, Kind::kModel) == object);
  CHECK(handles.find(handle, Kind::kParser) == nullptr);
  CHECK(handles.remove(handle, Kind::kParser) == nullptr);
  CHECK(handles.remove(handle, Kind::kModel) == object);
  CHECK(handles.find(handle, Kind::kModel) == nullptr);
  CHECK(handles.remove(handle, Kind::kModel) == nullptr);
  CHECK(handles.size() == 0);
}

TEST_CASE("a closed handle is never taken for a later one") {
  Handles handles(7);
  const auto object = std::make_shared<int>(5);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t handle = handles.add(object, Kind::kResult);
    CHECK(seen.insert(handle).second);
    CHECK(handles.remove(handle, Kind::kResult) == object);
  }
  for (const std::uint64_t handle : seen) CHECK(handles.find(handle, Kind::kResult) == nullptr);
}

TEST_CASE("a place that was used as often as can be told is not used again") {
  Handles handles(7);
  const auto object = std::make_shared<int>(5);
  const std::uint64_t first = handles.add(object, Kind::kResult);
  std::uint64_t last = first;
  constexpr std::uint64_t kPlaces = Handles::kMaxOpen - 1;
  for (std::uint64_t i = 0; i <= std::uint64_t{1} << Handles::kUseBits; ++i) {
    static_cast<void>(handles.remove(last, Kind::kResult));
    last = handles.add(object, Kind::kResult);
    if ((last & kPlaces) != (first & kPlaces)) break;
  }
  CHECK((last & kPlaces) != (first & kPlaces));
  CHECK(handles.find(first, Kind::kResult) == nullptr);
  CHECK(handles.find(last, Kind::kResult) == object);
}

TEST_CASE("handles of other tables and made-up ones find nothing") {
  Handles handles(7);
  Handles others(8);
  const auto object = std::make_shared<int>(5);
  const std::uint64_t handle = handles.add(object, Kind::kModel);
  static_cast<void>(others.add(object, Kind::kModel));
  CHECK(others.find(handle, Kind::kModel) == nullptr);
  for (const std::uint64_t made_up : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, handle + 1, handle - 1})
    CHECK(handles.find(made_up, Kind::kModel) == nullptr);
}

TEST_CASE("threads open, find and close at once") {
  Handles handles(7);
  const auto shared = std::make_shared<int>(5);
  const std::uint64_t handle = handles.add(shared, Kind::kModel);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) {
        const auto mine = std::make_shared<int>(i);
        const std::uint64_t opened = handles.add(mine, Kind::kResult);
        if (handles.find(opened, Kind::kResult) != mine || handles.find(handle, Kind::kModel) != shared) std::abort();
        if (handles.remove(opened, Kind::kResult) != mine) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(handles.size() == 1);
}

}  // namespace
}  // namespace rondo::capi
