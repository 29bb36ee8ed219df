// How a text differs from what was expected, with the places in the template that wrote the difference.
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

// A printable line of a report.
struct ShownLine {
  enum class Kind : std::uint8_t {
    kSame,      // in both texts
    kExpected,  // only in the expected text
    kGot,       // only in the other text
    kPlace,     // what wrote the line above it
    kNote,
  };
  Kind kind = Kind::kNote;
  std::string text;
};
// Returns "same", "expected", "got", "place" or "note".
[[nodiscard]] std::string_view to_string(ShownLine::Kind kind);

// Tells what wrote the bytes of a prompt.
class Writers {
 public:
  // As core::OriginNamer; all arguments must outlive this.
  Writers(const jinja::Rendered& rendered, const jinja::Template& chat_template, const json::Array& messages,
          const tmpl::Shaping& shaping)
      : rendered_(rendered), namer_(rendered, chat_template, messages, shaping) {}

  // Returns "messages[1].content, written by template line 4: {{ m.content }}"; for a `byte` past the end, describes
  // the last byte; "" for an empty text.
  [[nodiscard]] std::string at(std::size_t byte) const;

 private:
  [[nodiscard]] std::string source(const core::TemplatePlace& place) const;

  const jinja::Rendered& rendered_;
  core::OriginNamer namer_;
};

// The sides whose writers are known.
struct Sides {
  const Writers* expected = nullptr;
  const Writers* got = nullptr;
};

// Returns nothing if the texts are equal.
[[nodiscard]] std::vector<ShownLine> difference(std::string_view expected, std::string_view got,
                                                const Sides& writers = {});

// Returns where the second text begins to differ, moved back to the beginning of a character; its size if it is the
// beginning of the first.
[[nodiscard]] std::size_t first_difference(std::string_view a, std::string_view b);

// Returns a text in quotes on one line, without the middle if it is long.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace rondo::tester
