// A row of values that its copies share.  A long prompt is in the plan, the stored turn and the request to the engine at
// once, and is in memory once.
//
//   SharedRow<TokenId> ids = made;              // takes the vector
//   const SharedRow<TokenId> same = ids;        // shares the values
//   ids.change().push_back(7);                  // `same` stays as it was
//
// As thread-safe as a vector: different threads may use copies that share their values.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace rondo {

template <typename T>
class SharedRow {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  SharedRow() = default;
  SharedRow(std::vector<T> values)  // NOLINT(google-explicit-constructor): a vector is a row
      : values_(values.empty() ? nullptr : std::make_shared<std::vector<T>>(std::move(values))) {}
  SharedRow(std::initializer_list<T> values) : SharedRow(std::vector<T>(values)) {}

  [[nodiscard]] const std::vector<T>& get() const {
    static const std::vector<T> kNothing;
    return values_ == nullptr ? kNothing : *values_;
  }
  operator const std::vector<T>&() const { return get(); }  // NOLINT(google-explicit-constructor)

  // Returns the values for changing.  They are copied first if anyone shares them.
  [[nodiscard]] std::vector<T>& change() {
    if (values_ == nullptr || values_.use_count() > 1) values_ = std::make_shared<std::vector<T>>(get());
    std::atomic_thread_fence(std::memory_order_acquire);  // after all reads by threads that shared the values
    return *values_;
  }

  [[nodiscard]] bool empty() const { return get().empty(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] const T* data() const { return get().data(); }
  [[nodiscard]] const_iterator begin() const { return get().begin(); }
  [[nodiscard]] const_iterator end() const { return get().end(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return get()[index]; }
  [[nodiscard]] const T& back() const { return get().back(); }

  friend bool operator==(const SharedRow& a, const SharedRow& b) {
    return a.values_ == b.values_ || a.get() == b.get();
  }

 private:
  std::shared_ptr<std::vector<T>> values_;  // null: no values
};

}  // namespace rondo
