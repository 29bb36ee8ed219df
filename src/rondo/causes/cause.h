// The causes of breaks: why a prompt does not begin with what the model has already seen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/members.h"

namespace rondo::causes {

// Why a prompt does not continue what the model has seen.
enum class CauseKind : std::uint8_t {
  kReasoningDropped,    // "reasoning-dropped": history does not show reasoning that was sampled or prompted
  kReasoningAdded,      // "reasoning-added": history shows reasoning markup that nobody sampled
  kWhitespaceStripped,  // "whitespace-stripped": a filter or method cut characters off a message's text
  kWhitespaceAdded,     // "whitespace-added": a literal of the template writes white space that the model did not
  kJsonRespelled,       // "json-respelled": a value went through a serialiser (spacing, order, numbers, escapes)
  kLiteralEnvelope,     // "literal-envelope": JSON punctuation in a literal of the template, spelled differently
  kPythonValue,         // "python-value": a value printed as Python prints it (True, None, {'a': 1})
  kDoubleEncoded,       // "double-encoded": arguments given as a string were serialised once more
  kGenerationPrompt,    // "generation-prompt": the turn in history does not begin as the generation prompt does
  kMovedMessage,        // "moved-message": a message is written by another loop or branch than before
  kMovedTools,          // "moved-tools": tool declarations or system text moved to another turn
  kRewrittenId,         // "rewritten-id": call ids are made anew, or cut
  kForcedClose,         // "forced-close": a block that was cut off gets closed
  kLostMarkup,          // "lost-markup": what was sampled cannot be expressed as a message
  kDroppedField,        // "dropped-field": a field of the message is not written
  kReordered,           // "reordered": the parts of the turn are in another order than they were sampled
  kReplacedClose,       // "replaced-close": history ends the turn with another token than the stop token
  kRetokenized,         // "retokenized": the same text has other tokens
  kClock,               // "clock": the prompt contains a date or time
  kRefused,             // "refused": the template raises on the next prompt
  kCondition,           // "condition": another condition of the template changed its outcome
};
inline constexpr json::Names<CauseKind, 21> kCauseNames{{
    {CauseKind::kReasoningDropped, "reasoning-dropped"},
    {CauseKind::kReasoningAdded, "reasoning-added"},
    {CauseKind::kWhitespaceStripped, "whitespace-stripped"},
    {CauseKind::kWhitespaceAdded, "whitespace-added"},
    {CauseKind::kJsonRespelled, "json-respelled"},
    {CauseKind::kLiteralEnvelope, "literal-envelope"},
    {CauseKind::kPythonValue, "python-value"},
    {CauseKind::kDoubleEncoded, "double-encoded"},
    {CauseKind::kGenerationPrompt, "generation-prompt"},
    {CauseKind::kMovedMessage, "moved-message"},
    {CauseKind::kMovedTools, "moved-tools"},
    {CauseKind::kRewrittenId, "rewritten-id"},
    {CauseKind::kForcedClose, "forced-close"},
    {CauseKind::kLostMarkup, "lost-markup"},
    {CauseKind::kDroppedField, "dropped-field"},
    {CauseKind::kReordered, "reordered"},
    {CauseKind::kReplacedClose, "replaced-close"},
    {CauseKind::kRetokenized, "retokenized"},
    {CauseKind::kClock, "clock"},
    {CauseKind::kRefused, "refused"},
    {CauseKind::kCondition, "condition"},
}};
[[nodiscard]] std::string_view to_string(CauseKind kind);

// A place in the template's source.  Line 0: no line is to blame.
struct TemplatePlace {
  std::int32_t line = 0;    // from 1
  std::int32_t column = 0;  // from 1, in bytes; 0: unknown
  std::string source;       // the line's text, trimmed
  bool operator==(const TemplatePlace&) const = default;
};

struct Cause {
  CauseKind kind = CauseKind::kCondition;
  std::string sentence;  // with the place in words: "line 39 `{%- if ... %}` was true, now false"
  TemplatePlace place;   // of the decision, filter or literal that caused it
  std::string path;      // the field of the message: "messages[1].reasoning_content"; "" if there is none
  std::int32_t message = -1;
};

}  // namespace rondo::causes
