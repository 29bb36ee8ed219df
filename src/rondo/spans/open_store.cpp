#include "spans/open_store.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "spans/memory_store.h"
#include "spans/redis_store.h"
#include "spans/sqlite_store.h"

namespace rondo::spans {
namespace {

namespace fs = std::filesystem;

Result<HashKey> key_beside(const std::string& path, const HashKey& made) {
  if (!files::exists(path)) {
    const std::string_view bytes(reinterpret_cast<const char*>(made.data()), made.size());
    if (const Status written = files::write(path, bytes); !written.ok()) return written.error();
    std::error_code ignored;
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, ignored);
  }
  const auto bytes = files::read(path);
  if (!bytes.ok()) return bytes.error();
  HashKey out{};
  if (bytes.value().size() != out.size())
    return Error(ErrorCode::kInvalidArgument, "a key of 16 bytes was expected", path);
  std::copy(bytes.value().begin(), bytes.value().end(), out.begin());
  return out;
}

Result<OpenedStore> open_sqlite(const std::string& path, const HashKey& made) {
  auto store = SqliteStore::open(path);
  if (!store.ok()) return store.error();
  const auto secret = key_beside(path + ".key", made);
  if (!secret.ok()) return secret.error();
  return OpenedStore{std::move(store).value(), secret.value()};
}

Result<OpenedStore> open_redis(const std::string& url, const HashKey& made) {
  const auto address = RedisAddress::parse(url);
  if (!address.ok()) return address.error();
  auto store = RedisStore::open(address.value());
  if (!store.ok()) return store.error();
  const auto secret = store.value()->secret(made);
  if (!secret.ok()) return secret.error();
  return OpenedStore{std::move(store).value(), secret.value()};
}

}  // namespace

Result<OpenedStore> open_store(const std::string& named, const HashKey& made) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (named == "memory") return OpenedStore{std::make_unique<MemoryStore>(), made};
  if (named.starts_with(kSqlite)) return open_sqlite(named.substr(kSqlite.size()), made);
  if (named.starts_with("redis:") || named.starts_with("rediss:") || named.starts_with("unix:"))
    return open_redis(named, made);
  return Error(ErrorCode::kInvalidArgument,
               "a store is `memory`, `sqlite:PATH` or `redis://HOST:PORT/DATABASE`, not `" + named + "`");
}

}  // namespace rondo::spans
