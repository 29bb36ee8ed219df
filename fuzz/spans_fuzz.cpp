// Records of turns: any bytes are a record or an Error, and a record that is read is written as it was.
//
// A checksum stands at the end of each, which no fuzzer guesses: the bytes are read as they are, and again with theirs.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "spans/span.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void read(std::string_view bytes) {
  const auto record = rondo::spans::decode_record(bytes);
  if (!record.ok()) return;
  // Numbers may be spelled in more bytes than they need, so it is the values that stay.  A logprob may be no number at all.
  std::string written = rondo::spans::encode_record(record.value());
  const auto again = rondo::spans::decode_record(written);
  require(again.ok());
  require(rondo::spans::encode_record(again.value()) == written);
  const std::vector<rondo::spans::Record> lineage = {record.value()};
  const auto turn = rondo::spans::assemble(lineage);
  if (turn.ok()) require(turn.value().owners.size() == turn.value().prompt.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  std::string sealed(bytes);
  sealed += rondo::spans::keyed_hash({}, bytes).view().substr(0, 8);
  read(sealed);
  return 0;
}
