// The tag that begins or ends a call, if it has attributes: `<call n="1" name="NAME">`, `[call id=ID]`, `</call#1>`.
// Models leave out its id and its counter.  They write its attributes in another order, with other quotes, or with
// further attributes between them.  Internal to parse/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"

namespace rondo::parse {

struct CallTag {
  struct Slot {
    std::string name;  // of the attribute; "" if the tag only has a number or an id there
    format::CallPiece::Kind kind = format::CallPiece::Kind::kLiteral;  // kLiteral: the template's own value
    char quote = 0;
  };

  std::size_t begin = 0;  // where it begins in the opener
  std::string head;       // `<call`
  std::string end;        // `>`
  std::vector<Slot> slots;
  std::string rest;       // what the format writes after the tag, before the next piece
  std::size_t piece = 0;  // the next piece

  // Returns the tag without attributes: `<call>`.
  [[nodiscard]] std::string bare() const { return head + end; }
  // Returns the place of the call's name, or of an id with a name in it; nullptr if the tag has none.
  [[nodiscard]] const Slot* name() const;
  [[nodiscard]] const Slot* find(std::string_view attribute) const;
};

// Returns `opener`, of calls or a section of them, without the attributes of its last tag; "" if that has none.
[[nodiscard]] std::string plain_opener(std::string_view opener);
// Returns the last tag of the calls' opener, with the pieces in it; nullopt if there is none, or if it has no
// attributes.
[[nodiscard]] std::optional<CallTag> opening_tag(const format::Calls& calls);
// Returns the first tag after the arguments of a call, from piece `behind` on.
[[nodiscard]] std::optional<CallTag> closing_tag_of_call(const format::Calls& calls, std::size_t behind);

}  // namespace rondo::parse
