#include "base/workers.h"

#include <doctest/doctest.h>

#include <atomic>
#include <latch>

namespace rondo {
namespace {

TEST_CASE("workers run every task, and wait for the last one") {
  std::atomic<int> sum = 0;
  {
    Workers workers(3);
    for (int i = 1; i <= 1000; ++i) {
      workers.run(i % 3 == 0 ? Workers::Size::kLarge : Workers::Size::kSmall, [&sum, i] { sum += i; });
    }
  }
  CHECK(sum == 500'500);
}

TEST_CASE("workers leave a thread for small tasks while large ones run") {
  std::latch small_ran(1);
  std::atomic<int> large = 0;
  {
    Workers workers(2);
    for (int i = 0; i < 4; ++i) {
      workers.run(Workers::Size::kLarge, [&] {
        small_ran.wait();
        ++large;
      });
    }
    workers.run(Workers::Size::kSmall, [&] { small_ran.count_down(); });
  }
  CHECK(large == 4);
}

TEST_CASE("workers tell how many tasks wait for a thread, of both sizes") {
  std::latch began(1);
  std::latch may_end(1);
  Workers workers(1);
  workers.run(Workers::Size::kSmall, [&] {
    began.count_down();
    may_end.wait();
  });
  began.wait();
  workers.run(Workers::Size::kSmall, [] {});
  for (int i = 0; i < 3; ++i) workers.run(Workers::Size::kLarge, [] {});
  CHECK(workers.waiting() == 4);
  may_end.count_down();
}

TEST_CASE("a single worker does large tasks too") {
  std::atomic<int> ran = 0;
  {
    Workers workers(1);
    workers.run(Workers::Size::kLarge, [&] { ++ran; });
    workers.run(Workers::Size::kSmall, [&] { ++ran; });
  }
  CHECK(ran == 2);
}

}  // namespace
}  // namespace rondo
