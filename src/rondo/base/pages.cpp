#include "base/pages.h"

#include <cstdint>
#include <new>
#include <utility>

#ifdef __wasi__
#include <cstdlib>
#else
#include <sys/mman.h>
#endif

namespace rondo {

#ifdef __wasi__

// WebAssembly cannot ask for pages of memory.
void make_resident(void*, std::size_t) {}

Pages::Pages(std::size_t bytes) : mapped_(std::calloc(1, bytes)), mapped_bytes_(bytes), data_(mapped_) {
  if (mapped_ == nullptr && bytes != 0) throw std::bad_alloc();
}

Pages::~Pages() { std::free(mapped_); }

#else

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20U;

}  // namespace

void make_resident(void* data, std::size_t bytes) {
  constexpr std::size_t kSmall = std::size_t{256} << 10U;
  if (bytes < kSmall) return;
  char* const begin = static_cast<char*>(data);
  const std::size_t address = reinterpret_cast<std::uintptr_t>(data);
  [[maybe_unused]] const auto within = [&](std::size_t unit, int advice) {
    const std::size_t first = (unit - address % unit) % unit;
    const std::size_t behind = (address + bytes) % unit;
    if (first + behind < bytes) (void)madvise(begin + first, bytes - first - behind, advice);
  };
#ifdef MADV_HUGEPAGE
  within(kLargePage, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
  // On systems without it, memory becomes resident as it is written.
  constexpr std::size_t kPage = 4096;
  within(kPage, MADV_POPULATE_WRITE);
#endif
}

Pages::Pages(std::size_t bytes) {
  const std::size_t alignment = bytes >= kLargePage ? kLargePage : 0;
  mapped_bytes_ = bytes + alignment;
  void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  mapped_ = mapped;
  const auto address = reinterpret_cast<std::uintptr_t>(mapped);
  const std::uintptr_t skipped = alignment == 0 ? 0 : (alignment - address % alignment) % alignment;
  data_ = static_cast<char*>(mapped) + skipped;
#ifdef MADV_HUGEPAGE
  if (alignment != 0) madvise(data_, bytes, MADV_HUGEPAGE);
#endif
}

Pages::~Pages() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

#endif

Pages::Pages(Pages&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace rondo
