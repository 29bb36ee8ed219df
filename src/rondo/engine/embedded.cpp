#include "engine/embedded.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "engine/batcher.h"

namespace rondo::engine {
namespace {

using Ticket = Batcher::Ticket;

// What the worker and the executor's thread both know about a request.
struct Shared {
  Shared(Executor& on, Listener& to) : executor(on), listener(&to) {}
  Executor& executor;
  Listener* listener;  // of the executor's thread; null when nobody listens
};

struct TokenEvent {
  std::size_t choice = 0;
  SampledToken token;
};

using PromptEvent = std::vector<SampledToken>;

struct Event {
  std::shared_ptr<Shared> shared;
  std::variant<Start, PromptEvent, TokenEvent, Outcome> what;
};

void deliver(const Event& event) {
  Listener* listener = event.shared->listener;
  if (listener == nullptr) return;
  if (const auto* start = std::get_if<Start>(&event.what)) {
    listener->on_start(*start);
  } else if (const auto* prompt = std::get_if<PromptEvent>(&event.what)) {
    listener->on_prompt(*prompt);
  } else if (const auto* token = std::get_if<TokenEvent>(&event.what)) {
    listener->on_tokens(token->choice, {&token->token, 1});
  } else {
    event.shared->listener = nullptr;
    listener->on_end(std::get<Outcome>(event.what));
  }
}

}  // namespace

// The thread that owns the batcher.  Commands enter under a lock.  Events go to the executors after each step.
class Embedded::Worker final : public Batcher::Events {
 public:
  // Loads on the calling thread.
  [[nodiscard]] static Result<std::unique_ptr<Worker>> start(const std::string& path, const EmbeddedOptions& options) {
    std::unique_ptr<Worker> worker(new Worker(options.parallel));
    auto batcher = Batcher::load(path, options, *worker);
    if (!batcher.ok()) return batcher.error();
    worker->batcher_ = std::move(batcher).value();
    worker->thread_ = std::thread([self = worker.get()] { self->run(); });
    return worker;
  }

  ~Worker() override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  [[nodiscard]] const Description& describe() const { return batcher_->describe(); }
  [[nodiscard]] std::size_t parallel() const { return parallel_; }
  [[nodiscard]] EmbeddedStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  Ticket add(Request request, std::shared_ptr<Shared> shared) {
    Ticket ticket = 0;
    {
      const std::lock_guard lock(mutex_);
      ticket = ++last_ticket_;
      inbox_.push_back({.ticket = ticket, .request = std::move(request), .shared = std::move(shared)});
    }
    wake_.notify_one();
    return ticket;
  }

  void cancel(Ticket ticket) {
    {
      const std::lock_guard lock(mutex_);
      inbox_.push_back({.ticket = ticket, .request = std::nullopt, .shared = nullptr});
    }
    wake_.notify_one();
  }

  void on_start(Ticket ticket, const Start& start) override { say(ticket, start); }
  void on_prompt(Ticket ticket, std::vector<SampledToken> tokens) override { say(ticket, std::move(tokens)); }
  void on_token(Ticket ticket, std::size_t choice, SampledToken token) override {
    say(ticket, TokenEvent{.choice = choice, .token = std::move(token)});
  }
  void on_end(Ticket ticket, Outcome outcome) override {
    say(ticket, std::move(outcome));
    listening_.erase(ticket);
  }

 private:
  // A request, or, without one, a cancellation.
  struct Command {
    Ticket ticket = 0;
    std::optional<Request> request;
    std::shared_ptr<Shared> shared;
  };

  explicit Worker(std::size_t parallel) : parallel_(parallel) {}

  template <typename What>
  void say(Ticket ticket, What what) {
    const std::shared_ptr<Shared>& shared = listening_.at(ticket);
    outbox_[&shared->executor].push_back({shared, std::move(what)});
  }

  void run() {
    bool has_work = false;
    while (true) {
      std::vector<Command> commands;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return has_work || is_stopping_ || !inbox_.empty(); });
        if (is_stopping_) return;
        commands.swap(inbox_);
      }
      for (Command& command : commands) {
        if (!command.request) {
          batcher_->cancel(command.ticket);
          continue;
        }
        listening_[command.ticket] = std::move(command.shared);
        batcher_->add(command.ticket, std::move(*command.request));
      }
      has_work = batcher_->step();
      send();
    }
  }

  void send() {
    {
      const std::lock_guard lock(mutex_);
      status_ = batcher_->status();
    }
    for (auto& [executor, events] : outbox_) {
      executor->post([happened = std::move(events)] {
        for (const Event& event : happened) deliver(event);
      });
    }
    outbox_.clear();
  }

  std::size_t parallel_;
  std::unique_ptr<Batcher> batcher_;
  std::unordered_map<Ticket, std::shared_ptr<Shared>> listening_;  // used by the thread only
  std::map<Executor*, std::vector<Event>> outbox_;                 // used by the thread only

  mutable std::mutex mutex_;  // guards the following
  std::condition_variable wake_;
  std::vector<Command> inbox_;
  EmbeddedStatus status_;
  Ticket last_ticket_ = 0;
  bool is_stopping_ = false;
  std::thread thread_;
};

// The engine as one executor sees it.
class Embedded::Front final : public Serving {
 public:
  Front(Worker& worker, Executor& executor) : worker_(worker), executor_(executor) {
    capabilities_ = {.name = worker.describe().name,
                     .context_tokens = worker.describe().context_tokens,
                     .parallel = worker.parallel(),
                     .grammars = {Grammar::Dialect::kGbnf},
                     .tells_cached_tokens = true,
                     .tells_prompt_logprobs = true,
                     .takes_constraints = true,
                     .stops_end_grammars = worker.describe().has_end_token,
                     .takes_stop_ids = true};
  }

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }

  [[nodiscard]] std::unique_ptr<Submission> submit(Request request, Listener& listener) override {
    auto shared = std::make_shared<Shared>(executor_, listener);
    const Ticket ticket = worker_.add(std::move(request), shared);
    return std::make_unique<Running>(worker_, std::move(shared), ticket);
  }

 private:
  class Running final : public Submission {
   public:
    Running(Worker& worker, std::shared_ptr<Shared> shared, Ticket ticket)
        : worker_(worker), shared_(std::move(shared)), ticket_(ticket) {}
    ~Running() override {
      if (shared_->listener == nullptr) return;
      shared_->listener = nullptr;
      worker_.cancel(ticket_);
    }
    void cancel() override {
      if (shared_->listener != nullptr) worker_.cancel(ticket_);
    }

   private:
    Worker& worker_;
    std::shared_ptr<Shared> shared_;
    Ticket ticket_;
  };

  Worker& worker_;
  Executor& executor_;
  Capabilities capabilities_;
};

Embedded::Embedded(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
Embedded::~Embedded() = default;

Result<std::unique_ptr<Embedded>> Embedded::load(const std::string& path, const EmbeddedOptions& options) {
  auto worker = Worker::start(path, options);
  if (!worker.ok()) return worker.error();
  return std::unique_ptr<Embedded>(new Embedded(std::move(worker).value()));
}

const Description& Embedded::describe() const { return worker_->describe(); }
EmbeddedStatus Embedded::status() const { return worker_->status(); }

std::unique_ptr<Serving> Embedded::serve(Executor& executor) { return std::make_unique<Front>(*worker_, executor); }

}  // namespace rondo::engine
