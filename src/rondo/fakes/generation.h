// A request for ids that is being answered: id by id on the loop, with the faults that it should have.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fakes/dialect.h"
#include "fakes/engine_server.h"
#include "net/loop.h"
#include "net/server.h"

namespace rondo::fakes {

class Generation : public std::enable_shared_from_this<Generation> {
 public:
  // Calls `ended` once, when nothing more will happen.
  Generation(net::Loop& loop, net::Exchange exchange, DialectAnswers& answers, Running running,
             const EngineOptions& options, std::function<void(Generation&)> ended);

  void start();
  // Ends every choice at its present place, and reports that.
  void abort();

  [[nodiscard]] const Running& running() const { return running_; }
  [[nodiscard]] bool was_aborted() const { return was_aborted_; }

 private:
  void later();
  void step();
  [[nodiscard]] bool fail_now();
  void sample(std::size_t choice);
  void write(std::string_view bytes);
  void finish();
  void end();

  net::Loop& loop_;
  net::Exchange exchange_;
  DialectAnswers& answers_;
  Running running_;
  Fault fault_;
  std::size_t cut_bytes_;
  net::Milliseconds delay_;  // before each id
  std::function<void(Generation&)> ended_;
  net::Timer timer_;
  std::size_t next_ = 0;  // index of the choice
  bool was_aborted_ = false;
  bool was_garbage_sent_ = false;
  bool is_over_ = false;
};

}  // namespace rondo::fakes
