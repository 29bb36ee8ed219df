// The options of the compiler and of a render.
#pragma once

#include <optional>
#include <string>

#include "base/limits.h"

namespace rondo::jinja {

struct CompileOptions {
  bool trim_blocks = true;             // drop the first newline after a block tag
  bool lstrip_blocks = true;           // drop white space before a block tag on its line
  bool keep_trailing_newline = false;  // false: drop one newline at the end of the source
  // Statements that run first, on one line that ends with a line break; "" for none.  They are not part of source():
  // its lines are counted without them, and their own line is 0.
  std::string prelude = {};
};

// A local date and time, given by the caller; the library reads no clock.
struct LocalTime {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

struct RenderOptions {
  // Strict mode refuses what transformers' ImmutableSandboxedEnvironment refuses.  Lenient mode also allows in-place
  // methods of lists and dicts, and the filters from_json / fromjson.
  bool strict = false;
  // Whether the globals of transformers' chat templates (raise_exception, strftime_now) exist.
  bool chat_globals = true;
  std::optional<LocalTime> now;  // for strftime_now; without it, calling strftime_now is an error
  // Whether to record where every byte came from.  If false, a Rendered has only its bytes and generation blocks.
  bool origins = true;
  // Whether the JSON of an object or array of the input may be a single run of kind kDump if it is written unchanged.
  // Rendered::take_dumps_apart() makes the runs of its parts with their paths; until then the one run stands for all of
  // them.  A condition that reads such a text counts as a read of the whole object or array, not of its parts.
  bool whole_dumps = false;
  limits::Render limits;
};

}  // namespace rondo::jinja
