// What is asked of the compiler and of a render.
#pragma once

#include <optional>
#include <string>

#include "base/limits.h"

namespace rondo::jinja {

struct CompileOptions {
  bool trim_blocks = true;             // the first newline behind a block tag is dropped
  bool lstrip_blocks = true;           // white space before a block tag on its line is dropped
  bool keep_trailing_newline = false;  // else one newline at the end of the source is dropped
  // Statements that run first, on one line that ends with a line break; "" for none.  They are no part of source(), whose
  // lines are counted without them: their own is line 0.
  std::string prelude = {};
};

// A local date and time, as the caller's clock shows it; the library reads no clock.
struct LocalTime {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

struct RenderOptions {
  // Strict refuses what transformers' ImmutableSandboxedEnvironment refuses; lenient also allows in-place list and dict
  // methods and the filters from_json / fromjson.
  bool strict = false;
  // Whether globals of transformers' chat templates (raise_exception, strftime_now) exist.
  bool chat_globals = true;
  std::optional<LocalTime> now;  // for strftime_now; calling it without one is an error
  // Whether to record where every byte came from.  Without, a Rendered has only its bytes and generation blocks.
  bool origins = true;
  // Whether the JSON of an object or array of the input, written as it is, may be one run of kind kDump.  Its parts with
  // their paths are made by Rendered::take_dumps_apart(); until then such a run stands for all of them.  A condition that
  // looks at such a text has read that object or array; its parts are not listed.
  bool whole_dumps = false;
  limits::Render limits;
};

}  // namespace rondo::jinja
