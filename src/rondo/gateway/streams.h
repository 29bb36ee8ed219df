// Limits how many requests generate at once, in total and for each tenant.  Held by a shared pointer.  Private to
// gateway/.  Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rondo::gateway {

class Streams : public std::enable_shared_from_this<Streams> {
 public:
  // A request that generates.  It counts while somebody holds the ticket.
  using Ticket = std::shared_ptr<void>;

  // Returns null if too many requests generate.  A limit of 0 means no limit.
  [[nodiscard]] Ticket begin(const std::string& tenant, std::size_t most, std::size_t most_of_tenant) {
    const std::lock_guard lock(mutex_);
    if (most > 0 && running_ >= most) return nullptr;
    std::size_t& of_tenant = by_tenant_[tenant];
    if (most_of_tenant > 0 && of_tenant >= most_of_tenant) return nullptr;
    ++running_;
    ++of_tenant;
    return {this, [self = shared_from_this(), tenant](void*) { self->end(tenant); }};
  }
  [[nodiscard]] std::size_t running() const {
    const std::lock_guard lock(mutex_);
    return running_;
  }

 private:
  void end(const std::string& tenant) {
    const std::lock_guard lock(mutex_);
    --running_;
    const auto found = by_tenant_.find(tenant);
    if (--found->second == 0) by_tenant_.erase(found);
  }

  mutable std::mutex mutex_;
  std::size_t running_ = 0;
  std::map<std::string, std::size_t> by_tenant_;
};

}  // namespace rondo::gateway
