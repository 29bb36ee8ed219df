// Large tables: memory that is zero, of which nothing is resident until it is used.
#pragma once

#include <cstddef>

namespace rondo {

// Has the system bring in the memory that is about to be written, `bytes` from `data` on, at once and in large pages: a fault
// for every 4 KB costs more than what is written there, and reading fresh memory before writing it even more.  What the
// memory holds stays.  Does nothing for what is small.
void make_resident(void* data, std::size_t bytes);

// Owns a stretch of zeroed memory, aligned to 2 MB if it has that much; the system is asked for large pages, because tables
// that are read at random places spend most of their time on finding out where small ones are.  Ends the process as `new`
// does where there is none left.
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t bytes);
  ~Pages();
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;

  [[nodiscard]] void* data() const { return data_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace rondo
