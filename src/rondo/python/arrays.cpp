#include "python/arrays.h"

#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "python/errors.h"
#include "python/objects.h"

namespace rondo::python {

namespace nb = nanobind;

namespace {

constexpr std::int64_t kMostId = std::numeric_limits<tokenizer::TokenId>::max();

[[noreturn]] void out_of_range(std::string_view name, std::size_t index, const std::string& id) {
  raise(Error(ErrorCode::kTokenizer, "id " + id + " is out of range",
              std::string(name) + "[" + std::to_string(index) + "]"));
}

template <typename T>
void copy(const nb::ndarray<nb::ro>& array, std::string_view name, std::vector<tokenizer::TokenId>& out) {
  const auto* data = static_cast<const T*>(array.data());
  const std::int64_t stride = array.shape(0) == 0 ? 1 : array.stride(0);
  out.reserve(array.shape(0));
  for (std::size_t i = 0; i < array.shape(0); ++i) {
    const T id = data[static_cast<std::int64_t>(i) * stride];
    if (std::cmp_less(id, 0) || std::cmp_greater(id, kMostId)) out_of_range(name, i, std::to_string(id));
    out.push_back(static_cast<tokenizer::TokenId>(id));
  }
}

template <typename T>
nb::object owned_array(std::vector<T> values) {
  // The array is a view of the vector, and the capsule deletes the vector with the last view: nothing is copied.
  auto* held = new std::vector<T>(std::move(values));
  const nb::capsule owner(held, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(held->data(), {held->size()}, owner));
}

}  // namespace

Ids::Ids(nb::handle value, std::string_view name) {
  PyObject* object = value.ptr();
  // Python's own types are sorted out first: a list is the common case and no array, and bytes have the buffer protocol
  // without being ids.
  const bool is_plain = PyList_Check(object) || PyTuple_Check(object) || PyUnicode_Check(object) ||
                        PyBytes_Check(object) || PyDict_Check(object);
  if (is_plain || !read_array(value, name)) read_sequence(value, name);
}

bool Ids::read_array(nb::handle value, std::string_view name) {
  nb::ndarray<nb::ro> array;
  if (!nb::ndarray_check(value) && PyObject_CheckBuffer(value.ptr()) == 0) return false;
  if (!nb::try_cast(value, array)) return false;
  if (array.device_type() != nb::device::cpu::value)
    raise_invalid("the array is not in main memory", std::string(name));
  if (array.ndim() != 1) {
    raise_invalid("ids must be one-dimensional, found " + std::to_string(array.ndim()) + " dimensions",
                  std::string(name));
  }
  const nb::dlpack::dtype type = array.dtype();
  const bool is_signed = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Int);
  const bool is_unsigned = type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::UInt);
  if (type.lanes != 1 || !(is_signed || is_unsigned)) raise_invalid("ids must be integers", std::string(name));
  // This is already the layout of the library, so the ids are used in place.  The reference keeps the memory alive.
  if (is_signed && type.bits == 32 && (array.shape(0) <= 1 || array.stride(0) == 1)) {
    kept_ = nb::borrow(value);
    view_ = {static_cast<const tokenizer::TokenId*>(array.data()), array.shape(0)};
    for (std::size_t i = 0; i < view_.size(); ++i) {
      if (view_[i] < 0) out_of_range(name, i, std::to_string(view_[i]));
    }
    return true;
  }
  switch (type.bits) {
    case 8: is_signed ? copy<std::int8_t>(array, name, own_) : copy<std::uint8_t>(array, name, own_); break;
    case 16: is_signed ? copy<std::int16_t>(array, name, own_) : copy<std::uint16_t>(array, name, own_); break;
    case 32: is_signed ? copy<std::int32_t>(array, name, own_) : copy<std::uint32_t>(array, name, own_); break;
    case 64: is_signed ? copy<std::int64_t>(array, name, own_) : copy<std::uint64_t>(array, name, own_); break;
    default: raise_invalid("ids must be integers of 8 to 64 bits", std::string(name));
  }
  view_ = own_;
  return true;
}

void Ids::read_sequence(nb::handle value, std::string_view name) {
  const bool is_text = PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || PyDict_Check(value.ptr());
  const nb::object items =
      is_text ? nb::object() : nb::steal(PySequence_Fast(value.ptr(), ""));  // a list or tuple itself
  if (!items.is_valid()) {
    PyErr_Clear();
    raise_invalid("must be an array or a sequence of token ids, found `" + type_name(value.ptr()) + "`",
                  std::string(name));
  }
  own_.reserve(static_cast<std::size_t>(list_size(items.ptr())));
  for (Py_ssize_t i = 0; i < list_size(items.ptr()); ++i) {
    PyObject* entry = list_item(items.ptr(), i);
    if (PyLong_CheckExact(entry)) {  // nearly all entries: read without taking a reference
      int is_beyond = 0;
      const long id = PyLong_AsLongAndOverflow(entry, &is_beyond);
      if (is_beyond == 0 && id >= 0 && id <= kMostId) {
        own_.push_back(static_cast<tokenizer::TokenId>(id));
        continue;
      }
    }
    const nb::object item = nb::borrow(entry);
    const bool is_integer = !PyBool_Check(item.ptr()) && PyIndex_Check(item.ptr()) != 0;
    const nb::object number = is_integer ? nb::steal(PyNumber_Index(item.ptr())) : nb::object();
    if (!number.is_valid()) {
      PyErr_Clear();
      raise_invalid("must be an integer, found `" + type_name(item.ptr()) + "`",
                    std::string(name) + "[" + std::to_string(i) + "]");
    }
    int overflow = 0;
    const long long id = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0 || id < 0 || id > kMostId)
      out_of_range(name, static_cast<std::size_t>(i), overflow != 0 ? "beyond 64 bits" : std::to_string(id));
    own_.push_back(static_cast<tokenizer::TokenId>(id));
  }
  view_ = own_;
}

nb::object owned(std::vector<std::int32_t> values) { return owned_array(std::move(values)); }
nb::object owned(std::vector<std::uint8_t> values) { return owned_array(std::move(values)); }

}  // namespace rondo::python
