#include "parse/fences.h"

#include <doctest/doctest.h>

#include <random>
#include <string>

namespace rondo::parse {
namespace {

// The same from the whole text.
bool is_quoted(const std::string& text) {
  if (text.ends_with('`') && !text.ends_with("```")) return true;
  std::size_t fences = 0;
  for (std::size_t at = text.find("```"); at != std::string::npos; at = text.find("```", at + 3)) ++fences;
  return fences % 2 != 0;
}

TEST_CASE("fences of a text in pieces are those of the whole text") {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    Fences fences;
    for (int piece = 0; piece < 6; ++piece) {
      std::string more;
      for (std::size_t size = random() % 5; size > 0; --size) more += "``a\n"[random() % 4];
      text += more;
      fences.take(more);
      CAPTURE(text);
      CHECK(fences.size() == text.size());
      CHECK(fences.quotes() == is_quoted(text));
    }
  }
}

}  // namespace
}  // namespace rondo::parse
