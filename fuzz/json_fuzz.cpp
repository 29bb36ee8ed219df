// JSON: any bytes parse or give an Error, and what was parsed survives printing and parsing again.  Tapes too, which no JSON
// text begins as.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "json/print.h"
#include "json/tape.h"

namespace {

using rondo::json::Value;

void require(bool holds) {
  if (!holds) std::abort();
}

// The value that `text` holds.  REQUIRES: `text` came from a printer.
Value reparsed(const std::string& text) {
  auto result = rondo::json::parse(text);
  require(result.ok());
  return std::move(result).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (rondo::json::is_tape(text)) {
    const auto value = rondo::json::parse_tape(text);
    if (value.ok()) require(reparsed(rondo::json::to_compact(value.value())) == value.value());
    return 0;
  }
  const auto prefix = rondo::json::parse_prefix(text);
  const auto parsed = rondo::json::parse(text);
  if (!parsed.ok()) {
    require(parsed.error().offset <= size);
    return 0;
  }
  require(prefix.ok() && prefix.value().value == parsed.value());
  require(reparsed(rondo::json::to_compact(parsed.value())) == parsed.value());
  require(reparsed(rondo::json::to_pretty(parsed.value())) == parsed.value());
  // Python's spelling of numbers differs from the one that was sent, but is stable.
  rondo::json::PythonOptions options;
  options.ensure_ascii = true;
  const std::string python = rondo::json::to_python(parsed.value(), options);
  require(rondo::json::to_python(reparsed(python), options) == python);
  return 0;
}
