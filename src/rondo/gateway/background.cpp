#include "gateway/background.h"

#include <algorithm>
#include <utility>

#include "apis/response_progress.h"
#include "apis/responses_body.h"
#include "apis/stored_responses.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

constexpr net::Milliseconds kTick{400};         // how often the gateway that runs a response checks it
constexpr net::Milliseconds kLook{100};         // how often one that shows it does
constexpr std::int64_t kBeatMs = 10'000;        // a sign of life, even if nothing happened
constexpr std::int64_t kLostMs = 60'000;        // after this long without one, the response is lost
constexpr std::int64_t kCancelWaitMs = 10'000;  // how long a cancelled response may take to end
constexpr std::size_t kMostBuffered = std::size_t{1} << 20U;

// What the response is asked to do; "" if nothing.
std::string wish_in(const Archive& archive, const std::string& id) {
  const auto found = archive.wish(id);
  return found.ok() ? found.value().value_or("") : "";
}

class BackgroundSink final : public ReplySink, public std::enable_shared_from_this<BackgroundSink> {
 public:
  BackgroundSink(Keeping keeping, std::shared_ptr<ReplySink> to)
      : keeping_(std::move(keeping)), to_(std::move(to)), streams_(to_->takes_events()) {}

  [[nodiscard]] bool takes_events() const override { return true; }

  void begin(const apis::GenerateRequest& request, const apis::ReplyMeta& meta) override {
    record_ = keeping_.record(json::Value(apis::response_object(request, meta, "queued", {})));
    progress_ = apis::ResponseProgress(record_.body);
    has_begun_ = true;
    put_progress([self = shared_from_this(), body = record_.body](const std::optional<apis::Fault>& fault) {
      if (!fault && self->streams_) return;
      const std::shared_ptr<ReplySink> to = std::exchange(self->to_, nullptr);
      if (!fault) return to->finish({.headers = {}, .body = body});
      self->streams_ = false;
      to->refuse(kResponsesApi, *fault);
      self->stop();
    });
    tick_later();
  }

  void refuse(chat::Api api, const apis::Fault& fault) override {
    if (!has_begun_) return to_->refuse(api, fault);
    // Called before any event was sent.
    start({});
    send(apis::replayed(apis::given_up(record_.body, "failed", fault.message), false));
    finish({.headers = {}, .body = {}, .fault = fault});
  }
  void start(const net::Headers& headers) override {
    if (streams_ && to_) to_->start(headers);
  }
  // The client may leave; the response continues.
  void on_gone(std::function<void()> task) override { stop_ = std::move(task); }

  void send(std::span<const apis::StreamEvent> events) override {
    std::vector<apis::StreamEvent> now;
    for (const apis::StreamEvent& event : events) {
      event.append_to(fresh_);
      progress_.add(event);
      (held_.empty() && !apis::is_terminal(event) ? now : held_).push_back(event);
    }
    if (streams_ && to_ && !now.empty()) to_->send(now);
  }

  void finish(WholeReply reply) override {
    timer_.cancel();
    stop_ = nullptr;
    whole_ = std::move(reply);
    const auto self = shared_from_this();
    const auto erase = [self] {
      const Archive archive = self->keeping_.archive();
      self->is_erased_ = wish_in(archive, self->record_.id()) == "delete";
      if (self->is_erased_) (void)archive.erase_response(self->record_);
    };
    keeping_.state->off_loop(0, erase, [self] { self->is_erased_ ? self->tell_end(std::nullopt) : self->keep(); });
  }

 private:
  void keep() {
    const Archive archive = keeping_.archive();
    record_.body = progress_.body();
    std::vector<spans::StoredObject> objects;
    add_chunk(archive, objects);
    for (spans::StoredObject& object : keeping_.objects(record_)) objects.push_back(std::move(object));
    keeping_.put(std::move(objects),
                 [self = shared_from_this()](const std::optional<apis::Fault>& fault) { self->tell_end(fault); });
  }

  void tell_end(const std::optional<apis::Fault>& fault) {
    if (!streams_ || !to_) return;
    if (fault && !held_.empty()) held_.front() = failed_instead(held_.front(), *fault);
    if (fault) whole_.fault = fault;
    to_->send(held_);
    to_->finish(std::move(whole_));
    to_.reset();
  }

  void add_chunk(const Archive& archive, std::vector<spans::StoredObject>& objects) {
    if (!fresh_.empty())
      objects.push_back(archive.chunk_object(record_, record_.chunks++, std::exchange(fresh_, {}), keeping_.now_ms()));
  }

