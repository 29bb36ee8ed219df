// Opens the store that a command line names.
#pragma once

#include <memory>
#include <string>

#include "rondo/result.h"
#include "spans/hash.h"
#include "spans/store.h"

namespace rondo::spans {

struct OpenedStore {
  std::unique_ptr<Store> store;
  HashKey secret{};  // the secret of this store
};

// Opens "memory", "sqlite:PATH", "redis://..." or "unix://..." (RedisAddress).  `made` is a random secret, used for a
// store that has none yet.  The secret of a file is beside it in PATH.key; without it, nothing in the file can be
// found.  The secret of a Redis server is stored in the server.
[[nodiscard]] Result<OpenedStore> open_store(const std::string& named, const HashKey& made);

}  // namespace rondo::spans
