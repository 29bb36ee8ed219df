#include "jinja/value/heap.h"

#include <algorithm>
#include <cstring>

#include "jinja/value/bigint.h"
#include "jinja/value/runtime.h"

namespace rondo::jinja {
namespace {

constexpr std::size_t kBytesPerMegabyte = std::size_t{1} << 20U;

}  // namespace

BlockPool::Block BlockPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!blocks_.empty()) {
      Block block = std::move(blocks_.back());
      blocks_.pop_back();
      return block;
    }
  }
  return Block(new char[kBlockBytes]);
}

void BlockPool::give_back(std::vector<Block>& blocks) {
  constexpr std::size_t kMostBlocks = 16;  // a megabyte per template
  const std::lock_guard lock(mutex_);
  while (!blocks.empty() && blocks_.size() < kMostBlocks) {
    blocks_.push_back(std::move(blocks.back()));
    blocks.pop_back();
  }
}

Heap::~Heap() {
  for (const Finalizer* last = finalizers_; last != nullptr; last = last->next) last->destroy(last->object);
  pool_.give_back(blocks_);
}

void Heap::out_of_memory() const {
  throw Failure(Error(ErrorCode::kLimit,
                      "template needs more than " + std::to_string(limit_ / kBytesPerMegabyte) + " MiB of memory"));
}

void* Heap::allocate_slowly(std::size_t size) {
  if (size > BlockPool::kBlockBytes / 4) {  // it gets its own block, and the current one stays open
    charge(size);
    large_blocks_.push_back(BlockPool::Block(new char[size]));
    return large_blocks_.back().get();
  }
  charge(BlockPool::kBlockBytes);
  blocks_.push_back(pool_.take());
  next_ = blocks_.back().get() + size;
  end_ = blocks_.back().get() + BlockPool::kBlockBytes;
  return blocks_.back().get();
}

std::string_view Heap::copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* out = allocate_array<char>(bytes.size());
  std::memcpy(out, bytes.data(), bytes.size());
  return {out, bytes.size()};
}

namespace {

// Something that is not a value but must live as long as the values.
template <typename T>
struct Kept {
  explicit Kept(T the_content) : content(std::move(the_content)) {}
  T content;
};

}  // namespace

const BigInt* Heap::keep(BigInt value) {
  charge(value.bit_length() / 8);
  return &make_object<Kept<BigInt>>(std::move(value))->content;
}

const json::Value* Heap::keep(json::Value value) { return &make_object<Kept<json::Value>>(std::move(value))->content; }

}  // namespace rondo::jinja
