// A file in memory that holds a fuzz input, for readers that take a path.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace rondo::fuzz {

class ScratchFile {
 public:
  ScratchFile() : file_(memfd_create("input", 0)) {
    if (file_ < 0) std::abort();
  }
  ~ScratchFile() { close(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void set(const std::uint8_t* data, std::size_t size) {
    if (ftruncate(file_, 0) != 0 || pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

}  // namespace rondo::fuzz
