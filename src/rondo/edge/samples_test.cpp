#include "edge/samples.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::edge {
namespace {

// Every text of messages of that role.
std::vector<std::string> texts_of(const std::vector<Sample>& samples, std::string_view role) {
  std::vector<std::string> out;
  for (const Sample& sample : samples) {
    for (const json::Value& message : sample.messages) {
      const json::Value& content = *message.find("content");
      if (message.find_string("role") == role && content.is_string()) out.push_back(content.as_string());
    }
  }
  return out;
}

// The shapes of contents that have an image, each once: `t` for a text, `i` for an image.
std::vector<std::string> shapes_of(const std::vector<Sample>& samples) {
  std::vector<std::string> out;
  for (const Sample& sample : samples) {
    for (const json::Value& message : sample.messages) {
      const json::Value& content = *message.find("content");
      if (!content.is_array()) continue;
      std::string shape;
      for (const json::Value& part : content.as_array()) shape += part.find_string("type") == "text" ? 't' : 'i';
      if (shape.find('i') != std::string::npos && std::ranges::find(out, shape) == out.end()) out.push_back(shape);
    }
  }
  return out;
}

TEST_CASE("the texts of samples are those of their role, as wide as the kind has them") {
  Kind kind;
  kind.user_texts.texts = Texts::kAny;
  const std::vector<Sample> samples = samples_of(kind, false);
  const auto has_blank_end = [](const std::string& text) { return text.starts_with(' ') || text.ends_with(' '); };
  CHECK(std::ranges::any_of(texts_of(samples, "user"), has_blank_end));
  CHECK(std::ranges::none_of(texts_of(samples, "assistant"), has_blank_end));
  CHECK(std::ranges::none_of(texts_of(samples, "system"), has_blank_end));
  CHECK(std::ranges::count(texts_of(samples, "user"), "") > 0);
  CHECK(std::ranges::count(texts_of(samples, "assistant"), "") == 0);
}

TEST_CASE("images of samples stand before the text, or anywhere") {
  Kind kind;
  kind.several_media = true;
  CHECK(shapes_of(samples_of(kind, false)).empty());
  kind.images = Media::kLead;
  for (const std::string& shape : shapes_of(samples_of(kind, false))) CHECK_MESSAGE(!shape.starts_with('t'), shape);
  kind.images = Media::kAnywhere;
  const std::vector<std::string> shapes = shapes_of(samples_of(kind, false));
  for (const char* shape : {"it", "ti", "tit", "i", "iit", "tiiti"}) CHECK(std::ranges::count(shapes, shape) == 1);
}

}  // namespace
}  // namespace rondo::edge
