// Reading and writing whole files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "rondo/result.h"

namespace rondo::files {

// While one of these lives, its thread reads regular files only.  For paths in requests that arrive one after the
// other: a pipe or device may never end, and may be the stream of the requests itself.
class RegularFilesOnly {
 public:
  RegularFilesOnly();
  ~RegularFilesOnly();
  RegularFilesOnly(const RegularFilesOnly&) = delete;
  RegularFilesOnly& operator=(const RegularFilesOnly&) = delete;
};

// Fails with kNotFound if there is no file at `path` that may be read.
[[nodiscard]] Status check(const std::string& path);

// Returns the bytes of a file.  Fails with kNotFound (missing, unreadable, a folder) or kLimit (over `max_bytes`).
[[nodiscard]] Result<std::string> read(const std::string& path, std::size_t max_bytes = limits::kTextFileBytes);

// Writes a temporary file beside `path` and renames it, so that readers see either the old or the new content.  The file
// keeps its permissions.  Links are followed.  Devices and pipes are written into.
[[nodiscard]] Status write(const std::string& path, std::string_view content);

// Makes the folder and every missing folder above it.
[[nodiscard]] Status make_folder(const std::string& path);

// Returns whether there is something at `path`.  A link that leads nowhere counts too; reading it then reports that.
[[nodiscard]] bool exists(const std::string& path);
[[nodiscard]] bool is_folder(const std::string& path);

// Returns "folder/name" with a single slash.
[[nodiscard]] std::string join(std::string_view folder, std::string_view name);

}  // namespace rondo::files
