// A deadline that is postponed often, such as for each byte that comes.
//
// Postponing starts no timer: when the running timer ends, it finds that time is left.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "net/loop.h"

namespace rondo::net {

class Deadline {
 public:
  // `expired` may destroy the deadline.
  Deadline(Loop& loop, std::function<void()> expired) : loop_(loop), expired_(std::move(expired)) {}

  // Sets the deadline `time` from now; zero means never.
  void set(Milliseconds time) {
    due_.reset();
    if (time == Milliseconds::zero()) return;
    due_ = loop_.now() + time;
    if (!armed_ || *armed_ > *due_) arm();
  }
  void clear() { due_.reset(); }

 private:
  void arm() {
    armed_ = due_;
    const auto left = std::chrono::ceil<Milliseconds>(*due_ - loop_.now());
    timer_ = loop_.after(std::max(left, Milliseconds::zero()), [this] { fire(); });
  }
  void fire() {
    armed_.reset();
    if (!due_) return;
    if (loop_.now() < *due_) {
      arm();
      return;
    }
    due_.reset();
    const std::function<void()> expired = expired_;  // this object may be destroyed while it runs
    expired();
  }

  Loop& loop_;
  std::function<void()> expired_;
  std::optional<Time> due_;
  std::optional<Time> armed_;  // when timer_ ends
  Timer timer_;
};

}  // namespace rondo::net
