// Functions for which Python's stable ABI has no macros.  Internal to python/.  All of them need the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace rondo::python {

// For a list or tuple.  The item is borrowed, so code that runs in between can free it.
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

// Returns the type of a value as Python's own messages name it: `set`.
inline std::string type_name(PyObject* value) {
  return nanobind::str(nanobind::handle(reinterpret_cast<PyObject*>(Py_TYPE(value))).attr("__name__")).c_str();
}

}  // namespace rondo::python
