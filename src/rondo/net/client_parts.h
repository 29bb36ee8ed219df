// The inside of the client: its pools of connections, and how a call gets one and loses it.
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

// A call: in the queue, dialling, or on a connection.
struct Call::State : std::enable_shared_from_this<Call::State> {
  State(Client::Impl& owner, Request asked);

  void begin(const std::shared_ptr<Client::Impl>& client);
  void advance(Stage to);          // with the deadline of that stage
  void heard();                    // a byte came
  void fail(Error error);          // leaves what it is on, then tells
  void end(const Ending& ending);  // tells
  void cancel();                   // leaves what it is on, and never tells
  void leave();                    // queue, dial or connection
  void set_paused(bool value);
  [[nodiscard]] bool is_over() const { return handler == nullptr; }

  std::weak_ptr<Client::Impl> client;
  Loop& loop;
  Request request;                          // without its body
  std::shared_ptr<const std::string> body;  // none once the answer has begun: until then it may have to be sent again
  Url url;
  Timeouts timeouts;
  StreamHandler* handler = nullptr;      // none once it has heard the end, or does not want to
  std::unique_ptr<StreamHandler> own;    // of fetch()
  std::shared_ptr<Dial> dial;            // while stage is kConnect
  std::shared_ptr<ClientConnection> on;  // from kSend
  Stage stage = Stage::kQueue;
  bool answered = false;
  bool retried = false;
  bool paused = false;
  Deadline phase;
  Deadline whole;
};

// One connection to an origin: idle, or with one call.
class ClientConnection : public ChannelOwner, public std::enable_shared_from_this<ClientConnection> {
 public:
  ClientConnection(Client::Impl& client, std::string origin, std::shared_ptr<Channel> channel);

  void take(std::shared_ptr<Call::State> call);
  void rest();   // idle from now on
  void close();  // at once, without a word to its call
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
  std::string in_;  // not understood yet
  wire::BodyReader body_;
  bool in_body_ = false;
  bool keeps_alive_ = true;
  bool was_used_ = false;
  Deadline keep_;
};

struct Client::Impl : std::enable_shared_from_this<Client::Impl> {
  struct Pool {
    std::vector<std::shared_ptr<ClientConnection>> all;
    std::vector<std::shared_ptr<ClientConnection>> idle;  // the last one used last
    std::size_t dials = 0;
    std::deque<std::weak_ptr<Call::State>> waiting;
  };

  Impl(Loop& on, ClientOptions wanted, TlsContext context)
      : loop(on), options(std::move(wanted)), tls(std::move(context)) {}

  void place(const std::shared_ptr<Call::State>& call);  // on a connection, else in the queue
  void dial(const std::shared_ptr<Call::State>& call);   // on a fresh one
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
