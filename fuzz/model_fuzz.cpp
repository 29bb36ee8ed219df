// Model files: any bytes in the place of a GGUF are read or give an Error, whatever their counts and offsets claim.
#include <cstddef>
#include <cstdint>

#include "fuzz/scratch_file.h"
#include "model/gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static rondo::fuzz::ScratchFile file;
  file.set(data, size);
  const auto read = rondo::model::read_gguf(file.path());
  if (read.ok()) (void)read.value().find_string("general.architecture");
  return 0;
}
