#include "replay/made_log.h"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

#include "json/print.h"
#include "replay/log_reader.h"

namespace rondo::replay {
namespace {

TEST_CASE("a made log has so many agents with so many turns, and is a log") {
  MadeLog log({.agents = 7, .active = 3, .turns = 4, .kinds = 2, .system = 60, .task = 10, .answer = 5, .result = 8});
  LogReader reader([&](char* out, std::size_t size) { return log.read(out, size); });
  std::map<std::string, std::size_t> turns;
  std::set<std::string> systems;
  std::size_t requests = 0;
  while (auto entry = reader.next()) {
    ++requests;
    REQUIRE(entry->reply);
    CHECK(entry->request.conversation == "agent " + entry->request.conversation.substr(6));
    CHECK(entry->request.messages.size() == 2 + 2 * turns[entry->request.conversation]++);
    systems.insert(json::to_compact(entry->request.messages[0]));
  }
  CHECK(requests == 28);
  CHECK(turns.size() == 7);
  CHECK(systems.size() == 2);
  CHECK(reader.skipped().empty());
}

TEST_CASE("a made log is the same each time, and another with another seed") {
  const auto text = [](std::size_t seed) {
    MadeLog log({.agents = 3, .active = 2, .turns = 2, .system = 40, .seed = seed});
    std::string out;
    char part[100];
    while (const std::size_t count = log.read(part, sizeof part)) out.append(part, count);
    return out;
  };
  CHECK(text(1) == text(1));
  CHECK(text(1) != text(2));
}

TEST_CASE("a made log of nobody is empty") {
  char part[10];
  CHECK(MadeLog({.agents = 0}).read(part, sizeof part) == 0);
  CHECK(MadeLog({.active = 0}).read(part, sizeof part) == 0);
  CHECK(MadeLog({.turns = 0}).read(part, sizeof part) == 0);
}

}  // namespace
}  // namespace rondo::replay
