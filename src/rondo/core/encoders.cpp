#include "core/encoders.h"

#include <algorithm>
#include <vector>

#include "core/families_text.h"
#include "json/parse.h"
#include "model/python_text.h"

namespace rondo::core {
namespace {

struct Encoder {
  std::string file;                    // of the encoder's template
  std::vector<std::string> constants;  // that the encoder's code contains
};

const std::vector<Encoder>& encoders() {
  static const std::vector<Encoder> kEncoders = [] {
    std::vector<Encoder> out;
    const auto index = json::parse(families_text("encoders.json"));
    for (const json::Value& entry : index.value().as_array()) {
      Encoder encoder{.file = entry.find("template")->as_string(), .constants = {}};
      for (const json::Value& name : entry.find("constants")->as_array()) encoder.constants.push_back(name.as_string());
      out.push_back(std::move(encoder));
    }
    return out;
  }();
  return kEncoders;
}

std::vector<std::string> missing(const Encoder& encoder, const json::Object& constants) {
  std::vector<std::string> out;
  for (const std::string& name : encoder.constants) {
    if (constants.find(name) == nullptr) out.push_back(name);
  }
  return out;
}

// A Jinja literal on one line.
std::string literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      if (c == '\'' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  return out + "'";
}

std::string constant(const json::Value& value) {
  if (value.is_string()) return literal(value.as_string());
  std::string out = "{";
  for (const json::Member& member : value.as_object())
    out += literal(member.key) + ": " + literal(member.value.as_string()) + ", ";
  return out + "}";
}

}  // namespace

Result<std::string> encoder_template(std::string_view python, const std::string& path) {
  auto constants = model::python_constants(python);
  if (!constants.ok()) {
    Error error = constants.error();
    error.source = path;
    return error;
  }
  // The encoder whose code matches best.
  const Encoder* nearest = nullptr;
  std::vector<std::string> lacks;
  std::size_t most = 0;
  for (const Encoder& encoder : encoders()) {
    std::vector<std::string> found = missing(encoder, constants.value());
    const std::size_t has = encoder.constants.size() - found.size();
    if (nearest != nullptr && has <= most) continue;
    nearest = &encoder;
    most = has;
    lacks = std::move(found);
  }
  if (!lacks.empty()) {
    std::string names;
    for (const std::string& name : lacks) names += (names.empty() ? "`" : ", `") + name + "`";
    return Error(ErrorCode::kTemplateSyntax,
                 "is no encoder that rondo knows: it assigns no text to " + names + ", as the nearest one does", path);
  }
  std::string out;
  for (const std::string& name : nearest->constants)
    out += "{%- set " + name + " = " + constant(*constants.value().find(name)) + " -%}";
  return out + std::string(families_text(nearest->file));
}

}  // namespace rondo::core
