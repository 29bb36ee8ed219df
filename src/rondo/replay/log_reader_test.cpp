#include "replay/log_reader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "json/print.h"

namespace rondo::replay {
namespace {

// Delivers a log in pieces of `piece` bytes.
LogReader reader_of(const std::string& log, std::size_t piece, LogLimits limits = {}) {
  return LogReader(
      [&log, piece, at = std::size_t{0}](char* out, std::size_t size) mutable {
        const std::size_t count = std::min({size, piece, log.size() - at});
        std::copy_n(log.data() + at, count, out);
        at += count;
        return count;
      },
      limits);
}

std::string skipped(const LogReader& reader) {
  std::string out;
  for (const SkippedLines& lines : reader.skipped())
    out += lines.reason + " " + std::to_string(lines.count) + " from line " + std::to_string(lines.first_line) + "; ";
  return out;
}

std::string messages_of(std::string_view line) {
  const auto entry = read_log_line(line);
  return entry.ok() ? json::to_compact(json::Value(entry.value().request.messages)) : entry.error().message;
}

std::string time_of(const std::string& value) {
  const auto entry = read_log_line(R"({"messages": [], "timestamp": )" + value + "}");
  REQUIRE(entry.ok());
  if (!entry.value().time) return "none";
  const jinja::LocalTime& t = *entry.value().time;
  std::string out;
  for (const int part : {t.year, t.month, t.day, t.hour, t.minute, t.second}) out += std::to_string(part) + " ";
  return out;
}

TEST_CASE("bodies are found bare, wrapped and as strings") {
  constexpr const char* kFound = R"([{"role":"user","content":"Hi"}])";
  for (const char* line :
       {R"({"messages": [{"role": "user", "content": "Hi"}]})",
        R"({"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": null})",
        R"({"custom_id": "1", "method": "POST", "url": "/v1/x", "body": {"input": "Hi", "model": "m"}})",
        R"({"request": {"method": "POST", "body": {"messages": [{"role": "user", "content": "Hi"}]}}})",
        R"({"request": {"body": "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}"}})",
        R"({"input": {"messages": [{"role": "user", "content": "Hi"}]}, "output": {}})",
        R"({"kwargs": {"input": "Hi", "model": "m"}})"})
    CHECK_MESSAGE(messages_of(line) == kFound, line);
  CHECK(messages_of(R"({"input": "just a text"})") == "no chat request: neither `messages` nor `input`");
  CHECK(messages_of(R"({"request": "{not JSON"})") == "no chat request: neither `messages` nor `input`");
}

TEST_CASE("replies, names and times come from the wrapper") {
  const auto entry = read_log_line(
      R"({"session_id": "s", "request": {"messages": [{"role": "user", "content": "Hi"}]}, "time": 1774000000,)"
      R"( "response": {"status": 200, "body": {"choices": [{"message": {"content": "Hey"}}]}}})");
  REQUIRE(entry.ok());
  CHECK(entry.value().request.conversation == "s");
  REQUIRE(entry.value().reply);
  CHECK(json::to_compact(json::Value(entry.value().reply->messages)) == R"([{"role":"assistant","content":"Hey"}])");
  CHECK(entry.value().time);
  for (const char* reply :
       {R"("response": "{\"choices\": [{\"message\": {\"content\": \"Hey\"}}]}")",
        R"("completion": {"content": [{"type": "text", "text": "Hey"}]})",
        R"("chunks": [{"choices": [{"delta": {"content": "Hey"}}]}])",
        R"("response": {"body": "data: {\"choices\": [{\"delta\": {\"content\": \"Hey\"}}]}\n"})"}) {
    const auto read = read_log_line(std::string(R"({"messages": [], )") + reply + "}");
    REQUIRE_MESSAGE(read.ok(), reply);
    REQUIRE_MESSAGE(read.value().reply, reply);
    CHECK(read.value().reply->messages.at(0).find_string("content") == "Hey");
  }
}

TEST_CASE("times in numbers and texts") {
  CHECK(time_of("1774000000") == "2026 3 20 9 46 40 ");
  CHECK(time_of("1774000000.5") == "2026 3 20 9 46 40 ");
  CHECK(time_of("1774000000123") == "2026 3 20 9 46 40 ");
  CHECK(time_of("1774000000123456") == "2026 3 20 9 46 40 ");
  CHECK(time_of("951782400") == "2000 2 29 0 0 0 ");
  CHECK(time_of("\"2026-03-14T15:09:26.535Z\"") == "2026 3 14 15 9 26 ");
  CHECK(time_of("\"2026-03-14 15:09:26\"") == "2026 3 14 15 9 26 ");
  for (const char* value : {"\"2026-13-14 15:09:26\"", "\"yesterday\"", "\"2026-03-14\"", "-5", "1e300", "null", "[]"})
    CHECK_MESSAGE(time_of(value) == "none", value);
}

TEST_CASE("lines are read whole, whatever the pieces") {
  const std::string line = R"({"messages": [{"role": "user", "content": "Hi"}]})";
  const std::string log = line + "\n\n" + line + "\r\n" + line;  // the last line has no end
  for (const std::size_t piece : {1U, 7U, 100000U}) {
    LogReader reader = reader_of(log, piece);
    std::vector<std::uint64_t> lines;
    while (const auto entry = reader.next()) lines.push_back(entry->line);
    CHECK(lines == std::vector<std::uint64_t>{1, 3, 4});
    CHECK(reader.bytes() == log.size());
    CHECK(reader.lines() == 4);
    CHECK(reader.skipped().empty());
  }
}

TEST_CASE("lines that are too long are not kept") {
  const std::string line = R"({"messages": [{"role": "user", "content": "Hi"}]})";
  std::string log = line + "\n";
  log.append(100'000'000, 'x');
  log += "\n" + line + "\n";
  log.append(5'000'000, 'y');
  LogReader reader = reader_of(log, 1'000'000, {.line_bytes = std::size_t{2} << 20U});
  std::vector<std::uint64_t> lines;
  while (const auto entry = reader.next()) lines.push_back(entry->line);
  CHECK(lines == std::vector<std::uint64_t>{1, 3});
  CHECK(skipped(reader) == "longer than 2 MB 2 from line 2; ");
}

TEST_CASE("no line ends the reading") {
  const std::string good = R"({"messages": [{"role": "user", "content": "Hi"}]})";
  std::string log =
      good.substr(0, 20) + "\n" + std::string(100'000, '[') + "\n" + std::string("\0\0\0", 3) + "\n[]\n{}\n";
  log += "\xff\xfe\xfd\n{\"messages\": [{\"role\": \"user\", \"content\": \"\xff\"}]}\n" + good + "\n";
  LogReader reader = reader_of(log, 64);
  const auto repaired = reader.next();
  REQUIRE(repaired);
  CHECK(repaired->line == 7);
  CHECK(repaired->request.messages.at(0).find_string("content") == "\xEF\xBF\xBD");
  REQUIRE(reader.next());
  CHECK(!reader.next());
  CHECK(skipped(reader) == "not JSON 4 from line 1; no chat request 2 from line 4; ");
}

}  // namespace
}  // namespace rondo::replay
