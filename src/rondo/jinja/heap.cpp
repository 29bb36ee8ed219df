#include <algorithm>
#include <cstring>

#include "jinja/runtime.h"
#include "jinja/value.h"

namespace rondo::jinja {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{64} << 10U;
constexpr std::size_t kBytesPerMegabyte = std::size_t{1} << 20U;

}  // namespace

Heap::~Heap() = default;

void Heap::charge(std::size_t bytes) {
  require(bytes);
  used_ += bytes;
}

void Heap::require(std::size_t bytes) const {
  if (used_ <= limit_ && bytes <= limit_ - used_) return;
  Error error;
  error.code = ErrorCode::kLimit;
  error.message = "template needs more than " + std::to_string(limit_ / kBytesPerMegabyte) + " MiB of memory";
  throw Failure(std::move(error));
}

void* Heap::allocate(std::size_t size, std::size_t align) {
  const auto misalignment = reinterpret_cast<std::uintptr_t>(next_) % align;
  const std::size_t padding = misalignment == 0 ? 0 : align - misalignment;
  if (next_ != nullptr && size + padding <= static_cast<std::size_t>(end_ - next_)) {
    char* out = next_ + padding;
    next_ = out + size;
    return out;
  }
  if (size > kBlockBytes / 4) {  // a block of its own; the current one stays open
    charge(size);
    blocks_.push_back(std::unique_ptr<char[]>(new char[size]));
    return blocks_.back().get();
  }
  charge(kBlockBytes);
  blocks_.push_back(std::unique_ptr<char[]>(new char[kBlockBytes]));
  next_ = blocks_.back().get() + size;
  end_ = blocks_.back().get() + kBlockBytes;
  return blocks_.back().get();
}

std::string_view Heap::copy(std::string_view bytes) {
  if (bytes.empty()) return {};
  char* out = allocate_array<char>(bytes.size());
  std::memcpy(out, bytes.data(), bytes.size());
  return {out, bytes.size()};
}

String* Heap::make_string() { return new (allocate(sizeof(String), alignof(String))) String; }

List* Heap::make_list() {
  charge(sizeof(List));
  return &lists_.emplace_back();
}

Dict* Heap::make_dict() {
  charge(sizeof(Dict));
  return &dicts_.emplace_back();
}

const BigInt* Heap::keep(BigInt value) {
  charge(sizeof(BigInt) + value.bit_length() / 8);
  return &bigs_.emplace_back(std::move(value));
}

const text::Text* Heap::keep(text::Text text) {
  charge(sizeof(text::Text) + text.size() + text.runs().size_bytes());
  return &texts_.emplace_back(std::move(text));
}

const json::Value* Heap::keep(json::Value value) { return &documents_.emplace_back(std::move(value)); }

std::string Object::repr(Runtime&) { return "<" + object_type() + ">"; }

std::optional<Value> Object::attribute(Runtime&, std::string_view) { return std::nullopt; }

std::optional<Value> Object::element(Runtime&, const Value&) { return std::nullopt; }

Value Object::call(Runtime& runtime, const Args&) {
  runtime.fail("'" + std::string(type_name()) + "' object is not callable");
}

Iterator* Object::iterate(Runtime&) { return nullptr; }

std::optional<std::size_t> Object::length(Runtime&) { return std::nullopt; }

bool Object::truthy(Runtime& runtime) {
  const std::optional<std::size_t> size = length(runtime);
  return !size || *size != 0;
}

std::optional<bool> Object::equals(Runtime&, const Value&) { return std::nullopt; }

}  // namespace rondo::jinja
