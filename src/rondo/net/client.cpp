#include "net/client.h"

#include <algorithm>
#include <utility>

#include "net/client_parts.h"

namespace rondo::net {
namespace {

// The handler with which fetch() listens.
class Collector final : public StreamHandler {
 public:
  Collector(Call::State& call, std::size_t limit, std::function<void(Result<Response>)> done)
      : call_(call), limit_(limit), done_(std::move(done)) {}

  void on_head(int status, const Headers& headers) override {
    response_.status = status;
    response_.headers = headers;
  }
  void on_data(std::string_view bytes) override {
    if (bytes.size() > limit_ - response_.body.size()) {
      call_.fail(Error(ErrorCode::kLimit, "an answer of more than " + std::to_string(limit_) + " bytes"));
      return;
    }
    response_.body += bytes;
  }
  void on_end(const Ending& ending) override {
    if (!ending.status.ok()) {
      done_(ending.status.error());
    } else {
      done_(std::move(response_));
    }
  }

 private:
  Call::State& call_;
  std::size_t limit_;
  std::function<void(Result<Response>)> done_;
  Response response_;
};

std::string milliseconds(Milliseconds time) { return std::to_string(time.count()) + " ms"; }

}  // namespace

std::string_view to_string(Stage stage) {
  switch (stage) {
    case Stage::kQueue: return "queue";
    case Stage::kConnect: return "connect";
    case Stage::kSend: return "send";
    case Stage::kWait: return "wait";
    case Stage::kRead: return "read";
    case Stage::kDone: break;
  }
  return "done";
}

// --- Calls ---

Call::State::State(Client::Impl& owner, Request asked)
    : client(owner.weak_from_this()),
      loop(owner.loop),
      request(std::move(asked)),
      body(std::make_shared<const std::string>(std::exchange(request.body, {}))),
      timeouts(request.timeouts.value_or(owner.options.timeouts)),
      phase(owner.loop,
            [this] {
              fail(Error(ErrorCode::kIo, stage == Stage::kWait
                                             ? "no answer within " + milliseconds(timeouts.first_byte)
                                             : "nothing more came within " + milliseconds(timeouts.idle)));
            }),
      whole(owner.loop, [this] {
        fail(Error(ErrorCode::kIo, "the answer was not complete within " + milliseconds(timeouts.whole)));
      }) {}

void Call::State::begin(const std::shared_ptr<Client::Impl>& impl) {
  if (is_over()) return;
  Result<Url> parsed = Url::parse(request.url);
  if (!parsed.ok()) return fail(parsed.error());
  url = std::move(parsed).value();
  if (!check_header({request.method, ""}).ok()) {
    return fail(Error(ErrorCode::kInvalidArgument, "`" + request.method + "` is not a method"));
  }
  for (const Header& header : request.headers) {
    if (const Status status = check_header(header); !status.ok()) return fail(status.error());
  }
  whole.set(timeouts.whole);
  impl->place(shared_from_this());
}

void Call::State::advance(Stage to) {
  stage = to;
  phase.clear();
  if (to == Stage::kWait) phase.set(timeouts.first_byte);
}

void Call::State::heard() {
  answered = true;
  body.reset();
  stage = Stage::kRead;
  phase.set(timeouts.idle);
}

void Call::State::leave() {
  const auto impl = client.lock();
  if (const auto dialling = std::exchange(dial, nullptr)) {
    dialling->cancel();
    if (impl) impl->forget_dial(url.origin());
  }
  if (const auto connection = std::exchange(on, nullptr)) connection->close();
}

void Call::State::fail(Error error) {
  if (is_over()) return;
  const auto self = shared_from_this();
  leave();
  if (error.source.empty()) error.source = shown_url(request.url);
  error.message = std::string(to_string(stage)) + ": " + error.message;
  end({std::move(error), stage, answered});
}

void Call::State::end(const Ending& ending) {
  const auto self = shared_from_this();
  phase.clear();
  whole.clear();
  if (StreamHandler* to = std::exchange(handler, nullptr)) to->on_end(ending);
}

void Call::State::cancel() {
  handler = nullptr;
  phase.clear();
  whole.clear();
  leave();
}

void Call::State::set_paused(bool value) {
  if (paused == value || is_over()) return;
  paused = value;
  if (!on) return;
  if (value) {
    phase.clear();
    on->pause();
  } else {
    if (stage == Stage::kWait) phase.set(timeouts.first_byte);
    if (stage == Stage::kRead) phase.set(timeouts.idle);
    on->resume();
  }
}

Call::Call(std::shared_ptr<State> state) : state_(std::move(state)) {}
Call::~Call() { state_->cancel(); }
void Call::pause() { state_->set_paused(true); }
void Call::resume() { state_->set_paused(false); }

// --- Connections to one origin ---

void Client::Impl::place(const std::shared_ptr<Call::State>& call) {
  Pool& pool = pools[call->url.origin()];
  if (!pool.idle.empty()) {
    const auto connection = std::move(pool.idle.back());
    pool.idle.pop_back();
    connection->take(call);
  } else if (pool.all.size() + pool.dials < options.connections_per_origin) {
    dial(call);
  } else {
    std::erase_if(pool.waiting, [](const auto& waiting) {
      const auto other = waiting.lock();
      return !other || other->is_over();
    });
    if (pool.waiting.size() >= options.waiting_per_origin) {
      return call->fail(Error(ErrorCode::kLimit, "all connections are in use, and too many calls wait for one"));
    }
    pool.waiting.push_back(call);
  }
}

void Client::Impl::dial(const std::shared_ptr<Call::State>& call) {
  if (call->url.tls && !trusts_system && options.ca_pem.empty() && !options.insecure) {
    trust_system(*tls);
    trusts_system = true;
  }
  call->advance(Stage::kConnect);
  ++pools[call->url.origin()].dials;
  const std::weak_ptr<Impl> weak = weak_from_this();
  call->dial = std::make_shared<Dial>(loop, call->url, tls, [weak, call](Result<std::shared_ptr<Channel>> channel) {
    if (const auto self = weak.lock()) self->dialled(call, std::move(channel));
  });
  call->dial->start(call->timeouts.connect);
}

void Client::Impl::dialled(const std::shared_ptr<Call::State>& call, Result<std::shared_ptr<Channel>> channel) {
  if (!channel.ok()) return call->fail(channel.error());
  call->dial.reset();
  const std::string origin = call->url.origin();
  const auto connection = std::make_shared<ClientConnection>(*this, origin, channel.value());
  Pool& pool = pools[origin];
  --pool.dials;
  pool.all.push_back(connection);
  channel.value()->start(*connection, call->timeouts.idle);
  connection->take(call);
}

void Client::Impl::forget_dial(const std::string& origin) {
  Pool& pool = pools[origin];
  --pool.dials;
  serve_waiting(pool);
}

void Client::Impl::rested(const std::shared_ptr<ClientConnection>& connection) {
  Pool& pool = pools[connection->origin()];
  pool.idle.push_back(connection);
  serve_waiting(pool);
}

void Client::Impl::closed(const std::shared_ptr<ClientConnection>& connection) {
  Pool& pool = pools[connection->origin()];
  std::erase(pool.all, connection);
  std::erase(pool.idle, connection);
  serve_waiting(pool);
}

void Client::Impl::serve_waiting(Pool& pool) {
  if (is_closed) return;
  while (!pool.waiting.empty() &&
         (!pool.idle.empty() || pool.all.size() + pool.dials < options.connections_per_origin)) {
    const auto call = pool.waiting.front().lock();
    pool.waiting.pop_front();
    if (call && !call->is_over()) place(call);
  }
}

void Client::Impl::close_all() {
  is_closed = true;
  for (auto& [origin, pool] : pools) {
    for (const auto& connection : std::vector(pool.all)) connection->close();
  }
}

std::string Client::Impl::head_bytes(const Call::State& call) const {
  const Request& request = call.request;
  const std::string& body = *call.body;
  Headers headers{{"Host", call.url.authority()}};
  for (const Header& header : request.headers) {
    const bool is_own = equal_ignoring_case(header.name, "host") || equal_ignoring_case(header.name, "connection") ||
                        equal_ignoring_case(header.name, "content-length") ||
                        equal_ignoring_case(header.name, "transfer-encoding");
    if (!is_own) headers.add(header.name, header.value);
  }
  for (const Header& header : options.headers) {
    if (headers.count(header.name) == 0) headers.add(header.name, header.value);
  }
  if (!options.bearer.empty() && headers.count("authorization") == 0) {
    headers.add("Authorization", "Bearer " + options.bearer);
  }
  const bool has_body = !body.empty() || request.method == "POST" || request.method == "PUT";
  if (has_body) headers.add("Content-Length", std::to_string(body.size()));
  std::string out;
  wire::append_request(out, request.method, call.url.target, headers);
  return out;
}

// --- The client ---

Result<std::unique_ptr<Client>> Client::make(Loop& loop, ClientOptions options) {
  Headers headers = options.headers;
  headers.add("Authorization", "Bearer " + options.bearer);
  for (const Header& header : headers) {
    if (const Status status = check_header(header); !status.ok()) return status.error();
  }
  Result<TlsContext> tls = client_tls(options.ca_pem, options.insecure);
  if (!tls.ok()) return tls.error();
  return std::make_unique<Client>(std::make_shared<Impl>(loop, std::move(options), std::move(tls).value()));
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() { impl_->close_all(); }

std::unique_ptr<Call> Client::stream(Request request, StreamHandler& handler) {
  auto state = std::make_shared<Call::State>(*impl_, std::move(request));
  state->handler = &handler;
  impl_->loop.post([state, client = std::weak_ptr(impl_)] {
    if (const auto impl = client.lock(); impl && !impl->is_closed) state->begin(impl);
  });
  return std::make_unique<Call>(std::move(state));
}

std::unique_ptr<Call> Client::fetch(Request request, std::function<void(Result<Response>)> done) {
  auto state = std::make_shared<Call::State>(*impl_, std::move(request));
  state->own = std::make_unique<Collector>(*state, impl_->options.body_bytes, std::move(done));
  state->handler = state->own.get();
  impl_->loop.post([state, client = std::weak_ptr(impl_)] {
    if (const auto impl = client.lock(); impl && !impl->is_closed) state->begin(impl);
  });
  return std::make_unique<Call>(std::move(state));
}

std::size_t Client::connections() const {
  std::size_t count = 0;
  for (const auto& [origin, pool] : impl_->pools) count += pool.all.size() + pool.dials;
  return count;
}

}  // namespace rondo::net
