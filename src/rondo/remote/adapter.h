// Adapter: one server of any of the three kinds as an engine::Serving.
//
//   remote::Adapter adapter(loop, client, info);     // info: of remote::probe()
//   auto running = adapter.submit(std::move(request), listener);
//
// Ids are exact.  A stream may leave ids out: llama-server holds them back until they form whole characters.  The
// adapter asks for these ids separately and delivers all ids in order.  If it cannot prove them, Ending::inexact says
// so.
//
// A stop id ends a choice even if the server knows no stop ids: the adapter watches for it and closes the connection.
// max_tokens is limited to the room in the context; a choice that ends there ends with kContextFull.
//
// Cancelling closes the connection, which all three kinds of server notice.  If a server also expects a message, it
// gets one.
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

  // Returns how many connections are in use, including those of aborts.
  [[nodiscard]] std::size_t running() const { return running_ + aborts_.size(); }

 private:
  friend class AdapterRun;
  friend class AdapterLeg;
  void tell_to_abort(const std::string& id);

  net::Loop& loop_;
  net::Client& client_;
  std::unique_ptr<Dialect> dialect_;
  engine::Capabilities capabilities_;
  std::string id_prefix_;  // distinguishes this adapter's requests from those of others
  std::uint64_t next_id_ = 0;
  std::size_t running_ = 0;
  std::uint64_t next_abort_ = 0;
  std::map<std::uint64_t, std::unique_ptr<net::Call>> aborts_;
};

}  // namespace rondo::remote
