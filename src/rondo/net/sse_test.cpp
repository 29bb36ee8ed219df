#include "net/sse.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace rondo::net {
namespace {

// The events of `pieces`, each as "name|data|id".
std::vector<std::string> events_of(const std::vector<std::string>& pieces, std::size_t limit = SseReader::kEventBytes) {
  SseReader reader(limit);
  std::vector<std::string> events;
  for (const std::string& piece : pieces) {
    const Status status = reader.read(
        piece, [&](const SseEvent& event) { events.push_back(event.name + "|" + event.data + "|" + event.id); });
    if (!status.ok()) events.push_back("error: " + status.error().message);
  }
  return events;
}

using Events = std::vector<std::string>;

TEST_CASE("sse: lines end with LF, CRLF or CR") {
  CHECK(events_of({"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\n"}) == Events{"|a|", "|b|", "|c|", "|d|"});
}

TEST_CASE("sse: names, ids, several lines of data, comments and unknown fields") {
  CHECK(events_of({": hello\nevent: delta\nid: 7\ndata: one\ndata:two\ndata\nretry: 10\nodd: x\n\ndata:  b\n\n"}) ==
        Events{"delta|one\ntwo\n|7", "| b|7"});
  CHECK(events_of({"event: nothing\n\ndata\n\n"}) == Events{"||"});
  CHECK(events_of({"data: x\n\n", "data: [DONE]"}) == Events{"|x|"});
}

TEST_CASE("sse: every cut of the bytes gives the same events") {
  const std::string stream =
      "\xEF\xBB\xBF"
      "data: \xE2\x82\xAC one\r\nevent: e\r\n\r\n: c\r\ndata: two\rdata: more\r\rdata: three\n\n";
  const Events whole = events_of({stream});
  REQUIRE(whole == Events{"e|\xE2\x82\xAC one|", "|two\nmore|", "|three|"});
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CHECK(events_of({stream.substr(0, cut), stream.substr(cut)}) == whole);
  }
  std::vector<std::string> bytes;
  for (const char byte : stream) bytes.emplace_back(1, byte);
  CHECK(events_of(bytes) == whole);
}

TEST_CASE("sse: lines of any length end where they end") {
  for (const std::string end : {"\n", "\r", "\r\n"}) {
    for (std::size_t size = 490; size < 530; ++size) {
      const std::string long_one(size, 'x');
      CHECK(events_of({"data:" + long_one + end + end + "data:" + long_one + "y" + end + end + ":" + end}) ==
            Events{"|" + long_one + "|", "|" + long_one + "y|"});
    }
  }
}

TEST_CASE("sse: a byte order mark is dropped at the beginning alone") {
  CHECK(events_of({"\xEF\xBB\xBF", "data: a\n\n"}) == Events{"|a|"});
  CHECK(events_of({"\xEF", "data: a\n\ndata: b\n\n"}) == Events{"|b|"});
  CHECK(events_of({"data: a\n\n\xEF\xBB\xBF"
                   "data: b\n\n"}) == Events{"|a|"});
}

TEST_CASE("sse: an event that is too long ends the reading") {
  const Events events =
      events_of({"data: ok\n\n", "data: 0123456789", "012345678901234567890123456789", "\n\ndata: x\n\n"}, 32);
  CHECK(events == Events{"|ok|", "error: an event of more than 32 bytes", "error: an event of more than 32 bytes"});
  // Many short lines of one event are too long as well.
  CHECK(events_of({"data: 01234567890123\ndata: 01234567890123\ndata: 01234567890123\n\n"}, 32) ==
        Events{"error: an event of more than 32 bytes"});
}

TEST_CASE("sse: is_inside tells a stream that ends within an event") {
  SseReader reader;
  const auto ignore = [](const SseEvent&) {};
  CHECK(reader.read("data: a\n\n", ignore).ok());
  CHECK_FALSE(reader.is_inside());
  CHECK(reader.read("data: b\n", ignore).ok());
  CHECK(reader.is_inside());
}

TEST_CASE("sse: what is written is read again") {
  std::string out;
  append_sse(out, "delta", "one\ntwo\r\nthree\rfour");
  out += ": still here\n\n";
  append_sse(out, "", "");
  CHECK(out == "event: delta\ndata: one\ndata: two\ndata: three\ndata: four\n\n: still here\n\ndata: \n\n");
  CHECK(events_of({out}) == Events{"delta|one\ntwo\nthree\nfour|", "||"});
}

}  // namespace
}  // namespace rondo::net
