// Files, standard streams and messages of the command line.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "protocol/service.h"
#include "rondo/result.h"

namespace rondo::cli {

// Exit statuses: 0 success, 1 a failure that was reported, 2 wrong usage.
inline constexpr int kSuccess = 0;
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;

// Call this first.  Occupies the standard descriptors that are closed.  Otherwise a file that is opened later could get
// such a descriptor, and output would be written into it.  Using one of them still fails.
void hold_standard_descriptors();

// Returns the bytes of a file, or of standard input for "-".
[[nodiscard]] Result<std::string> read_input(const std::string& path);

// Waits for the next bytes of standard input and returns at most 64 KB; nullopt at its end.  Fails with kIo.
[[nodiscard]] Result<std::optional<std::string>> read_piece();

// To be called before standard input is read.  Fails if it was read to its end already, for another argument.  If it is
// a terminal, tells the user that the program waits for input.
[[nodiscard]] Status begin_input();

// Returns the JSON value in a file or on standard input.  The error's source is the path.
[[nodiscard]] Result<json::Value> read_json(const std::string& path);

// Returns whether `argument` is JSON itself: it starts with a bracket or brace, or is a value and not the name of a
// file.
[[nodiscard]] bool is_inline_json(const std::string& argument);

// Returns the value of `argument` if it is JSON, otherwise the JSON value in the file of that name.  `option` names the
// argument in messages.
[[nodiscard]] Result<json::Value> json_argument(const std::string& argument, const std::string& option);

// Fails if the text of an option, which may be any bytes, is not UTF-8.
[[nodiscard]] Status check_utf8(std::string_view text, const std::string& option);

// Returns an object as json_argument() does, or from lines `KEY=VALUE`.  A value that is not JSON is a text, except
// `True`, `False` and `None`.
[[nodiscard]] Result<json::Value> object_argument(const std::string& argument, const std::string& option);

// The beginning of a line with a note, which follows the output.
inline constexpr std::string_view kNoteBegin = "note: ";

// Returns an array of ids.  `argument` may be JSON, numbers with white space between them, an object with `ids` or a
// table of tokens as other commands print them, or a file with one of these.
[[nodiscard]] Result<json::Value> ids_argument(const std::string& argument, const std::string& option);

// Makes the options of a service that knows the local time and caches tokenizers in cache_folder(), unless
// $RONDO_TOKENIZER_CACHE is "off".
[[nodiscard]] protocol::ServiceOptions service_options();

// Returns where rondo keeps what it downloads or makes: $RONDO_CACHE, otherwise rondo/ in the XDG cache folder.
[[nodiscard]] std::string cache_folder();

// Prints "rondo: ..." on standard error.  Returns kUsage if the error is in an option, otherwise kFailure.
int report(const Error& error);

// Prints the error in the same way, and returns kUsage: for wrong usage.
int refuse(const Error& error);

// Writes to standard output.  Returns false after a failed write, which is reported.
[[nodiscard]] bool print(std::string_view text);

// Writes a note for people to standard error.  What could steer a terminal is escaped.
void note(std::string_view text);

// Prints one JSON value on a line, or on several lines for people.  Returns the exit status.
[[nodiscard]] int print_json(const json::Value& value);

// Writes to a file, or to standard output for "-" or "".  Returns the exit status.
[[nodiscard]] int write_text(std::string_view text, const std::string& file);

// Returns the error for `--output -` together with --json: both would go to standard output.
[[nodiscard]] Error both_on_output();

// Fails if a text for `file` ("" and "-": no file) would replace a file with another kind of content, or if its folder
// does not exist.  Call it before long work.  Texts of this kind start with `start`, in small letters.  `what` names
// the text in messages.
[[nodiscard]] Status check_replaced(const std::string& file, const std::string& what, std::string_view start,
                                    const std::string& option);

// Fails if a page for `file` ("" and "-": standard output) would go to a terminal, or would replace a file that is not
// a page.
[[nodiscard]] Status check_page_file(const std::string& file);

// Writes `page` to `file`, unless check_page_file() fails.  Returns the exit status.
[[nodiscard]] int put_page(const std::string& page, const std::string& file);

}  // namespace rondo::cli
