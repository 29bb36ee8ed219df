// Methods of str that change case or ask about the kind of characters.
#include "jinja/types/string_case.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "jinja/common/characters.h"
#include "jinja/types/params.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"
#include "unicode/case.h"
#include "unicode/classes.h"

namespace rondo::jinja {
namespace {

using unicode::CaseImage;

constexpr char32_t kSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;

std::string encode(const CaseImage& image) {
  std::string out;
  for (std::size_t i = 0; i < image.count; ++i) utf8::append(out, image.code_points[i]);
  return out;
}

// Python lowers a capital sigma at the end of a word to the final form.
CaseImage lower_in_context(std::string_view text, std::size_t at, char32_t c) {
  if (c != kSigma) return unicode::to_lower(c);
  std::size_t before = at;
  bool cased = false;
  while (before > 0) {
    before = previous_start(text, before);
    const char32_t neighbour = decode_at(text, before).value;
    if (unicode::is_case_ignorable(neighbour)) continue;
    cased = unicode::is_cased(neighbour);
    break;
  }
  for (std::size_t after = at + decode_at(text, at).size; cased && after < text.size();) {
    const CodePoint neighbour = decode_at(text, after);
    after += neighbour.size;
    if (unicode::is_case_ignorable(neighbour.value)) continue;
    if (unicode::is_cased(neighbour.value)) return unicode::to_lower(c);
    break;
  }
  return cased ? CaseImage{{kFinalSigma}, 1} : unicode::to_lower(c);
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Changes every character by a rule that looks at nothing else.  Bytes that keep their length keep their runs.
template <typename Change>
Value change_each(Runtime& runtime, const Value& subject, std::string_view step, Change change) {
  const std::string_view text = bytes_of(runtime, subject);
  if (is_ascii(text)) {
    runtime.spend_bytes(4 * text.size());
    std::string changed(text);
    for (char& c : changed) c = static_cast<char>(change(0, static_cast<char32_t>(c)).code_points[0]);
    static_cast<void>(joined_parts(runtime, subject));  // the changed text is not a dump
    const Value out = substring(runtime, subject, 0, text.size(), step);
    out.as_string().data = runtime.heap.copy(changed).data();
    return out;
  }
  runtime.spend_on_characters(text.size());
  Rewriter out(runtime, subject, step);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const CaseImage image = change(at, c.value);
    if (image.count == 1 && image.code_points[0] == kFinalSigma && c.value == kSigma) {
      out.replace(c.size, encode(image));  // depends on its neighbours, so this is not a plain map
    } else {
      out.map(c.size, encode(image));
    }
    at += c.size;
  }
  return out.finish();
}

// The same for rules that depend on the position in the text.  A changed character counts as a replacement of its
// source.
template <typename Change>
Value change_in_place(Runtime& runtime, const Value& subject, std::string_view step, Change change) {
  const std::string_view text = bytes_of(runtime, subject);
  runtime.spend_on_characters(text.size());
  Rewriter out(runtime, subject, step);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const CaseImage image = change(at, c.value);
    if (image.count == 1 && image.code_points[0] == c.value) {
      out.keep(c.size);
    } else {
      out.replace(c.size, encode(image));
    }
    at += c.size;
  }
  return out.finish();
}

void takes_nothing(Runtime& runtime, std::string_view method, const Args& args) {
  require_positional(runtime, method_of("str", method), args, 0, 0);
}

// True if the string is not empty and every character passes.
template <typename Test>
Value all_are(Runtime& runtime, std::string_view method, const Value& self, const Args& args, Test test) {
  takes_nothing(runtime, method, args);
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    if (!test(c.value)) return Value::boolean(false);
    at += c.size;
  }
  return Value::boolean(!text.empty());
}

// isupper(), islower(): at least one such character and none of the other case.
template <typename Is, typename IsNot>
Value is_case(Runtime& runtime, const Value& self, Is is, IsNot is_not) {
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  bool some = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    if (is_not(c.value) || unicode::category(c.value) == unicode::Category::kLt) return Value::boolean(false);
    some = some || is(c.value);
    at += c.size;
  }
  return Value::boolean(some);
}

}  // namespace

Value upper_text(Runtime& runtime, const Value& subject) {
  return change_each(runtime, subject, "upper", [](std::size_t, char32_t c) { return unicode::to_upper(c); });
}

