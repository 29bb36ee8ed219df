// Finder against its slow twin, std::string_view.
#include <doctest/doctest.h>
#include <random>
#include <string>

#include "jinja/types/finder.h"

namespace rondo::jinja {

TEST_CASE("finder: finds what string_view finds, forwards and backwards") {
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string text;
    for (std::size_t i = random() % 400; i > 0; --i) text += static_cast<char>('a' + random() % 4 / 3);
    // Keys on both sides of the length at which the search method changes.
    std::string key;
    for (std::size_t i = random() % 2 == 0 ? random() % 5 : 60 + random() % 12; i > 0; --i) {
      key += static_cast<char>('a' + random() % 16 / 15);
    }
    if (random() % 2 == 0) text.insert(random() % (text.size() + 1), key);
    const std::size_t from = random() % (text.size() + 1);
    CHECK(Finder(key).find(text, from) == text.find(key, from));
    const std::size_t want = from < key.size() ? std::string::npos : text.rfind(key, from - key.size());
    CHECK(Finder(key, true).find_last(text, from) == want);
  }
}

}  // namespace rondo::jinja
