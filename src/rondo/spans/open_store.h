// The store that a command line names.
#pragma once

#include <memory>
#include <string>

#include "rondo/result.h"
#include "spans/hash.h"
#include "spans/store.h"

namespace rondo::spans {

struct OpenedStore {
  std::unique_ptr<Store> store;
  HashKey secret{};  // that goes with what is in it
};

// "memory", "sqlite:PATH", "redis://..." or "unix://..." (RedisAddress).  `made`: random; the secret of a store that has none
// yet.  That of a file lies beside it, in PATH.key; without it nothing in the file is found again.  That of a Redis server
// is in there.
[[nodiscard]] Result<OpenedStore> open_store(const std::string& named, const HashKey& made);

}  // namespace rondo::spans
