#include "python/values.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/utf8.h"
#include "json/print.h"
#include "python/errors.h"
#include "python/objects.h"

namespace rondo::python {

namespace nb = nanobind;

namespace {

// Lists may contain the same large string many times, so the expanded size is limited.
constexpr std::size_t kMostBytes = std::size_t{1} << 30U;

// Throws the Python exception that is already set.
[[noreturn]] void pass_on() { throw nb::python_error(); }

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  json::Value read(PyObject* value) {
    spend(sizeof(json::Value));
    if (value == Py_None) return nullptr;
    if (PyUnicode_Check(value)) return json::Value(text(value));
    if (PyBool_Check(value)) return json::Value(value == Py_True);
    if (PyDict_Check(value)) return inside(value, [&] { return dict(value); });
    if (PyList_Check(value) || PyTuple_Check(value)) return inside(value, [&] { return sequence(value); });
    if (PyLong_Check(value)) return integer(value);
    if (PyFloat_Check(value)) return real(value);
    return other(value);
  }

  std::string text(PyObject* value) {
    Py_ssize_t size = 0;
    if (const char* utf8 = PyUnicode_AsUTF8AndSize(value, &size)) {
      spend(static_cast<std::size_t>(size));
      return {utf8, static_cast<std::size_t>(size)};
    }
    // Only a lone surrogate makes the fast way fail.  JSON allows lone surrogates, so templates must get them
    // unchanged.
    PyErr_Clear();
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass"));
    if (!bytes.is_valid()) pass_on();
    char* data = nullptr;
    if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) pass_on();
    spend(static_cast<std::size_t>(size));
    return {data, static_cast<std::size_t>(size)};
  }

  [[noreturn]] void fail(const std::string& message, ErrorCode code = ErrorCode::kInvalidArgument) const {
    std::string place = name_;
    for (const Step& step : steps_) place += step.to_string();
    raise(Error(code, message, std::move(place)));
  }

 private:
  // The reader's position in a container: at a key or an index.
  struct Step {
    PyObject* container = nullptr;
    const std::string* key = nullptr;
    Py_ssize_t index = -1;

    [[nodiscard]] std::string to_string() const {
      if (key != nullptr) return "." + *key;
      return index < 0 ? "" : "[" + std::to_string(index) + "]";
    }
  };

  void spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > kMostBytes) fail("more than " + std::to_string(kMostBytes) + " bytes", ErrorCode::kLimit);
  }

  // Reads the inside of a container, unless it is already being read.
  template <typename Read>
  json::Value inside(PyObject* container, Read read) {
    const bool is_open = std::any_of(steps_.begin(), steps_.end(),
                                     [container](const Step& step) { return step.container == container; });
    if (is_open) fail("it contains itself");
    if (steps_.size() >= static_cast<std::size_t>(limits::kJsonDepth))
      fail("nested deeper than " + std::to_string(limits::kJsonDepth) + " levels", ErrorCode::kLimit);
    steps_.push_back({container, nullptr, -1});
    json::Value out = read();
    steps_.pop_back();
    return out;
  }

  json::Value sequence(PyObject* value) {
    json::Array out;
    out.reserve(static_cast<std::size_t>(list_size(value)));
    // The size is read each time: reading an element may run Python code that changes the list.
    for (Py_ssize_t i = 0; i < list_size(value); ++i) {
      steps_.back().index = i;
      const nb::object element = nb::borrow(list_item(value, i));
      out.push_back(read(element.ptr()));
    }
    return json::Value(std::move(out));
  }

  json::Value dict(PyObject* value) {
    std::vector<json::Member> members;
    members.reserve(static_cast<std::size_t>(PyDict_Size(value)));
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* element = nullptr;
    const Py_ssize_t size = PyDict_Size(value);
    while (PyDict_Next(value, &position, &key, &element) != 0) {
      // PyDict_Next lends its references.  Reading may run Python code that changes the dict, so they are held, and the
      // loop ends as soon as the size has changed.
      const nb::object held_key = nb::borrow(key);
      const nb::object held = nb::borrow(element);
      members.push_back(member(held_key.ptr(), held.ptr()));
      if (PyDict_Size(value) != size) fail("the dict changed while it was read");
    }
    return json::Value(json::Object::from_members(std::move(members)));
  }

  json::Member member(PyObject* key, PyObject* element) {
    if (!PyUnicode_Check(key)) fail("keys must be strings, found " + described_type(key));
    json::Member out;
    out.key = text(key);
    steps_.back().key = &out.key;
    out.value = read(element);
    steps_.back().key = nullptr;
    return out;
  }

  json::Value integer(PyObject* value) {
    int overflow = 0;
    const long long small = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) {
      if (small == -1 && PyErr_Occurred() != nullptr) pass_on();
      return json::Value(json::Number{std::to_string(small), false});
    }
    // Does not use str(), because an IntEnum would print its name.  Python refuses numbers with thousands of digits.
    // So does this, and names the place.
    const nb::object digits = nb::steal(reinterpret_cast<reprfunc>(PyType_GetSlot(&PyLong_Type, Py_tp_repr))(value));
    if (!digits.is_valid()) {
      PyErr_Clear();
      fail("the integer has too many digits");
    }
    return json::Value(json::Number{text(digits.ptr()), false});
  }

  static json::Value real(PyObject* value) {
    return json::Value(json::Number{json::python_number({json::python_float(PyFloat_AsDouble(value)), true}), true});
  }

  // Values that are not of Python's own types.
  json::Value other(PyObject* value) {
    if (const nb::object dumped = called(value, "model_dump"); dumped.is_valid()) {
      return inside(value, [&] { return read(dumped.ptr()); });
    }
    if (!PyType_Check(value) && PyObject_HasAttrString(value, "__dataclass_fields__") != 0) {
      return inside(value, [&] { return fields(value); });
    }
    // NumPy's arrays pass PyMapping_Check too; only real mappings also have keys().
    if (PyMapping_Check(value) != 0 && PyObject_HasAttrString(value, "keys") != 0) {
      const nb::object copy =
          nb::steal(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyDict_Type), value, nullptr));
      if (!copy.is_valid()) pass_on();
      return inside(value, [&] { return read(copy.ptr()); });
    }
    // NumPy's numbers and booleans; nothing else has both `item` and `dtype`.  They come before what has an index, because before
    // NumPy 2.3 a boolean has one too.
    if (PyObject_HasAttrString(value, "dtype") != 0 && PyObject_HasAttrString(value, "item") != 0) return scalar(value);
    if (PyIndex_Check(value) != 0) {
      const nb::object number = nb::steal(PyNumber_Index(value));
      if (number.is_valid()) return integer(number.ptr());
      PyErr_Clear();
    }
    fail(described_type(value) + " is no JSON value");
  }

  json::Value scalar(PyObject* value) {
    const nb::object item = called(value, "item");
    const bool is_plain = item.is_valid() && (PyBool_Check(item.ptr()) || PyLong_Check(item.ptr()) ||
                                              PyFloat_Check(item.ptr()) || PyUnicode_Check(item.ptr()));
    if (!is_plain) fail(described_type(value) + " is no JSON value");
    return read(item.ptr());
  }

  // The result of the method without arguments (a model's dump leaves out members that are None); an invalid object if
  // there is no such method.
  static nb::object called(PyObject* value, const char* method) {
    if (PyType_Check(value) || PyObject_HasAttrString(value, method) == 0) return {};
    const nb::object bound = nb::steal(PyObject_GetAttrString(value, method));
    if (!bound.is_valid()) pass_on();
    if (std::string_view(method) != "model_dump") {
      nb::object out = nb::steal(PyObject_CallNoArgs(bound.ptr()));
      if (!out.is_valid()) PyErr_Clear();
      return out;
    }
    return bound(nb::arg("exclude_none") = true);
  }

  json::Value fields(PyObject* value) {
    const nb::object names = nb::steal(PyObject_GetAttrString(value, "__dataclass_fields__"));
    if (!names.is_valid()) pass_on();
    std::vector<json::Member> members;
    for (const nb::handle name : names) {
      const nb::object element = nb::steal(PyObject_GetAttr(value, name.ptr()));
      if (!element.is_valid()) pass_on();
      if (!element.is_none()) members.push_back(member(name.ptr(), element.ptr()));
    }
    return json::Value(json::Object::from_members(std::move(members)));
  }

  static std::string described_type(PyObject* value) { return "a value of type `" + type_name(value) + "`"; }

  std::string name_;
  std::vector<Step> steps_;
  std::size_t spent_ = 0;
};

