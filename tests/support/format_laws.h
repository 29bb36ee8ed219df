// What holds for any template that writes all of a message, and any message: the laws of format, parser, grammar, bridge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/analyse.h"
#include "format/format.h"
#include "jinja/template.h"
#include "template/shape.h"
#include "tests/support/messages.h"
#include "tests/support/random_template.h"

namespace rondo::test {

enum class Law : std::uint8_t {
  kReads,     // parse(render(message)) is the message, or the format tells a loss that concerns it
  kKeepsAll,  // ... without such an excuse, for these templates lose nothing
  kPieces,    // text in any pieces gives the message and the events of the whole
  kAccepts,   // the grammar takes the turn
  kIsRead,    // what the grammar takes is read: as calls that are right
  kRefuses,   // and takes none in which a visible character of the calls' markup is missing
  kReadsIds,  // the turn as ids, its marks as tokens, is the message too
  kBridges,   // a bridge exists, and is the re-render where that only appends
  kReturns,   // what the parser gives, sent as history, is the same turn again
  kTravels,   // the format as JSON goes out and in unchanged
};
inline constexpr std::array kLaws = {Law::kReads,   Law::kKeepsAll, Law::kPieces,  Law::kAccepts, Law::kIsRead,
                                     Law::kRefuses, Law::kReadsIds, Law::kBridges, Law::kReturns, Law::kTravels};
[[nodiscard]] std::string_view to_string(Law law);

// A template and the format that was inferred from it.
struct Specimen {
  TemplateShape shape;
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const format::Format> format;
  tmpl::MessageRules rules;
};
// Fails the test if the template does not compile, or its analysis ends with an error.
[[nodiscard]] Specimen specimen_of(const TemplateShape& shape);
// Of a template that is written by hand, of which `shape` says what the laws need to know: its header and stop.
[[nodiscard]] Specimen specimen_of(const TemplateShape& shape, const std::string& source);

// A turn as the template writes it.
struct WrittenTurn {
  std::string prompt;
  std::string text;  // behind the prompt
};

struct Verdict {
  bool applies = true;    // false: the law says nothing of this message
  std::string objection;  // "": it holds
};
// `seed` chooses cuts and characters.
[[nodiscard]] Verdict check_law(Law law, const Specimen& specimen, const MessageParts& message, std::uint64_t seed);

}  // namespace rondo::test
