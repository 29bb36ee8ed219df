// The tokenizer as a library that a Python process loads, so that it is measured in the same kind of process as its peers.
//
// It makes functions of Python, as a module would, and is itself loaded through ctypes.PyDLL.  The few
// functions of Python's stable interface are declared here and found in the process that loads this.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model_files.h"
#include "tokenizer/tokenizer.h"

extern "C" {
struct PyObject;
const char* PyUnicode_AsUTF8AndSize(PyObject* text, std::ptrdiff_t* size);
PyObject* PyBytes_FromStringAndSize(const char* bytes, std::ptrdiff_t size);
PyObject* PyLong_FromVoidPtr(void* pointer);
void* PyLong_AsVoidPtr(PyObject* number);
struct PyMethodDef {
  const char* name;
  PyObject* (*function)(PyObject* self, PyObject* argument);
  int flags;
  const char* documentation;
};
PyObject* PyCFunction_NewEx(PyMethodDef* method, PyObject* self, PyObject* module);
}

namespace {

using rondo::tokenizer::TokenId;
using rondo::tokenizer::Tokenizer;

std::atomic<std::size_t> allocations = 0;  // a batch has threads

struct Handle {
  std::shared_ptr<const Tokenizer> tokenizer;
};

std::string_view utf8_of(PyObject* text) {
  std::ptrdiff_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(text, &size);
  return {bytes, static_cast<std::size_t>(size)};
}

PyObject* to_bytes(const std::vector<TokenId>& ids) {
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(ids.data()),
                                   static_cast<std::ptrdiff_t>(ids.size() * sizeof(TokenId)));
}

}  // namespace

// Counts what this library allocates; only calls from this library come here.
void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

#define RONDO_EXPORT extern "C" __attribute__((visibility("default")))

// nullptr if the file is no tokenizer.
RONDO_EXPORT void* rondo_bench_load(const char* path) {
  auto source = rondo::model::load_tokenizer_source(path);
  if (!source.ok()) return nullptr;
  auto tokenizer = Tokenizer::load(source.value());
  if (!tokenizer.ok()) return nullptr;
  return std::make_unique<Handle>(Handle{tokenizer.value()}).release();
}

RONDO_EXPORT void rondo_bench_free(void* handle) { const std::unique_ptr<Handle> owned(static_cast<Handle*>(handle)); }

RONDO_EXPORT std::size_t rondo_bench_allocations() { return allocations; }

namespace {

const Tokenizer& tokenizer_of(PyObject* self) { return *static_cast<Handle*>(PyLong_AsVoidPtr(self))->tokenizer; }

PyObject* encode(PyObject* self, PyObject* text) { return to_bytes(tokenizer_of(self).encode_ids(utf8_of(text), {})); }

PyObject* encode_offsets(PyObject* self, PyObject* text) {
  const auto pieces = tokenizer_of(self).encode(utf8_of(text), {});
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(pieces.data()),
                                   static_cast<std::ptrdiff_t>(pieces.size() * sizeof(pieces[0])));
}

constexpr int kOneArgument = 8;  // METH_O
PyMethodDef encode_method = {"encode", encode, kOneArgument, nullptr};
PyMethodDef encode_offsets_method = {"encode_offsets", encode_offsets, kOneArgument, nullptr};

}  // namespace

// A function of Python that gives the ids of a `str` as `bytes`, four for each.
RONDO_EXPORT PyObject* rondo_bench_encoder(void* handle) {
  return PyCFunction_NewEx(&encode_method, PyLong_FromVoidPtr(handle), nullptr);
}

// The same with offsets: (id, begin, end), twelve bytes for each token.
RONDO_EXPORT PyObject* rondo_bench_encoder_offsets(void* handle) {
  return PyCFunction_NewEx(&encode_offsets_method, PyLong_FromVoidPtr(handle), nullptr);
}

// Encodes the text as documents of about `document_bytes` with so many threads; the number of ids.
RONDO_EXPORT std::size_t rondo_bench_batch(void* handle, const char* text, std::size_t size, std::size_t document_bytes,
                                           unsigned threads) {
  std::vector<std::string_view> documents;
  for (std::string_view rest(text, size); !rest.empty(); rest.remove_prefix(documents.back().size())) {
    std::size_t end = std::min(rest.size(), document_bytes);
    while (end < rest.size() && (static_cast<unsigned char>(rest[end]) & 0xC0U) == 0x80U) ++end;
    documents.push_back(rest.substr(0, end));
  }
  std::size_t count = 0;
  for (const auto& ids : static_cast<Handle*>(handle)->tokenizer->encode_batch(documents, {}, threads))
    count += ids.size();
  return count;
}