Value lower_text(Runtime& runtime, const Value& subject) {
  const std::string_view text = bytes_of(runtime, subject);
  return change_each(runtime, subject, "lower",
                     [&](std::size_t at, char32_t c) { return lower_in_context(text, at, c); });
}

std::string lower_at(std::string_view text, std::size_t at, char32_t c) {
  return encode(lower_in_context(text, at, c));
}

std::string folded(Runtime& runtime, const Value& subject) {
  const std::string_view text = bytes_of(runtime, subject);
  runtime.spend_on_characters(text.size());
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    out += lower_at(text, at, c.value);
    at += c.size;
  }
  return out;
}

Value capitalize_text(Runtime& runtime, const Value& subject) {
  const std::string_view text = bytes_of(runtime, subject);
  return change_in_place(runtime, subject, "capitalize", [&](std::size_t at, char32_t c) {
    return at == 0 ? unicode::to_title(c) : lower_in_context(text, at, c);
  });
}

Value str_upper(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "upper", args);
  return upper_text(runtime, self);
}

Value str_lower(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "lower", args);
  return lower_text(runtime, self);
}

Value str_capitalize(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "capitalize", args);
  return capitalize_text(runtime, self);
}

Value str_title(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "title", args);
  const std::string_view text = bytes_of(runtime, self);
  bool in_word = false;
  return change_in_place(runtime, self, "title", [&](std::size_t at, char32_t c) {
    const CaseImage image = in_word ? lower_in_context(text, at, c) : unicode::to_title(c);
    in_word = unicode::is_cased(c);
    return image;
  });
}

Value str_swapcase(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "swapcase", args);
  const std::string_view text = bytes_of(runtime, self);
  return change_each(runtime, self, "swapcase", [&](std::size_t at, char32_t c) {
    if (unicode::is_upper(c)) return lower_in_context(text, at, c);
    return unicode::is_lower(c) ? unicode::to_upper(c) : CaseImage{{c}, 1};
  });
}

Value str_casefold(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "casefold", args);
  return change_each(runtime, self, "casefold", [](std::size_t, char32_t c) { return unicode::to_fold(c); });
}

Value str_isalnum(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isalnum", self, args, unicode::is_alphanumeric);
}

Value str_isalpha(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isalpha", self, args, unicode::is_alpha);
}

Value str_isascii(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "isascii", args);
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_bytes(text.size());
  return Value::boolean(is_ascii(text));
}

Value str_isdecimal(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isdecimal", self, args, unicode::is_decimal);
}

Value str_isdigit(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isdigit", self, args, unicode::is_digit);
}

Value str_isidentifier(Runtime& runtime, const Value& self, const Args& args) {
  const std::string_view text = bytes_of(runtime, self);
  const bool starts = !text.empty() && unicode::is_identifier_start(decode_at(text, 0).value);
  const Value rest = all_are(runtime, "isidentifier", self, args, unicode::is_identifier_part);
  return Value::boolean(starts && rest.as_bool());
}

Value str_islower(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "islower", args);
  return is_case(runtime, self, unicode::is_lower, unicode::is_upper);
}

Value str_isnumeric(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isnumeric", self, args, unicode::is_numeric);
}

Value str_isprintable(Runtime& runtime, const Value& self, const Args& args) {
  const Value answer = all_are(runtime, "isprintable", self, args, is_printable);
  return Value::boolean(answer.as_bool() || bytes_of(runtime, self).empty());
}

Value str_isspace(Runtime& runtime, const Value& self, const Args& args) {
  return all_are(runtime, "isspace", self, args, is_space);
}

Value str_istitle(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "istitle", args);
  const std::string_view text = bytes_of(runtime, self);
  runtime.spend_on_characters(text.size());
  bool some = false;
  bool in_word = false;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    at += c.size;
    if (unicode::is_upper(c.value) || unicode::category(c.value) == unicode::Category::kLt) {
      if (in_word) return Value::boolean(false);
      in_word = true;
      some = true;
    } else if (unicode::is_lower(c.value)) {
      if (!in_word) return Value::boolean(false);
      some = true;
    } else {
      in_word = false;
    }
  }
  return Value::boolean(some);
}

Value str_isupper(Runtime& runtime, const Value& self, const Args& args) {
  takes_nothing(runtime, "isupper", args);
  return is_case(runtime, self, unicode::is_upper, unicode::is_lower);
}

}  // namespace rondo::jinja
