// Memory for large tables: zeroed, and resident only where it is used.
#pragma once

#include <cstddef>

namespace rondo {

// Asks the system to bring in `bytes` of memory from `data` on, all at once and in large pages.  Call it before writing
// to the memory: one page fault per 4 KB costs more than the writing, and reading fresh memory first costs even more.
// The content of the memory stays.  Does nothing for small sizes.
void make_resident(void* data, std::size_t bytes);

// Owns zeroed memory, aligned to 2 MB if it is at least that large.  It asks the system for large pages: a table that
// is read at random places spends most of its time on address lookups of small pages.  If there is no memory left, it
// ends the process as `new` does.
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
