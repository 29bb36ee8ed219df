// YAML: any bytes are a value or an Error with a place in the text; the value survives printing as JSON, and a suite may be in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "json/print.h"
#include "tester/suite.h"
#include "yaml/read.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = rondo::yaml::read(text, {.depth = 64, .values = 10'000, .bytes = 1 << 20});
  if (!read.ok()) {
    require(!read.error().message.empty() && read.error().line > 0);
    return 0;
  }
  const std::string printed = rondo::json::to_compact(read.value());
  const auto again = rondo::json::parse(printed);
  require(again.ok() && rondo::json::to_compact(again.value()) == printed);
  const auto suite = rondo::tester::read_suite(read.value(), {text, "suite"});
  require(suite.ok() || !suite.error().message.empty());
  return 0;
}
