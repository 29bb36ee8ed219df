// The tokenizer as a library that a Python process loads, so that it is measured in the same kind of process as its peers.
//
// It makes functions of Python, as a module would, and is itself loaded through ctypes.PyDLL.  The few
// functions of Python's stable interface are declared here and found in the process that loads this.
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

std::size_t allocations = 0;

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
  ++allocations;
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