  void put_progress(std::function<void(const std::optional<apis::Fault>&)> then) {
    const Archive archive = keeping_.archive();
    std::vector<spans::StoredObject> objects;
    add_chunk(archive, objects);
    record_.body = progress_.body();
    record_.beat_ms = keeping_.now_ms();
    objects.push_back(archive.response_object(record_, record_.beat_ms));
    keeping_.put(std::move(objects), std::move(then));
  }

  void stop() {
    if (const auto task = std::exchange(stop_, nullptr)) task();
  }

  void tick_later() {
    timer_ = keeping_.state->loop.after(kTick, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tick();
    });
  }
  void tick() {
    tick_later();
    if (!fresh_.empty() || keeping_.now_ms() - record_.beat_ms >= kBeatMs)
      put_progress([](const std::optional<apis::Fault>&) {});
    const auto is_wished = std::make_shared<bool>(false);
    keeping_.state->off_loop(
        0, [archive = keeping_.archive(), id = record_.id(), is_wished] { *is_wished = !wish_in(archive, id).empty(); },
        [weak = weak_from_this(), is_wished] {
          if (const auto self = weak.lock(); self && *is_wished) self->stop();
        });
  }

  Keeping keeping_;
  std::shared_ptr<ReplySink> to_;  // until it has its answer
  bool streams_;
  bool has_begun_ = false;
  ResponseRecord record_;
  apis::ResponseProgress progress_;
  std::string fresh_;                    // events that are not in a store yet
  std::vector<apis::StreamEvent> held_;  // the last ones, which wait for the store
  WholeReply whole_;                     // sent to `to_` with them
  bool is_erased_ = false;               // because a client asked for it
  std::function<void()> stop_;
  net::Timer timer_;
};

// Something that is read again and again until it has ended.
class Watch : public std::enable_shared_from_this<Watch> {
 public:
  Watch(Service::State& state, ResponseRecord record, net::Exchange exchange)
      : state_(state.shared_from_this()),
        archive_(*state.parts.spans, visit_of(exchange.request())->tenant),
        record_(std::move(record)),
        exchange_(std::move(exchange)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  virtual ~Watch() = default;

  void begin() {
    state_->held[this] = shared_from_this();
    step();
  }

 protected:
  // Runs on a worker while nothing else touches the watch.
  virtual void read() = 0;
  // Runs on the loop and shows what was read.  True: finished.
  virtual bool show() = 0;
  Service::State& state() { return *state_; }
  const Archive& archive() { return archive_; }
  ResponseRecord& record() { return record_; }
  net::Exchange& exchange() { return exchange_; }
  // Returns why it cannot be read; nullopt if it was.
  std::optional<apis::Fault> read_again() {
    auto found = archive_.response(record_.id());
    if (!found.ok()) return found.fault();
    if (!found.value()) return apis::not_found("response", record_.id());
    record_ = looked_after(*state_, archive_, *std::move(found).value());
    return std::nullopt;
  }

 private:
  void step() {
    const auto self = shared_from_this();
    state_->off_loop(0, [self] { self->read(); }, [self] { self->go_on(); });
  }
  void go_on() {
    if (exchange_.is_gone() || show()) {
      state_->held.erase(this);
      return;
    }
    timer_ = state_->loop.after(kLook, [weak = weak_from_this()] {
      if (const auto watch = weak.lock()) watch->step();
    });
  }

  std::shared_ptr<Service::State> state_;
  Archive archive_;
  ResponseRecord record_;
  net::Exchange exchange_;
  net::Timer timer_;
};

// The events of `text` with a number greater than `after`; `number` counts them.
std::string events_behind(std::string_view text, std::int64_t after, std::int64_t& number) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size() - 1);
    const std::string_view event = text.substr(0, std::min(end + 2, text.size()));
    const bool is_numbered = event.starts_with("event:");
    if (!is_numbered || number > after) out += event;
    if (is_numbered) ++number;
    text.remove_prefix(event.size());
  }
  return out;
}

class StreamAgain final : public Watch {
 public:
  StreamAgain(Service::State& state, ResponseRecord record, net::Exchange exchange, std::int64_t after)
      : Watch(state, std::move(record), std::move(exchange)), after_(after) {}

