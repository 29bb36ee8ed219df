// What the stable ABI of Python has no macros for.  Internal to python/; all functions want the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace rondo::python {

// Of a list or tuple.  The item is borrowed: code that may run in between can free it.
inline Py_ssize_t list_size(PyObject* list) {
#ifdef Py_LIMITED_API
  return PyList_Check(list) ? PyList_Size(list) : PyTuple_Size(list);
#else
  return PySequence_Fast_GET_SIZE(list);
#endif
}
inline PyObject* list_item(PyObject* list, Py_ssize_t index) {
#ifdef Py_LIMITED_API
  return PyList_Check(list) ? PyList_GetItem(list, index) : PyTuple_GetItem(list, index);
#else
  return PySequence_Fast_GET_ITEM(list, index);
#endif
}

// As Python's own messages call the type of a value: `set`.
inline std::string type_name(PyObject* value) {
  return nanobind::str(nanobind::handle(reinterpret_cast<PyObject*>(Py_TYPE(value))).attr("__name__")).c_str();
}

}  // namespace rondo::python
