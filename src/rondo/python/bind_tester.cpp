// Tests of a template: suites and single cases.  The public interface is python/rondo/testing.py.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/calls.h"
#include "python/values.h"
#include "tester/run.h"
#include "yaml/document.h"

namespace rondo::python {

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

struct SuiteObject {
  tester::Suite suite;
  std::string name;
};

SuiteObject read_suite(const std::string& text, const std::string& name) {
  return value_or_raise(without_gil([&]() -> Result<SuiteObject> {
    const auto document = yaml::read_document(text, name);
    if (!document.ok()) return document.error();
    auto suite = tester::read_suite(document.value(), {text, name});
    if (!suite.ok()) return suite.error();
    return SuiteObject{std::move(suite).value(), name};
  }));
}

ModelObject load_model(const SuiteObject& self, const std::string& model, const std::string& cache_folder) {
  core::Source given;
  given.path = model;
  core::Source source = value_or_raise(tester::model_source(self.suite, self.name, std::move(given)));
  source.strict = self.suite.strict.value_or(false);
  source.cache_folder = cache_folder;
  auto loaded = value_or_raise(without_gil([&] { return Model::load(source); }));
  return {std::move(loaded), std::move(source)};
}

// The result of a case, and how it is shown.
nb::object result_of(const ModelObject& model, tester::Case test) {
  if (!test.call.now) test.call.now = read_time(nb::none());
  const tester::CaseResult result = without_gil([&] { return tester::run_case(model.model, test); });
  nb::object out = to_python(tester::to_json(result));
  out["text"] = to_python_text(tester::to_text(result));
  return out;
}

nb::object run_of_suite(const SuiteObject& self, std::size_t index, const ModelObject& model) {
  if (index >= self.suite.cases.size()) raise_invalid("there is no such case", "index");
  return result_of(model, self.suite.cases[index]);
}

nb::object run_case(const ModelObject& model, nb::handle test) {
  const json::Value value = to_json(test, "case");
  return result_of(model, value_or_raise(tester::read_case(value, {})));
}

}  // namespace

void bind_tester(nb::module_& module) {
  nb::class_<SuiteObject>(module, "Suite",
                          "Tests of a template, as their author writes them (docs/tester.md): the text of a file, YAML "
                          "or JSON by the end of its name.\n\nRaises InvalidArgumentError, with line and column.")
      .def(
          "__init__",
          [](SuiteObject* self, const std::string& text, const std::string& name) {
            new (self) SuiteObject(read_suite(text, name));
          },
          "text"_a, "name"_a)
      .def_prop_ro(
          "cases",
          [](const SuiteObject& self) {
            std::vector<std::pair<std::string, int>> out;
            for (const tester::Case& test : self.suite.cases) out.emplace_back(test.name, test.line);
            return out;
          },
          "Name and line of each case.")
      .def("load", &load_model, "model"_a = "", nb::kw_only(), "cache_folder"_a = "",
           "The model that the suite names, beside its file; or the one at the path `model`.")
      .def("run", &run_of_suite, "index"_a, "model"_a,
           "What became of a case: a dict with name, line, passed, checks, failures, notes, and text, which shows the "
           "failures.",
           nb::sig("def run(self, index: int, model: Model) -> dict[str, typing.Any]"));
  module.def("run_case", &run_case, "model"_a, "case"_a,
             "The same of one case, which is a dict with the keys of docs/tester.md.",
             nb::sig("def run_case(model: Model, case: dict[str, typing.Any]) -> dict[str, typing.Any]"));
}

}  // namespace rondo::python
