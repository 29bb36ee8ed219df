// How a text differs from what was expected, with the places of the template that wrote what differs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/places.h"
#include "jinja/template.h"
#include "json/value.h"
#include "template/shape.h"

namespace rondo::tester {

// A line of a report, printable.
struct ShownLine {
  enum class Kind : std::uint8_t {
    kSame,      // of both texts
    kExpected,  // of the expected text alone
    kGot,       // of the other one alone
    kPlace,     // what wrote it; stands below the line that it is about
    kNote,
  };
  Kind kind = Kind::kNote;
  std::string text;
};
// "same", "expected", "got", "place", "note".
[[nodiscard]] std::string_view to_string(ShownLine::Kind kind);

// What wrote the bytes of a prompt.
class Writers {
 public:
  // As core::OriginNamer, and all must outlive this.
  Writers(const jinja::Rendered& rendered, const jinja::Template& chat_template, const json::Array& messages,
          const tmpl::Shaping& shaping)
      : rendered_(rendered), namer_(rendered, chat_template, messages, shaping) {}

  // "messages[1].content, written by template line 4: {{ m.content }}"; of the last byte where `byte` is behind it, "" of an
  // empty text.
  [[nodiscard]] std::string at(std::size_t byte) const;

 private:
  [[nodiscard]] std::string source(const core::TemplatePlace& place) const;

  const jinja::Rendered& rendered_;
  core::OriginNamer namer_;
};

// Whose writers are known.
struct Sides {
  const Writers* expected = nullptr;
  const Writers* got = nullptr;
};

// Nothing if the texts are equal.
[[nodiscard]] std::vector<ShownLine> difference(std::string_view expected, std::string_view got,
                                                const Sides& writers = {});

// Where the second text begins to differ, in front of a whole character; its size if it is the beginning of the first.
[[nodiscard]] std::size_t first_difference(std::string_view a, std::string_view b);

// A text on one line in quotes, the middle of a long one left out.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace rondo::tester