 private:
  void read() override {
    if (is_slow_) return;
    while (chunk_ < record().chunks && text_.size() <= kMostBuffered) {
      const auto text = archive().chunk(record().id(), chunk_++);
      if (text.ok() && text.value()) text_ += events_behind(*text.value(), after_, number_);
    }
    if (chunk_ == record().chunks && !record().has_ended()) is_lost_ = read_again().has_value();
  }
  bool show() override {
    exchange().write(std::exchange(text_, {}));
    is_slow_ = exchange().buffered() > kMostBuffered;
    if (chunk_ < record().chunks) return false;
    if (!record().has_ended() && !is_lost_) return false;
    exchange().finish();
    return true;
  }

  std::int64_t after_;
  std::size_t chunk_ = 0;
  std::int64_t number_ = 0;  // of the next event
  std::string text_;         // to be sent to the client
  bool is_slow_ = false;     // the client has not taken what it was sent
  bool is_lost_ = false;
};

class Cancelling final : public Watch {
 public:
  using Watch::Watch;

 private:
  void read() override { lost_ = read_again(); }
  bool show() override {
    const std::int64_t now_ms = state().parts.now_ms();
    if (began_ms_ == 0) began_ms_ = now_ms;
    const bool is_late = now_ms - began_ms_ > kCancelWaitMs;
    if (!lost_ && !record().has_ended() && !is_late) return false;
    if (lost_)
      answer_fault(exchange(), kResponsesApi, *lost_);
    else
      answer_json(exchange(), 200, record().body);
    return true;
  }

  std::int64_t began_ms_ = 0;
  std::optional<apis::Fault> lost_;
};

}  // namespace

std::shared_ptr<ReplySink> background_sink(Keeping keeping, std::shared_ptr<ReplySink> to) {
  return std::make_shared<BackgroundSink>(std::move(keeping), std::move(to));
}

ResponseRecord looked_after(Service::State& state, const Archive& archive, ResponseRecord record) {
  const std::int64_t now_ms = state.parts.now_ms();
  if (record.has_ended() || now_ms - record.beat_ms < kLostMs) return record;
  const bool is_cancelled = !wish_in(archive, record.id()).empty();
  record.body =
      apis::given_up(record.body, is_cancelled ? "cancelled" : "failed", "the gateway that ran it has stopped");
  std::int64_t number = 0;
  for (std::size_t i = 0; i < record.chunks; ++i) {
    const auto text = archive.chunk(record.id(), i);
    if (text.ok() && text.value()) (void)events_behind(*text.value(), 0, number);
  }
  const std::string name = is_cancelled ? "response.incomplete" : "response.failed";
  const json::Object event{{"type", name}, {"sequence_number", number}, {"response", record.body}};
  const std::string last =
      apis::StreamEvent{name, json::to_compact(json::Value(event))}.text() + apis::StreamEvent{"", "[DONE]"}.text();
  std::vector<spans::StoredObject> objects;
  objects.push_back(archive.chunk_object(record, record.chunks++, last, now_ms));
  objects.push_back(archive.response_object(record, now_ms));
  archive.put(std::move(objects), {});
  return record;
}

void stream_again(Service::State& state, const ResponseRecord& record, std::int64_t after, net::Exchange exchange) {
  const bool open_responses = exchange.request().headers.find("openresponses-version").has_value();
  const net::Headers headers{{"content-type", "text/event-stream; charset=utf-8"}, {"cache-control", "no-cache"}};
  exchange.start(200, headers);
  if (exchange.request().method == "HEAD") return exchange.finish();  // nobody waits for the events
  if (record.has_ended() && record.chunks == 0) {
    std::string text;
    for (const apis::StreamEvent& event : apis::replayed(record.body, open_responses)) event.append_to(text);
    std::int64_t number = 0;
    exchange.write(events_behind(text, after, number));
    return exchange.finish();
  }
  std::make_shared<StreamAgain>(state, record, std::move(exchange), after)->begin();
}

Answer cancel_response(Service::State& state, const Archive& archive, ResponseRecord record) {
  const json::Value* background = record.body.find("background");
  if (background == nullptr || !background->is_bool() || !background->as_bool())
    return fault_reply(kResponsesApi, apis::invalid("", "only a response in the background can be cancelled"));
  if (record.has_ended()) return json_reply(200, record.body);
  std::vector<spans::StoredObject> wish;
  wish.push_back(archive.wish_object(record, "cancel", state.parts.now_ms()));
  archive.put(std::move(wish), {});
  return [&state, record = std::move(record)](net::Exchange exchange) {
    std::make_shared<Cancelling>(state, record, std::move(exchange))->begin();
  };
}

}  // namespace rondo::gateway
