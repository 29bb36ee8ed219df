// The inside of the client: its pools of connections, and how a call gets and leaves a connection.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.h"
#include "net/client.h"
#include "net/deadline.h"
#include "net/dial.h"
#include "net/tls.h"
#include "net/wire.h"

namespace rondo::net {

class ClientConnection;

// A call, which is in the queue, dialling, or on a connection.
struct Call::State : std::enable_shared_from_this<Call::State> {
  State(Client::Impl& owner, Request asked);

  void begin(const std::shared_ptr<Client::Impl>& client);
  void advance(Stage to);          // and sets the deadline of that stage
  void heard();                    // a byte has come
  void fail(Error error);          // leaves its place, then reports the error
  void end(const Ending& ending);  // reports the end
  void cancel();                   // leaves its place and reports nothing
  void leave();                    // leaves the queue, dial or connection
  void set_paused(bool value);
  [[nodiscard]] bool is_over() const { return handler == nullptr; }

  std::weak_ptr<Client::Impl> client;
  Loop& loop;
  Request request;                          // without its body
  std::shared_ptr<const std::string> body;  // none once the answer has begun: until then it may have to be sent again
  Url url;
  Timeouts timeouts;
  StreamHandler* handler = nullptr;      // null after on_end, and when it must not be called any more
  std::unique_ptr<StreamHandler> own;    // for fetch()
  std::shared_ptr<Dial> dial;            // set while the stage is kConnect
  std::shared_ptr<ClientConnection> on;  // set from kSend on
  Stage stage = Stage::kQueue;
  bool answered = false;
  bool retried = false;
  bool paused = false;
  Deadline phase;
  Deadline whole;
};

// One connection to an origin, which is idle or has one call.
class ClientConnection : public ChannelOwner, public std::enable_shared_from_this<ClientConnection> {
 public:
  ClientConnection(Client::Impl& client, std::string origin, std::shared_ptr<Channel> channel);

  void take(std::shared_ptr<Call::State> call);
  void rest();   // is idle from now on
  void close();  // closes at once; its call is not told
  void pause() { channel_->pause(); }
  void resume();

  void on_bytes(std::string_view bytes) override;
  void on_sent() override;
  void on_closed(const std::optional<Error>& error) override;

  [[nodiscard]] const std::string& origin() const { return origin_; }

 private:
  [[nodiscard]] std::size_t read_body(std::string_view bytes);
  void process();
  [[nodiscard]] bool read_head();
  void complete(bool may_rest);
  void broke(const std::optional<Error>& error);

  std::weak_ptr<Client::Impl> client_;
  std::string origin_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Call::State> call_;
  std::string in_;  // received but not yet parsed
  wire::BodyReader body_;
  bool in_body_ = false;
  bool keeps_alive_ = true;
  bool was_used_ = false;
  Deadline keep_;
};

struct Client::Impl : std::enable_shared_from_this<Client::Impl> {
  struct Pool {
    std::vector<std::shared_ptr<ClientConnection>> all;
    std::vector<std::shared_ptr<ClientConnection>> idle;  // most recently used last
    std::size_t dials = 0;
    std::deque<std::weak_ptr<Call::State>> waiting;
  };

  Impl(Loop& on, ClientOptions wanted, TlsContext context)
      : loop(on), options(std::move(wanted)), tls(std::move(context)) {}

  void place(const std::shared_ptr<Call::State>& call);  // puts the call on a connection, or in the queue
  void dial(const std::shared_ptr<Call::State>& call);   // puts the call on a new connection
  void dialled(const std::shared_ptr<Call::State>& call, Result<std::shared_ptr<Channel>> channel);
  void forget_dial(const std::string& origin);
  void rested(const std::shared_ptr<ClientConnection>& connection);
  void closed(const std::shared_ptr<ClientConnection>& connection);
  void serve_waiting(Pool& pool);
  void close_all();
  [[nodiscard]] std::string head_bytes(const Call::State& call) const;

  Loop& loop;
  ClientOptions options;
  TlsContext tls;
  bool trusts_system = false;
  bool is_closed = false;
  std::map<std::string, Pool> pools;
};

}  // namespace rondo::net