nb::object number_to_python(const json::Value& value) {
  const std::string& spelling = value.number();
  if (value.kind() == json::Kind::kFloat) return nb::float_(value.to_double().value_or(0.0));
  if (const auto small = value.to_int64()) return nb::int_(*small);
  nb::object out = nb::steal(PyLong_FromString(spelling.c_str(), nullptr, 10));
  if (!out.is_valid()) pass_on();
  return out;
}

}  // namespace

json::Value to_json(nb::handle value, std::string_view name) { return Reader(name).read(value.ptr()); }

json::Array to_objects(nb::handle value, std::string_view name) {
  json::Value read = to_json(value, name);
  if (const Status status = chat::check_objects(read, std::string(name)); !status.ok()) raise(status.error());
  return std::move(read.as_array());
}

json::Object to_object(nb::handle value, std::string_view name) {
  if (!value.is_valid() || value.is_none()) return {};
  json::Value read = to_json(value, name);
  if (!read.is_object()) {
    raise_invalid("must be a dict, found " + std::string(json::describe(read.kind())), std::string(name));
  }
  return std::move(read.as_object());
}

nb::object to_python(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return nb::none();
    case json::Kind::kBool: return nb::bool_(value.as_bool());
    case json::Kind::kInteger:
    case json::Kind::kFloat: return number_to_python(value);
    case json::Kind::kString: return to_python_text(value.as_string());
    case json::Kind::kArray: {
      nb::list out;
      for (const json::Value& element : value.as_array()) out.append(to_python(element));
      return out;
    }
    case json::Kind::kObject: {
      nb::dict out;
      for (const json::Member& member : value.as_object()) out[to_python_text(member.key)] = to_python(member.value);
      return out;
    }
  }
  return nb::none();
}

nb::object to_python_text(std::string_view text) {
  PyObject* out = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass");
  if (out == nullptr) {
    PyErr_Clear();
    const std::string valid = utf8::to_valid(text);
    // A sampled text may have bytes that are not UTF-8.  They become U+FFFD as everywhere else, not as Python would cut
    // them.
    out = PyUnicode_DecodeUTF8(valid.data(), static_cast<Py_ssize_t>(valid.size()), "replace");
  }
  if (out == nullptr) pass_on();
  return nb::steal(out);
}

nb::list texts(const std::vector<std::string>& sentences) {
  nb::list out;
  for (const std::string& sentence : sentences) out.append(to_python_text(sentence));
  return out;
}

nb::object optional_text(const std::optional<std::string>& text) {
  return text ? to_python_text(*text) : nb::object(nb::none());
}

std::string to_text(nb::handle value, std::string_view name) {
  Reader reader(name);
  if (!PyUnicode_Check(value.ptr())) reader.fail("must be a string, found `" + type_name(value.ptr()) + "`");
  return reader.text(value.ptr());
}

}  // namespace rondo::python
