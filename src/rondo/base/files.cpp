#include "base/files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "base/pages.h"

namespace rondo::files {
namespace fs = std::filesystem;
namespace {

// Distinguishes this process from others that write to the same folder.
long process_number() {
#ifdef __wasi__
  return 0;  // there are no other processes
#else
  return ::getpid();
#endif
}

thread_local int regular_only = 0;  // how many RegularFilesOnly live in this thread

}  // namespace

RegularFilesOnly::RegularFilesOnly() { ++regular_only; }
RegularFilesOnly::~RegularFilesOnly() { --regular_only; }

Status check(const std::string& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) {
    const bool is_link = fs::is_symlink(fs::symlink_status(path, ec));
    return Error(ErrorCode::kNotFound, is_link ? "is a link to a file that is not there" : "no such file", path);
  }
  if (fs::is_directory(status)) return Error(ErrorCode::kNotFound, "is a folder, expected a file", path);
  if (regular_only != 0 && !fs::is_regular_file(status))
    return Error(ErrorCode::kNotFound, "is not a regular file", path);
  return Done{};
}

Result<std::string> read(const std::string& path, std::size_t max_bytes) {
  if (Status status = check(path); !status.ok()) return status.error();
  std::ifstream in(path, std::ios::binary);
  if (!in) return Error(ErrorCode::kNotFound, "cannot be opened for reading", path);
  // Sizes of pipes and special files are not known in advance, so the limit is enforced while reading.
  std::string content;
  std::error_code ec;
  const std::uintmax_t size = fs::is_regular_file(path, ec) ? fs::file_size(path, ec) : 0;
  if (!ec && size > max_bytes)
    return Error(ErrorCode::kLimit, "file is larger than the limit of " + std::to_string(max_bytes) + " bytes", path);
  if (!ec) {
    content.reserve(static_cast<std::size_t>(size) + 1);
    make_resident(content.data(), content.capacity());
  }
  // Reads in steps small enough to stay in the processor's cache between zeroing and reading.  The byte beyond the size
  // detects the end.
  constexpr std::size_t kStep = std::size_t{1} << 16U;
  for (bool more = true; more;) {
    const std::size_t before = content.size();
    const std::size_t room = content.capacity() - before;
    content.resize(before + (room == 0 ? kStep : std::min(room, kStep)));
    more = static_cast<bool>(in.read(content.data() + before, static_cast<std::streamsize>(content.size() - before)));
    content.resize(before + static_cast<std::size_t>(in.gcount()));
    if (content.size() > max_bytes)
      return Error(ErrorCode::kLimit, "file is larger than the limit of " + std::to_string(max_bytes) + " bytes", path);
  }
  if (in.bad()) return Error(ErrorCode::kIo, "reading failed", path);
  return content;
}

namespace {

// Opens `file`, which is `path` or a temporary file for it, and writes all of `content`.
Status write_into(const std::string& file, const std::string& path, std::string_view content,
                  std::optional<fs::perms> permissions) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) return Error(ErrorCode::kIo, "cannot be opened for writing", path);
  std::error_code ec;
  if (permissions) fs::permissions(file, *permissions, ec);  // before anybody can read what is private
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.flush();
  if (!out || ec) return Error(ErrorCode::kIo, "writing failed", path);
  return Done{};
}

// Returns the file that `path` leads to, through links; one that does not exist may be their end.
fs::path target_of(const std::string& path) {
  constexpr int kMostLinks = 40;
  fs::path target = path;
  std::error_code ec;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(target, ec)); ++i) {
    const fs::path next = fs::read_symlink(target, ec);
    if (ec) break;
    target = target.parent_path() / next;  // an absolute one replaces the folder
  }
  return target;
}

}  // namespace

Status write(const std::string& path, std::string_view content) {
  static std::atomic<std::uint64_t> counter{0};  // distinguishes concurrent writers in one process
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  // A device or a pipe is written into; it must not become a file.
  const bool is_special = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (is_special) return write_into(path, path, content, std::nullopt);
  const fs::path target = target_of(path);
  const std::string temporary =
      target.string() + ".tmp" + std::to_string(counter++) + "-" + std::to_string(process_number());
  const auto permissions = fs::is_regular_file(status) ? std::optional(status.permissions()) : std::nullopt;
  if (Status written = write_into(temporary, path, content, permissions); !written.ok()) {
    fs::remove(temporary, ec);
    return written;
  }
  fs::rename(temporary, target, ec);
  if (ec) {
    fs::remove(temporary, ec);
    return Error(ErrorCode::kIo, "cannot be replaced", path);
  }
  return Done{};
}

Status make_folder(const std::string& path) {
  std::error_code ec;
  fs::create_directories(path, ec);
  if (ec) return Error(ErrorCode::kIo, "cannot be made", path);
  return Done{};
}

bool exists(const std::string& path) {
  std::error_code ec;
  return fs::exists(fs::symlink_status(path, ec));
}

bool is_folder(const std::string& path) {
  std::error_code ec;
  return fs::is_directory(path, ec);
}

std::string join(std::string_view folder, std::string_view name) {
  return (fs::path(folder) / fs::path(name)).string();
}

}  // namespace rondo::files
