#include "fakes/generation.h"

#include <algorithm>
#include <utility>

namespace rondo::fakes {
namespace {

constexpr std::size_t kAheadBytes = std::size_t{64}
                                    << 10U;  // what a slow client may leave unread before sampling waits

}  // namespace

Generation::Generation(net::Loop& loop, net::Exchange exchange, DialectAnswers& answers, Running running,
                       const EngineOptions& options, std::function<void(Generation&)> ended)
    : loop_(loop),
      exchange_(std::move(exchange)),
      answers_(answers),
      running_(std::move(running)),
      fault_(running_.task.fault),
      cut_bytes_(options.cut_bytes),
      delay_(running_.task.fault.kind == Fault::Kind::kSlowTokens ? running_.task.fault.delay : options.token_delay),
      ended_(std::move(ended)) {}

void Generation::start() {
  // The exchange is a member: if its callback held this object strongly, neither would ever be destroyed.
  const std::weak_ptr<Generation> weak = weak_from_this();
  exchange_.on_gone([weak] {
    if (const auto self = weak.lock()) {
      self->was_aborted_ = true;
      self->end();
    }
  });
  if (fault_.kind == Fault::Kind::kSlowStart) {
    timer_ = loop_.after(fault_.delay, [weak] {
      if (const auto self = weak.lock()) self->step();
    });
    return;
  }
  later();
}

void Generation::later() {
  // Each id is a task of its own, so that all requests advance together, as in a batch of a real engine.  If the client
  // is slow, sampling waits for it, so that the unread bytes stay few.
  const std::weak_ptr<Generation> weak = weak_from_this();
  const auto go = [weak] {
    if (const auto self = weak.lock()) self->step();
  };
  if (delay_ != net::Milliseconds::zero()) {
    timer_ = loop_.after(delay_, go);
  } else if (exchange_.buffered() > kAheadBytes) {
    exchange_.on_drained([weak] {
      const auto self = weak.lock();
      if (!self) return;
      self->exchange_.on_drained(nullptr);
      self->step();
    });
  } else {
    loop_.post(go);
  }
}

// True if the request ends here, or hangs forever.
bool Generation::fail_now() {
  const bool is_due = running_.sampled() >= fault_.after;
  if (fault_.kind == Fault::Kind::kDie && is_due) {
    exchange_.abort();
    end();
    return true;
  }
  if (fault_.kind == Fault::Kind::kGarbage && is_due && !std::exchange(was_garbage_sent_, true)) {
    write("data: {\"this is \n\n");
  }
  return fault_.kind == Fault::Kind::kHang && is_due;
}

void Generation::step() {
  if (is_over_) return;
  if (running_.task.streams && !exchange_.started()) {
    exchange_.start(200, {{"Content-Type", "text/event-stream; charset=utf-8"}, {"Cache-Control", "no-cache"}});
  }
  if (fail_now()) return;
  for (std::size_t tried = 0; tried < running_.choices.size(); ++tried) {
    const std::size_t choice = next_;
    next_ = (next_ + 1) % running_.choices.size();
    if (running_.choices[choice].is_done()) continue;
    sample(choice);
    later();
    return;
  }
  finish();
}

void Generation::sample(std::size_t choice) {
  ++running_.choices[choice].sent;
  if (!running_.task.streams) return;
  write(answers_.id_bytes(running_, choice));
  if (running_.choices[choice].is_done()) write(answers_.choice_end(running_, choice));
}

void Generation::abort() {
  if (is_over_) return;
  was_aborted_ = true;
  for (std::size_t i = 0; i < running_.choices.size(); ++i) {
    Choice& choice = running_.choices[i];
    if (choice.is_done()) continue;
    // The whole completion was made in advance.  What was not sent counts as never sampled.
    choice.completion.ids.resize(choice.sent);
    choice.completion.stop = Stop::kAbort;
    if (running_.task.streams && exchange_.started()) write(answers_.choice_end(running_, i));
  }
  finish();
}

void Generation::write(std::string_view bytes) {
  const std::size_t step = cut_bytes_ == 0 ? std::max<std::size_t>(1, bytes.size()) : cut_bytes_;
  for (std::size_t at = 0; at < bytes.size(); at += step) exchange_.write(bytes.substr(at, step));
}

void Generation::finish() {
  if (exchange_.started()) {
    write(answers_.stream_end(running_));
    exchange_.finish();
  } else if (!running_.task.streams) {
    exchange_.reply(json_reply(200, answers_.whole(running_)));
  } else {
    // The request was aborted before its first id: the client still gets a complete stream.
    exchange_.start(200, {{"Content-Type", "text/event-stream; charset=utf-8"}});
    for (std::size_t i = 0; i < running_.choices.size(); ++i) write(answers_.choice_end(running_, i));
    write(answers_.stream_end(running_));
    exchange_.finish();
  }
  end();
}

void Generation::end() {
  if (std::exchange(is_over_, true)) return;
  timer_.cancel();
  // `ended_` makes the server drop its pointer, which may be the last one.
  const auto self = shared_from_this();
  ended_(*this);
}

}  // namespace rondo::fakes
