#include "json/members.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::json {
namespace {

enum class Colour : std::uint8_t { kRed, kBlue };
constexpr std::array<std::pair<Colour, std::string_view>, 2> kColours{{{Colour::kRed, "red"}, {Colour::kBlue, "blue"}}};

struct Part {
  std::string name;
  std::int32_t size = 0;
};

struct Thing {
  Colour colour = Colour::kRed;
  bool is_new = false;
  std::size_t count = 0;
  Object more;
  std::vector<Part> parts;
  std::vector<std::string> words;
  std::optional<Part> spare;
};

struct Strict {
  static constexpr bool kRefusesUnknown = true;
};
struct Lax {
  static constexpr bool kRefusesUnknown = false;
};
const auto& names_of(Strict /*tag*/, Colour /*type*/) { return kColours; }
const auto& names_of(Lax /*tag*/, Colour /*type*/) { return kColours; }

template <typename V>
void visit(V& v, Part& part) {
  v.always("name", part.name);
  v.field("size", part.size);
}

template <typename V>
void visit(V& v, Thing& thing) {
  v.field("colour", thing.colour);
  v.field("is_new", thing.is_new);
  if (v.wants(thing.is_new)) v.always("count", thing.count);
  v.field("more", thing.more);
  v.field("parts", thing.parts);
  v.field("words", thing.words);
  v.field("spare", thing.spare);
}

template <typename Tag>
std::string mistake(const char* text) {
  Thing thing;
  std::string wrong;
  MemberReader<Tag>::read(parse(text).value(), "thing", thing, wrong);
  return wrong;
}

TEST_CASE("a struct is written without what is nothing, and read back") {
  Thing thing;
  CHECK(to_compact(MemberWriter<Strict>::write(thing)) == R"({"colour":"red"})");
  thing = {Colour::kBlue, true, 0, {}, {{"a", 1}, {"", 0}}, {"", "b"}, Part{"c", 0}};
  const Value written = MemberWriter<Strict>::write(thing);
  CHECK(to_compact(written) ==
        R"({"colour":"blue","is_new":true,"count":0,"parts":[{"name":"a","size":1},{"name":""}],)"
        R"("words":["","b"],"spare":{"name":"c"}})");
  Thing read;
  std::string wrong;
  MemberReader<Strict>::read(written, "thing", read, wrong);
  CHECK(wrong.empty());
  CHECK(MemberWriter<Strict>::write(read) == written);
}

TEST_CASE("the first member that does not fit is named with its place") {
  CHECK(mistake<Strict>("[]") == "thing must be an object, found an array");
  CHECK(mistake<Strict>(R"({"is_new": 1, "count": "x"})") == "thing.is_new must be a boolean, found an integer");
  CHECK(mistake<Strict>(R"({"count": 1.5})") == "thing.count must be an integer, found a float");
  CHECK(mistake<Strict>(R"({"count": -1})") == "thing.count: -1 is out of range");
  CHECK(mistake<Strict>(R"({"colour": "green"})") == "thing.colour: unknown value `green`");
  CHECK(mistake<Strict>(R"({"parts": [{}, {"size": 3000000000}]})") ==
        "thing.parts[1].size: 3000000000 is out of range");
  CHECK(mistake<Strict>(R"({"words": ["a", 1]})") == "thing.words[1] must be a string, found an integer");
  CHECK(mistake<Strict>(R"({"spare": null})") == "thing.spare must be an object, found null");
  CHECK(mistake<Strict>(R"({"spare": {"age": 1}})") == "thing.spare: unknown member `age`");
  CHECK(mistake<Lax>(R"({"spare": {"age": 1}})").empty());
}

}  // namespace
}  // namespace rondo::json
