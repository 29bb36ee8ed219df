// Edge JSON.  The public interface is python/rondo/edge.py, which reads files.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "core/edge.h"
#include "edge/edge_template.h"
#include "edge/requests.h"
#include "edge/to_jinja.h"
#include "json/print.h"
#include "python/calls.h"
#include "python/values.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

// An Edge template as text, from a dict or a file.
struct EdgeText {
  std::string text;
  std::string name;
};

EdgeText read_edge(nb::handle given) {
  if (PyDict_Check(given.ptr())) return {json::to_pretty(to_json(given, "template")), "template"};
  const std::string path = to_text(given, "template");
  return {value_or_raise(without_gil([&] { return edge::read_file(path); })), path};
}

edge::EdgeTemplate load_edge(nb::handle given) {
  const EdgeText read = read_edge(given);
  return value_or_raise(edge::parse(read.text, read.name));
}

nb::object export_edge(const ModelObject& model, const std::string& model_path, nb::handle kwargs) {
  Call call = read_call({nb::none(), nb::none(), nb::none(), kwargs, nb::none(), false, nb::none()});
  return to_python(
      edge::to_json(value_or_raise(without_gil([&] { return core::export_edge(*model.model, call, model_path); }))));
}

nb::object import_edge(nb::handle given) { return to_python_text(edge::to_jinja(load_edge(given))); }

nb::list validate_edge(nb::handle given) {
  nb::list out;
  for (const edge::Finding& finding : edge::validate(read_edge(given).text).findings)
    out.append(to_python(edge::to_json(finding)));
  return out;
}

nb::list format_edge(nb::handle given, nb::handle requests) {
  const edge::EdgeTemplate edge_template = load_edge(given);
  const edge::RequestFile file = value_or_raise(edge::read_requests(to_json(requests, "requests")));
  nb::list out;
  for (const edge::Formatted& one : value_or_raise(edge::format_all(edge_template, file)))
    out.append(to_python(edge::to_json(one)));
  return out;
}

}  // namespace

void bind_edge(nb::module_& module) {
  module.def("edge_export", &export_edge, "model"_a, "model_path"_a, "kwargs"_a = nb::none(),
             nb::sig("def edge_export(model: Model, model_path: str, kwargs: dict[str, typing.Any] | None = None) -> "
                     "dict[str, typing.Any]"),
             "For rondo.edge.export_template().");
  module.def("edge_import", &import_edge, "template"_a,
             nb::sig("def edge_import(template: dict[str, typing.Any] | str) -> str"),
             "For rondo.edge.import_template().");
  module.def("edge_validate", &validate_edge, "template"_a,
             nb::sig("def edge_validate(template: dict[str, typing.Any] | str) -> list[dict[str, typing.Any]]"),
             "For rondo.edge.validate().");
  module.def("edge_format", &format_edge, "template"_a, "requests"_a,
             nb::sig("def edge_format(template: dict[str, typing.Any] | str, requests: dict[str, typing.Any]) -> "
                     "list[dict[str, typing.Any]]"),
             "For rondo.edge.format().");
}

}  // namespace rondo::python
