// Methods of str that change the case of letters or test classes of characters, under their Python names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] Value upper_text(Runtime& runtime, const Value& subject);
[[nodiscard]] Value lower_text(Runtime& runtime, const Value& subject);
[[nodiscard]] Value capitalize_text(Runtime& runtime, const Value& subject);
// Returns lower() of the character `c` at byte `at` of `text`, in UTF-8.  A capital sigma at the end of a word becomes
// the final sigma.
[[nodiscard]] std::string lower_at(std::string_view text, std::size_t at, char32_t c);
[[nodiscard]] std::string folded(Runtime& runtime, const Value& subject);  // lower() without origins

Value str_upper(Runtime& runtime, const Value& self, const Args& args);
Value str_lower(Runtime& runtime, const Value& self, const Args& args);
Value str_title(Runtime& runtime, const Value& self, const Args& args);
Value str_capitalize(Runtime& runtime, const Value& self, const Args& args);
Value str_swapcase(Runtime& runtime, const Value& self, const Args& args);
Value str_casefold(Runtime& runtime, const Value& self, const Args& args);
Value str_isalnum(Runtime& runtime, const Value& self, const Args& args);
Value str_isalpha(Runtime& runtime, const Value& self, const Args& args);
Value str_isascii(Runtime& runtime, const Value& self, const Args& args);
Value str_isdecimal(Runtime& runtime, const Value& self, const Args& args);
Value str_isdigit(Runtime& runtime, const Value& self, const Args& args);
Value str_isidentifier(Runtime& runtime, const Value& self, const Args& args);
Value str_islower(Runtime& runtime, const Value& self, const Args& args);
Value str_isnumeric(Runtime& runtime, const Value& self, const Args& args);
Value str_isprintable(Runtime& runtime, const Value& self, const Args& args);
Value str_isspace(Runtime& runtime, const Value& self, const Args& args);
Value str_istitle(Runtime& runtime, const Value& self, const Args& args);
Value str_isupper(Runtime& runtime, const Value& self, const Args& args);

}  // namespace rondo::jinja
