#include "capi/library.h"

#include <ctime>
#include <random>

#include "capi/requests.h"

namespace rondo::capi {
namespace {

// An open library holds the address of its implementation, and that address under this mask.  No other memory does.
constexpr std::uint64_t kOpenMask = 0x6f70656e726f6e64;

std::tm to_tm(const jinja::LocalTime& time) {
  std::tm out{};
  out.tm_year = time.year - 1900;
  out.tm_mon = time.month - 1;
  out.tm_mday = time.day;
  out.tm_hour = time.hour;
  out.tm_min = time.minute;
  out.tm_sec = time.second;
  return out;
}

bool is_open(const rondo_library& library) {
  return library.state[0] != 0 && library.state[1] == (library.state[0] ^ kOpenMask);
}

std::unique_ptr<Library> make_library(std::string cache_folder, const std::optional<jinja::LocalTime>& now) {
  protocol::ServiceOptions options;
  options.cache_folder = cache_folder;
  if (now) options.clock = [time = to_tm(*now)] { return time; };
  // Random, because a closed library may have been at the same address.
  const std::uint32_t tag = std::random_device()();
  return std::unique_ptr<Library>(
      new Library{Handles(tag), protocol::Service(std::move(options)), std::move(cache_folder), now});
}

Outcome<std::unique_ptr<Library>> open_library(const rondo_library_options* given) {
  auto options = struct_of(given, RONDO_LIBRARY_OPTIONS_INIT, "options");
  if (!options.ok()) return options.failure();
  auto folder = view_of(options.value().cache_folder, "cache_folder");
  if (!folder.ok()) return folder.failure();
  auto now = time_of(options.value().now, "now");
  if (!now.ok()) return now.failure();
  return make_library(std::string(folder.value()), now.value());
}

}  // namespace

Outcome<Library*> library_of(const rondo_library* library) {
  if (library == nullptr) return null_failure("the library");
  if (!is_open(*library)) return closed_failure("the library");
  return reinterpret_cast<Library*>(static_cast<std::uintptr_t>(library->state[0]));
}

extern "C" {

rondo_status rondo_library_open(rondo_library* library, const rondo_library_options* options, rondo_error* error) {
  return guarded(error, [&]() -> Outcome<Done> {
    if (library == nullptr) return null_failure("the library");
    if (is_open(*library)) return invalid("the library is open already");
    auto made = open_library(options);
    if (!made.ok()) return made.failure();
    library->state[0] = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(made.value().release()));
    library->state[1] = library->state[0] ^ kOpenMask;
    return Done{};
  });
}

rondo_status rondo_library_close(rondo_library* library) {
  return guarded(nullptr, [&]() -> Outcome<Done> {
    auto found = library_of(library);
    if (!found.ok()) return found.failure();
    *library = RONDO_LIBRARY_INIT;
    delete found.value();
    return Done{};
  });
}

rondo_status rondo_library_handles(rondo_library* library, size_t* count) {
  return guarded(nullptr, [&]() -> Outcome<Done> {
    if (count == nullptr) return null_failure("the place for the count");
    *count = 0;
    auto found = library_of(library);
    if (!found.ok()) return found.failure();
    *count = found.value()->handles.size();
    return Done{};
  });
}

rondo_status rondo_batch(rondo_library* library, rondo_text line, rondo_result* result, rondo_error* error) {
  return open_handle(library, result, error, [&](Library& open) -> Outcome<std::shared_ptr<ResultObject>> {
    auto text = view_of(line, "line");
    if (!text.ok()) return text.failure();
    auto reply = std::make_shared<ResultObject>();
    reply->text = open.service.handle_line(text.value());
    return reply;
  });
}

}  // extern "C"

}  // namespace rondo::capi
