#include "core/memo.h"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace rondo::core {
namespace {

using Numbers = Memo<int>;

Numbers::Made number(int value) { return std::make_shared<const int>(value); }

TEST_CASE("a value is made once, however many threads ask for it") {
  Numbers memo(4);
  std::atomic<int> times = 0;
  std::vector<std::shared_ptr<const int>> got(8);
  std::vector<std::thread> threads;
  for (std::shared_ptr<const int>& value : got) {
    threads.emplace_back([&] {
      value = memo.get("key",
                       [&] {
                         ++times;
                         std::this_thread::yield();
                         return number(7);
                       })
                  .value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(times == 1);
  for (const std::shared_ptr<const int>& value : got) CHECK(value == got.front());
  CHECK(*got.front() == 7);
}

TEST_CASE("a failure is told to who asked, and not kept") {
  Numbers memo(4);
  const auto failed = memo.get("key", []() -> Numbers::Made { return Error(ErrorCode::kNotFound, "not yet"); });
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().message == "not yet");
  CHECK(*memo.get("key", [] { return number(1); }).value() == 1);
  CHECK(*memo.get("key", [] { return number(2); }).value() == 1);
}

TEST_CASE("threads that wait for what fails try it themselves") {
  Numbers memo(4);
  std::atomic<int> tries = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto made = memo.get("key", [&]() -> Numbers::Made {
        if (++tries == 1) return Error(ErrorCode::kIo, "once");
        return number(3);
      });
      if (!made.ok()) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(tries == 2);
  CHECK(failures == 1);
}

TEST_CASE("beyond the capacity the oldest is forgotten, and lives on where it is used") {
  Numbers memo(2);
  std::string made;
  const auto get = [&](const std::string& key) {
    return memo
        .get(key,
             [&] {
               made += key;
               return number(0);
             })
        .value();
  };
  const auto first = get("a");
  CHECK(get("b") != first);
  CHECK(get("a") == first);
  CHECK(made == "ab");
  CHECK(get("c") != first);  // `a` is dropped, because it was asked for first
  CHECK(*first == 0);
  CHECK(made == "abc");
  static_cast<void>(get("b"));
  CHECK(made == "abc");
  CHECK(get("a") != first);
  CHECK(made == "abca");
  static_cast<void>(get("c"));
  static_cast<void>(get("b"));
  CHECK(made == "abcab");
}

TEST_CASE("a value may need another of the same memo") {
  Numbers memo(4);
  const auto outer = memo.get("outer", [&] { return memo.get("inner", [] { return number(5); }); });
  CHECK(outer.value() == memo.get("inner", [] { return number(6); }).value());
}

}  // namespace
}  // namespace rondo::core
