// The extension module `rondo._rondo`; its public interface is python/rondo/__init__.py.
#include <nanobind/nanobind.h>

#include "python/calls.h"

NB_MODULE(_rondo, module) {
  module.attr("__version__") = RONDO_VERSION;
  rondo::python::bind_values(module);
  rondo::python::bind_model(module);
  rondo::python::bind_rollout(module);
  rondo::python::bind_transcript(module);
  rondo::python::bind_edge(module);
  rondo::python::bind_tester(module);
}
