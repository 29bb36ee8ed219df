// Adapter: one server of any of the three kinds as an engine::Serving.
//
//   remote::Adapter adapter(loop, client, info);     // info: of remote::probe()
//   auto running = adapter.submit(std::move(request), listener);
//
// Ids are exact.  What a stream does not tell (llama-server keeps ids back while they are no whole character) is asked
// for behind its back, and handed out in order; where that cannot be proven, Ending::inexact says so.
//
// A stop id ends a choice also where the server knows no stop ids: the adapter watches, and closes the connection.
// max_tokens is cut down to what the context has room for; a choice that ends there ends with kContextFull.
//
// Cancelling closes the connection, which all three notice; where a server wants to be told besides, it is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "engine/serving.h"
#include "net/client.h"
#include "net/loop.h"
#include "remote/dialect.h"
#include "remote/server_info.h"

namespace rondo::remote {

class Adapter final : public engine::Serving {
 public:
  // `loop` and `client` must outlive this.
  Adapter(net::Loop& loop, net::Client& client, ServerInfo info);
  ~Adapter() override;

  [[nodiscard]] const ServerInfo& info() const { return dialect_->info(); }
  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override;

  // Connections that are in use, those of aborts among them.
  [[nodiscard]] std::size_t running() const { return running_ + aborts_.size(); }

 private:
  friend class AdapterRun;
  friend class AdapterLeg;
  void tell_to_abort(const std::string& id);

  net::Loop& loop_;
  net::Client& client_;
  std::unique_ptr<Dialect> dialect_;
  engine::Capabilities capabilities_;
  std::string id_prefix_;  // of this adapter's requests, told from those of others
  std::uint64_t next_id_ = 0;
  std::size_t running_ = 0;
  std::uint64_t next_abort_ = 0;
  std::map<std::uint64_t, std::unique_ptr<net::Call>> aborts_;
};

}  // namespace rondo::remote
