#include "python/errors.h"

#include <nanobind/nanobind.h>

#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;

void raise(const Error& error) {
  const nb::object make = nb::module_::import_("rondo.errors").attr("make");
  nb::list trail;
  for (const std::string& frame : error.trail) trail.append(to_python_text(frame));
  nb::object offset = nb::none();
  if (error.offset) offset = nb::int_(*error.offset);
  const nb::object exception =
      make(nb::str(to_string(error.code)), to_python_text(error.message), to_python_text(error.source), error.line,
           error.code_point_column(), offset, trail, to_python_text(error.to_string()));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void raise_invalid(const std::string& message, const std::string& place) {
  raise(Error(ErrorCode::kInvalidArgument, message, place));
}

}  // namespace rondo::python
